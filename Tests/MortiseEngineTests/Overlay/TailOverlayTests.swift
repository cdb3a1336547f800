import Foundation
import MortiseTestSupport
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Versions that are partly in a file and partly in a log's tail, against the version that was never packed.
@Suite struct TailOverlayTests {
    private static let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"

    private func world(_ seed: UInt64) throws -> EngineWorld {
        var world = EngineWorld(seed: seed, schema: TailWorld.schema)
        world.entities += ["Mark", "Knot"]
        world.runLength = [1, 1, 7, 300].randomElement(using: &world.random) ?? 1
        for step in 0..<Int.random(in: 1...10, using: &world.random) {
            try world.save(
                inserting: world.random.pick([3, 40, 200]), updating: world.random.below(30),
                deleting: step == 0 ? 0 : world.random.below(20))
        }
        return world
    }

    private func change(_ tail: inout TailWorld, _ saves: Int) throws {
        for _ in 0..<saves {
            let sizes = [4, 4, 4, 60].randomElement(using: &tail.world.random) ?? 4
            let inserted = tail.world.random.below(sizes + 1)
            let (updated, deleted) = (tail.world.random.below(21), tail.world.random.below(7))
            try tail.world.save(inserting: inserted, updating: updated, deleting: deleted)
            try tail.follow()
        }
    }

    @Test(arguments: 0..<(isFull ? 40 : 6))
    func whatIsLaidOverAnswersAsWhatWasNeverPacked(round: Int) throws {
        let seed = testSeed() &+ UInt64(round)
        var tail = try TailWorld(world(seed))
        tail.world.entities = ["Thing", "Special", "Rare", "Owner", "Tag", "Mark", "Knot"]
        try change(&tail, Int.random(in: 1...8, using: &tail.world.random))
        var random = SeededGenerator(seed: ~seed)
        let reference = tail.world.engine.version
        // Each begins with nothing in memory, and is touched in another order.
        for step in 0..<4 {
            let version = try tail.overlaid
            let text: Comment = "seed \(seed), step \(step)"
            if random.chance(2) {
                #expect(difference(between: version, and: tail.world.records) == nil, text)
            }
            #expect(difference(between: version, and: reference, &random) == nil, text)
            #expect(difference(between: version, and: tail.world.records) == nil, text)
            #expect(version.inconsistencies() == [], text)
            #expect(version.damage == nil, text)
        }
        let replayed = try tail.tail.replayed().finish(
            number: reference.number, nextSequence: reference.nextSequence)
        #expect(difference(between: replayed, and: tail.world.records) == nil, "seed \(seed)")
        #expect(difference(between: replayed, and: reference, &random) == nil, "seed \(seed)")
    }

    @Test(arguments: 0..<(isFull ? 40 : 6))
    func savesAndPackingGoOnFromThere(round: Int) throws {
        let seed = testSeed() &+ UInt64(round)
        var tail = try TailWorld(world(seed))
        try change(&tail, Int.random(in: 1...5, using: &tail.world.random))
        var random = SeededGenerator(seed: ~seed)
        // Both go on alike: the one from what was never packed, the other from the overlay.
        var other = EngineWorld(Engine(try tail.overlaid), tail.world.records, seed: seed &+ 77)
        var same = EngineWorld(Engine(tail.world.engine.version), tail.world.records, seed: seed &+ 77)
        for step in 0..<6 {
            if random.chance(3) {
                #expect(
                    difference(between: other.engine.version, and: same.engine.version, &random) == nil,
                    "seed \(seed), step \(step)")
            }
            let sizes = (random.pick([1, 5, 90]), random.below(20), random.below(8))
            other.breaksNextSave = random.chance(4)
            same.breaksNextSave = other.breaksNextSave
            if other.breaksNextSave {
                #expect(throws: EngineError.self) { try other.save(inserting: 3, updating: 5, deleting: 2) }
                #expect(throws: EngineError.self) { try same.save(inserting: 3, updating: 5, deleting: 2) }
                (other.breaksNextSave, same.breaksNextSave) = (false, false)
                continue
            }
            try other.save(inserting: sizes.0, updating: sizes.1, deleting: sizes.2)
            try same.save(inserting: sizes.0, updating: sizes.1, deleting: sizes.2)
            #expect(
                difference(between: other.engine.version, and: other.records) == nil, "seed \(seed), step \(step)")
        }
        #expect(difference(between: other.engine.version, and: same.engine.version, &random) == nil, "seed \(seed)")
        #expect(other.engine.version.inconsistencies() == [], "seed \(seed)")
        let packed = try PackedBytesOfVersion(other.engine.version)
        let read = try packed.open(other.engine.version)
        try read.checkReadable(as: other.engine.version)
        #expect(difference(between: read, and: other.records) == nil, "seed \(seed)")
        #expect(difference(between: read, and: same.engine.version, &random) == nil, "seed \(seed)")
        #expect(read.inconsistencies() == [], "seed \(seed)")
        #expect(read.damage == nil, "seed \(seed)")
    }

    @Test func queriesFindTheSame() throws {
        let seed = testSeed()
        var tail = try TailWorld(world(seed))
        try tail.world.save(inserting: 400, updating: 0, deleting: 0)
        try tail.follow()
        try change(&tail, 4)
        let reference = tail.world.engine.version
        let layout = try tail.world.catalog.layouts["Thing"].unwrapped
        var version = try tail.overlaid
        let slots = layout.slots.indices.filter { slot in
            let attribute = layout.slots[slot].property.attribute
            return layout.slots[slot].role == .attribute && attribute?.kind != .coded
                && attribute?.options.contains(.ephemeral) == false
        }
        for step in 0..<(Self.isFull ? 2_000 : 300) {
            if step % 20 == 0 { version = try tail.overlaid }
            let slot = tail.world.random.pick(slots)
            let kind = layout.slots[slot].property.attribute?.kind ?? .string
            let own = QueryExpression.property(
                .variable(0), QueryProperty(entity: "Thing", name: layout.slots[slot].name, slot: slot))
            let comparison: QueryExpression.Comparison = tail.world.random.pick([
                .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ])
            // Half of them ask for a value that a record has.
            var value = tail.world.value(kind)
            if tail.world.random.chance(2),
                let record = tail.world.records.keys.sorted().randomElement(using: &tail.world.random),
                ["Thing", "Special", "Rare"].contains(record.entityName), let known = tail.world.records[record]
            {
                value = known.values[slot]
            }
            var query = StoreQuery(
                "Thing", includesSubentities: tail.world.random.chance(2),
                conjuncts: [.compare(comparison, own, .constant(value))])
            query.purpose = tail.world.random.pick([.rows, .rows, .count, .identifiers])
            if query.purpose == .rows, tail.world.random.chance(2) {
                query.order = [
                    StoreQuery.Order(own, isAscending: tail.world.random.chance(2), stringOrder: nil)
                ]
                query.limit = tail.world.random.below(20)
                query.offset = tail.world.random.below(5)
            }
            let text: Comment = "seed \(seed): \(layout.slots[slot].name) \(comparison) \(value), \(query)"
            #expect(try answer(to: query, version) == answer(to: query, reference), text)
        }
    }

    private func answer(to query: StoreQuery, _ version: EngineVersion) throws -> [String] {
        let engineQuery = EngineQuery(query, version.catalog)
        let found = try engineQuery.run(engineQuery.plan(), in: version)
        if query.purpose == .count { return [found.count.map { "\($0)" } ?? "none"] }
        return found.rows.map { row in
            version.tables[found.entities[row.table]].map { "\($0.identifier(ofRow: row.row))" } ?? "no table"
        }
    }
}
