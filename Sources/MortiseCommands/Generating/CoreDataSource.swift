#if Tool
import Foundation
public import MortiseCore

/// Swift source that builds the model of a schema for Core Data, where that can be imported.
///
/// Names of entities and properties are texts there, so that every schema has such a source. The same schema always gives the same
/// text.
public struct CoreDataSource: Sendable {
    /// A file with an enum that has the function `makeModel()`.
    public let text: String
    /// What the schema has and the model does not, a line each. The text has them as comments.
    public let leftOut: [String]

    /// Makes the source.
    /// - Parameters:
    ///   - document: the schema.
    ///   - name: the enum's name.
    /// - Throws: `ModelSourceError` for a name that Swift does not allow; `SchemaDocumentError` for a schema whose parts do not fit together.
    public init(_ document: SchemaDocument, name: String = "StoreModel") throws {
        _ = try SchemaDocument(reading: Array(document.text().utf8))
        guard SwiftName.isIdentifier(name), !SwiftName.isKeyword(name), !ReservedSwiftNames.used.contains(name),
            !name.hasPrefix("NS")
        else {
            throw ModelSourceError(faults: ["\(name.shown()) is no name for an enum; give another one"])
        }
        var writer = Writer(document)
        let body = writer.lines()
        leftOut = writer.leftOut
        let heading = [
            "Made by mortise schema coredata of version \(document.schema.version), storage \(document.storageDigest)."
        ]
        var lines = heading.map { "// " + $0 } + ["// swift-format-ignore-file", ""]
        lines += ["#if canImport(CoreData)", "import CoreData", "", "enum \(name) {"]
        lines += leftOut.flatMap { SwiftName.comment("Not here: \($0)", "//") }.map { "    " + $0 }
        lines += body.map { $0.isEmpty ? $0 : "    " + $0 } + ["}", "#endif"]
        text = lines.joined(separator: "\n") + "\n"
    }
}

private struct Writer {
    private let document: SchemaDocument
    private let literal = SwiftLiteral(type: { $0 })
    private(set) var leftOut: [String] = []

    init(_ document: SchemaDocument) { self.document = document }

    mutating func lines() -> [String] {
        let entities = document.schema.entities
        let names = entities.map { SwiftName.literal($0.name) }
        var lines = [
            "/// A new model with all entities.", "static func makeModel() -> NSManagedObjectModel {",
            "    var entities: [String: NSEntityDescription] = [:]",
            "    for name in [\(names.joined(separator: ", "))] as [String] {",
            "        let entity = NSEntityDescription()", "        entity.name = name",
            "        entity.managedObjectClassName = \"NSManagedObject\"", "        entities[name] = entity", "    }",
        ]
        for number in entities.indices { lines.append("    describe\(number)(entities)") }
        for entity in entities {
            for property in entity.properties {
                guard let relationship = property.relationship, let inverse = relationship.inverse else { continue }
                lines.append(
                    "    link(entities, \(SwiftName.literal(entity.name)), \(SwiftName.literal(property.name)), "
                        + "\(SwiftName.literal(relationship.destination)), \(SwiftName.literal(inverse)))")
            }
        }
        lines += [
            "    let model = NSManagedObjectModel()",
            "    model.entities = entities.values.sorted { ($0.name ?? \"\") < ($1.name ?? \"\") }",
            "    model.versionIdentifiers = [\"\(document.schema.version)\"]", "    return model", "}",
        ]
        for (number, entity) in entities.enumerated() { lines += [""] + self.lines(of: entity, number) }
        return lines + [""] + Self.helpers
    }

    private mutating func leave(_ what: String) { if !leftOut.contains(what) { leftOut.append(what) } }

    private mutating func lines(of entity: StoredEntity, _ number: Int) -> [String] {
        let name = SwiftName.literal(entity.name)
        var lines = [
            "private static func describe\(number)(_ entities: [String: NSEntityDescription]) {",
            "    guard let entity = entities[\(name)] else { return }",
        ]
        if let parent = entity.superentity {
            lines.append(
                "    if let parent = entities[\(SwiftName.literal(parent))] { parent.subentities.append(entity) }")
        }
        if entity.isRenamed {
            lines.append("    entity.renamingIdentifier = \(SwiftName.literal(entity.originalName))")
        }
        if let details = document.details[entity.name] {
            if details.isAbstract { lines.append("    entity.isAbstract = true") }
            if let modifier = details.hashModifier {
                lines.append("    entity.versionHashModifier = \(SwiftName.literal(modifier))")
            }
            if !details.formerNames.isEmpty { leave("the former names of \(entity.name)") }
            if !details.reserved.isEmpty { leave("the reserved names of \(entity.name)") }
        }
        for property in entity.properties {
            switch property.content {
            case .attribute(let attribute):
                lines += self.lines(of: property, attribute, entity.name).map { "    " + $0 }
            case .relationship(let relationship):
                lines += self.lines(of: property, relationship, entity.name).map { "    " + $0 }
            }
        }
        let constraints = entity.uniquenessConstraints.filter { !$0.isEmpty }.map(Self.list)
        if !constraints.isEmpty {
            lines.append("    entity.uniquenessConstraints = [\(constraints.joined(separator: ", "))] as [[String]]")
        }
        for (place, index) in entity.indices.enumerated() where !index.properties.isEmpty {
            lines.append(
                "    addIndex(entity, \"index\(place)\", \(Self.list(index.properties)), .\(index.kind == .binary ? "binary" : "rTree"))"
            )
        }
        // What is not used would be a warning.
        return lines.count == 2
            ? ["private static func describe\(number)(_: [String: NSEntityDescription]) {}"] : lines + ["}"]
    }

    private static func list(_ names: [String]) -> String {
        "[" + names.map(SwiftName.literal).joined(separator: ", ") + "]"
    }

    private mutating func lines(of property: StoredProperty, _ attribute: StoredAttribute, _ entity: String) -> [String]
    {
        let details = document.details(of: property.name, in: entity)
        let owner = "\(entity).\(property.name)"
        let isTransformable = attribute.options.contains(.transformable)
        let type = isTransformable ? "transformable" : type(of: attribute.kind, owner)
        var lines = [
            "do {", "    let property = NSAttributeDescription()", "    property.attributeType = .\(type)AttributeType",
        ]
        lines += common(property, attribute.hashModifier)
        let options: [(StoredAttribute.Options, String)] = [
            (.ephemeral, "isTransient"), (.externalStorage, "allowsExternalBinaryDataStorage"),
            (.preserveValueOnDeletion, "preservesValueInHistoryOnDeletion"), (.spotlight, "isIndexedBySpotlight"),
            (.allowsCloudEncryption, "allowsCloudEncryption"),
        ]
        for (option, name) in options where attribute.options.contains(option) {
            lines.append("    property.\(name) = true")
        }
        if isTransformable, let transformer = details.transformer {
            lines.append("    property.valueTransformerName = \(SwiftName.literal(transformer))")
        }
        if let value = attribute.defaultValue, !value.isNull {
            if isTransformable || attribute.kind == .coded {
                leave("the default of \(owner)")
            } else if let text = defaultValue(value, attribute.kind) {
                lines.append("    property.defaultValue = \(text)")
            } else {
                leave("the default of \(owner)")
            }
        }
        if attribute.options.contains(.unique) { leave("the option unique of \(owner), besides its constraint") }
        if !details.members.isEmpty { leave("the members of \(owner)") }
        if !details.allowedValues.isEmpty { leave("the allowed values of \(owner)") }
        return lines + ["    entity.properties.append(property)", "}"]
    }

    private func common(_ property: StoredProperty, _ modifier: String?) -> [String] {
        var lines = ["    property.name = \(SwiftName.literal(property.name))"]
        if property.originalName != property.name {
            lines.append("    property.renamingIdentifier = \(SwiftName.literal(property.originalName))")
        }
        if let modifier { lines.append("    property.versionHashModifier = \(SwiftName.literal(modifier))") }
        return lines
            + (property.relationship?.isToMany == true ? [] : ["    property.isOptional = \(property.isOptional)"])
    }

    private mutating func type(of kind: StorageKind, _ owner: String) -> String {
        let (name, isSame): (String, Bool) =
            switch kind {
            case .bool: ("boolean", true)
            case .int8: ("integer16", false)
            case .int16: ("integer16", true)
            case .int32: ("integer32", true)
            case .int64: ("integer64", true)
            case .uint8: ("integer16", false)
            case .uint16: ("integer32", false)
            case .uint32: ("integer64", false)
            case .uint64: ("decimal", false)
            case .float: ("float", true)
            case .double: ("double", true)
            case .decimal: ("decimal", true)
            case .string: ("string", true)
            case .data: ("binaryData", true)
            case .date: ("date", true)
            case .uuid: ("UUID", true)
            case .url: ("URI", true)
            case .coded: ("binaryData", false)
            }
        if !isSame { leave("the kind \(kind.rawValue) of \(owner), which is \(name)") }
        return name
    }

    private func defaultValue(_ value: StoredValue, _ kind: StorageKind) -> String? {
        switch value {
        case .unsigned(let number): return "NSDecimalNumber(string: \"\(number)\")"
        case .decimal(let number):
            return number.isNaN ? nil : "NSDecimalNumber(string: \(SwiftName.literal(number.description)))"
        case .url(let url) where url.baseURL != nil: return nil
        case .float, .double:
            // The type of a literal is not that of the attribute.
            return literal.expression(value, kind: kind).map {
                "NSNumber(value: \($0) as \(kind == .float ? "Float" : "Double"))"
            }
        default: return literal.expression(value, kind: kind)
        }
    }

    private mutating func lines(
        of property: StoredProperty, _ relationship: StoredRelationship, _ entity: String
    ) -> [String] {
        let details = document.details(of: property.name, in: entity)
        var lines = ["do {", "    let property = NSRelationshipDescription()"] + common(property, details.hashModifier)
        lines.append("    property.destinationEntity = entities[\(SwiftName.literal(relationship.destination))]")
        lines.append("    property.deleteRule = .\(relationship.deleteRule.rawValue)DeleteRule")
        if relationship.isToMany {
            let least = max(0, relationship.minimumCount ?? 0)
            lines.append("    property.isOptional = \(least == 0)")
            lines.append("    property.minCount = \(least)")
            lines.append("    property.maxCount = \(max(0, relationship.maximumCount ?? 0))")
        } else {
            lines.append("    property.minCount = \(property.isOptional ? 0 : 1)")
            lines.append("    property.maxCount = 1")
        }
        if details.isOrdered { lines.append("    property.isOrdered = true") }
        if relationship.isUnique { leave("the option unique of \(entity).\(property.name), besides its constraint") }
        return lines + ["    entity.properties.append(property)", "}"]
    }

    private static let helpers = [
        "private static func link(",
        "    _ entities: [String: NSEntityDescription], _ entity: String, _ property: String, _ destination: String, _ inverse: String",
        ") {", "    let back = entities[destination]?.relationshipsByName[inverse]",
        "    entities[entity]?.relationshipsByName[property]?.inverseRelationship = back", "}", "",
        "private static func addIndex(",
        "    _ entity: NSEntityDescription, _ name: String, _ properties: [String], _ type: NSFetchIndexElementType",
        ") {",
        "    let elements = properties.compactMap { name in",
        "        entity.propertiesByName[name].map { NSFetchIndexElementDescription(property: $0, collationType: type) }",
        "    }",
        "    entity.indexes.append(NSFetchIndexDescription(name: name, elements: elements))", "}",
    ]
}
#endif
