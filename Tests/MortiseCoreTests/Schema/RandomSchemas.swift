import MortiseCore
import PackageTestSupport

/// Schemas made at random, and others that differ from them in a few places.
struct RandomSchemas {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &generator)] }

    /// Entities of which each inherits from one before it at times, with properties of all sorts and right inverses.
    mutating func schema() -> StoredSchema {
        var entities = (0..<Int.random(in: 1...4, using: &generator)).map { index in
            StoredEntity(name: "E\(index)", properties: [])
        }
        for index in entities.indices.dropFirst() where generator.chance(4) {
            entities[index].superentity = "E\(Int.random(in: 0..<index, using: &generator))"
        }
        for index in entities.indices {
            for number in 0..<Int.random(in: 0...4, using: &generator) {
                entities[index].properties.append(attribute("a\(index)\(number)"))
            }
        }
        for number in 0..<Int.random(in: 0...3, using: &generator) {
            let (from, to) = (
                Int.random(in: 0..<entities.count, using: &generator),
                Int.random(in: 0..<entities.count, using: &generator)
            )
            let hasInverse = from != to && generator.chance(2)
            entities[from].properties.append(
                relationship("r\(number)", "E\(to)", inverse: hasInverse ? "s\(number)" : nil))
            if hasInverse {
                entities[to].properties.append(relationship("s\(number)", "E\(from)", inverse: "r\(number)"))
            }
        }
        var schema = StoredSchema(entities: entities)
        for index in schema.entities.indices where generator.chance(2) {
            guard let name = schema.entities[index].properties.randomElement(using: &generator)?.name else { continue }
            schema.entities[index].indices = [StoredIndex(properties: [name])]
            if generator.chance(2), schema.entities[index].properties.first?.attribute != nil {
                schema.entities[index].uniquenessConstraints = [[schema.entities[index].properties[0].name]]
            }
        }
        return schema
    }

    private mutating func attribute(_ name: String) -> StoredProperty {
        let kind = pick([StorageKind.string, .int64, .int32, .double])
        let value: StoredValue? =
            generator.chance(3) ? (kind == .string ? .string("") : kind == .double ? .double(0) : .integer(0)) : nil
        return SchemaDocuments.attribute(
            name, kind, optional: generator.chance(2), default: value,
            options: generator.chance(6) ? .ephemeral : generator.chance(6) ? .spotlight : [])
    }

    private mutating func relationship(_ name: String, _ destination: String, inverse: String?) -> StoredProperty {
        let isToMany = generator.chance(2)
        return SchemaDocuments.relationship(
            name, destination, toMany: isToMany, optional: !isToMany && generator.chance(2), inverse: inverse,
            rule: pick([.nullify, .cascade]))
    }

    /// The schema with one to three changes that leave it one whose parts fit together.
    mutating func changed(_ schema: StoredSchema) -> StoredSchema {
        var schema = schema
        for _ in 0..<Int.random(in: 1...3, using: &generator) { change(&schema) }
        return schema
    }

    private mutating func change(_ schema: inout StoredSchema) {
        let index = Int.random(in: 0..<schema.entities.count, using: &generator)
        let count = schema.entities[index].properties.count
        let place = count == 0 ? nil : Int.random(in: 0..<count, using: &generator)
        switch Int.random(in: 0..<16, using: &generator) {
        case 13: renameEntity(index, in: &schema)
        case 14: schema.entities[index].superentity = nil
        case 15:
            let ancestor = schema.entities[Int.random(in: 0..<schema.entities.count, using: &generator)].name
            guard !schema.subtree(of: schema.entities[index].name).contains(ancestor) else { return }
            schema.entities[index].superentity = ancestor
        case 0:
            schema.entities[index].properties.append(
                attribute("n\(index)\(Int.random(in: 0..<100_000, using: &generator))"))
        case 1:
            schema.version = Schema.Version(2, 0, 0)
        case 2:
            guard let place, schema.entities[index].properties[place].attribute != nil else { return }
            let name = schema.entities[index].properties[place].name
            guard
                !(schema.entities[index].uniquenessConstraints.joined()
                    + schema.entities[index].indices.flatMap(\.properties))
                    .contains(name)
            else { return }
            schema.entities[index].properties.remove(at: place)
        case 3:
            guard let place, schema.entities[index].properties[place].attribute != nil else { return }
            let before = schema.entities[index].properties[place]
            schema.entities[index].properties[place] = attribute(before.name)
        case 4:
            guard let place else { return }
            schema.entities[index].properties[place].isOptional.toggle()
        case 5:
            guard let place, schema.entities[index].properties[place].attribute != nil else { return }
            let (old, new) = (schema.entities[index].properties[place].name, "m\(index)\(place)")
            if schema.entities[index].properties.contains(where: { $0.name == new }) { return }
            schema.entities[index].properties[place].name = new
            schema.entities[index].properties[place].originalName = old
            let renamed = { (names: [String]) in names.map { $0 == old ? new : $0 } }
            schema.entities[index].uniquenessConstraints = schema.entities[index].uniquenessConstraints.map(renamed)
            schema.entities[index].indices = schema.entities[index].indices.map {
                StoredIndex(kind: $0.kind, properties: renamed($0.properties))
            }
        case 6:
            guard let place, case .relationship(var relationship) = schema.entities[index].properties[place].content
            else { return }
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where relationship.inverse == nil: relationship.isToMany.toggle()
            case 1: relationship.deleteRule = .deny
            case 2 where relationship.inverse == nil: relationship.destination = schema.entities[0].name
            default: relationship.maximumCount = 7
            }
            schema.entities[index].properties[place].content = .relationship(relationship)
        case 7, 8:
            if let place { rename(place, of: index, in: &schema) }
        case 9, 10:
            if let place { part(place, of: index, in: &schema) }
        case 11: schema.entities[index].properties.shuffle(using: &generator)
        default:
            if let place {
                schema.entities[index].indices.append(
                    StoredIndex(properties: [schema.entities[index].properties[place].name]))
            }
        }
    }

    /// Gives an entity another name, which keeps its place, or two entities each other's.
    private mutating func renameEntity(_ index: Int, in schema: inout StoredSchema) {
        let name = schema.entities[index].name
        var names = [name: name + pick(["a", "b"])]
        let other = schema.entities[Int.random(in: 0..<schema.entities.count, using: &generator)].name
        if other != name, generator.chance(3) { names = [name: other, other: name] }
        guard schema.entities.allSatisfy({ !$0.isRenamed }),
            names.values.allSatisfy({ names[$0] != nil || schema.entity(named: $0) == nil })
        else { return }
        let isDeclared = !generator.chance(4)
        schema = schema.renamingEntities(names)
        for (old, new) in names where isDeclared {
            guard let place = schema.entities.firstIndex(where: { $0.name == new }) else { continue }
            schema.entities[place].originalName = old
        }
    }

    /// Gives a relationship another name, which may be what decides on the side that keeps the links.
    private mutating func rename(_ place: Int, of index: Int, in schema: inout StoredSchema) {
        let property = schema.entities[index].properties[place]
        guard let relationship = property.relationship, property.originalName == property.name else { return }
        let name = pick(["a", "z"]) + property.name
        schema.entities[index].properties[place].name = name
        let isRenamed = generator.chance(4)
        schema.entities[index].properties[place].originalName = isRenamed ? name : property.name
        schema.entities[index].indices = schema.entities[index].indices.map {
            StoredIndex(kind: $0.kind, properties: $0.properties.map { $0 == property.name ? name : $0 })
        }
        guard let inverse = relationship.inverse else { return }
        change(inverse, of: relationship.destination, in: &schema) { $0.inverse = name }
    }

    /// Makes two sides of a relationship two relationships.
    private func part(_ place: Int, of index: Int, in schema: inout StoredSchema) {
        guard case .relationship(var relationship) = schema.entities[index].properties[place].content,
            let inverse = relationship.inverse
        else { return }
        change(inverse, of: relationship.destination, in: &schema) { $0.inverse = nil }
        relationship.inverse = nil
        schema.entities[index].properties[place].content = .relationship(relationship)
    }

    private func change(
        _ property: String, of entity: String, in schema: inout StoredSchema, _ body: (inout StoredRelationship) -> Void
    ) {
        guard let index = schema.entities.firstIndex(where: { $0.name == entity }),
            let place = schema.entities[index].properties.firstIndex(where: { $0.name == property }),
            case .relationship(var relationship) = schema.entities[index].properties[place].content
        else { return }
        body(&relationship)
        schema.entities[index].properties[place].content = .relationship(relationship)
    }
}
