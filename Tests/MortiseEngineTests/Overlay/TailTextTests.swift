import Foundation
import MortiseTestSupport
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Texts in chunks that a tail changes: those of a dictionary and those of a heap, changed ones and their neighbors.
@Suite struct TailTextTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Person",
            properties: [
                EngineWorld.attribute("name", .string, isOptional: false),
                EngineWorld.attribute("city", .string, isOptional: false),
                EngineWorld.attribute("age", .int64, isOptional: false),
                EngineWorld.attribute("note", .string, isOptional: true),
            ],
            indices: [StoredIndex(properties: ["age"]), StoredIndex(properties: ["name"])])
    ])
    private static let (name, city, age, note) = (0, 1, 2, 3)

    private func values(_ index: Int) -> ContiguousArray<StoredValue> {
        [
            .string("the person with number \(index * 7_919 % 100_003)"), .string("city \(index % 11)"),
            .integer(Int64(index * 31 % 9_973)),
            index % 3 == 0 ? .null : .string("a note of \(index), longer than inline"),
        ]
    }

    @Test(arguments: [40, 6_000]) func textsAreThoseOfTheirRecords(count: Int) throws {
        let replay = EngineReplay(.empty(Catalog(schema: Self.schema, storeIdentifier: "texts")))
        for index in 0..<count { try replay.insert(entity: 0, sequence: UInt64(index) + 1, values(index)) }
        try replay.endTransaction()
        let whole = try replay.finish(number: 1, nextSequence: UInt64(count) + 1)
        let tail = try EngineTail(try PackedBytesOfVersion(whole).open(whole)) { $0 }.unwrapped
        var expected: [UInt64: ContiguousArray<StoredValue>] = [:]
        for index in 0..<count { expected[UInt64(index) + 1] = values(index) }
        for sequence in stride(from: UInt64(5), to: UInt64(count), by: 61) {
            let note = StoredValue.string("changed \(sequence), longer than inline")
            try tail.update(entity: 0, sequence: sequence, [(Self.age, .integer(31)), (Self.note, note)])
            expected[sequence]?[Self.age] = .integer(31)
            expected[sequence]?[Self.note] = note
        }
        for sequence in stride(from: UInt64(7), to: UInt64(count), by: 97) {
            try tail.delete(entity: 0, sequence: sequence)
            expected[sequence] = nil
        }
        try tail.insert(entity: 0, sequence: UInt64(count) + 1, values(count))
        expected[UInt64(count) + 1] = values(count)
        let version = try tail.overlaid(number: 2, nextSequence: UInt64(count) + 2)
        let table = try #require(version.tables["Person"])
        var found = 0
        for row in 0..<table.endRow where table.contains(row: row) {
            let record = try #require(expected[table.sequence(ofRow: row)])
            for slot in 0..<4 { #expect(table.value(row: row, slot: slot) == record[slot], "row \(row), slot \(slot)") }
            #expect(table.string(row: row, slot: Self.name) == record[Self.name].text, "row \(row)")
            found += 1
        }
        #expect(found == expected.count)
        #expect(version.inconsistencies() == [])
    }
}

extension StoredValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
