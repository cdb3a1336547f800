extension SchemaDocument {
    /// The document as a text in UTF-8, one property a line; the same document always has the same text.
    /// - Throws: `SchemaDocumentError` with the fault `unwritable`.
    public func text() throws(SchemaDocumentError) -> String {
        let version = Self.formatVersion
        var text = "{\n  \"format\": \"\(Self.format)\",\n  \"formatVersion\": \(version),\n"
        text += "  \"version\": \"\(schema.version)\",\n  \"storage\": \"\(storageDigest)\",\n  \"entities\": ["
        let entities = schema.entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (index, entity) in entities.enumerated() {
            text += index == 0 ? "\n" : ",\n"
            text += try self.text(of: entity)
        }
        return text + (entities.isEmpty ? "]\n}\n" : "\n  ]\n}\n")
    }

    private func text(of entity: StoredEntity) throws(SchemaDocumentError) -> String {
        let details = self.details[entity.name] ?? EntityDetails()
        var members = Members()
        members.add("name", entity.name)
        if !entity.originalName.utf8.elementsEqual(entity.name.utf8) {
            members.add("originalName", entity.originalName)
        }
        members.add("superentity", entity.superentity)
        if details.isAbstract { members.add("abstract", raw: "true") }
        members.add("hashModifier", details.hashModifier)
        if !details.formerNames.isEmpty {
            let names = details.formerNames.map {
                "{\"name\": \(SchemaValueText.quoted($0.name)), \"until\": \"\($0.until)\"}"
            }
            members.add("formerNames", raw: Self.list(names))
        }
        if !details.reserved.isEmpty { members.add("reserved", names: details.reserved) }
        var lines: [String] = []
        for property in entity.properties {
            lines.append("        " + (try text(of: property, in: entity.name)))
        }
        members.add("properties", raw: lines.isEmpty ? "[]" : "[\n" + lines.joined(separator: ",\n") + "\n      ]")
        if !entity.uniquenessConstraints.isEmpty {
            members.add("unique", raw: Self.list(entity.uniquenessConstraints.map(Self.names)))
        }
        if !entity.indices.isEmpty {
            let indices = entity.indices.map { index in
                let kind = index.kind == .binary ? "" : "\"kind\": \"\(index.kind.rawValue)\", "
                return "{\(kind)\"properties\": \(Self.names(index.properties))}"
            }
            members.add("indices", raw: Self.list(indices))
        }
        return "    {\n      " + members.texts.joined(separator: ",\n      ") + "\n    }"
    }

    private func text(of property: StoredProperty, in entity: String) throws(SchemaDocumentError) -> String {
        let details = self.details(of: property.name, in: entity)
        var members = Members()
        members.add("name", property.name)
        switch property.content {
        case .attribute(let attribute): members.add("kind", attribute.kind.rawValue)
        case .relationship(let relationship):
            members.add(relationship.isToMany ? "toMany" : "toOne", relationship.destination)
        }
        if property.isOptional { members.add("optional", raw: "true") }
        if !property.originalName.utf8.elementsEqual(property.name.utf8) {
            members.add("originalName", property.originalName)
        }
        members.add("swiftType", details.swiftType)
        switch property.content {
        case .attribute(let attribute):
            do throws(Unwritable) {
                try members.add(attribute, details)
            } catch {
                throw SchemaDocumentError(.unwritable(entity: entity, property: property.name))
            }
        case .relationship(let relationship): members.add(relationship, details)
        }
        members.add("documentation", details.documentation)
        return "{" + members.texts.joined(separator: ", ") + "}"
    }

    fileprivate static func list(_ texts: [String]) -> String { "[" + texts.joined(separator: ", ") + "]" }
    fileprivate static func names(_ names: [String]) -> String { list(names.map { SchemaValueText.quoted($0) }) }
}

private struct Unwritable: Error {}

/// The members of an object, in order.
private struct Members {
    var texts: [String] = []

    mutating func add(_ name: String, raw: String) { texts.append("\"\(name)\": \(raw)") }
    mutating func add(_ name: String, _ text: String?) {
        if let text { add(name, raw: SchemaValueText.quoted(text)) }
    }
    mutating func add(_ name: String, names: [String]) { add(name, raw: SchemaDocument.names(names)) }

    mutating func add(
        _ attribute: StoredAttribute, _ details: SchemaDocument.PropertyDetails
    ) throws(Unwritable) {
        var rest = attribute.options
        let options = SchemaWords.options.filter { rest.remove($0.option) != nil }.map(\.word)
        guard rest.isEmpty else { throw Unwritable() }
        if !options.isEmpty { add("options", names: options) }
        if let value = attribute.defaultValue { add("default", raw: try Self.text(value, attribute.kind)) }
        add("hashModifier", attribute.hashModifier)
        add("transformer", details.transformer)
        if details.isCodable { add("codable", raw: "true") }
        if !details.members.isEmpty { add("members", raw: try Self.text(details.members, depth: 1)) }
        if !details.allowedValues.isEmpty {
            var values: [String] = []
            for value in details.allowedValues { values.append(try Self.text(value, attribute.kind)) }
            add("allowedValues", raw: SchemaDocument.list(values))
        }
    }

    private static func text(_ value: StoredValue, _ kind: StorageKind) throws(Unwritable) -> String {
        guard let text = SchemaValueText.text(of: value, kind: kind) else { throw Unwritable() }
        return text
    }

    private static func text(
        _ members: [SchemaDocument.Member], depth: Int
    ) throws(Unwritable) -> String {
        guard depth <= SchemaDocumentLimit.memberDepth else { throw Unwritable() }
        var texts: [String] = []
        for member in members {
            var parts = Members()
            parts.add("name", member.name)
            parts.add("kind", member.kind.rawValue)
            if member.isOptional { parts.add("optional", raw: "true") }
            if let value = member.defaultValue { parts.add("default", raw: try text(value, member.kind)) }
            if !member.members.isEmpty { parts.add("members", raw: try text(member.members, depth: depth + 1)) }
            texts.append("{" + parts.texts.joined(separator: ", ") + "}")
        }
        return SchemaDocument.list(texts)
    }

    mutating func add(_ relationship: StoredRelationship, _ details: SchemaDocument.PropertyDetails) {
        add("inverse", relationship.inverse)
        if relationship.deleteRule != .nullify { add("deleteRule", SchemaWords.word(for: relationship.deleteRule)) }
        if let count = relationship.minimumCount { add("minimumCount", raw: "\(count)") }
        if let count = relationship.maximumCount { add("maximumCount", raw: "\(count)") }
        if relationship.isUnique { add("unique", raw: "true") }
        add("hashModifier", details.hashModifier)
        if let isKeptHere = details.isKeptHere { add("keptHere", raw: "\(isKeptHere)") }
        if details.isOrdered { add("ordered", raw: "true") }
    }
}

/// The words of Adapters/SCHEMA.md, which files of the JSON store use too.
package enum SchemaWords {
    package static let options: [(option: StoredAttribute.Options, word: String)] = [
        (.unique, "unique"), (.externalStorage, "externalStorage"),
        (.preserveValueOnDeletion, "preserveValueOnDeletion"), (.ephemeral, "ephemeral"), (.spotlight, "spotlight"),
        (.allowsCloudEncryption, "allowsCloudEncryption"), (.transformable, "transformable"),
    ]

    package static func word(for rule: Schema.Relationship.DeleteRule) -> String { rule.rawValue }
}
