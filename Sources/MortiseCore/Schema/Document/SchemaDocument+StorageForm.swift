import Foundation

extension SchemaDocument {
    /// What identifies the storage form: the first 16 bytes of the SHA-256 of `storageForm`, as 32 hexadecimal digits.
    ///
    /// Two schemas with one digest have the same storage: a store of one is a store of the other.
    public var storageDigest: String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = SHA256Digest.of(Array(storageForm.utf8)).prefix(16)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The part of the schema that decides on how records are stored, as JSON without white space: names in NFC, entities and
    /// properties by name, constraints sorted, members with their default left out.
    public var storageForm: String {
        var seen: Set<String> = []
        let entities = schema.entities.filter { seen.insert($0.name).inserted }.map { (Self.normal($0.name), $0) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        return "{\"entities\":[" + entities.map { form(of: $0.1) }.joined(separator: ",") + "]}"
    }

    private func form(of entity: StoredEntity) -> String {
        var members = [Self.member("name", entity.name)]
        if let superentity = entity.superentity { members.append(Self.member("superentity", superentity)) }
        if let modifier = details[entity.name]?.hashModifier { members.append(Self.member("hashModifier", modifier)) }
        var seen: Set<String> = []
        let properties = entity.properties.filter { seen.insert($0.name).inserted }
            .map { (Self.normal($0.name), $0) }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        members.append(
            "\"properties\":[" + properties.map { form(of: $0.1, in: entity.name) }.joined(separator: ",") + "]")
        let constraints = Set(
            entity.uniquenessConstraints.map { names in
                "["
                    + names.map { Self.normal($0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                    .map { SchemaValueText.quoted($0) }.joined(separator: ",") + "]"
            })
        if !constraints.isEmpty {
            let sorted = constraints.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            members.append("\"unique\":[" + sorted.joined(separator: ",") + "]")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private func form(of property: StoredProperty, in entity: String) -> String {
        let details = self.details(of: property.name, in: entity)
        var members = [Self.member("name", property.name)]
        let optional = property.isOptional ? ["\"optional\":true"] : []
        switch property.content {
        case .attribute(let attribute):
            members.append(Self.member("kind", attribute.kind.rawValue))
            members += optional
            if attribute.options.contains(.ephemeral) { members.append("\"ephemeral\":true") }
            if let transformer = details.transformer { members.append(Self.member("transformer", transformer)) }
            if details.isCodable { members.append("\"codable\":true") }
            if let modifier = attribute.hashModifier { members.append(Self.member("hashModifier", modifier)) }
        case .relationship(let relationship):
            members.append(Self.member(relationship.isToMany ? "toMany" : "toOne", relationship.destination))
            members += optional
            if let inverse = relationship.inverse { members.append(Self.member("inverse", inverse)) }
            if let modifier = details.hashModifier { members.append(Self.member("hashModifier", modifier)) }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func normal(_ name: String) -> String { name.precomposedStringWithCanonicalMapping }
    private static func member(_ name: String, _ text: String) -> String {
        "\"\(name)\":\(SchemaValueText.quoted(normal(text)))"
    }
}
