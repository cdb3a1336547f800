import CustomStore
import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import MortiseTestSupport
import PackageTestSupport
import Testing

@testable import MortiseAppendLog

extension MigrationTests {
    /// Versions that tests set, without classes.
    private enum Before: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum After: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum Pair: SchemaMigrationPlan {
        nonisolated(unsafe) static var stage: RandomStage?
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        static var stages: [MigrationStage] { [MigrationTests.custom(stage, from: Before.self, to: After.self)] }
    }

    /// The versions of a chain, which is carried out at once.
    private enum ChainStart: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ChainNext: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ChainThird: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ChainEnd: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ChainPlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var chain: [RandomStage] = []
        static var all: [any VersionedSchema.Type] {
            [ChainStart.self, ChainNext.self, ChainThird.self, ChainEnd.self]
        }
        static var schemas: [any VersionedSchema.Type] { Array(all.prefix(chain.count + 1)) }
        static var stages: [MigrationStage] {
            chain.enumerated().map { MigrationTests.custom($1, from: all[$0], to: all[$0 + 1]) }
        }

        static func set(_ start: StoredSchema, _ stages: [RandomStage]) {
            chain = stages
            ChainStart.schema = start
            if stages.count > 0 { ChainNext.schema = stages[0].schema }
            if stages.count > 1 { ChainThird.schema = stages[1].schema }
            if stages.count > 2 { ChainEnd.schema = stages[2].schema }
        }
    }

    private static func custom(
        _ stage: RandomStage?, from before: any VersionedSchema.Type, to after: any VersionedSchema.Type
    ) -> MigrationStage {
        let deleted = stage?.deleted ?? [:]
        let code: @Sendable (MigrationSource, MigrationTarget) throws -> Void = { old, new in
            for entity in deleted.keys.sorted() {
                let doomed = deleted[entity] ?? []
                for record in try new.records(entity) where doomed.contains(record.id.sequenceNumber ?? 0) {
                    try new.delete(record.id)
                }
            }
            for entity in old.entities { _ = try old.count(entity) }
        }
        return .custom(
            from: before, to: after, mapping: stage?.mapping ?? .inferred,
            duplicates: stage?.rules ?? [], migrate: deleted.isEmpty ? nil : code)
    }

    private struct Difference: Error { let what: String }

    /// Random chains of versions with random records: what a migrated store holds is what a plain model of the stages says, and
    /// what is refused is what it refuses, with the store as it was. A store of the first version that goes through all stages at once
    /// comes to the same. `Tests/run migrations` plays more of them.
    @Test func randomStagesComeToWhatAPlainModelSays() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["MORTISE_SEED"].flatMap { UInt64($0) } ?? testSeed()
        let pairs = environment["MORTISE_PAIRS"].flatMap { Int($0) } ?? (isFullSize ? 500 : 40)
        var counts = (pairs: 0, refused: 0, chains: 0)
        var different = 0
        var kinds: [String: Int] = [:]
        for run in 0..<pairs {
            do {
                switch run % Self.worlds.count {
                case 0: try play({ try MigrationWorld(.json) }, seed: seed &+ UInt64(run), &counts, &kinds)
                case 1: try play({ try MigrationWorld(.log) }, seed: seed &+ UInt64(run), &counts, &kinds)
                case 2: try play({ MemoryWorld() }, seed: seed &+ UInt64(run), &counts, &kinds)
                case 3: try play(CopiedWorld.init, in: "csv", seed: seed &+ UInt64(run), &counts, &kinds)
                default:
                    #if SQLite
                    try play(SQLiteWorld.init, in: "sqlite", seed: seed &+ UInt64(run), &counts, &kinds)
                    #endif
                }
            } catch {
                Issue.record("seed \(seed &+ UInt64(run)) on \(Self.worlds[run % Self.worlds.count]): \(error)")
                different += 1
                break
            }
        }
        let changes = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print(
            "migrations: seed \(seed), \(counts.pairs) pairs, \(counts.refused) refused, \(counts.chains) chains at once, "
                + "\(different) different; \(changes)")
        #expect(counts.pairs >= pairs && counts.refused > 0 && counts.chains > 0)
    }

    private static var worlds: [String] {
        #if SQLite
        ["json", "log", "memory", "csv", "sqlite"]
        #else
        ["json", "log", "memory", "csv"]
        #endif
    }

    /// Plays on stores in folders of their own.
    private func play(
        _ make: @escaping (URL) -> some PairWorld, in name: String, seed: UInt64,
        _ counts: inout (pairs: Int, refused: Int, chains: Int), _ kinds: inout [String: Int]
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pairs-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try play(
            {
                let place = folder.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
                return make(place)
            }, seed: seed, &counts, &kinds)
    }

    private func play<W: PairWorld>(
        _ makeWorld: () throws -> W, seed: UInt64, _ counts: inout (pairs: Int, refused: Int, chains: Int),
        _ kinds: inout [String: Int]
    ) throws {
        let (world, twin) = (try makeWorld(), try makeWorld())
        var random = SeededGenerator(seed: seed)
        var names = 0
        var schema = RandomStage.schema(&random, &names)
        var content = RandomStage.content(of: schema, &random)
        try save(&content, to: world, schema)
        try save(&content, to: twin, schema)
        let start = schema
        var chain: [RandomStage] = []
        for step in 0..<3 {
            let stage = RandomStage(
                from: schema, content, to: Schema.Version(2 + step, 0, 0), &random, &names)
            kinds.merge(stage.kinds, uniquingKeysWith: +)
            (Before.schema, After.schema, Pair.stage) = (schema, stage.schema, stage)
            let before = try world.files()
            counts.pairs += 1
            // A store that is copied needs no plan, and its records need not be in memory then.
            let isPlanned = world.needsPlans || !stage.isPlain
            if !isPlanned { kinds["without a plan", default: 0] += 1 }
            let plan: (any SchemaMigrationPlan.Type)? = isPlanned ? Pair.self : nil
            if let refusal = stage.refusal {
                counts.refused += 1
                try expect(refusal, world, stage.schema, plan)
                guard try world.files() == before else { throw Difference(what: "a refusal has changed files") }
                continue
            }
            try world.open(Schema(stored: stage.schema), plan).close()
            content = stage.content
            schema = stage.schema
            chain.append(stage)
            let log = (world as? MigrationWorld).flatMap { $0.kind == .log ? $0 : nil }
            for attempt in 0..<(log == nil ? 1 : 2) {
                // The second time all comes from the log.
                if attempt == 1, let log { try? log.disk.unlink(log.path + ".checkpoint") }
                let found = try read(world, schema)
                guard found == content else {
                    throw Difference(what: "step \(step), \(stage.kinds): \(found.differences(fromExpected: content))")
                }
            }
            if let log {
                let problems = try log.logConfiguration().verifyStore().problems
                guard problems.isEmpty else { throw Difference(what: "\(problems)") }
            }
        }
        if chain.isEmpty { return }
        counts.chains += 1
        ChainPlan.set(start, chain)
        try twin.open(Schema(stored: schema), ChainPlan.self).close()
        let found = try read(twin, schema)
        guard found == content else {
            throw Difference(
                what: "\(chain.count) stages at once, \(chain.map(\.kinds)): "
                    + "\(found.differences(fromExpected: content))")
        }
    }

    private func expect(
        _ refusal: RandomStage.Refusal, _ world: some PairWorld, _ schema: StoredSchema,
        _ plan: (any SchemaMigrationPlan.Type)?
    ) throws {
        do {
            try world.open(Schema(stored: schema), plan).close()
        } catch MigrationError.stageFailed(let failure) {
            switch (refusal, failure.underlying) {
            case (
                .values(let name, let count),
                MigrationError.valuesNotRepresentable(let entity, let property, let found, _)
            )
            where name == "\(entity).\(property)" && count == found: return
            case (.duplicates, EngineError.notUnique): return
            case (.missing, EngineError.schemaMismatch(_, let differences))
            where differences.contains { $0.contains("would have no value") }: return
            case (_, let error) where world.isRefusal(error, refusal): return
            default: throw Difference(what: "expected \(refusal), found \(failure.underlying)")
            }
        } catch  where world.isRefusal(error, refusal) {
            return
        }
        throw Difference(what: "expected \(refusal), but it was taken")
    }

    private func save(_ content: inout RandomStage.Content, to world: some PairWorld, _ schema: StoredSchema) throws {
        let store = try world.store(under: schema)
        defer { try? store.close() }
        let layouts = schema.recordLayouts()
        var temporary: [String: [UInt64: PersistentIdentifier]] = [:]
        for (entity, rows) in content.records {
            for number in rows.keys { temporary[entity, default: [:]][number] = .temporary(entityName: entity) }
        }
        let numbers = content.records.flatMap { entity, rows in rows.keys.map { (entity, $0) } }.sorted { $0.1 < $1.1 }
        let inserted = numbers.compactMap { entity, number -> DefaultSnapshot? in
            guard let layout = layouts[entity], let record = temporary[entity]?[number] else { return nil }
            let values = layout.slots.map { slot -> StoredValue in
                switch content.records[entity]?[number]?[slot.name] {
                case .value(let value)?: value
                case .link(let target, let number)?: temporary[target]?[number].map(StoredValue.identifier) ?? .null
                case .links(let target, let numbers)?:
                    .identifiers(numbers.sorted().compactMap { temporary[target]?[$0] })
                case nil: .null
                }
            }
            return DefaultSnapshot(persistentIdentifier: record, layout: layout, values: ContiguousArray(values))
        }
        func insert<S: DataStore>(_ store: S) throws { _ = try StoreTransfer(store).insert(inserted) }
        try insert(store)
        // Numbers are given in the order of the request.
        guard try read(store, schema) == content else {
            throw Difference(what: "what was stored is not what was to be stored")
        }
    }

    private func read(_ world: some PairWorld, _ schema: StoredSchema) throws -> RandomStage.Content {
        let store = try world.store(under: schema)
        defer { try? store.close() }
        return try read(store, schema)
    }

    private func read(_ store: any DataStore, _ schema: StoredSchema) throws -> RandomStage.Content {
        func read<S: DataStore>(_ store: S) throws -> RandomStage.Content {
            var content = RandomStage.Content()
            let transfer = StoreTransfer(store)
            for (entity, layout) in schema.recordLayouts() {
                let next = try transfer.reader(ofEntity: entity, atMost: 7)
                while case let records = try next(), !records.isEmpty {
                    for record in records {
                        let number = record.persistentIdentifier.sequenceNumber ?? 0
                        content.records[entity, default: [:]][number] = values(of: record, layout)
                    }
                }
            }
            return content
        }
        return try read(store)
    }

    private func values(of record: DefaultSnapshot, _ layout: RecordLayout) -> [String: RandomStage.Content.Value] {
        var values: [String: RandomStage.Content.Value] = [:]
        for (slot, value) in zip(layout.slots, record.values) where slot.role != .toManyDerived {
            let target = slot.property.relationship?.destination ?? ""
            switch value {
            case .identifier(let record): values[slot.name] = .link(target, record.sequenceNumber ?? 0)
            case .identifiers(let records):
                values[slot.name] = .links(target, Set(records.compactMap(\.sequenceNumber)))
            case .null where slot.role.isToMany: values[slot.name] = .links(target, [])
            default: values[slot.name] = .value(value)
            }
        }
        return values
    }
}

/// Where random stages are played.
protocol PairWorld {
    /// Whether what needs no code goes another way where a plan says it.
    var needsPlans: Bool { get }
    /// Whether an error of the kind of store is the one that is expected.
    func isRefusal(_ error: any Error, _ refusal: RandomStage.Refusal) -> Bool
    /// What a refusal must not change.
    func files() throws -> [String: [UInt8]]
    func open(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer
    func store(under schema: StoredSchema) throws -> any DataStore
}

extension PairWorld {
    var needsPlans: Bool { true }
    func isRefusal(_ error: any Error, _ refusal: RandomStage.Refusal) -> Bool { false }
}

extension MigrationWorld: PairWorld {
    func open(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try open(schema, plan, allowsSave: true)
    }

    func store(under schema: StoredSchema) throws -> any DataStore {
        switch kind {
        case .json:
            var configuration = JSONFileConfiguration("trips", path: path, in: disk)
            configuration.schema = Schema(stored: schema)
            return try JSONFileStore(configuration, migrationPlan: nil)
        case .log:
            var configuration = logConfiguration()
            configuration.schema = Schema(stored: schema)
            return try AppendLogStore(configuration, migrationPlan: nil)
        }
    }
}

/// A store in memory, which outlives its containers.
private struct MemoryWorld: PairWorld {
    let storage = InMemoryStorage()

    /// What is stored, in words: there are no files.
    func files() throws -> [String: [UInt8]] { ["schema": Array("\(String(describing: storage.schema))".utf8)] }

    private func configuration(_ schema: Schema? = nil) -> InMemoryConfiguration {
        var configuration = InMemoryConfiguration("memory", storage: storage)
        configuration.schema = schema
        return configuration
    }

    func open(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration()])
    }

    func store(under schema: StoredSchema) throws -> any DataStore {
        try InMemoryStore(configuration(Schema(stored: schema)), migrationPlan: nil)
    }
}
