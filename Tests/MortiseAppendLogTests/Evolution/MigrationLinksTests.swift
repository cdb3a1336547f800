import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseTestSupport
import Synchronization
import Testing

@testable import MortiseAppendLog

/// Links that the code of a stage makes by name, and stores that others use meanwhile.
extension MigrationTests {
    private enum One: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum Two: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum Three: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum LinkPlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var rules: [DuplicateRule] = []
        nonisolated(unsafe) static var code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self] }
        static var stages: [MigrationStage] {
            [.custom(from: One.self, to: Two.self, duplicates: rules, migrate: code)]
        }
    }
    private enum ChainPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self, Three.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: One.self, toVersion: Two.self),
                .lightweight(fromVersion: Two.self, toVersion: Three.self),
            ]
        }
    }

    private static func text(_ name: String) -> StoredProperty {
        StoredProperty(name: name, isOptional: true, content: .attribute(.init(kind: .string)))
    }

    private static func link(_ name: String, _ entity: String, _ inverse: String?, required: Bool = false)
        -> StoredProperty
    {
        StoredProperty(
            name: name, isOptional: !required,
            content: .relationship(StoredRelationship(destination: entity, isToMany: false, inverse: inverse)))
    }

    private static func pairs(_ number: Int, isPaired: Bool = true) -> StoredSchema {
        StoredSchema(
            version: Schema.Version(number, 0, 0),
            entities: [
                StoredEntity(name: "A", properties: [text("n"), link("c", "C", isPaired ? "a" : nil)]),
                StoredEntity(name: "C", properties: [text("k"), link("a", "A", isPaired ? "c" : nil)]),
            ])
    }

    private func fill(
        _ world: MigrationWorld, _ schema: StoredSchema, _ records: [(String, String, to: Int?)]
    ) throws -> [PersistentIdentifier] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layouts = schema.recordLayouts()
        let names = records.map { PersistentIdentifier.temporary(entityName: $0.0) }
        let inserted = try zip(names, records).enumerated().map { place, pair in
            let layout = try #require(layouts[pair.1.0])
            let target = pair.1.to ?? records.firstIndex { $0.to == place }
            return DefaultSnapshot(
                persistentIdentifier: pair.0, layout: layout,
                values: [.string(pair.1.1), target.map { .identifier(names[$0]) } ?? .null])
        }
        let result = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        return names.compactMap { result.remappedIdentifiers[$0] }
    }

    private func links(_ world: MigrationWorld, _ schema: StoredSchema) throws -> [String] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        return try ["A", "C"].flatMap { entity in
            try StoredRecords(ofEntity: entity, in: store.currentVersion, schema, schema.recordLayouts()).map {
                record in
                var target = "-"
                if case .identifier(let other)? = record[entity == "A" ? "c" : "a"] {
                    target = "\(other.sequenceNumber ?? 0)"
                }
                return "\(record.id.sequenceNumber ?? 0)>\(target)"
            }
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func bothSidesOfAPairAreSetByName(_ kind: MigrationWorld.Kind) throws
    {
        defer { (LinkPlan.rules, LinkPlan.code) = ([], nil) }
        (One.schema, Two.schema) = (Self.pairs(1), Self.pairs(2))
        // 1 and 4 are partners, 2 and 5, 3 and 6 have none.
        let records = [
            ("A", "1", to: 3), ("A", "2", to: 4), ("A", "3", to: nil), ("C", "4", nil), ("C", "5", nil),
            ("C", "6", nil),
        ]
        func outcome(_ code: @escaping @Sendable ([PersistentIdentifier], MigrationTarget) throws -> Void) throws
            -> [String]
        {
            let world = try MigrationWorld(kind)
            let known = try fill(world, One.schema, records)
            LinkPlan.code = { _, new in try code(known, new) }
            try world.open(Schema(stored: Two.schema), LinkPlan.self).close()
            if kind == .log { #expect(try world.logConfiguration().verifyStore().problems.isEmpty) }
            let found = try links(world, Two.schema)
            try? world.disk.unlink(world.path + ".checkpoint")
            #expect(try links(world, Two.schema) == found)
            return found
        }
        #expect(
            try outcome { known, new in try new.update(known[5], ["a": .identifier(known[2])]) }
                == ["1>4", "2>5", "3>6", "4>1", "5>2", "6>3"])
        // The partners of before have none any more.
        #expect(
            try outcome { known, new in try new.update(known[3], ["a": .identifier(known[1])]) }
                == ["1>-", "2>4", "3>-", "4>2", "5>-", "6>-"])
        #expect(
            try outcome { known, new in try new.update(known[0], ["c": .null]) }
                == ["1>-", "2>5", "3>-", "4>-", "5>2", "6>-"])
        #expect(
            try outcome { known, new in try new.insert("C", ["k": .string("7"), "a": .identifier(known[0])]) }
                == ["1>7", "2>5", "3>-", "4>-", "5>2", "6>-", "7>1"])
        // The same again, and one after the other.
        #expect(
            try outcome { known, new in
                try new.update(known[0], ["c": .identifier(known[3])])
                try new.update(known[0], ["c": .identifier(known[4])])
                try new.update(known[1], ["c": .identifier(known[3])])
            } == ["1>5", "2>4", "3>-", "4>2", "5>1", "6>-"])

        // What a rule for duplicates makes.
        LinkPlan.code = nil
        let world = try MigrationWorld(kind)
        let known = try fill(world, One.schema, [("A", "1", to: 2), ("C", "x", nil), ("C", "x", nil)])
        #expect(known.count == 3)
        let first = known[0]
        LinkPlan.rules = [.merge(on: "C", ["k"]) { _, _ in ["a": .identifier(first)] }]
        try world.open(Schema(stored: Two.schema), LinkPlan.self).close()
        #expect(try links(world, Two.schema) == ["1>2", "2>1"])
        if kind == .log { #expect(try world.logConfiguration().verifyStore().problems.isEmpty) }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func aPartnerThatIsRequiredStays(_ kind: MigrationWorld.Kind) throws
    {
        defer { (LinkPlan.rules, LinkPlan.code) = ([], nil) }
        func schema(_ number: Int) -> StoredSchema {
            var schema = Self.pairs(number)
            schema.entities[0].properties[1].isOptional = false
            return schema
        }
        (One.schema, Two.schema) = (schema(1), schema(2))
        let world = try MigrationWorld(kind)
        let known = try fill(
            world, One.schema, [("A", "1", to: 2), ("A", "2", to: 3), ("C", "3", nil), ("C", "4", nil)])
        let before = try world.files()
        LinkPlan.code = { _, new in try new.update(known[2], ["a": .identifier(known[1])]) }
        #expect {
            try world.open(Schema(stored: Two.schema), LinkPlan.self)
        } throws: { error in
            guard case MigrationError.stageFailed(let failure) = error,
                case MigrationRecordError.wouldLackPartner(let record, "c") = failure.underlying
            else { return false }
            return record == known[0]
        }
        #expect(try world.files() == before)
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func anInverseOnTheWayCounts(_ kind: MigrationWorld.Kind) throws {
        (One.schema, Two.schema) = (Self.pairs(1, isPaired: false), Self.pairs(2))
        Three.schema = Self.pairs(3, isPaired: false)
        let world = try MigrationWorld(kind)
        let container = try world.open(Schema(stored: One.schema), nil)
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layouts = One.schema.recordLayouts()
        let (a, c) = (PersistentIdentifier.temporary(entityName: "A"), PersistentIdentifier.temporary(entityName: "C"))
        _ = try store.save(
            DataStoreSaveChangesRequest(
                inserted: [
                    DefaultSnapshot(
                        persistentIdentifier: a, layout: try #require(layouts["A"]), values: [.null, .identifier(c)]),
                    DefaultSnapshot(
                        persistentIdentifier: c, layout: try #require(layouts["C"]), values: [.null, .null]),
                ], editingState: EditingState(author: "test")))
        try container.close()
        try world.open(Schema(stored: Three.schema), ChainPlan.self).close()
        // Version 2 has set the other side, and version 3 keeps it.
        #expect(try links(world, Three.schema) == ["1>2", "2>1"])
    }

    @Test(arguments: [false, true]) func recordsDoNotMoveBetweenStores(_ hasCode: Bool) throws {
        defer { LinkPlan.code = nil }
        func schema(_ number: Int, _ names: [String]) -> StoredSchema {
            StoredSchema(
                version: Schema.Version(number, 0, 0),
                entities: names.map { StoredEntity(name: $0, properties: [Self.text("n")]) })
        }
        (One.schema, Two.schema) = (schema(1, ["Doc", "Tag"]), schema(2, ["Doc", "Tag"]))
        if hasCode { LinkPlan.code = { _, _ in } }
        let (docs, tags) = (InMemoryStorage(), InMemoryStorage())
        func open(
            _ number: Int, _ first: [String], _ second: [String], _ plan: (any SchemaMigrationPlan.Type)?
        ) throws -> ModelContainer {
            let configurations = [
                InMemoryConfiguration("docs", schema: Schema(stored: schema(number, first)), storage: docs),
                InMemoryConfiguration("tags", schema: Schema(stored: schema(number, second)), storage: tags),
            ].filter { $0.schema?.stored.entities.isEmpty == false }
            return try ModelContainer(
                for: Schema(stored: schema(number, first + second)), migrationPlan: plan, configurations: configurations
            )
        }
        let container = try open(1, ["Doc", "Tag"], [], nil)
        let store = try #require(container.stores.first?.underlying as? InMemoryStore)
        func snapshot(_ entity: String) throws -> DefaultSnapshot {
            DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: entity),
                layout: try #require(One.schema.recordLayouts()[entity]), values: [.string("x")])
        }
        let tag = try snapshot("Tag")
        let saved = try store.save(
            DataStoreSaveChangesRequest(
                inserted: [try snapshot("Doc"), tag], editingState: EditingState(author: "test")))
        try container.close()
        #expect(throws: MigrationError.entityInAnotherStore(store: "docs", entity: "Tag", other: "tags")) {
            try open(2, ["Doc"], ["Tag"], LinkPlan.self)
        }
        #expect(docs.schema?.version == Schema.Version(1, 0, 0))
        // Once its records are elsewhere, the entity may be.
        let emptied = try open(1, ["Doc", "Tag"], [], nil)
        let old = try #require(emptied.stores.first?.underlying as? InMemoryStore)
        let record = try #require(saved.remappedIdentifiers[tag.persistentIdentifier])
        _ = try old.save(
            DataStoreSaveChangesRequest(
                deleted: [
                    DefaultSnapshot(
                        persistentIdentifier: record, layout: try #require(One.schema.recordLayouts()["Tag"]),
                        values: [.string("x")])
                ], editingState: EditingState(author: "test")))
        try emptied.close()
        try open(2, ["Doc"], ["Tag"], LinkPlan.self).close()
        #expect(docs.schema?.entities.map(\.name) == ["Doc"])
    }

    /// Bug: a preview went stage by stage where the migration takes stages without code as one.
    @Test(arguments: MigrationWorld.Kind.allCases) func whatComesAndGoesOnTheWayRefusesNothing(
        _ kind: MigrationWorld.Kind
    ) throws {
        func schema(_ number: Int, _ properties: [StoredProperty]) -> StoredSchema {
            StoredSchema(
                version: Schema.Version(number, 0, 0), entities: [StoredEntity(name: "A", properties: properties)])
        }
        let required = StoredProperty(name: "x", isOptional: false, content: .attribute(.init(kind: .string)))
        let (n, link) = (Self.text("n"), Self.link("c", "A", nil))
        (One.schema, Two.schema) = (schema(1, [n, link]), schema(2, [n, link, required]))
        Three.schema = schema(3, [n, link])
        let world = try MigrationWorld(kind)
        _ = try fill(world, One.schema, [("A", "1", to: nil)])
        let previews = try ModelContainer.migrationPreview(
            for: Schema(stored: Three.schema), migrationPlan: ChainPlan.self, configurations: [world.configuration()])
        #expect(previews.first?.stages.map(\.refusal) == [nil], "\(previews)")
        try world.open(Schema(stored: Three.schema), ChainPlan.self).close()
        #expect(try world.configuration().storedSchema()?.version == Schema.Version(3, 0, 0))
    }

    @Test func aStorageThatClosesIsWaitedFor() throws {
        let storage = InMemoryStorage()
        let schema = Self.pairs(1)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 3) { _ in
            for _ in 0..<300 {
                do {
                    let configuration = InMemoryConfiguration("m", schema: Schema(stored: schema), storage: storage)
                    let store = try InMemoryStore(configuration, migrationPlan: nil)
                    let layout = try #require(schema.recordLayouts()["A"])
                    _ = try store.save(
                        DataStoreSaveChangesRequest(
                            inserted: [
                                DefaultSnapshot(
                                    persistentIdentifier: .temporary(entityName: "A"), layout: layout,
                                    values: [.null, .null])
                            ], editingState: EditingState(author: "test")))
                    try store.close()
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let configuration = InMemoryConfiguration("m", schema: Schema(stored: schema), storage: storage)
        #expect(try InMemoryStore(configuration, migrationPlan: nil).currentVersion.rows(ofEntity: "A")?.count == 900)
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func whatIsOpenCanBePreviewed(_ kind: MigrationWorld.Kind) throws {
        (One.schema, Two.schema) = (Self.pairs(1), Self.pairs(2))
        LinkPlan.code = { _, _ in }
        defer { LinkPlan.code = nil }
        let world = try MigrationWorld(kind)
        _ = try fill(world, One.schema, [("A", "1", to: nil)])
        let open = try world.open(Schema(stored: One.schema), nil)
        let previews = try ModelContainer.migrationPreview(
            for: Schema(stored: Two.schema), migrationPlan: LinkPlan.self, configurations: [world.configuration()])
        #expect(previews.first?.records == 1 && previews.first?.stages.count == 1)
        try open.close()
    }
}
