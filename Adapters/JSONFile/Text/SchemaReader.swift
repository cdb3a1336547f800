import MortiseCore
import MortiseEngine

/// Reads the schema out of a document, and keeps in mind where its parts stand.
struct SchemaReader {
    /// Where each entity and property begins, by entity and by "entity.property".
    private(set) var offsets: [String: Int] = [:]
    private var propertyCount = 0
    private var constrainedCount = 0
    private var budget = TreeBudget()

    /// Reads the value of the member `schema`.
    mutating func read(_ reader: inout JSONReader) throws -> StoredSchema {
        var members = KnownMembers(["version", "entities"], optional: [], at: try start(.object, &reader))
        try reader.beginObject()
        var version = Schema.Version(0, 0, 0)
        var entities: [StoredEntity] = []
        while let key = try members.next(&reader) {
            if key == "version" {
                version = try readVersion(&reader)
            } else {
                try list(&reader) { reader, schema in
                    try Self.check(.entities, entities.count + 1, at: reader.position)
                    entities.append(try schema.readEntity(&reader))
                }
            }
        }
        return StoredSchema(version: version, entities: entities)
    }

    /// The offset of what a fault of the schema is about.
    func offset(of fault: StoredSchemaFault, otherwise: Int) -> Int {
        let (entity, property) = fault.subject
        guard let entity else { return otherwise }
        return property.flatMap { offsets["\(entity).\($0)"] } ?? offsets[entity] ?? otherwise
    }

    private mutating func readVersion(_ reader: inout JSONReader) throws -> Schema.Version {
        let start = try start(.string, &reader)
        let text = try reader.readString()
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2],
            "\(major).\(minor).\(patch)" == text
        else { throw DocumentFault(.invalidWord(text, expected: "three numbers, as in 1.0.0"), at: start) }
        return Schema.Version(major, minor, patch)
    }

    private mutating func readEntity(_ reader: inout JSONReader) throws -> StoredEntity {
        let start = try start(.object, &reader)
        var members = KnownMembers(
            ["name", "properties"], optional: ["originalName", "formerNames", "superentity", "unique", "indices"],
            at: start)
        try reader.beginObject()
        var entity = StoredEntity(name: "", properties: [])
        var originalName: String?
        var places: [(name: String, offset: Int)] = []
        while let key = try members.next(&reader) {
            switch key {
            case "name": entity.name = try readName(&reader)
            case "originalName": originalName = try readName(&reader)
            case "formerNames":
                try list(&reader) { reader, schema in
                    let offset = reader.position
                    entity.formerNames.append(try schema.readName(&reader))
                    if entity.formerNames.count > StoredEntity.mostFormerNames {
                        throw DocumentFault(
                            .invalidWord(
                                entity.formerNames.last ?? "", expected: "\(StoredEntity.mostFormerNames) names"),
                            at: offset)
                    }
                }
            case "superentity": entity.superentity = try readText(&reader)
            case "properties":
                try list(&reader) { reader, schema in
                    try schema.count(\.propertyCount, limit: .propertiesInAll, at: reader.position)
                    let offset = reader.position
                    let property = try schema.readProperty(&reader)
                    places.append((property.name, offset))
                    entity.properties.append(property)
                }
            case "unique":
                try list(&reader) { reader, schema in
                    entity.uniquenessConstraints.append(try schema.readNames(&reader))
                }
            default:
                try list(&reader) { reader, schema in entity.indices.append(try schema.readIndex(&reader)) }
            }
        }
        entity.originalName = originalName ?? entity.name
        offsets[entity.name] = start
        for place in places { offsets["\(entity.name).\(place.name)"] = place.offset }
        return entity
    }

    private mutating func readIndex(_ reader: inout JSONReader) throws -> StoredIndex {
        var members = KnownMembers(["properties"], optional: ["kind"], at: try start(.object, &reader))
        try reader.beginObject()
        var index = StoredIndex(properties: [])
        while let key = try members.next(&reader) {
            if key == "kind" {
                index.kind = try readWord(&reader, expected: "binary or rtree") { StoredIndex.Kind(rawValue: $0) }
            } else {
                index.properties = try readNames(&reader)
            }
        }
        return index
    }

    private mutating func readNames(_ reader: inout JSONReader) throws -> [String] {
        try count(\.constrainedCount, limit: .constrainedPropertiesInAll, at: reader.position)
        var names: [String] = []
        try list(&reader) { reader, schema in
            try schema.count(\.constrainedCount, limit: .constrainedPropertiesInAll, at: reader.position)
            names.append(try schema.readText(&reader))
        }
        return names
    }

    private mutating func count(
        _ counter: WritableKeyPath<SchemaReader, Int>, limit: StoredSchemaLimit, at offset: Int
    ) throws {
        self[keyPath: counter] += 1
        try Self.check(limit, self[keyPath: counter], at: offset)
    }

    /// Looked at while the schema is read, so that no more of it is taken in.
    static func check(_ limit: StoredSchemaLimit, _ count: Int, at offset: Int) throws {
        do throws(StoredSchemaFault) {
            try StoredSchemaLimits.document.check(limit, count)
        } catch {
            throw DocumentFault(.invalidSchema(error), at: offset)
        }
    }
}

// MARK: - Properties

extension SchemaReader {
    private static let attributeKeys: Set = ["kind", "options", "default", "hashModifier"]
    private static let relationshipKeys: Set = [
        "toOne", "toMany", "inverse", "deleteRule", "minimumCount", "maximumCount", "unique",
    ]

    private mutating func readProperty(_ reader: inout JSONReader) throws -> StoredProperty {
        let start = try start(.object, &reader)
        var members = KnownMembers(
            ["name"], optional: ["optional", "originalName"] + Self.attributeKeys + Self.relationshipKeys, at: start)
        try reader.beginObject()
        var name = ""
        var originalName: String?
        var isOptional = false
        var attribute: StoredAttribute?
        var relationship: StoredRelationship?
        while let key = try members.next(&reader) {
            let keyOffset = reader.keyOffset
            switch key {
            case "name": name = try readName(&reader)
            case "originalName": originalName = try readText(&reader)
            case "optional": isOptional = try readTruth(&reader)
            case "kind":
                guard attribute == nil, relationship == nil else {
                    throw DocumentFault(.unknownMember(key), at: keyOffset)
                }
                let kind = try readWord(&reader, expected: "a kind of value, as in FORMAT.md") {
                    StorageKind(rawValue: $0)
                }
                attribute = StoredAttribute(kind: kind)
            case "toOne", "toMany":
                guard attribute == nil, relationship == nil else {
                    throw DocumentFault(.unknownMember(key), at: keyOffset)
                }
                relationship = StoredRelationship(destination: try readText(&reader), isToMany: key == "toMany")
            default:
                if attribute != nil, Self.attributeKeys.contains(key) {
                    try readMember(key, of: &attribute, &reader)
                } else if relationship != nil, Self.relationshipKeys.contains(key) {
                    try readMember(key, of: &relationship, &reader)
                } else {
                    throw DocumentFault(.unknownMember(key), at: keyOffset)
                }
            }
        }
        let content: StoredProperty.Content? =
            attribute.map { .attribute($0) } ?? relationship.map { .relationship($0) }
        guard let content else { throw DocumentFault(.missingMember("kind"), at: start) }
        return StoredProperty(name: name, originalName: originalName, isOptional: isOptional, content: content)
    }

    private mutating func readMember(
        _ key: String, of attribute: inout StoredAttribute?, _ reader: inout JSONReader
    ) throws {
        switch key {
        case "options":
            try list(&reader) { reader, schema in
                let option = try schema.readWord(&reader, expected: "an option, as in FORMAT.md") { word in
                    SchemaWords.options.first { $0.word == word }?.option
                }
                attribute?.options.insert(option)
            }
        case "default":
            if try reader.readNullIfPresent() {
                attribute?.defaultValue = .some(.null)
            } else if let kind = attribute?.kind {
                attribute?.defaultValue = try AttributeText.read(kind, from: &reader, budget: &budget)
            }
        default: attribute?.hashModifier = try readText(&reader)
        }
    }

    private mutating func readMember(
        _ key: String, of relationship: inout StoredRelationship?, _ reader: inout JSONReader
    ) throws {
        switch key {
        case "inverse": relationship?.inverse = try readText(&reader)
        case "deleteRule":
            let rules = Schema.Relationship.DeleteRule.all
            relationship?.deleteRule = try readWord(&reader, expected: "noAction, nullify, cascade or deny") { word in
                rules.first { SchemaWords.word(for: $0) == word }
            }
        case "minimumCount": relationship?.minimumCount = try readCount(&reader)
        case "maximumCount": relationship?.maximumCount = try readCount(&reader)
        default: relationship?.isUnique = try readTruth(&reader)
        }
    }
}

extension StoredSchemaFault {
    /// The entity and property that the fault is about.
    var subject: (entity: String?, property: String?) {
        switch self {
        case .duplicateEntity(let entity), .unknownSuperentity(let entity, _), .inheritanceCycle(let entity):
            (entity, nil)
        case .duplicateProperty(let entity, let property), .reservedName(let entity, let property),
            .unknownDestination(let entity, let property, _), .unknownInverse(let entity, let property, _),
            .unknownConstrainedProperty(let entity, let property), .unsuitableDefault(let entity, let property),
            .unknownOption(let entity, let property):
            (entity, property)
        case .limitExceeded: (nil, nil)
        }
    }
}
