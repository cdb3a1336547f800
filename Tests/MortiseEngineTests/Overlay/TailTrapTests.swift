import Foundation
import MortiseTestSupport
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// What is easily lost, counted twice or read too often where a tail is laid over a packed version.
@Suite struct TailTrapTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Person",
            properties: [
                EngineWorld.attribute("code", .string, isOptional: true),
                EngineWorld.attribute("age", .int64, isOptional: false),
                EngineWorld.attribute("city", .string, isOptional: true),
                EngineWorld.relationship("boss", "Person", inverse: "staff"),
                EngineWorld.relationship("staff", "Person", isToMany: true, inverse: "boss"),
                EngineWorld.relationship("clubs", "Society", isToMany: true, inverse: "people"),
            ],
            uniquenessConstraints: [["code"]],
            indices: [StoredIndex(properties: ["age"]), StoredIndex(properties: ["city", "age"])]),
        StoredEntity(name: "Pupil", superentity: "Person", properties: []),
        StoredEntity(
            name: "Society",
            properties: [
                EngineWorld.attribute("name", .string, isOptional: false),
                EngineWorld.relationship("people", "Person", isToMany: true, inverse: "clubs"),
            ]),
        StoredEntity(name: "Mark", properties: []),
    ])

    private let catalog = Catalog(schema: schema, storeIdentifier: "traps")

    private func identifier(_ entity: String, _ sequence: UInt64) -> PersistentIdentifier {
        IdentifierNamespace(storeIdentifier: "traps", entityName: entity)[sequence]
    }

    private func slot(_ name: String) throws -> Int { try (catalog.layouts["Person"]?.slot(named: name)).unwrapped }

    private func person(
        _ code: String?, age: Int, city: String? = "Rome", boss: UInt64? = nil, clubs: [UInt64] = []
    ) throws -> ContiguousArray<StoredValue> {
        let layout = try catalog.layouts["Person"].unwrapped
        return ContiguousArray(
            layout.slots.map { slot in
                switch slot.name {
                case "code": code.map { .string($0) } ?? .null
                case "age": .integer(Int64(age))
                case "city": city.map { .string($0) } ?? .null
                case "boss": boss.map { .identifier(identifier("Person", $0)) } ?? .null
                case "clubs": .identifiers(clubs.map { identifier("Society", $0) })
                default: .null
                }
            })
    }

    private func number(_ entity: String) throws -> Int { try catalog.numbers[entity].unwrapped }

    /// Packs a version with people whose numbers begin at 1 and are as far apart as `stride` says, and with clubs behind them.
    private func packed(
        people: Int, stride: UInt64 = 1, clubs: Int = 0, _ more: (EngineReplay, UInt64) throws -> Void = { _, _ in }
    ) throws -> (bytes: PackedBytesOfVersion, version: EngineVersion) {
        let replay = EngineReplay(.empty(catalog))
        var next: UInt64 = 1
        let firstClub = UInt64(people) * stride + 1
        for index in 0..<people {
            try replay.insert(
                entity: number("Person"), sequence: next,
                person(
                    "code \(index)", age: index % 90, city: ["Rome", "Oslo", nil][index % 3],
                    boss: index > 0 ? 1 : nil, clubs: clubs > 0 ? [firstClub + UInt64(index % clubs)] : []))
            next += stride
        }
        for index in 0..<clubs {
            try replay.insert(
                entity: number("Society"), sequence: firstClub + UInt64(index), [.string("club \(index)"), .null])
        }
        let last = firstClub + UInt64(clubs)
        try more(replay, last)
        try replay.endTransaction()
        let version = try replay.finish(number: 1, nextSequence: last + 1_000)
        let bytes = try PackedBytesOfVersion(version)
        return (bytes, try bytes.open(version))
    }

    private func tail(_ version: EngineVersion) throws -> EngineTail { try EngineTail(version) { $0 }.unwrapped }

    private func row(_ code: String, in version: EngineVersion, entity: String = "Person") throws -> UInt64? {
        let table = try version.tables[entity].unwrapped
        let definition = try (table.plan.indexes.firstIndex { $0.constraint != nil }).unwrapped
        return TableIndex(table, definition).rows(equalTo: [.string(code)], upTo: 10)?.first.map {
            table.sequence(ofRow: $0)
        }
    }

    // MARK: Reading little

    /// A change in every chunk: what opening and one look-up read does not depend on how many there are.
    @Test(arguments: [1, 3] as [UInt64]) func layingOverReadsAsMuchHoweverManyRowsThereAre(stride: UInt64) throws {
        var reads: [Int] = []
        for people in [2_000, 20_000] {
            let (bytes, base) = try packed(people: people, stride: stride)
            let before = bytes.reads
            let tail = try tail(base)
            var deleted = 0
            for index in Swift.stride(from: 0, to: people, by: 100) {
                let sequence = UInt64(index) * stride + 1
                if index % 300 == 200 {
                    deleted += 1
                    try tail.delete(entity: number("Person"), sequence: sequence)
                } else {
                    try tail.update(
                        entity: number("Person"), sequence: sequence,
                        [(slot("code"), .string("new \(index)")), (slot("age"), .integer(7))])
                }
            }
            try tail.insert(entity: number("Person"), sequence: UInt64(people) * stride + 2, person("last", age: 1))
            let version = try tail.overlaid(number: 2, nextSequence: UInt64(people) * stride + 9)
            #expect(version.tables["Person"]?.count == people - deleted + 1)
            #expect(try row("code 1500", in: version) == nil)
            #expect(try row("new 1500", in: version) == 1500 * stride + 1)
            #expect(try row("code 1501", in: version) == 1501 * stride + 1)
            #expect(try row("last", in: version) == UInt64(people) * stride + 2)
            #expect(version.damage == nil)
            reads.append(bytes.reads - before)
        }
        #expect(reads[1] <= reads[0] + 6 && reads[1] < 30, "\(reads)")
    }

    // MARK: Rows

    @Test func recordsWithoutColumnsAreThere() throws {
        let replay = EngineReplay(.empty(catalog))
        for index in 0..<400 { try replay.insert(entity: number("Mark"), sequence: 1 + UInt64(index), []) }
        try replay.endTransaction()
        let version = try replay.finish(number: 1, nextSequence: 401)
        let tail = try tail(PackedBytesOfVersion(version).open(version))
        try tail.delete(entity: number("Mark"), sequence: 300)
        try tail.update(entity: number("Mark"), sequence: 301, [])
        try tail.insert(entity: number("Mark"), sequence: 401, [])
        let found = try tail.overlaid(number: 2, nextSequence: 402)
        let table = try found.tables["Mark"].unwrapped
        #expect(table.row(ofSequence: 300) == nil)
        #expect(table.row(ofSequence: 301) == 300)
        #expect(table.row(ofSequence: 401) == 400)
        #expect(table.count == 400)
        #expect((0..<table.endRow).count { table.contains(row: $0) } == 400)
    }

    @Test func aRelativeWithoutRecordsGetsItsFirstInTheTail() throws {
        let (_, base) = try packed(people: 600)
        let tail = try tail(base)
        try tail.insert(entity: number("Pupil"), sequence: 602, person("pupil", age: 9, boss: 5))
        try tail.update(
            entity: number("Person"), sequence: 9,
            [(slot("boss"), .identifier(identifier("Pupil", 602))), (slot("code"), .null)])
        let version = try tail.overlaid(number: 2, nextSequence: 603)
        #expect(version.tables["Pupil"]?.count == 1)
        #expect(
            version.identifier(ofEntity: "Person", constraint: 0, values: [.string("pupil")])
                == identifier("Pupil", 602))
        let staff = try slot("staff")
        #expect(version.tables["Pupil"]?.identifiers(row: 0, slot: staff) == [identifier("Person", 9)])
        let boss = try (version.tables["Person"]?.row(ofSequence: 5)).unwrapped
        #expect(version.tables["Person"]?.identifiers(row: boss, slot: staff) == [identifier("Pupil", 602)])
        let first = try (version.tables["Person"]?.identifiers(row: 0, slot: staff)).unwrapped
        #expect(first.count == 598 && !first.contains(identifier("Person", 9)))
        #expect(version.inconsistencies() == [])
    }

    @Test func aRecordThatComesAndGoesInTheTailLeavesOnlyItsPlace() throws {
        let (_, base) = try packed(people: 300)
        let tail = try tail(base)
        try tail.insert(entity: number("Person"), sequence: 301, person("twice", age: 1))
        try tail.update(entity: number("Person"), sequence: 301, [(slot("code"), .string("thrice"))])
        try tail.delete(entity: number("Person"), sequence: 301)
        try tail.insert(entity: number("Person"), sequence: 302, person("thrice", age: 2))
        #expect(throws: EngineError.noSuchRecord(identifier("Person", 301))) {
            try tail.update(entity: number("Person"), sequence: 301, [(slot("age"), .integer(3))])
        }
        #expect(throws: EngineError.self) {
            try tail.insert(entity: number("Person"), sequence: 301, person("again", age: 1))
        }
        let version = try tail.overlaid(number: 2, nextSequence: 303)
        #expect(version.tables["Person"]?.count == 301)
        #expect(version.tables["Person"]?.endRow == 302)
        #expect(try row("thrice", in: version) == 302)
        #expect(try row("twice", in: version) == nil)
        #expect(version.inconsistencies() == [])
    }

    @Test func deletionWithTheReferencesThatItClearsKeepsLinksWhole() throws {
        let (_, base) = try packed(people: 700, stride: 2, clubs: 3)
        let tail = try tail(base)
        // The first is everybody's boss, and in a club.
        for index in 1..<700 {
            try tail.update(entity: number("Person"), sequence: UInt64(index) * 2 + 1, [(slot("boss"), .null)])
        }
        try tail.delete(entity: number("Person"), sequence: 1)
        let club = UInt64(700 * 2 + 1)
        try tail.update(
            entity: number("Person"), sequence: 3,
            [(slot("clubs"), .identifiers([identifier("Society", club), identifier("Society", club + 2)]))])
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try version.tables["Person"].unwrapped
        #expect(table.links[try slot("staff")].pairs.count == 0)
        let people = try (version.tables["Society"]?.layout.slot(named: "people")).unwrapped
        let members = try (0..<3).map { try (version.tables["Society"]?.identifiers(row: $0, slot: people)).unwrapped }
        #expect(members.map(\.count) == [234, 232, 234])
        #expect(members[0].contains(identifier("Person", 3)) && !members[1].contains(identifier("Person", 3)))
        #expect(!members.joined().contains(identifier("Person", 1)))
        #expect(version.inconsistencies() == [])
    }

    /// A compound key of which the tail has one half: the other one has to be read, once, when somebody asks.
    @Test func keysOfOldAndNewValuesAreFound() throws {
        let (_, base) = try packed(people: 900)
        let tail = try tail(base)
        for index in stride(from: 0, to: 900, by: 7) {
            try tail.update(entity: number("Person"), sequence: UInt64(index) + 1, [(slot("age"), .integer(500))])
        }
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try version.tables["Person"].unwrapped
        let number = try (table.plan.indexes.firstIndex { $0.components.count == 2 }).unwrapped
        let index = TableIndex(table, number)
        let expected = (0..<900).filter { $0 % 7 == 0 && $0 % 3 == 1 }
        #expect(index.rows(equalTo: [.string("Oslo"), .integer(500)], upTo: 900) == expected)
        #expect(index.count == 900)
        #expect(version.inconsistencies() == [])
        // A writer that changes one of them takes its entry out again.
        let engine = Engine(version)
        let layout = try catalog.layouts["Person"].unwrapped
        let age = try slot("age")
        var values = ContiguousArray(repeating: StoredValue.null, count: layout.slots.count)
        values[age] = .integer(501)
        _ = try engine.save(
            DataStoreSaveChangesRequest(
                inserted: [],
                updated: [
                    DefaultSnapshot(persistentIdentifier: identifier("Person", 8), layout: layout, values: values)
                ],
                deleted: [], editingState: EditingState(), changedSlots: [SlotSet([age])]))
        let next = TableIndex(try engine.version.tables["Person"].unwrapped, number)
        #expect(next.rows(equalTo: [.string("Oslo"), .integer(500)], upTo: 900) == expected.filter { $0 != 7 })
        #expect(next.rows(equalTo: [.string("Oslo"), .integer(501)], upTo: 900) == [7])
        #expect(engine.version.inconsistencies() == [])
    }

    /// Strings that the dictionary has stay numbers; a chunk keeps others itself.
    @Test func newStringsAreReadBack() throws {
        let (_, base) = try packed(people: 600)
        let tail = try tail(base)
        let long = String(repeating: "a long name ", count: 20)
        try tail.update(entity: number("Person"), sequence: 2, [(slot("city"), .string("Oslo"))])
        try tail.update(entity: number("Person"), sequence: 300, [(slot("city"), .string("Bergen"))])
        try tail.update(entity: number("Person"), sequence: 301, [(slot("city"), .string(long))])
        try tail.update(entity: number("Person"), sequence: 302, [(slot("city"), .null)])
        let table = try (tail.overlaid(number: 2, nextSequence: base.nextSequence).tables["Person"]).unwrapped
        let city = try slot("city")
        let found = [1, 299, 300, 301, 302, 0, 599].map { table.string(row: $0, slot: city) }
        #expect(found == ["Oslo", "Bergen", long, nil, nil, "Rome", nil])
    }

    // MARK: What contradicts the version

    @Test func aTailThatGivesTwoRecordsOneUniqueValueIsRefused() throws {
        let (_, base) = try packed(people: 300)
        let tail = try tail(base)
        try tail.update(entity: number("Person"), sequence: 5, [(slot("code"), .string("same"))])
        try tail.insert(entity: number("Pupil"), sequence: 301, person("same", age: 1))
        #expect(
            throws: EngineError.notUnique(
                entity: "Pupil", properties: ["code"], record: identifier("Pupil", 301), other: identifier("Person", 5))
        ) { try tail.overlaid(number: 2, nextSequence: 302) }
    }

    @Test(arguments: [true, false], [1, 2] as [UInt64])
    func aUniqueValueThatTheVersionHasIsAnErrorWhereItIsLookedUp(isNew: Bool, stride: UInt64) throws {
        let (bytes, base) = try packed(people: 600, stride: stride)
        let tail = try tail(base)
        let record: PersistentIdentifier
        if isNew {
            record = identifier("Person", 600 * stride + 2)
            try tail.insert(entity: number("Person"), sequence: 600 * stride + 2, person("code 77", age: 1))
        } else {
            record = identifier("Person", 500 * stride + 1)
            try tail.update(entity: number("Person"), sequence: 500 * stride + 1, [(slot("code"), .string("code 77"))])
        }
        let expected = EngineError.notUnique(
            entity: "Person", properties: ["code"], record: record, other: identifier("Person", 77 * stride + 1))
        let end = 600 * stride + 3
        let looked = try tail.overlaid(number: 2, nextSequence: end)
        #expect(try row("code 78", in: looked) != nil)
        #expect(looked.damage == nil)
        #expect(try row("code 77", in: looked) != nil)
        #expect(looked.damage as? EngineError == expected)

        // Where nobody looks it up, packing the version throws the error.
        let other = try self.tail(bytes.open(base))
        if isNew {
            try other.insert(entity: number("Person"), sequence: 600 * stride + 2, person("code 77", age: 1))
        } else {
            try other.update(entity: number("Person"), sequence: 500 * stride + 1, [(slot("code"), .string("code 77"))])
        }
        let packed = try other.overlaid(number: 2, nextSequence: end)
        #expect(throws: expected) { try PackedBytesOfVersion(packed) }
        #expect(!packed.inconsistencies().isEmpty)
    }

    @Test func aUniqueValueOfARelativeIsAnErrorWhenTheVersionIsPacked() throws {
        let (_, base) = try packed(people: 300)
        let tail = try tail(base)
        try tail.insert(entity: number("Pupil"), sequence: 302, person("code 9", age: 1))
        let version = try tail.overlaid(number: 2, nextSequence: 303)
        #expect(
            throws: EngineError.notUnique(
                entity: "Pupil", properties: ["code"], record: identifier("Pupil", 302), other: identifier("Person", 10)
            )
        ) { try PackedBytesOfVersion(version) }
    }

    /// Null does not count, wherever it comes from.
    @Test func manyRecordsWithoutAUniqueValueAreNoContradiction() throws {
        let (_, base) = try packed(people: 3) { replay, next in
            for index in 0..<300 {
                try replay.insert(entity: number("Person"), sequence: next + UInt64(index), person(nil, age: 1))
            }
        }
        let tail = try EngineTail(base) { $0 }.unwrapped
        try tail.update(entity: number("Person"), sequence: 2, [(slot("code"), .null)])
        try tail.update(entity: number("Person"), sequence: 40, [(slot("code"), .null)])
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try version.tables["Person"].unwrapped
        #expect(TableIndex(table, 0).rows(equalTo: [.null], upTo: 900)?.count == 301)
        #expect(version.damage == nil)
        _ = try PackedBytesOfVersion(version)
    }

    @Test func aChangeOfARecordThatTheVersionLacksIsAnErrorOfItsChunk() throws {
        // Odd numbers only, so that nobody knows before.
        let (_, base) = try packed(people: 900, stride: 2)
        let tail = try tail(base)
        try tail.update(entity: number("Person"), sequence: 600, [(slot("age"), .integer(1))])
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let table = try version.tables["Person"].unwrapped
        #expect(table.int64(row: 0, slot: try slot("age")) == 0)
        #expect(version.damage == nil)
        #expect(table.int64(row: 299, slot: try slot("age")) == 299 % 90)
        #expect(version.damage as? EngineError == .noSuchRecord(identifier("Person", 600)))
        #expect(throws: EngineError.noSuchRecord(identifier("Person", 600))) { try version.check() }
        #expect(throws: EngineError.self) { try tail.update(entity: number("Society"), sequence: 3, []) }
    }

    @Test func aSchemaWhoseRelationshipsShareAnInverseHasNoTail() throws {
        let schema = StoredSchema(entities: [
            StoredEntity(
                name: "Flight",
                properties: [
                    EngineWorld.relationship("from", "Port", inverse: "flights"),
                    EngineWorld.relationship("to", "Port", inverse: "flights"),
                ]),
            StoredEntity(
                name: "Port", properties: [EngineWorld.relationship("flights", "Flight", isToMany: true, inverse: "to")]
            ),
        ])
        let version = EngineVersion.empty(Catalog(schema: schema, storeIdentifier: "ports"))
        let base = try PackedBytesOfVersion(version).open(version)
        #expect(EngineTail(base) { $0 } == nil)
    }

    // MARK: Memory

    /// What is let go of is not kept by what is laid over it.
    @Test func whatIsUnreadIsReadAgain() throws {
        let (bytes, base) = try packed(people: 3_000, stride: 2)
        let tail = try tail(base)
        for index in stride(from: 0, to: 3_000, by: 50) {
            try tail.update(entity: number("Person"), sequence: UInt64(index) * 2 + 1, [(slot("age"), .integer(1_000))])
        }
        let version = try tail.overlaid(number: 2, nextSequence: base.nextSequence)
        let age = try slot("age")
        func sum(_ version: EngineVersion) -> Int64 {
            let table = version.tables["Person"]
            return (0..<3_000).reduce(0) { $0 + (table?.int64(row: $1, slot: age) ?? 0) }
        }
        let expected = sum(version)
        let before = bytes.reads
        #expect(sum(version) == expected && bytes.reads == before)
        let unread = version.unread()
        #expect(unread.keptBytes(besides: nil) == 0)
        #expect(sum(unread) == expected)
        #expect(bytes.reads >= before + 12)
    }
}
