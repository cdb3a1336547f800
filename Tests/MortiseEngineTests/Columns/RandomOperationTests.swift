import Foundation
import Testing

@testable import MortiseCore
@testable import MortiseEngine

@Suite struct RandomOperationTests {
    @Test(arguments: 0..<3)
    func savesAgreeWithAPlainModelAndOldVersionsStay(round: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var world = EngineWorld(seed: seed)
        var held: [(EngineVersion, [PersistentIdentifier: EngineWorld.Record])] = []
        for step in 0..<20 {
            try world.save(
                inserting: .random(in: 0...(step % 10 == 0 ? 200 : 12), using: &world.random),
                updating: .random(in: 0...8, using: &world.random), deleting: .random(in: 0...4, using: &world.random))
            if step % 7 == 0 { held.append((world.engine.version, world.records)) }
            if step % 5 == 0 || step == 19 {
                let text = difference(between: world.engine.version, and: world.records)
                #expect(text == nil, "seed \(seed), step \(step)")
            }
        }
        for (version, records) in held {
            #expect(difference(between: version, and: records) == nil, "an old version changed; seed \(seed)")
        }
    }

    @Test func aFailingTransactionLeavesNoTrace() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var world = EngineWorld(seed: seed)
        for step in 0..<20 {
            try world.save(inserting: 30, updating: 6, deleting: 2)
            let before = world.engine.version
            var broken = world
            broken.breaksNextSave = true
            #expect(throws: EngineError.self, "seed \(seed)") {
                try broken.save(inserting: 40, updating: 6, deleting: 2)
            }
            #expect(world.engine.version === before)
            if step % 4 == 3 {
                #expect(
                    difference(between: world.engine.version, and: world.records) == nil, "seed \(seed), step \(step)")
            }
        }
    }

    @Test func erasureEmptiesAndKeepsNumbersTaken() throws {
        var world = EngineWorld(seed: 5)
        try world.save(inserting: 400, updating: 0, deleting: 0)
        let before = (world.engine.version, world.records)
        try world.engine.erase()
        world.records = [:]
        #expect(difference(between: world.engine.version, and: [:]) == nil)
        try world.save(inserting: 400, updating: 0, deleting: 0)
        #expect(difference(between: world.engine.version, and: world.records) == nil)
        #expect(difference(between: before.0, and: before.1) == nil)
        let old = try #require(before.0.tables["Thing"])
        let new = try #require(world.engine.version.tables["Thing"])
        for row in 0..<old.endRow { #expect(!new.contains(row: row)) }
    }

    @Test func loadingGivesTheSameAsSaving() throws {
        var world = EngineWorld(seed: 77)
        for _ in 0..<8 { try world.save(inserting: 60, updating: 10, deleting: 5) }
        let loader = EngineLoader(world.catalog)
        let version = world.engine.version
        for (name, table) in version.tables {
            for row in 0..<table.endRow where table.contains(row: row) {
                try loader.append(
                    entity: name, sequence: table.sequence(ofRow: row), table.snapshot(ofRow: row).values)
            }
        }
        let loaded = try loader.finish(number: 0, nextSequence: version.nextSequence)
        #expect(difference(between: loaded, and: world.records) == nil)
    }
}
