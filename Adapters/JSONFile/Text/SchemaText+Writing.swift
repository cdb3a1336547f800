import MortiseCore
import MortiseEngine

/// The text of a schema, both ways.
enum SchemaText {}

extension SchemaText {
    /// How many arrays and objects are open around the default value of an attribute.
    static let defaultDepth = 6

    /// Appends the schema as the value of a member of the document. Whatever has its default is left out.
    /// - Throws: `StoredSchemaFault` for what the format has no words for, or what the sink throws.
    static func write(_ schema: StoredSchema, to writer: inout JSONWriter) throws {
        let version = schema.version
        try writer.punctuation("{\n    \"version\": ")
        try writer.string("\(version.major).\(version.minor).\(version.patch)")
        try writer.punctuation(",\n    \"entities\": [")
        var budget = TreeBudget()
        for (index, entity) in schema.entities.enumerated() {
            if index > 0 { try writer.punctuation(",") }
            try write(entity, budget: &budget, to: &writer)
        }
        if !schema.entities.isEmpty { try writer.punctuation("\n    ") }
        try writer.punctuation("]\n  }")
    }

    private static func write(_ entity: StoredEntity, budget: inout TreeBudget, to writer: inout JSONWriter) throws {
        try writer.punctuation("\n      {\n        \"name\": ")
        try writer.string(entity.name)
        if entity.isRenamed {
            try writer.punctuation(",\n        \"originalName\": ")
            try writer.string(entity.originalName)
        }
        if !entity.formerNames.isEmpty {
            try writer.punctuation(",\n        \"formerNames\": ")
            try list(entity.formerNames, to: &writer) { try $1.string($0) }
        }
        if let superentity = entity.superentity {
            try writer.punctuation(",\n        \"superentity\": ")
            try writer.string(superentity)
        }
        try writer.punctuation(",\n        \"properties\": [")
        for (index, property) in entity.properties.enumerated() {
            try writer.punctuation(index > 0 ? ",\n          " : "\n          ")
            try write(property, of: entity.name, budget: &budget, to: &writer)
        }
        try writer.punctuation(entity.properties.isEmpty ? "]" : "\n        ]")
        if !entity.uniquenessConstraints.isEmpty {
            try writer.punctuation(",\n        \"unique\": ")
            try list(entity.uniquenessConstraints, to: &writer) { try list($0, to: &$1) { try $1.string($0) } }
        }
        if !entity.indices.isEmpty {
            try writer.punctuation(",\n        \"indices\": ")
            try list(entity.indices, to: &writer) { index, writer in
                try writer.punctuation("{")
                if index.kind != .binary {
                    try writer.punctuation("\"kind\": ")
                    try writer.string(index.kind.rawValue)
                    try writer.punctuation(", ")
                }
                try writer.punctuation("\"properties\": ")
                try list(index.properties, to: &writer) { try $1.string($0) }
                try writer.punctuation("}")
            }
        }
        try writer.punctuation("\n      }")
    }

    private static func list<Element>(
        _ elements: [Element], to writer: inout JSONWriter, write: (Element, inout JSONWriter) throws -> Void
    ) throws {
        try writer.punctuation("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { try writer.punctuation(", ") }
            try write(element, &writer)
        }
        try writer.punctuation("]")
    }
}

// MARK: - Properties

extension SchemaText {
    private static func write(
        _ property: StoredProperty, of entity: String, budget: inout TreeBudget, to writer: inout JSONWriter
    ) throws {
        try writer.punctuation("{\"name\": ")
        try writer.string(property.name)
        switch property.content {
        case .attribute(let attribute):
            try writer.punctuation(", \"kind\": ")
            try writer.string(attribute.kind.rawValue)
            try writeCommon(property, to: &writer)
            try write(attribute, of: entity, property.name, budget: &budget, to: &writer)
        case .relationship(let relationship):
            try writer.punctuation(relationship.isToMany ? ", \"toMany\": " : ", \"toOne\": ")
            try writer.string(relationship.destination)
            try writeCommon(property, to: &writer)
            try write(relationship, to: &writer)
        }
        try writer.punctuation("}")
    }

    private static func writeCommon(_ property: StoredProperty, to writer: inout JSONWriter) throws {
        if property.isOptional { try writer.punctuation(", \"optional\": true") }
        if !property.originalName.utf8.elementsEqual(property.name.utf8) {
            try writer.punctuation(", \"originalName\": ")
            try writer.string(property.originalName)
        }
    }

    private static func write(
        _ attribute: StoredAttribute, of entity: String, _ name: String, budget: inout TreeBudget,
        to writer: inout JSONWriter
    ) throws {
        var rest = attribute.options
        let names = SchemaWords.options.filter { rest.remove($0.option) != nil }.map(\.word)
        guard rest.isEmpty else { throw StoredSchemaFault.unknownOption(entity: entity, property: name) }
        if !names.isEmpty {
            try writer.punctuation(", \"options\": ")
            try list(names, to: &writer) { try $1.string($0) }
        }
        if let value = attribute.defaultValue {
            try writer.punctuation(", \"default\": ")
            if value.isNull {
                try writer.punctuation("null")
            } else {
                do {
                    try AttributeText.write(
                        value, kind: attribute.kind, depth: defaultDepth, budget: &budget, to: &writer)
                } catch is StoreDocumentWriteError.Reason {
                    throw StoredSchemaFault.unsuitableDefault(entity: entity, property: name)
                }
            }
        }
        if let modifier = attribute.hashModifier {
            try writer.punctuation(", \"hashModifier\": ")
            try writer.string(modifier)
        }
    }

    private static func write(_ relationship: StoredRelationship, to writer: inout JSONWriter) throws {
        if let inverse = relationship.inverse {
            try writer.punctuation(", \"inverse\": ")
            try writer.string(inverse)
        }
        if relationship.deleteRule != .nullify {
            try writer.punctuation(", \"deleteRule\": ")
            try writer.string(SchemaWords.word(for: relationship.deleteRule))
        }
        if let count = relationship.minimumCount {
            try writer.punctuation(", \"minimumCount\": ")
            try writer.integer(Int64(count))
        }
        if let count = relationship.maximumCount {
            try writer.punctuation(", \"maximumCount\": ")
            try writer.integer(Int64(count))
        }
        if relationship.isUnique { try writer.punctuation(", \"unique\": true") }
    }
}
