import Foundation
import Synchronization
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Queries of every sort while others save: each is of one version, whole. Under the thread sanitizer this shows that
/// queries look at nothing that a writer writes.
@Suite struct MixedWorkTests {
    /// What the tasks of a test tell each other.
    final class Progress: Sendable {
        let isDone = Atomic(false)
        let looks = Atomic(0)
        private let isSaving = Atomic(false)
        /// How many looks began and ended while a save was under way.
        let looksBesideSaves = Atomic(0)

        /// Saves once somebody looks.
        func save(_ body: () throws -> Void) async rethrows {
            while looks.load(ordering: .acquiring) == 0, !Task.isCancelled { await Task.yield() }
            isSaving.store(true, ordering: .sequentiallyConsistent)
            defer { isSaving.store(false, ordering: .sequentiallyConsistent) }
            try body()
        }

        /// Looks again and again until all is saved, on a thread of its own: the task that saves holds one of those that tasks
        /// share, and other tests may hold the others.
        func lookUntilDone(_ body: @escaping @Sendable () throws -> Void) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            repeat { try self.look(body) } while !self.isDone.load(ordering: .acquiring)
                        })
                }
            }
        }

        private func look(_ body: () throws -> Void) rethrows {
            let began = isSaving.load(ordering: .sequentiallyConsistent)
            try body()
            // There is one save, so that between these two there was no other time.
            let isBeside = began && isSaving.load(ordering: .sequentiallyConsistent)
            if isBeside { looksBesideSaves.add(1, ordering: .relaxed) }
            looks.add(1, ordering: .releasing)
        }
    }

    /// A version of which only a part was seen.
    struct Torn: Error { let seen: String }

    /// - Throws: `Torn`, which a thread without a test can hand to one that has it.
    static func check(_ isWhole: Bool, _ seen: @autoclosure () -> String) throws {
        if !isWhole { throw Torn(seen: seen()) }
    }

    /// How much is saved: little by default, and about two minutes' worth where a sanitizer watches for long.
    enum Size: String {
        case small, sanitized, full

        static var current: Size {
            ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"].flatMap(Size.init) ?? .small
        }
        /// Of a few records each.
        var saves: Int {
            switch self {
            case .small: 120
            case .sanitized: 1_500
            case .full: 3_000
            }
        }
        /// In one save.
        var records: Int {
            switch self {
            case .small: 20_000
            case .sanitized: 100_000
            case .full: 1_000_000
            }
        }
    }

    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Entry",
            properties: [
                EngineWorld.attribute("batch", .int64, isOptional: false),
                EngineWorld.attribute("amount", .double, isOptional: false),
                EngineWorld.attribute("place", .string, isOptional: true),
                EngineWorld.attribute("note", .string, isOptional: true),
            ],
            indices: [StoredIndex(properties: ["batch"]), StoredIndex(properties: ["place"])])
    ])

    private static func property(_ slot: Int, _ name: String) -> QueryExpression {
        .property(.variable(0), QueryProperty(entity: "Entry", name: name, slot: slot))
    }

    private static func insert(
        _ count: Int, batch: Int, into engine: Engine, _ layout: RecordLayout
    ) throws -> [PersistentIdentifier] {
        var inserted: [DefaultSnapshot] = []
        for number in 0..<count {
            let place: StoredValue = number % 5 == 0 ? .null : .string("place \(number % 300)")
            let note: StoredValue =
                number % 3 == 0 ? .null : .string("a note of entry \(number) in batch \(batch), not short")
            let values: EngineWorld.Values = [.integer(Int64(batch)), .double(Double(number)), place, note]
            inserted.append(
                DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Entry"), layout: layout, values: values))
        }
        let remapped = try engine.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState()))
        return inserted.compactMap { remapped[$0.persistentIdentifier] }
    }

    private static func rows(_ query: StoreQuery, _ engine: Engine, _ version: EngineVersion) throws -> VersionRows {
        let planned = EngineQuery(query, engine.catalog)
        return try planned.run(planned.plan(), in: version)
    }

    @Test func queriesBesideSavesAreOfOneVersion() async throws {
        let engine = Engine(.empty(Catalog(schema: Self.schema, storeIdentifier: "mixed")))
        let layout = try #require(engine.catalog.layouts["Entry"])
        let batchSize = 40
        let saves = Size.current.saves
        let progress = Progress()
        _ = try Self.insert(batchSize, batch: 0, into: engine, layout)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                for batch in 1...saves {
                    // A batch is there as a whole, and goes as a whole.
                    let made = try Self.insert(batchSize, batch: batch, into: engine, layout)
                    if batch % 3 != 0 { continue }
                    let gone = made.map { DefaultSnapshot(persistentIdentifier: $0, layout: layout, values: []) }
                    _ = try engine.save(DataStoreSaveChangesRequest(deleted: gone, editingState: EditingState()))
                }
            }
            for reader in 0..<3 {
                group.addTask {
                    var round = 0
                    while !progress.isDone.load(ordering: .acquiring) {
                        round += 1
                        try Self.look(engine, batchSize, round: round + reader)
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        let left = try Self.rows(StoreQuery("Entry", purpose: .count), engine, engine.version)
        #expect(left.count == batchSize * (saves - saves / 3 + 1))
    }

    /// Every batch that a version has is complete, whichever way it is asked.
    private static func look(_ engine: Engine, _ batchSize: Int, round: Int) throws {
        let version = engine.version
        let all = try rows(StoreQuery("Entry", purpose: .count), engine, version)
        #expect((all.count ?? -1) % batchSize == 0)
        let amount = property(1, "amount")
        switch round % 4 {
        case 0:
            let first = StoreQuery.Order(amount, isAscending: true, stringOrder: nil)
            let found = try rows(StoreQuery("Entry", order: [first], limit: 7), engine, version)
            #expect(found.rows.count == min(7, all.count ?? 0))
        case 1:
            // The last of each batch, found by looking at all rows.
            let last = QueryExpression.compare(.greater, amount, .constant(.double(Double(batchSize) - 1.5)))
            let found = try rows(StoreQuery("Entry", purpose: .count, conjuncts: [last]), engine, version)
            #expect((found.count ?? -1) * batchSize == all.count)
        case 2:
            let batch = QueryExpression.compare(.equal, property(0, "batch"), .constant(.integer(0)))
            let found = try rows(StoreQuery("Entry", conjuncts: [batch]), engine, version)
            #expect(found.rows.count == batchSize)
        default:
            let asked = AggregateQuery(
                StoreQuery("Entry"), by: [property(0, "batch")], [.count, .sum(amount, .double)])
            let answer = try EngineQuery(asked.query, engine.catalog).aggregate(asked, in: version)
            let sum = Double(batchSize * (batchSize - 1) / 2)
            for group in answer?.groups ?? [] {
                #expect(group.values == [.integer(Int64(batchSize)), .double(sum)])
            }
        }
    }

    /// A million records at full size.
    @Test func aReaderBesideOneGreatSaveSeesNothingOrAllOfIt() async throws {
        let engine = Engine(.empty(Catalog(schema: Self.schema, storeIdentifier: "great")))
        let layout = try #require(engine.catalog.layouts["Entry"])
        let count = Size.current.records
        _ = try Self.insert(100, batch: 0, into: engine, layout)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                try await progress.save { _ = try Self.insert(count, batch: 1, into: engine, layout) }
            }
            group.addTask {
                try await progress.lookUntilDone { try Self.lookAtAll(engine, 100, 100 + count) }
            }
            try await group.waitForAll()
        }
        #expect(progress.looksBesideSaves.load(ordering: .relaxed) > 0)
        #expect(try Self.rows(StoreQuery("Entry", purpose: .count), engine, engine.version).count == 100 + count)
    }

    private static func lookAtAll(_ engine: Engine, _ before: Int, _ after: Int) throws {
        let version = engine.version
        let found = try rows(StoreQuery("Entry", purpose: .count), engine, version).count ?? 0
        try check(found == before || found == after, "\(found) of \(after)")
        // Through the index, and by looking at a column.
        for (property, least) in [(property(0, "batch"), StoredValue.integer(0)), (property(1, "amount"), .double(0))] {
            let all = QueryExpression.compare(.greaterOrEqual, property, .constant(least))
            let asked = StoreQuery("Entry", purpose: .count, conjuncts: [all])
            let same = try rows(asked, engine, version).count
            try check(same == found, "\(same ?? -1) of \(found) by \(property)")
        }
    }
}
