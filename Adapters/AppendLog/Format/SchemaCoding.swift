import MortiseCore
import MortiseEngine

extension ByteWriter {
    /// The schema's payload.
    mutating func schema(_ schema: StoredSchema, store: String) throws(LogFault) {
        // Default values hold no references. That of this very schema would be laid out before anything was checked.
        let catalog = LogCatalog(StoredSchema(entities: []), store: store)
        varint(UInt64(clamping: schema.version.major))
        varint(UInt64(clamping: schema.version.minor))
        varint(UInt64(clamping: schema.version.patch))
        varint(schema.entities.count)
        for entity in schema.entities {
            text(entity.name)
            byte(
                (entity.superentity == nil ? 0 : 1) | (entity.isRenamed ? 2 : 0) | (entity.formerNames.isEmpty ? 0 : 4))
            if let superentity = entity.superentity { text(superentity) }
            if entity.isRenamed { text(entity.originalName) }
            if !entity.formerNames.isEmpty { texts(entity.formerNames) }
            varint(entity.properties.count)
            for property in entity.properties {
                do throws(UnwritableValue) {
                    try self.property(property, catalog)
                } catch {
                    throw .unwritableDefault(entity: entity.name, property: property.name)
                }
            }
            varint(entity.uniquenessConstraints.count)
            for names in entity.uniquenessConstraints { texts(names) }
            varint(entity.indices.count)
            for index in entity.indices {
                byte(index.kind == .rtree ? 1 : 0)
                texts(index.properties)
            }
        }
    }

    private mutating func texts(_ values: [String]) {
        varint(values.count)
        for value in values { text(value) }
    }

    private mutating func property(_ property: StoredProperty, _ catalog: LogCatalog) throws(UnwritableValue) {
        text(property.name)
        text(property.originalName)
        byte((property.isOptional ? 1 : 0) | (property.relationship == nil ? 0 : 2))
        switch property.content {
        case .attribute(let attribute):
            text(attribute.kind.rawValue)
            varint(UInt64(attribute.options.rawValue))
            byte(attribute.defaultValue == nil ? 0 : 1)
            if let value = attribute.defaultValue { try self.value(value, catalog) }
            optionalText(attribute.hashModifier)
        case .relationship(let relationship):
            text(relationship.destination)
            byte((relationship.isToMany ? 1 : 0) | (relationship.isUnique ? 2 : 0))
            optionalText(relationship.inverse)
            text(relationship.deleteRule.rawValue)
            for count in [relationship.minimumCount, relationship.maximumCount] {
                byte(count == nil ? 0 : 1)
                if let count { zigzag(Int64(count)) }
            }
        }
    }
}

extension ByteReader {
    /// What the largest schema may have, so that laying out a hostile one costs little.
    static let mostEntities = 4_096
    static let mostProperties = 16_384

    mutating func schema() throws(PayloadFault) -> StoredSchema {
        let version = Schema.Version(try part(), try part(), try part())
        var entities: [StoredEntity] = []
        let count = try number(below: Self.mostEntities + 1, "entity count")
        var properties = 0
        for _ in 0..<count {
            let entity = try self.entity()
            properties += entity.properties.count
            guard properties <= Self.mostProperties else { throw fault("has too many properties") }
            entities.append(entity)
        }
        let schema = StoredSchema(version: version, entities: entities)
        guard schema.entities.map(\.name) == entities.map(\.name) else { throw fault("has entities out of order") }
        do throws(StoredSchemaFault) {
            try schema.check(.log)
        } catch {
            throw fault("has a schema that no store can have. \(error.cause)")
        }
        return schema
    }

    private mutating func part() throws(PayloadFault) -> Int {
        guard let value = Int(exactly: try varint()) else { throw fault("has an invalid version") }
        return value
    }

    private mutating func texts() throws(PayloadFault) -> [String] {
        var values: [String] = []
        for _ in 0..<(try count()) { values.append(try text()) }
        return values
    }

    private mutating func entity() throws(PayloadFault) -> StoredEntity {
        let name = try text()
        let bits = try byte()
        guard bits < 8 else { throw fault("has an entity with unknown bits") }
        let superentity = bits & 1 != 0 ? try text() : nil
        let originalName = bits & 2 != 0 ? try text() : name
        let formerNames = bits & 4 != 0 ? try texts() : []
        guard formerNames.count <= StoredEntity.mostFormerNames else { throw fault("has too many former names") }
        var properties: [StoredProperty] = []
        for _ in 0..<(try count(of: 6)) { properties.append(try property()) }
        var constraints: [[String]] = []
        for _ in 0..<(try count()) { constraints.append(try texts()) }
        var indices: [StoredIndex] = []
        for _ in 0..<(try count(of: 2)) {
            let kind: StoredIndex.Kind = try flag() ? .rtree : .binary
            indices.append(StoredIndex(kind: kind, properties: try texts()))
        }
        var entity = StoredEntity(
            name: name, originalName: originalName, superentity: superentity, properties: properties,
            uniquenessConstraints: constraints, indices: indices)
        entity.formerNames = formerNames
        return entity
    }

    private mutating func property() throws(PayloadFault) -> StoredProperty {
        let name = try text()
        let originalName = try text()
        let bits = try byte()
        guard bits < 4 else { throw fault("has a property with unknown bits") }
        let content: StoredProperty.Content =
            bits & 2 == 0 ? .attribute(try attribute()) : .relationship(try relationship())
        return StoredProperty(name: name, originalName: originalName, isOptional: bits & 1 != 0, content: content)
    }

    private mutating func attribute() throws(PayloadFault) -> StoredAttribute {
        guard let kind = StorageKind(rawValue: try text()) else { throw fault("has an unknown kind of attribute") }
        guard let options = UInt16(exactly: try varint()) else { throw fault("has unknown options") }
        // A reference in a default has no entity to name, and is refused.
        let none = LogCatalog(StoredSchema(entities: []), store: "")
        let value = try flag() ? try self.value(none) : nil
        if let value, !value.fits(kind) { throw fault("has a default value of the wrong kind") }
        return StoredAttribute(
            kind: kind, options: .init(rawValue: options), defaultValue: value, hashModifier: try optionalText())
    }

    private mutating func relationship() throws(PayloadFault) -> StoredRelationship {
        let destination = try text()
        let bits = try byte()
        guard bits < 4 else { throw fault("has a relationship with unknown bits") }
        let inverse = try optionalText()
        guard let rule = Schema.Relationship.DeleteRule(rawValue: try text()) else {
            throw fault("has an unknown delete rule")
        }
        let smallest = try flag() ? Int(try zigzag()) : nil
        let largest = try flag() ? Int(try zigzag()) : nil
        return StoredRelationship(
            destination: destination, isToMany: bits & 1 != 0, inverse: inverse, deleteRule: rule,
            minimumCount: smallest, maximumCount: largest, isUnique: bits & 2 != 0)
    }
}
