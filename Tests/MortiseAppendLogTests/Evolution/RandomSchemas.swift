import MortiseCore
import PackageTestSupport

/// A schema with, for each of its properties, the property of the schema before from which it comes. The generator says so
/// because it made the change, not because it has read the names.
struct GrownSchema {
    var schema: StoredSchema
    /// By entity and property; nil for new ones.
    var origins: [String: [String: String]] = [:]

    var layouts: [String: RecordLayout] { schema.recordLayouts() }
}

/// Makes schemas and changes them at random: properties are added, dropped, renamed and swapped, entities added and dropped.
struct SchemaGenerator {
    var random: TestGenerator
    private var names = 0

    init(seed: UInt64) { random = TestGenerator(seed: seed) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func newName(_ letter: String) -> String {
        names += 1
        return "\(letter)\(names)"
    }

    mutating func schema() -> StoredSchema {
        let entities = (0..<number(1..<4)).map { _ in newName("E") }
        return StoredSchema(
            version: Schema.Version(number(1..<4), number(0..<3), 0),
            entities: entities.map { name in
                let count = number(1..<6)
                return StoredEntity(
                    name: name, properties: (0..<count).map { _ in property(newName("p"), leadingTo: entities) })
            })
    }

    private mutating func property(_ name: String, leadingTo entities: [String]) -> StoredProperty {
        let target = entities[number(0..<entities.count)]
        switch number(0..<8) {
        case 0...1:
            return StoredProperty(
                name: name, isOptional: false,
                content: .attribute(StoredAttribute(kind: .int64, defaultValue: .integer(Int64(number(-3..<0))))))
        case 2: return StoredProperty(name: name, isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
        case 3...4:
            return StoredProperty(name: name, isOptional: true, content: .attribute(StoredAttribute(kind: .string)))
        case 5:
            return StoredProperty(
                name: name, isOptional: true,
                content: .attribute(StoredAttribute(kind: .data, options: .externalStorage)))
        case 6:
            return StoredProperty(
                name: name, isOptional: true,
                content: .relationship(StoredRelationship(destination: target, isToMany: false)))
        default:
            return StoredProperty(
                name: name, isOptional: false,
                content: .relationship(StoredRelationship(destination: target, isToMany: true)))
        }
    }

    /// Another version of a schema.
    mutating func change(_ old: StoredSchema) -> GrownSchema {
        var entities: [StoredEntity] = []
        var origins: [String: [String: String]] = [:]
        for entity in old.entities where !random.chance(4) { entities.append(entity) }
        if entities.isEmpty || random.chance(4) { entities.append(StoredEntity(name: newName("E"), properties: [])) }
        let kept = Set(entities.map(\.name))
        for index in entities.indices {
            let name = entities[index].name
            var properties: [StoredProperty] = []
            var from: [String: String] = [:]
            for property in entities[index].properties {
                // A relationship to what is gone goes with it.
                if let target = property.relationship?.destination, !kept.contains(target) { continue }
                if random.chance(5) { continue }
                var next = property
                next.originalName = next.name
                if random.chance(4) {
                    next.name = newName("p")
                } else if random.chance(2) {
                    // A rename that was done before stays in the source.
                    next.originalName = property.originalName
                }
                from[next.name] = property.name
                properties.append(next)
            }
            swap(&properties, &from, of: old.entities.first { $0.name == name })
            if properties.isEmpty || random.chance(3) {
                properties.append(property(newName("p"), leadingTo: entities.map(\.name)))
            }
            properties.shuffle(using: &random)
            entities[index].properties = properties
            origins[name] = from
        }
        let step = number(-1..<3)
        let version = Schema.Version(
            max(0, old.version.major + (step == 2 ? 0 : step)), old.version.minor, old.version.patch)
        return GrownSchema(schema: StoredSchema(version: version, entities: entities), origins: origins)
    }

    /// Exchanges the names of two properties that kept theirs. Names that were exchanged before cannot be exchanged back:
    /// that schema says the same as the one in between.
    private mutating func swap(
        _ properties: inout [StoredProperty], _ origins: inout [String: String], of old: StoredEntity?
    ) {
        let places = properties.indices.filter { origins[properties[$0].name] == properties[$0].name }
        guard places.count >= 2, random.chance(2) else { return }
        let (a, b) = (places[0], places[1 + number(0..<(places.count - 1))])
        let (first, second) = (properties[a].name, properties[b].name)
        let isDone = old?.properties.contains {
            ($0.name, $0.originalName) == (first, second) || ($0.name, $0.originalName) == (second, first)
        }
        if isDone == true { return }
        (properties[a].name, properties[a].originalName) = (second, first)
        (properties[b].name, properties[b].originalName) = (first, second)
        (origins[second], origins[first]) = (first, second)
    }
}
