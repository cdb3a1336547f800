import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

@Suite struct RandomOperationTests {
    @Test(arguments: 0..<3)
    func savesAgreeWithAPlainModelAndOldVersionsStay(round: Int) throws {
        let seed = testSeed()
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

    @Test(arguments: [1, 7, 100, 1000])
    func manyRecordsAtOnceAgreeWithAPlainModel(runLength: Int) throws {
        let seed = testSeed()
        var world = EngineWorld(seed: seed)
        world.runLength = runLength
        for step in 0..<4 {
            try world.save(
                inserting: .random(in: 64...500, using: &world.random), updating: 5, deleting: step == 0 ? 0 : 3)
            // What a save that failed left behind the rows is written over.
            var broken = world
            broken.breaksNextSave = true
            #expect(throws: EngineError.self, "seed \(seed)") {
                try broken.save(inserting: 200, updating: 3, deleting: 1)
            }
            #expect(
                difference(between: world.engine.version, and: world.records) == nil, "seed \(seed), step \(step)")
        }
    }

    /// Many records go into a unique index together, sorted: each of them is still held against the others, what is
    /// stored, and the other entities of the family.
    @Test func manyRecordsAtOnceAreRefusedForOneThatIsNotUnique() throws {
        let world = EngineWorld(seed: 3)
        func save(_ codes: [StoredValue], _ entity: String) throws {
            var source = EngineWorld(seed: 4)
            let layout = try #require(world.catalog.layouts[entity])
            let code = try #require(layout.slot(named: "code"))
            let inserted = codes.map { value in
                var values = source.values(of: layout, alive: [])
                values[code] = value
                return DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: entity), layout: layout, values: values)
            }
            _ = try world.engine.save(DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState()))
        }
        func codes(_ numbers: Range<Int>) -> [StoredValue] { numbers.map { .string("a code with a long end \($0)") } }
        try save(codes(0..<100), "Thing")
        try save(Array(repeating: .null, count: 100), "Thing")
        let version = world.engine.version
        for (wrong, entity) in [
            (codes(100..<200) + codes(150..<151), "Thing"), (codes(99..<200), "Thing"), (codes(0..<80), "Special"),
        ] {
            #expect {
                try save(wrong, entity)
            } throws: { error in
                guard case EngineError.notUnique(entity, ["code"], _, _) = error else { return false }
                return true
            }
            #expect(world.engine.version === version)
        }
        try save(codes(100..<200), "Special")
        #expect(world.engine.version.tables["Special"]?.count == 100)
    }

    @Test func aFailingTransactionLeavesNoTrace() throws {
        let seed = testSeed()
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
        var world = EngineWorld(seed: testSeed())
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
        var world = EngineWorld(seed: testSeed())
        for _ in 0..<8 { try world.save(inserting: 60, updating: 10, deleting: 5) }
        let loader = EngineLoader(world.catalog)
        let version = world.engine.version
        for (name, table) in version.tables {
            for row in 0..<table.endRow where table.contains(row: row) {
                try loader.append(
                    entity: name, sequence: table.sequence(ofRow: row), try table.snapshot(ofRow: row).values)
            }
        }
        let loaded = try loader.finish(number: 0, nextSequence: version.nextSequence)
        #expect(difference(between: loaded, and: world.records) == nil)
    }
}
