import MortiseTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Which tails are laid over a version, and numbers that the version never gave.
@Suite struct TailBoundsTests {
    private static let people = StoredSchema(entities: [
        StoredEntity(
            name: "Person",
            properties: [
                EngineWorld.attribute("name", .string, isOptional: true),
                EngineWorld.attribute("city", .string, isOptional: true),
                EngineWorld.attribute("age", .int64, isOptional: false),
            ],
            uniquenessConstraints: [["city", "name"]],
            indices: [StoredIndex(properties: ["age"]), StoredIndex(properties: ["name", "age"])])
    ])

    /// People 1, 2, … without a gap: where each lies is known without reading.
    private func packed(people count: Int, _ values: (Int) -> ContiguousArray<StoredValue>) throws -> EngineVersion {
        try bytes(people: count, values).version
    }

    private func bytes(
        people count: Int, _ values: (Int) -> ContiguousArray<StoredValue>
    ) throws -> (bytes: PackedBytesOfVersion, version: EngineVersion) {
        let catalog = Catalog(schema: Self.people, storeIdentifier: "bounds")
        let replay = EngineReplay(.empty(catalog))
        for index in 0..<count {
            try replay.insert(entity: 0, sequence: UInt64(index) + 1, values(index))
        }
        try replay.endTransaction()
        let version = try replay.finish(number: 1, nextSequence: UInt64(count) + 1)
        let bytes = try PackedBytesOfVersion(version)
        return (bytes, try bytes.open(version))
    }

    /// Bug: a number behind the last was taken for a row behind the last.
    @Test(arguments: [301, 512, 5_000, 1 << 63, .max] as [UInt64])
    func aNumberThatTheVersionNeverGaveIsAnError(number: UInt64) throws {
        let base = try packed(people: 300) { [.string("n \($0)"), .string("Rome"), .integer(Int64($0))] }
        let tail = try #require(EngineTail(base) { $0 })
        let expected = EngineError.noSuchRecord(base.catalog.plans[0].identifiers[number])
        #expect(throws: expected) { try tail.update(entity: 0, sequence: number, [(0, .string("x"))]) }
        #expect(throws: expected) { try tail.delete(entity: 0, sequence: number) }
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        #expect(version.tables["Person"]?.count == 300)
        try version.check()
    }

    /// Bug: keys with null in a later property are equal in many records, and a chunk was read for each of them again and again.
    @Test func keysWithNullAreNoDuplicatesAndCostNoReadingTwice() throws {
        let (bytes, base) = try bytes(people: 2_000) { [.null, .string("city \($0 % 5)"), .integer(Int64($0))] }
        let tail = try #require(EngineTail(base) { $0 })
        for number in stride(from: UInt64(1), to: 2_000, by: 40) {
            try tail.update(entity: 0, sequence: number, [(1, .string("city 7")), (0, .null)])
        }
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try #require(version.tables["Person"])
        let definition = try #require(table.plan.indexes.firstIndex { $0.constraint != nil })
        let start = bytes.reads
        #expect(try version.duplicateOfTail() == nil)
        // One chunk for the one key that all have, and the nodes beside it.
        #expect(bytes.reads - start < 20)
        var reads: [Int] = []
        for _ in 0..<2 {
            let before = bytes.reads
            var entries = 0
            try table.indexes[definition].forEachEntry { _ in entries += 1 }
            #expect(entries == 2_000)
            reads.append(bytes.reads - before)
        }
        #expect(reads[1] < reads[0], "\(reads)")
        #expect(version.damage == nil)
    }

    /// Bug: behind the key all hidden entries were gone through, and their nodes read, up to the next that was none.
    @Test(arguments: [1, 20] as [UInt64]) func aLookUpReadsNothingOfWhatIsHiddenBehindItsKey(shift: UInt64) throws {
        func name(_ number: Int) -> StoredValue { .string("n \(100_000 + number)") }
        let (bytes, base) = try bytes(people: 20_000) { [name($0), .string("Rome"), .integer(Int64($0))] }
        let tail = try #require(EngineTail(base) { $0 })
        for index in 2_000..<16_000 {
            try tail.update(entity: 0, sequence: UInt64(index) + 1, [(0, .string("z \(index)")), (1, .string("Oslo"))])
        }
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try #require(version.tables["Person"])
        let definition = try #require(table.plan.indexes.firstIndex { $0.constraint != nil })
        let index = TableIndex(table, definition)
        let before = bytes.reads
        for place in 0..<10 {
            let number = 2_000 + place * Int(shift)
            #expect(index.rows(equalTo: [.string("Rome"), name(number)], upTo: 10) == [])
        }
        #expect(index.rows(equalTo: [.string("Rome"), name(17_000)], upTo: 10) == [17_000])
        #expect(bytes.reads - before < 30)
        #expect(index.rows(equalTo: [.string("Oslo"), .string("z 2000")], upTo: 10) == [2_000])
    }

    /// Bug: the first count read the whole index, even if nothing of it was hidden, and kept it.
    @Test(arguments: [false, true]) func countsKeepNothingOfWhatTheyRead(isUpdated: Bool) throws {
        let (bytes, base) = try bytes(people: 20_000) { [.string("n \($0)"), .null, .integer(Int64($0))] }
        let tail = try #require(EngineTail(base) { $0 })
        try tail.insert(entity: 0, sequence: 20_001, [.string("new"), .null, .integer(5)])
        if isUpdated { try tail.update(entity: 0, sequence: 7, [(2, .integer(30_000))]) }
        let version = try tail.overlaid(number: 2, nextSequence: 20_002)
        let table = try #require(version.tables["Person"])
        let index = table.indexes[try #require(table.plan.indexes.firstIndex { $0.slots == [2] })]
        let first = IndexProbe(head: 0, second: 0, tail: UnsafeRawBufferPointer(start: nil, count: 0), row: 0)
        let before = bytes.reads
        #expect(index.count(from: first, to: nil) == 20_001)
        #expect(index.rank(first) == 0)
        let counted = bytes.reads
        if !isUpdated { #expect(counted - before < 10) }
        var entries = 0
        try index.forEachEntry { _ in entries += 1 }
        #expect(entries == 20_001)
        // Each of them was read for this.
        #expect(bytes.reads - counted > 100)
    }

    /// Bug: inverses of different entities were taken for one, and their records were read at each opening.
    @Test func inversesWithOnePlaceInDifferentEntitiesAreDifferent() throws {
        let schema = StoredSchema(entities: [
            StoredEntity(
                name: "Membership",
                properties: [
                    EngineWorld.relationship("person", "Person", inverse: "members"),
                    EngineWorld.relationship("club", "Club", inverse: "members"),
                ]),
            StoredEntity(
                name: "Person",
                properties: [EngineWorld.relationship("members", "Membership", isToMany: true, inverse: "person")]),
            StoredEntity(
                name: "Club",
                properties: [EngineWorld.relationship("members", "Membership", isToMany: true, inverse: "club")]),
        ])
        let catalog = Catalog(schema: schema, storeIdentifier: "joins")
        let membership = try #require(catalog.numbers["Membership"])
        let replay = EngineReplay(.empty(catalog))
        func insert(_ entity: String, _ number: UInt64, _ values: [String: StoredValue] = [:]) throws {
            let plan = try #require(catalog.plan(entity))
            try replay.insert(
                entity: plan.number, sequence: number,
                ContiguousArray(plan.layout.slots.map { values[$0.name] ?? .null }))
        }
        func identifier(_ entity: String, _ number: UInt64) throws -> StoredValue {
            .identifier(try #require(catalog.plan(entity)).identifiers[number])
        }
        try insert("Person", 1)
        try insert("Club", 2)
        try insert("Club", 3)
        try insert("Membership", 4, ["person": identifier("Person", 1), "club": identifier("Club", 2)])
        try replay.endTransaction()
        let version = try replay.finish(number: 1, nextSequence: 5)
        let tail = try #require(EngineTail(PackedBytesOfVersion(version).open(version)) { $0 })
        let club = try #require(catalog.plans[membership].layout.slot(named: "club"))
        try tail.update(entity: membership, sequence: 4, [(club, identifier("Club", 3))])
        let overlaid = try tail.overlaid(number: 2, nextSequence: 5)
        let reverses = catalog.relationships[membership].map(\.reverse)
        try #require(reverses.count == 2 && reverses[0] == reverses[1])
        func members(_ entity: String) -> [[UInt64]] {
            var found: [[UInt64]] = []
            overlaid.tables[entity]?.links[reverses[0]].pairs.forEachRun(from: nil, to: nil) { node, run in
                for index in run { found.append([node.head(index), node.second(index)]) }
                return true
            }
            return found
        }
        #expect(members("Person") == [[1, 4]])
        #expect(members("Club") == [[3, 4]])
    }
}
