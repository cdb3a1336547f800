import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseAppendLog

/// Random pairs of schemas: records are stored under one and opened under the other. Nothing is ever lost without an error,
/// or a count and a copy.
@Suite(.serialized) struct SchemaPairTests {
    @Test(arguments: SchemaWorld.Kind.allCases) func nothingIsLostSilently(_ kind: SchemaWorld.Kind) throws {
        let seed = testSeed()
        let runs = isFullSize ? 2_000 : 25
        var refused = 0
        for run in 0..<runs {
            do {
                try play(kind, seed: seed &+ UInt64(run))
            } catch MigrationError.unknownOrigin {
                // Also where entities are dropped by name, and where an older program comes back. It is an error, so not silent.
                refused += 1
            } catch {
                Issue.record("seed \(seed) &+ \(run): \(error)")
                return
            }
        }
        #expect(refused < runs / 2)
    }

    private struct Difference: Error { let what: String }
    private func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Difference(what: what()) }
    }

    private func play(_ kind: SchemaWorld.Kind, seed: UInt64) throws {
        var generator = SchemaGenerator(seed: seed)
        let world = try SchemaWorld(kind)
        var current = generator.schema()
        let first = try world.open(current)
        try world.fill(first, current, using: &generator.random)
        var held = try world.records(first, current)
        try world.close(first)
        for _ in 0..<3 {
            let grown = generator.change(current)
            let expected = Expectation(held, current, grown)
            let before = try world.files()
            var dropping: [String] = []
            if try isRefusedForUnknownOrigin(world, grown.schema, current) { continue }
            if let refusal = refusal(of: grown.schema, on: current, expected) {
                try expectRefusal(refusal, world, grown.schema)
                guard case .unnamedEntities(_, _, let entities) = refusal, generator.random.chance(2) else { continue }
                dropping = entities.map(\.name)
            }
            try read(world, grown, expected, dropping)
            try expect(try world.files() == before, "reading has changed files")
            held = try change(world, grown, expected, dropping, from: current, held, using: &generator.random)
            let older = current
            current = grown.schema
            // The program of before comes back.
            try goBack(world, to: older, from: current, held)
        }
    }

    /// Whether a name that was renamed in a version which the store never had keeps it from being opened. It has to be such a name,
    /// and the store has to stay as it was.
    private func isRefusedForUnknownOrigin(
        _ world: SchemaWorld, _ new: StoredSchema, _ old: StoredSchema
    ) throws -> Bool {
        let before = try world.files()
        do {
            try world.close(world.open(new, allowsSave: false))
            return false
        } catch MigrationError.unknownOrigin {
            let known = Set(old.entities.flatMap { $0.properties.map(\.name) + [$0.name] })
            let origins = new.entities.flatMap { $0.properties.map(\.originalName) + [$0.originalName] }
            try expect(!known.isSuperset(of: origins), "a known name is taken for an unknown one")
            try expect(try world.files() == before, "a refusal has changed files")
            return true
        } catch is MigrationError {
            return false
        }
    }

    private func refusal(of new: StoredSchema, on old: StoredSchema, _ expected: Expectation) -> MigrationError? {
        if new.version < old.version {
            return .newerStore(store: "/data/store", stored: old.version, program: new.version)
        }
        guard new.version == old.version, !expected.entities.isEmpty else { return nil }
        return .unnamedEntities(
            store: "/data/store", version: old.version,
            entities: expected.entities.sorted { $0.key < $1.key }.map { .init(name: $0.key, records: $0.value) })
    }

    private func expectRefusal(_ refusal: MigrationError, _ world: SchemaWorld, _ schema: StoredSchema) throws {
        let before = try world.files()
        let modes: [(allowsSave: Bool, sharing: AppendLogSharing)] = [
            (true, .exclusive), (false, .exclusive), (true, .shared),
        ]
        for mode in modes {
            do {
                try world.close(world.open(schema, allowsSave: mode.allowsSave, sharing: mode.sharing))
                throw Difference(what: "opened, expected \(refusal)")
            } catch let error as MigrationError {
                try expect(error == refusal, "\(error), expected \(refusal)")
            }
        }
        let after = try world.files()
        try expect(after == before, "a refusal has changed \(Set(after.keys).symmetricDifference(before.keys))")
    }

    private func read(
        _ world: SchemaWorld, _ grown: GrownSchema, _ expected: Expectation, _ dropping: [String]
    ) throws {
        let reader = try world.open(grown.schema, dropping: dropping, allowsSave: false)
        try expect(try world.records(reader, grown.schema) == expected.records, "a reader sees other records")
        try expect(expected.matches(reader.schemaLoss), "a reader counts another loss")
        try world.close(reader)
    }

    /// Opens and saves under the new schema.
    /// - Returns: what is there then.
    private func change(
        _ world: SchemaWorld, _ grown: GrownSchema, _ expected: Expectation, _ dropping: [String],
        from old: StoredSchema, _ held: Records, using random: inout TestGenerator
    ) throws -> Records {
        let copies = try world.copies()
        // Without a save nothing changes, and nothing is swept.
        let before = try world.files()
        try world.close(world.open(grown.schema, dropping: dropping))
        if old != grown.schema { try expect(try world.files() == before, "opening has changed files") }
        let writer = try world.open(grown.schema, dropping: dropping)
        try expect(try world.records(writer, grown.schema) == expected.records, "a writer sees other records")
        try expect(expected.matches(writer.schemaLoss), "a writer counts another loss")
        let told = Mutex<[String?]>([])
        writer.reportEvents { event in
            if case .schemaLoss(_, _, let copy) = event { told.withLock { $0.append(copy) } }
        }
        try world.fill(writer, grown.schema, using: &random)
        try expect(writer.schemaLoss == nil, "the loss is told after it has happened")
        // A second save, and what may follow, makes no second copy.
        try world.fill(writer, grown.schema, using: &random)
        if random.chance(2) { try (writer as? AppendLogStore)?.compact() }
        let result = try world.records(writer, grown.schema)
        for (entity, rows) in expected.records {
            for (number, values) in rows {
                try expect(result[entity]?[number] == values, "\(entity) \(number) has changed")
            }
        }
        try world.close(writer)
        let again = try world.open(grown.schema)
        try expect(try world.records(again, grown.schema) == result, "other records after reopening")
        try expect(again.schemaLoss == nil, "a loss after reopening")
        try world.close(again)
        let new = try world.copies().subtracting(copies)
        let isWritten = try world.storedSchema() == grown.schema
        try expect(isWritten, "the schema was not written")
        try expect(new.count == (expected.isLossless ? 0 : 1), "\(new.count) copies, lossless: \(expected.isLossless)")
        try expect(told.withLock { $0 } == new.map { $0 }, "told of \(told.withLock { $0 }), made \(new)")
        if let copy = new.first {
            try expect(try world.storedSchema(at: copy) == old, "the copy has another schema")
            let kept = try world.open(old, allowsSave: false, at: copy)
            try expect(try world.records(kept, old) == held, "the copy has other records")
            try world.close(kept)
        }
        return result
    }

    private func goBack(_ world: SchemaWorld, to older: StoredSchema, from newer: StoredSchema, _ held: Records) throws
    {
        let before = try world.files()
        do {
            let store = try world.open(older)
            let loss = store.schemaLoss
            try expect(older.version >= newer.version, "an older program opens a newer store")
            // Every value is either shown, under whatever name, or counted.
            let shown = try world.records(store, older)
            try world.close(store)
            var missing = 0
            for (entity, rows) in held {
                for (number, values) in rows {
                    guard let row = shown[entity]?[number] else {
                        try expect(loss?.entities.contains { $0.name == entity } == true, "\(entity) is not counted")
                        continue
                    }
                    let layout = newer.recordLayouts()[entity]
                    for (name, value) in values where !value.isNull && value != .identifiers([]) {
                        let slot = layout?.slot(named: name).flatMap { layout?.slots[$0] }
                        if value == slot?.property.attribute?.defaultValue { continue }
                        if !row.values.contains(value) { missing += 1 }
                    }
                }
            }
            let counted = (loss?.properties ?? []).reduce(0) { $0 + $1.values }
            try expect(missing <= counted, "\(missing) values missing, \(counted) counted")
        } catch let error as MigrationError {
            switch error {
            case .newerStore: try expect(older.version < newer.version, "\(error)")
            case .unnamedEntities: try expect(older.version == newer.version, "\(error)")
            default: throw error
            }
        } catch is EngineError {
            // Named differences; the generator makes none forwards.
        }
        try expect(try world.files() == before || older == newer, "going back has changed files")
    }
}
