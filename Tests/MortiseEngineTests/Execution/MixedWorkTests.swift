import Foundation
import Synchronization
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Queries of every sort while others save: each is of one version, whole. Under the thread sanitizer this shows that
/// queries look at nothing that a writer writes.
@Suite struct MixedWorkTests {
    /// What the tasks of a test tell each other.
    private final class Progress: Sendable {
        let isDone = Atomic(false)
        let looks = Atomic(0)
    }

    private static var isFull: Bool { ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" }

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
        let saves = Self.isFull ? 3_000 : 120
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
        let count = Self.isFull ? 1_000_000 : 20_000
        _ = try Self.insert(100, batch: 0, into: engine, layout)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                _ = try Self.insert(count, batch: 1, into: engine, layout)
            }
            group.addTask {
                repeat {
                    let version = engine.version
                    let found = try Self.rows(StoreQuery("Entry", purpose: .count), engine, version).count ?? 0
                    #expect(found == 100 || found == 100 + count)
                    // Through the index, and by looking at a column.
                    for property in [Self.property(0, "batch"), Self.property(1, "amount")] {
                        let all = QueryExpression.compare(
                            .greaterOrEqual, property,
                            .constant(property == Self.property(0, "batch") ? .integer(0) : .double(0)))
                        let asked = StoreQuery("Entry", purpose: .count, conjuncts: [all])
                        #expect(try Self.rows(asked, engine, version).count == found)
                    }
                    progress.looks.add(1, ordering: .relaxed)
                    await Task.yield()
                } while !progress.isDone.load(ordering: .acquiring)
            }
            try await group.waitForAll()
        }
        #expect(progress.looks.load(ordering: .relaxed) > 0)
        #expect(try Self.rows(StoreQuery("Entry", purpose: .count), engine, engine.version).count == 100 + count)
    }
}
