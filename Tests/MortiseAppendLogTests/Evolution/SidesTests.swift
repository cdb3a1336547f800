import Foundation
import MortiseCore
import MortiseJSONFile
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Relationships whose other side comes, goes or takes over the links.
@Suite struct SidesTests {
    private typealias Links = [String: [String: StoredValue]]

    func insert(
        _ store: any EngineDataStore, _ records: [(PersistentIdentifier, [StoredValue])], _ schema: StoredSchema
    ) throws {
        try (store as? AppendLogStore)?.insert(records, schema)
        try (store as? JSONFileStore)?.insert(records, schema)
    }

    func delete(_ store: any EngineDataStore, _ record: PersistentIdentifier, _ schema: StoredSchema) throws {
        try (store as? AppendLogStore)?.delete(record, schema)
        try (store as? JSONFileStore)?.delete(record, schema)
    }

    /// By name of a record and property, the names of the records it leads to.
    func links(_ store: any EngineDataStore, _ schema: StoredSchema) throws -> [String: [String: [String]]] {
        var found: [String: [String: [String]]] = [:]
        let version = store.engine.version
        func name(_ record: PersistentIdentifier) -> String {
            guard let rows = version.rows(ofEntity: record.entityName), let row = rows.row(of: record),
                case .string(let name)? = try? rows.readValue(row: row, slot: 0)
            else { return "?" }
            return name
        }
        for (entity, layout) in schema.recordLayouts() {
            guard let rows = version.rows(ofEntity: entity) else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                for (slot, property) in layout.slots.enumerated() where property.role.isRelationship {
                    let members =
                        switch try rows.readValue(row: row, slot: slot) {
                        case .identifier(let record): [record]
                        case .identifiers(let records): records
                        default: [PersistentIdentifier]()
                        }
                    if members.isEmpty { continue }
                    found[name(rows.identifier(ofRow: row)), default: [:]][property.name] = members.map(name).sorted()
                }
            }
        }
        return found
    }

    func record(_ store: any EngineDataStore, _ entity: String, _ wanted: String) throws -> PersistentIdentifier {
        let rows = try #require(store.engine.version.rows(ofEntity: entity))
        for row in 0..<rows.endRow where rows.contains(row: row) {
            if try rows.readValue(row: row, slot: 0) == .string(wanted) { return rows.identifier(ofRow: row) }
        }
        throw EngineError.unknownEntity(wanted)
    }

    func expectSound(_ world: SchemaWorld, at location: SourceLocation = #_sourceLocation) throws {
        let report =
            switch world.kind {
            case .log: try AppendLogConfiguration(path: world.path, in: world.disk).verifyStore()
            case .json: try JSONFileConfiguration(path: world.path, in: world.disk).verifyStore()
            }
        #expect(report.problems == [], sourceLocation: location)
    }

    /// Opens under a schema, saves and reopens, from the log alone too, and finds the same links each time.
    func expect(
        _ expected: [String: [String: [String]]], _ world: SchemaWorld, _ new: StoredSchema, saving: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let reader = try world.open(new, allowsSave: false)
        #expect(try links(reader, new) == expected, sourceLocation: location)
        try world.close(reader)
        let writer = try world.open(new)
        #expect(try links(writer, new) == expected, sourceLocation: location)
        #expect(writer.schemaLoss == nil, sourceLocation: location)
        let layout = try #require(new.recordLayouts()[saving])
        let values = layout.slots.map { $0.role.isToMany ? StoredValue.identifiers([]) : .null }
        try insert(writer, [(.temporary(entityName: saving), values)], new)
        #expect(try links(writer, new) == expected, sourceLocation: location)
        try world.close(writer)
        for round in 0..<2 {
            let again = try world.open(new, allowsSave: false)
            #expect(try links(again, new) == expected, sourceLocation: location)
            try world.close(again)
            try expectSound(world, at: location)
            if round == 0, world.disk.contents(at: world.path + ".checkpoint") != nil {
                try world.disk.unlink(world.path + ".checkpoint")
            }
        }
    }

    // MARK: One-to-one

    private static let alone = schema(
        1, entity("Desk", textProperty("name")), entity("Lamp", textProperty("name"), linkProperty("desk", to: "Desk")))
    private static let paired = schema(
        2, entity("Desk", textProperty("name"), linkProperty("lamp", to: "Lamp", inverse: "desk")),
        entity("Lamp", textProperty("name"), linkProperty("desk", to: "Desk", inverse: "lamp")))

    /// Two desks and three lamps, of which the first stand on the desks that are given.
    func makeWorld(_ kind: SchemaWorld.Kind, lampsOn places: [Int?], _ schema: StoredSchema? = nil) throws
        -> SchemaWorld
    {
        let world = try SchemaWorld(kind)
        let schema = schema ?? Self.alone
        let store = try world.open(schema)
        let desks = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "Desk") }
        let width = schema.recordLayouts()["Desk"]?.slots.count ?? 1
        var records = desks.enumerated().map { number, desk in
            (
                desk,
                [StoredValue.string("desk \(number)")]
                    + Array(repeating: width > 1 ? .identifiers([]) : .null, count: width - 1)
            )
        }
        for (number, place) in places.enumerated() {
            let desk = place.map { StoredValue.identifier(desks[$0]) } ?? .null
            records.append((.temporary(entityName: "Lamp"), [.string("lamp \(number)"), desk]))
        }
        try insert(store, records, schema)
        try world.close(store)
        return world
    }

    /// Defect: the other side was empty, so that both contradicted each other: no save was possible (JSON), or no deletion.
    @Test(arguments: SchemaWorld.Kind.allCases) func theOtherSideThatIsAddedRefersBack(_ kind: SchemaWorld.Kind) throws
    {
        let world = try makeWorld(kind, lampsOn: [1, nil, 0])
        let expected = [
            "desk 0": ["lamp": ["lamp 2"]], "desk 1": ["lamp": ["lamp 0"]], "lamp 0": ["desk": ["desk 1"]],
            "lamp 2": ["desk": ["desk 0"]],
        ]
        try expect(expected, world, Self.paired, saving: "Desk")
        let store = try world.open(Self.paired)
        try delete(store, record(store, "Lamp", "lamp 1"), Self.paired)
        try world.close(store)
        try expectSound(world)
    }

    /// What the first save does to such a record comes after that.
    @Test(arguments: SchemaWorld.Kind.allCases) func theFirstSaveMayDeleteOneOfAPair(_ kind: SchemaWorld.Kind) throws {
        let world = try makeWorld(kind, lampsOn: [1, nil, 0])
        let store = try world.open(Self.paired)
        let lamp = try record(store, "Lamp", "lamp 0")
        let desk = try record(store, "Desk", "desk 1")
        let layout = try #require(Self.paired.recordLayouts()["Desk"])
        let request = DataStoreSaveChangesRequest<DefaultSnapshot>(
            updated: [
                DefaultSnapshot(
                    persistentIdentifier: desk, layout: layout, values: [.string("desk 1"), .null])
            ],
            deleted: [
                DefaultSnapshot(
                    persistentIdentifier: lamp, layout: try #require(Self.paired.recordLayouts()["Lamp"]),
                    values: [.null, .null])
            ], editingState: EditingState(author: "test"))
        _ = try (store as? AppendLogStore)?.save(request)
        _ = try (store as? JSONFileStore)?.save(request)
        try world.close(store)
        let again = try world.open(Self.paired, allowsSave: false)
        #expect(try links(again, Self.paired) == ["desk 0": ["lamp": ["lamp 2"]], "lamp 2": ["desk": ["desk 0"]]])
        try world.close(again)
        try expectSound(world)
    }

    func expectRefused(
        _ world: SchemaWorld, _ new: StoredSchema, words: [String], at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try world.files()
        for allowsSave in [false, true] {
            let error = #expect(throws: EngineError.self, sourceLocation: location) {
                try world.close(world.open(new, allowsSave: allowsSave))
            }
            guard case .schemaMismatch? = error else {
                Issue.record("\(String(describing: error))", sourceLocation: location)
                continue
            }
            let text = "\(String(describing: error))"
            for word in words { #expect(text.contains(word), sourceLocation: location) }
        }
        #expect(try world.files() == before, sourceLocation: location)
    }

    @Test(arguments: SchemaWorld.Kind.allCases) func severalThatClaimOnePartnerAreNamed(_ kind: SchemaWorld.Kind) throws
    {
        let world = try makeWorld(kind, lampsOn: [1, 1, 1])
        let store = try world.open(Self.alone, allowsSave: false)
        let records = try ["lamp 0", "lamp 1", "lamp 2"].map { "\(try record(store, "Lamp", $0))" }
        let desk = "\(try record(store, "Desk", "desk 1"))"
        try world.close(store)
        try expectRefused(world, Self.paired, words: records + [desk, "Desk.lamp", "Lamp.desk", "3 partners"])
        // The old schema opens it still, also where the other side was to-many.
        let many = schema(
            1, entity("Desk", textProperty("name"), linkProperty("lamps", to: "Lamp", many: true, inverse: "desk")),
            entity("Lamp", textProperty("name"), linkProperty("desk", to: "Desk", inverse: "lamps")))
        try expectRefused(try makeWorld(kind, lampsOn: [0, 0, 1], many), Self.paired, words: ["2 partners"])
        try expect(
            ["desk 0": ["lamp": ["lamp 0"]], "lamp 0": ["desk": ["desk 0"]]], try makeWorld(kind, lampsOn: [0], many),
            Self.paired, saving: "Lamp")
    }

    /// Both sides were there, each for itself.
    @Test(arguments: SchemaWorld.Kind.allCases) func twoReferencesThatBecomeAPairAreOne(_ kind: SchemaWorld.Kind) throws
    {
        let apart = schema(
            1, entity("Desk", textProperty("name"), linkProperty("lamp", to: "Lamp")),
            entity("Lamp", textProperty("name"), linkProperty("desk", to: "Desk")))
        func world(contradicting: Bool) throws -> SchemaWorld {
            let world = try SchemaWorld(kind)
            let store = try world.open(apart)
            let desks = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "Desk") }
            let lamps = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "Lamp") }
            try insert(
                store,
                [
                    (desks[0], [.string("desk 0"), .identifier(lamps[0])]), (desks[1], [.string("desk 1"), .null]),
                    (lamps[0], [.string("lamp 0"), contradicting ? .identifier(desks[1]) : .null]),
                    (lamps[1], [.string("lamp 1"), contradicting ? .null : .identifier(desks[1])]),
                ], apart)
            try world.close(store)
            return world
        }
        try expect(
            [
                "desk 0": ["lamp": ["lamp 0"]], "lamp 0": ["desk": ["desk 0"]], "desk 1": ["lamp": ["lamp 1"]],
                "lamp 1": ["desk": ["desk 1"]],
            ], try world(contradicting: false), Self.paired, saving: "Desk")
        try expectRefused(try world(contradicting: true), Self.paired, words: ["2 partners", "Lamp.desk", "Desk.lamp"])
    }

    /// How many records the last transaction of a log updates.
    private func updates(in log: [UInt8], _ schema: StoredSchema) throws -> Int {
        let header = try FileHeader(Array(log.prefix(FileHeader.size)), expecting: .log)
        let disk = try makeDisk(with: log)
        let file = try disk.open(logPath, mode: .read)
        var count = UpdateCount()
        _ = try FrameReader(file, size: Int64(log.count), seed: header.seed).scan(from: .first) { frame in
            count.count = 0
            guard frame.header.kind.isTransaction, frame.header.transaction > 1 else { return true }
            let catalog = LogCatalog(schema, store: header.store.uuidString)
            try frame.reading { try $0.transaction(catalog, to: &count) }
            return true
        }
        return count.count
    }

    private struct UpdateCount: TransactionVisitor {
        var count = 0
        mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {}
        mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {}
        mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
            count += 1
        }
        mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {}
    }

    /// Defect: a new entity has no properties of the old schema, so that the pairs that it inherits were taken for new ones,
    /// and all of them were written again.
    @Test(arguments: SchemaWorld.Kind.allCases) func aNewSubentityLeavesThePairsAsTheyAre(
        _ kind: SchemaWorld.Kind
    ) throws {
        let grown = schema(
            3, entity("Desk", textProperty("name"), linkProperty("lamp", to: "Lamp", inverse: "desk")),
            entity("Lamp", textProperty("name"), linkProperty("desk", to: "Desk", inverse: "lamp")),
            StoredEntity(name: "Bureau", superentity: "Desk", properties: [textProperty("wood")]),
            StoredEntity(name: "Torch", superentity: "Lamp", properties: [textProperty("cell")]))
        let world = try SchemaWorld(kind)
        let store = try world.open(Self.paired)
        let desk = PersistentIdentifier.temporary(entityName: "Desk")
        let lamp = PersistentIdentifier.temporary(entityName: "Lamp")
        try insert(
            store,
            [(desk, [.string("desk"), .identifier(lamp)]), (lamp, [.string("lamp"), .identifier(desk)])], Self.paired)
        try world.close(store)
        let other = try world.open(grown)
        try insert(other, [(.temporary(entityName: "Bureau"), [.string("bureau"), .null, .string("oak")])], grown)
        #expect(try links(other, grown) == ["desk": ["lamp": ["lamp"]], "lamp": ["desk": ["desk"]]])
        try world.close(other)
        try expectSound(world)
        if kind == .log {
            let updates = try updates(in: try #require(world.disk.contents(at: world.path)), grown)
            #expect(updates == 0)
        }
        let pairs = try SchemaMapping(from: Self.paired, to: grown, store: "store").pairs
        #expect(pairs.isEmpty, "\(pairs)")
    }

    /// What earlier programs have left: verifying names it, a backup has it and tells, and a salvage repairs it.
    @Test func aPairThatContradictsItselfIsRepairedByASalvage() throws {
        let world = try SchemaWorld(.log)
        let store = try #require(try world.open(Self.paired) as? AppendLogStore)
        let desk = PersistentIdentifier.temporary(entityName: "Desk")
        let lamps = (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "Lamp") }
        try store.insert(
            [(desk, [.string("desk"), .identifier(lamps[2])])]
                + lamps.enumerated().map { ($1, [.string("lamp \($0)"), .identifier(desk)]) }, Self.paired)
        try store.close()
        let configuration = AppendLogConfiguration(path: world.path, in: world.disk)
        let report = try configuration.backUpStore(to: "/data/backup")
        #expect(report.problems.count == 1 && "\(report.problems)".contains("2 records do not refer back"))
        for path in [world.path, "/data/backup"] {
            let found = try AppendLogStore.salvage(path, to: path + ".new", in: world.disk)
            #expect(found.clearedReferences == 2 && found.leftOut == [] && found.lost == [])
            #expect(try AppendLogStore.verify(path + ".new", in: world.disk).problems == [])
            let reader = try world.open(Self.paired, allowsSave: false, at: path + ".new")
            #expect(try links(reader, Self.paired) == ["desk": ["lamp": ["lamp 2"]], "lamp 2": ["desk": ["desk"]]])
            try world.close(reader)
        }
    }

    /// A list that is its own inverse is stored with each of its members.
    @Test func aListThatIsItsOwnInverseIsRepairedByASalvage() throws {
        let people = schema(
            1,
            entity(
                "Person", textProperty("name"), linkProperty("friends", to: "Person", many: true, inverse: "friends")))
        let world = try SchemaWorld(.log)
        let store = try #require(try world.open(people) as? AppendLogStore)
        let all = (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "Person") }
        try store.insert(
            [
                (all[0], [.string("a"), .identifiers([all[1], all[2]])]),
                (all[1], [.string("b"), .identifiers([all[0]])]),
                (all[2], [.string("c"), .identifiers([all[2]])]),
            ], people)
        try store.close()
        let found = try AppendLogStore.salvage(world.path, to: "/data/new", in: world.disk)
        #expect(found.clearedReferences == 1 && found.lost == [] && found.leftOut == [])
        let reader = try world.open(people, allowsSave: false, at: "/data/new")
        #expect(
            try links(reader, people) == ["a": ["friends": ["b"]], "b": ["friends": ["a"]], "c": ["friends": ["c"]]])
        try world.close(reader)
        #expect(try AppendLogStore.verify("/data/new", in: world.disk).problems == [])
    }

    /// What earlier programs have left: verifying names it, and it can be deleted.
    @Test func aPairThatContradictsItselfIsNamedAndCanBeDeleted() throws {
        let world = try SchemaWorld(.log)
        let store = try #require(try world.open(Self.paired) as? AppendLogStore)
        let desk = PersistentIdentifier.temporary(entityName: "Desk")
        let lamp = PersistentIdentifier.temporary(entityName: "Lamp")
        // Straight into the engine, which a context never does.
        try store.insert(
            [(desk, [.string("desk"), .null]), (lamp, [.string("lamp"), .identifier(desk)])], Self.paired)
        try store.close()
        let problems = try AppendLogStore.verify(world.path, in: world.disk).problems
        #expect(problems.count == 1 && "\(problems)".contains("Lamp.desk: the partners of 1 records do not refer back"))
        let again = try #require(try world.open(Self.paired) as? AppendLogStore)
        try again.delete(record(again, "Desk", "desk"), Self.paired)
        #expect(try links(again, Self.paired) == [:])
        try again.close()
        try expectSound(world)
    }

    // MARK: Many-to-many

    private static func people(
        _ major: Int, _ first: (name: String, from: String?), _ second: (name: String, from: String?)
    ) -> StoredSchema {
        schema(
            major,
            entity(
                "Person", textProperty("name"),
                linkProperty(first.name, to: "Person", many: true, inverse: second.name, from: first.from),
                linkProperty(second.name, to: "Person", many: true, inverse: first.name, from: second.from)))
    }

    private func makePeople(_ kind: SchemaWorld.Kind, _ schema: StoredSchema) throws -> SchemaWorld {
        let world = try SchemaWorld(kind)
        let store = try world.open(schema)
        let people = (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "Person") }
        let layout = try #require(schema.recordLayouts()["Person"])
        let isFirst = layout.slots[1].role == .toManyStored
        func values(_ name: String, _ members: [PersistentIdentifier]) -> [StoredValue] {
            let (some, none) = (StoredValue.identifiers(members), StoredValue.identifiers([]))
            return [.string(name)] + (isFirst ? [some, none] : [none, some])
        }
        try insert(
            store,
            [
                (people[0], values("a", [people[1], people[2]])), (people[1], values("b", [people[2]])),
                (people[2], values("c", [])),
            ], schema)
        try world.close(store)
        return world
    }

    /// Defect: both were refused, since the links would have had to move to the other side.
    @Test(arguments: SchemaWorld.Kind.allCases) func renamedSidesTakeTheirLinksAlong(_ kind: SchemaWorld.Kind) throws {
        let old = Self.people(1, ("befriended", nil), ("friends", nil))
        let there: [String: [String]] = ["a": ["b", "c"], "b": ["c"]]
        let back: [String: [String]] = ["b": ["a"], "c": ["a", "b"]]
        func expected(_ one: String, _ other: String) -> [String: [String: [String]]] {
            var found: [String: [String: [String]]] = [:]
            for (name, members) in there { found[name, default: [:]][one] = members }
            for (name, members) in back { found[name, default: [:]][other] = members }
            return found
        }
        let moved = Self.people(2, ("zbefriended", "befriended"), ("friends", nil))
        let world = try makePeople(kind, old)
        try expect(expected("zbefriended", "friends"), world, moved, saving: "Person")
        // And back again, from the side that keeps them now.
        let third = Self.people(3, ("abefriended", "zbefriended"), ("friends", nil))
        try expect(expected("abefriended", "friends"), world, third, saving: "Person")
        let swapped = Self.people(2, ("befriended", "friends"), ("friends", "befriended"))
        try expect(expected("friends", "befriended"), try makePeople(kind, old), swapped, saving: "Person")
    }

    /// A new other side whose name comes first keeps the links from then on.
    @Test(arguments: SchemaWorld.Kind.allCases) func aNewSideMayKeepTheLinks(_ kind: SchemaWorld.Kind) throws {
        let old = schema(
            1, entity("Node", textProperty("name"), linkProperty("tags", to: "ATag", many: true)),
            entity("ATag", textProperty("name")))
        let new = schema(
            2, entity("Node", textProperty("name"), linkProperty("tags", to: "ATag", many: true, inverse: "nodes")),
            entity("ATag", textProperty("name"), linkProperty("nodes", to: "Node", many: true, inverse: "tags")))
        let world = try SchemaWorld(kind)
        let store = try world.open(old)
        let tags = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "ATag") }
        try insert(
            store,
            [
                (tags[0], [.string("s")]), (tags[1], [.string("t")]),
                (.temporary(entityName: "Node"), [.string("m"), .identifiers(tags)]),
                (.temporary(entityName: "Node"), [.string("n"), .identifiers([tags[1]])]),
            ], old)
        try world.close(store)
        try expect(
            ["m": ["tags": ["s", "t"]], "n": ["tags": ["t"]], "s": ["nodes": ["m"]], "t": ["nodes": ["m", "n"]]],
            world, new, saving: "Node")
    }

    /// Defect: two lists that each have their links were refused when they became each other's inverse, since one of them would follow
    /// from the other.
    @Test(arguments: SchemaWorld.Kind.allCases, [false, true])
    func twoListsThatBecomeInversesHaveTheLinksOfBoth(_ kind: SchemaWorld.Kind, renaming: Bool) throws {
        let (tags, nodes) = renaming ? ("labels", "owners") : ("tags", "nodes")
        let old = schema(
            1, entity("Node", textProperty("name"), linkProperty("tags", to: "ATag", many: true)),
            entity("ATag", textProperty("name"), linkProperty("nodes", to: "Node", many: true)))
        let new = schema(
            2,
            entity(
                "Node", textProperty("name"),
                linkProperty(tags, to: "ATag", many: true, inverse: nodes, from: renaming ? "tags" : nil)),
            entity(
                "ATag", textProperty("name"),
                linkProperty(nodes, to: "Node", many: true, inverse: tags, from: renaming ? "nodes" : nil)))
        let world = try SchemaWorld(kind)
        let store = try world.open(old)
        let (all, some) = (
            (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "ATag") },
            (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "Node") }
        )
        try insert(
            store,
            [
                // A link of both, one of each side alone, and some without any.
                (all[0], [.string("s"), .identifiers([some[0]])]), (all[1], [.string("t"), .identifiers([some[1]])]),
                (all[2], [.string("u"), .identifiers([])]),
                (some[0], [.string("m"), .identifiers([all[0], all[1]])]), (some[1], [.string("n"), .identifiers([])]),
                (some[2], [.string("o"), .identifiers([])]),
            ], old)
        try world.close(store)
        try expect(
            [
                "m": [tags: ["s", "t"]], "n": [tags: ["t"]], "s": [nodes: ["m"]], "t": [nodes: ["m", "n"]],
            ], world, new, saving: "Node")
    }
}
