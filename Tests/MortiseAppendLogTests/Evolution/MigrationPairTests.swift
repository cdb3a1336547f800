import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import TestSupport
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
        static var stages: [MigrationStage] {
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
            return [
                .custom(
                    from: Before.self, to: After.self, mapping: stage?.mapping ?? .inferred,
                    duplicates: stage?.rules ?? [], migrate: deleted.isEmpty ? nil : code)
            ]
        }
    }

    private struct Difference: Error { let what: String }

    /// Random chains of versions with random records: what a migrated store holds is what a plain model of the stages says, and
    /// what is refused is what it refuses, with the store as it was. `Tests/run migrations` plays more of them.
    @Test func randomStagesComeToWhatAPlainModelSays() throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["MORTISE_SEED"].flatMap { UInt64($0) } ?? testSeed()
        let pairs = environment["MORTISE_PAIRS"].flatMap { Int($0) } ?? (isFullSize ? 500 : 40)
        var counts = (pairs: 0, refused: 0)
        var kinds: [String: Int] = [:]
        for run in 0..<pairs {
            let kind: MigrationWorld.Kind = run % 2 == 0 ? .json : .log
            do {
                try play(kind, seed: seed &+ UInt64(run), &counts, &kinds)
            } catch {
                Issue.record("seed \(seed &+ UInt64(run)) on \(kind): \(error)")
                break
            }
        }
        let changes = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("migrations: seed \(seed), \(counts.pairs) pairs, \(counts.refused) refused; \(changes)")
        #expect(counts.pairs >= pairs && counts.refused > 0)
    }

    private func play(
        _ kind: MigrationWorld.Kind, seed: UInt64, _ counts: inout (pairs: Int, refused: Int),
        _ kinds: inout [String: Int]
    ) throws {
        var random = SeededGenerator(seed: seed)
        var names = 0
        let world = try MigrationWorld(kind)
        var schema = RandomStage.schema(&random, &names)
        var content = RandomStage.content(of: schema, &random)
        try save(&content, to: world, schema)
        for step in 0..<3 {
            let stage = RandomStage(
                from: schema, content, to: Schema.Version(2 + step, 0, 0), &random, &names)
            kinds.merge(stage.kinds, uniquingKeysWith: +)
            (Before.schema, After.schema, Pair.stage) = (schema, stage.schema, stage)
            let before = try world.files()
            counts.pairs += 1
            if let refusal = stage.refusal {
                counts.refused += 1
                try expect(refusal, world, stage.schema)
                guard try world.files() == before else { throw Difference(what: "a refusal has changed files") }
                continue
            }
            try world.open(Schema(stored: stage.schema), Pair.self).close()
            content = stage.content
            schema = stage.schema
            for attempt in 0..<(kind == .log ? 2 : 1) {
                // The second time all comes from the log.
                if attempt == 1 { try? world.disk.unlink(world.path + ".checkpoint") }
                let found = try read(world, schema)
                guard found == content else {
                    throw Difference(what: "step \(step), \(stage.kinds): \(found.differences(fromExpected: content))")
                }
            }
            if kind == .log {
                let problems = try world.logConfiguration().verifyStore().problems
                guard problems.isEmpty else { throw Difference(what: "\(problems)") }
            }
        }
    }

    private func expect(_ refusal: RandomStage.Refusal, _ world: MigrationWorld, _ schema: StoredSchema) throws {
        do {
            try world.open(Schema(stored: schema), Pair.self).close()
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
            default: throw Difference(what: "expected \(refusal), found \(failure.underlying)")
            }
        }
        throw Difference(what: "expected \(refusal), but it was taken")
    }

    private func store(_ world: MigrationWorld, _ schema: StoredSchema) throws -> any EngineDataStore {
        switch world.kind {
        case .json:
            var configuration = JSONFileConfiguration("trips", path: world.path, in: world.disk)
            configuration.schema = Schema(stored: schema)
            return try JSONFileStore(configuration, migrationPlan: nil)
        case .log:
            var configuration = world.logConfiguration()
            configuration.schema = Schema(stored: schema)
            return try AppendLogStore(configuration, migrationPlan: nil)
        }
    }

    private func save(_ content: inout RandomStage.Content, to world: MigrationWorld, _ schema: StoredSchema) throws {
        let store = try store(world, schema)
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
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        // Numbers are given in the order of the request.
        guard try read(store, schema) == content else {
            throw Difference(what: "what was stored is not what was to be stored")
        }
    }

    private func read(_ world: MigrationWorld, _ schema: StoredSchema) throws -> RandomStage.Content {
        let store = try store(world, schema)
        defer { try? store.close() }
        return try read(store, schema)
    }

    private func read(_ store: any EngineDataStore, _ schema: StoredSchema) throws -> RandomStage.Content {
        var content = RandomStage.Content()
        let version = store.engine.version
        for (entity, layout) in schema.recordLayouts() {
            guard let rows = version.rows(ofEntity: entity) else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                var values: [String: RandomStage.Content.Value] = [:]
                for (place, slot) in layout.slots.enumerated() where slot.role != .toManyDerived {
                    let value = try rows.readValue(row: row, slot: place)
                    let target = slot.property.relationship?.destination ?? ""
                    switch value {
                    case .identifier(let record): values[slot.name] = .link(target, record.sequenceNumber ?? 0)
                    case .identifiers(let records):
                        values[slot.name] = .links(target, Set(records.compactMap(\.sequenceNumber)))
                    case .null where slot.role.isToMany: values[slot.name] = .links(target, [])
                    default: values[slot.name] = .value(value)
                    }
                }
                content.records[entity, default: [:]][rows.identifier(ofRow: row).sequenceNumber ?? 0] = values
            }
        }
        try version.check()
        return content
    }
}
