import Foundation
@testable import MortiseCore
@testable import MortiseEngine
import PackageTestSupport

/// An engine with an entity for everything that a column can hold, and a plain model of what it should contain.
struct EngineWorld {
    typealias Values = ContiguousArray<StoredValue>

    struct Record {
        var entity: String
        /// By slot; to-many relationships are in `links`.
        var values: Values
    }

    static let kinds: [StorageKind] = StorageKind.allCases
    static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Thing",
            properties: kinds.map { attribute("must_\($0.rawValue)", $0, isOptional: false) }
                + kinds.map { attribute("may_\($0.rawValue)", $0, isOptional: true) }
                + [
                    attribute("code", .string, isOptional: true), attribute("group", .int32, isOptional: true),
                    attribute("passing", .string, isOptional: true, options: .ephemeral),
                    relationship("owner", "Owner", inverse: "things"),
                    relationship("tags", "Tag", isToMany: true, inverse: "things"),
                    relationship("next", "Thing"),
                ],
            uniquenessConstraints: [["code"]],
            indices: [
                StoredIndex(properties: ["must_double"]), StoredIndex(properties: ["may_string"]),
                StoredIndex(properties: ["group", "must_date"]), StoredIndex(properties: ["may_decimal"]),
            ]),
        StoredEntity(
            name: "Special", superentity: "Thing", properties: [attribute("extra", .string, isOptional: true)]),
        StoredEntity(
            name: "Owner",
            properties: [
                attribute("name", .string, isOptional: false),
                relationship("things", "Thing", isToMany: true, inverse: "owner"),
            ]),
        StoredEntity(
            name: "Tag",
            properties: [
                attribute("name", .string, isOptional: false),
                relationship("things", "Thing", isToMany: true, inverse: "tags"),
            ]),
    ])

    static func attribute(
        _ name: String, _ kind: StorageKind, isOptional: Bool, options: StoredAttribute.Options = []
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: isOptional, content: .attribute(StoredAttribute(kind: kind, options: options)))
    }
    static func relationship(
        _ name: String, _ destination: String, isToMany: Bool = false, inverse: String? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: true,
            content: .relationship(
                StoredRelationship(destination: destination, isToMany: isToMany, inverse: inverse)))
    }

    var random: SeededGenerator
    let engine: Engine
    var catalog: Catalog { engine.catalog }
    /// By identifier.
    var records: [PersistentIdentifier: Record] = [:]
    /// Makes the next save one that must fail at its end: two new records with the same unique value.
    var breaksNextSave = false
    /// What new records are of.
    var entities = ["Thing", "Thing", "Special", "Owner", "Tag"]
    /// How many new records of one entity come one after the other.
    var runLength = 1
    /// How far unique and comparable values of new records are from those before them; nil where they are random.
    var step: Int?
    /// The last of those values.
    var last = 500_000_000

    init(seed: UInt64, schema: StoredSchema = Self.schema) {
        random = SeededGenerator(seed: seed)
        engine = Engine(.empty(Catalog(schema: schema, storeIdentifier: "world")))
    }

    /// Goes on with what another engine has, such as one that was made from a file.
    init(_ engine: Engine, _ records: [PersistentIdentifier: Record], seed: UInt64) {
        random = SeededGenerator(seed: seed)
        self.engine = engine
        self.records = records
    }

    private mutating func next() -> Int {
        guard let step else { return Int.random(in: 0...1_000_000_000, using: &random) }
        last += step
        return last
    }

    // MARK: Random values

    mutating func value(_ kind: StorageKind) -> StoredValue {
        func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &random) ?? choices[0] }
        switch kind {
        case .bool: return .bool(.random(using: &random))
        case .uint64: return .unsigned(pick([0, .max, 1 << 63, .random(in: 0...1000, using: &random)]))
        case .float: return .float(pick([0, -0.0, .infinity, .nan, .random(in: -5...5, using: &random)]))
        case .double: return .double(pick([0, -0.0, -.infinity, .nan, .random(in: -5...5, using: &random)]))
        case .decimal:
            return .decimal(
                pick([
                    0, Decimal(string: "-12.5")!, Decimal(string: "99999999999999999999999999999999999999")!, .nan,
                    Decimal(Int.random(in: -1000...1000, using: &random)) / 100,
                ]))
        case .string: return .string(string())
        case .data:
            return .data(
                Data((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }))
        case .date:
            return .date(
                Date(timeIntervalSinceReferenceDate: pick([0, -0.0, 1e9, .nan, .random(in: -9...9, using: &random)])))
        case .uuid:
            return .uuid(UUID(uuid: (random.byte, random.byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, random.byte)))
        case .url: return .url(URL(string: "https://example.com/\(Int.random(in: 0...99, using: &random))")!)
        case .coded:
            return pick([
                .array([.integer(1), .null, .string("x")]), .object(["b": .double(0.5), "a": .array([])]),
                .string(string()),
                .integer(.random(in: 0...9, using: &random)),
            ])
        default:
            let range = kind.integerRange ?? 0...0
            return .integer(pick([range.lowerBound, range.upperBound, 0, 1]))
        }
    }

    /// A value that is `step` from the last one.
    private mutating func ordered(_ kind: StorageKind) -> StoredValue {
        let number = next()
        switch kind {
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .uuid:
            return withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes in
                .uuid(UUID(uuid: (bytes[0], bytes[1], bytes[2], bytes[3], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
            }
        default: return .integer(Int64(number))
        }
    }

    private mutating func string() -> String {
        let pieces = ["", "a", "Z", "é", "e\u{301}", "\u{0}", "\u{1}", "日本", "long piece of text ", "\u{ac00}", "🙂"]
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    mutating func values(of layout: RecordLayout, alive: Targets) -> Values {
        var values: Values = []
        for slot in layout.slots {
            switch slot.role {
            case .attribute:
                let kind = slot.property.attribute?.kind ?? .coded
                if slot.name == "code" {
                    // Two random numbers, because one was the same twice in a run of thousands.
                    values.append(random.chance(3) ? .null : .string("\(next()) \(random.next())"))
                } else if step != nil, kind == .int64 || kind == .date || kind == .uuid {
                    values.append(ordered(kind))
                } else if slot.name == "group" {
                    values.append(.integer(.random(in: 0...3, using: &random)))
                } else {
                    values.append(slot.property.isOptional && random.chance(3) ? .null : value(kind))
                }
            case .toOne:
                let target = alive[slot].randomElement(using: &random)
                values.append(random.chance(3) ? .null : target.map { .identifier($0) } ?? .null)
            case .toManyStored:
                let members = alive[slot].shuffled(using: &random).prefix(.random(in: 0...3, using: &random))
                values.append(.identifiers(Array(members)))
            case .toManyDerived: values.append(.identifiers([]))
            }
        }
        return values
    }

    /// What relationships may lead to, by their destinations: looking at all records for each value took most of the time.
    struct Targets: ExpressibleByArrayLiteral {
        private var identifiers: [String: [PersistentIdentifier]] = [:]
        /// The destinations that an entity's records fit.
        private var destinations: [String: [String]] = [:]

        init(arrayLiteral: Never...) {}

        init(_ all: [PersistentIdentifier], in schema: StoredSchema) {
            for destination in schema.entities.map(\.name) {
                for entity in schema.subtree(of: destination) { destinations[entity, default: []].append(destination) }
            }
            for identifier in all { append(identifier) }
        }

        mutating func append(_ identifier: PersistentIdentifier) {
            for destination in destinations[identifier.entityName] ?? [] {
                identifiers[destination, default: []].append(identifier)
            }
        }

        subscript(slot: RecordLayout.Slot) -> [PersistentIdentifier] {
            slot.property.relationship.flatMap { identifiers[$0.destination] } ?? []
        }
    }

    // MARK: A random save

    mutating func save(inserting: Int, updating: Int, deleting: Int) throws {
        var next = records
        let alive = records.keys.sorted()
        let gone = Set(alive.shuffled(using: &random).prefix(deleting))
        let kept = alive.filter { !gone.contains($0) }
        for identifier in gone { next[identifier] = nil }

        let targets = Targets(kept, in: catalog.schema)
        var targetsOfNew = targets
        var inserted: [(temporary: PersistentIdentifier, Record)] = []
        var entity = ""
        for number in 0..<inserting {
            if number % runLength == 0 {
                entity = entities.randomElement(using: &random) ?? "Tag"
            }
            guard let layout = catalog.layouts[entity] else { continue }
            let values = values(of: layout, alive: targetsOfNew)
            inserted.append((.temporary(entityName: entity), Record(entity: entity, values: values)))
            if let (temporary, _) = inserted.last { targetsOfNew.append(temporary) }
        }
        var updated: [(PersistentIdentifier, Values, SlotSet)] = []
        let clearing = next.filter { refersToAny(of: gone, $0.value) }.map(\.key).sorted()
        for identifier in Set(kept.shuffled(using: &random).prefix(updating) + clearing).sorted() {
            guard let record = next[identifier], let layout = catalog.layouts[record.entity] else { continue }
            let fresh = values(of: layout, alive: targets)
            var slots = SlotSet(layout.slots.indices.filter { _ in random.chance(3) })
            for slot in layout.slots.indices where layout.slots[slot].role.isRelationship { slots.insert(slot) }
            updated.append((identifier, fresh, slots))
        }
        func snapshot(_ identifier: PersistentIdentifier, _ values: Values) -> DefaultSnapshot {
            DefaultSnapshot(
                persistentIdentifier: identifier, layout: catalog.layouts[identifier.entityName] ?? .empty(""),
                values: values)
        }
        if breaksNextSave, let layout = catalog.layouts["Thing"], let code = layout.slot(named: "code") {
            for _ in 0..<2 {
                var values = values(of: layout, alive: targets)
                values[code] = .string("twice")
                inserted.append((.temporary(entityName: "Thing"), Record(entity: "Thing", values: values)))
            }
        }
        let remapped = try engine.save(
            DataStoreSaveChangesRequest(
                inserted: inserted.map { snapshot($0.temporary, $0.1.values) },
                updated: updated.map { snapshot($0.0, $0.1) }, deleted: gone.sorted().map { snapshot($0, []) },
                editingState: EditingState(), changedSlots: updated.map(\.2)))
        for (identifier, values, slots) in updated {
            for slot in slots.slots where next[identifier] != nil { next[identifier]?.values[slot] = values[slot] }
        }
        for (temporary, record) in inserted {
            guard let identifier = remapped[temporary] else { continue }
            var record = record
            for slot in record.values.indices { record.values[slot].remapIdentifiers(remapped) }
            next[identifier] = record
        }
        records = next
    }

    private func refersToAny(of gone: Set<PersistentIdentifier>, _ record: Record) -> Bool {
        record.values.contains { value in
            switch value {
            case .identifier(let target): gone.contains(target)
            case .identifiers(let targets): targets.contains(where: gone.contains)
            default: false
            }
        }
    }
}

extension SeededGenerator {
    fileprivate var byte: UInt8 {
        mutating get { UInt8(truncatingIfNeeded: next()) & 3 }
    }
}
