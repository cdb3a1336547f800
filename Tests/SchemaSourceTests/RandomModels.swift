#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport

/// Schemas made at random that models can have: the same from a seed each time.
struct RandomModels {
    private var generator: PackageTestSupport.SeededGenerator
    private var used: Set<String> = []

    init(seed: UInt64) { generator = PackageTestSupport.SeededGenerator(seed: seed) }

    /// The first of the seed's schemas of which there is source.
    static func document(seed: UInt64) throws -> SchemaDocument {
        var models = RandomModels(seed: seed)
        var last: (any Error)?
        for _ in 0..<1_000 {
            let document = models.next()
            do {
                _ = try ModelSource(document)
                return document
            } catch { last = error }
        }
        throw last ?? CancellationError()
    }

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &generator)] }

    private mutating func name() -> String {
        let words = ["name", "in", "größe", "default", "isPublic", "class", "rank", "date", "x", "tags", "_id"]
        while true {
            let name = pick(words) + (generator.chance(3) ? "" : "\(Int.random(in: 0..<30, using: &generator))")
            if used.insert(name).inserted { return name }
        }
    }

    private mutating func next() -> SchemaDocument {
        used = []
        let words = ["Trip", "Guide", "Data", "class", "Stop", "Index", "Größe"].shuffled(using: &generator)
        var entities = words.prefix(Int.random(in: 1...5, using: &generator)).map {
            StoredEntity(name: $0, properties: [])
        }
        for index in entities.indices.dropFirst() where generator.chance(3) {
            entities[index].superentity = entities[Int.random(in: 0..<index, using: &generator)].name
        }
        for index in entities.indices {
            for _ in 0..<Int.random(in: 0...6, using: &generator) { entities[index].properties.append(attribute()) }
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let (from, to) = (
                Int.random(in: 0..<entities.count, using: &generator),
                Int.random(in: 0..<entities.count, using: &generator)
            )
            let (there, back) = (name(), generator.chance(4) ? nil : name())
            let (source, target) = (entities[from].name, entities[to].name)
            entities[from].properties.insert(
                relationship(there, target, back),
                at: Int.random(in: 0...entities[from].properties.count, using: &generator))
            if let back { entities[to].properties.append(relationship(back, source, there)) }
        }
        for place in entities.indices {
            var constraints = entities[place].properties.filter(\.isUniqueByItself).map { [$0.name] }
            let plain = entities[place].properties.filter {
                $0.attribute.map { !$0.options.contains(.ephemeral) } == true
            }.map(\.name)
            if plain.count > 1, generator.chance(2) {
                constraints.append(Array(plain.shuffled(using: &generator).prefix(2)))
            }
            entities[place].uniquenessConstraints = constraints
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !plain.isEmpty {
                let index = StoredIndex(
                    kind: generator.chance(4) ? .rtree : .binary,
                    properties: Array(plain.shuffled(using: &generator).prefix(2)))
                if !entities[place].indices.contains(index) { entities[place].indices.append(index) }
            }
        }
        let version = Schema.Version(
            Int.random(in: 0...3, using: &generator), Int.random(in: 0...12, using: &generator), 0)
        return SchemaDocument(StoredSchema(version: version, entities: entities))
    }

    private mutating func attribute() -> StoredProperty {
        let (kind, value) = pick(Documents.values)
        var options: StoredAttribute.Options = []
        if generator.chance(5) { options.insert(.spotlight) }
        if generator.chance(5) { options.insert(.preserveValueOnDeletion) }
        if generator.chance(6) {
            options.insert(generator.chance(2) ? .ephemeral : .allowsCloudEncryption)
        } else if generator.chance(5), kind == .string || kind == .int64 {
            options.insert(.unique)
        }
        if kind == .data, generator.chance(2) { options.insert(.externalStorage) }
        let name = name()
        return Documents.attribute(
            name, kind, optional: generator.chance(2), originalName: generator.chance(5) ? "old \(name)" : nil,
            default: generator.chance(2) ? value : nil, options: options, modifier: generator.chance(9) ? "2" : nil)
    }

    private mutating func relationship(_ name: String, _ destination: String, _ inverse: String?) -> StoredProperty {
        let isToMany = generator.chance(2)
        return Documents.relationship(
            name, destination, toMany: isToMany, optional: !isToMany && !generator.chance(4),
            originalName: generator.chance(6) ? "old \(name)" : nil, inverse: inverse,
            rule: pick([.nullify, .cascade, .deny, .noAction]), minimum: isToMany && generator.chance(5) ? 1 : nil,
            maximum: isToMany && generator.chance(4) ? 12 : nil, unique: !isToMany && generator.chance(9))
    }
}
#endif
