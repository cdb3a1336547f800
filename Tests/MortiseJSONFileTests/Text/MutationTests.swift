import FaultWorkload
import Foundation
import MortiseCore
import MortiseJSONFile
import PackageTestSupport
import Testing

/// Random damage to valid documents: an error or a document, never a trap. What is read can be written again.
@Suite struct MutationTests {
    private static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "null", "true", "-", "0", "1", "9", ".", "e", "E+",
        "1e999",
        "18446744073709551615", "18446744073709551616", "-9223372036854775808", "\"$id\"", "\"nan\"", "\u{0}", "\n",
        " ",
        "é", "\u{FEFF}", "\"kind\"", "\"toOne\"", "\"T\"", "\"E\"", "{\"$id\": 1}", "\"inverse\"",
        "\"superentity\": \"E\",",
        "2001-01-01T00:00:00.5Z", "AA==", "http://", "[[[[[[", "{\"a\":{\"a\":",
    ].map { Array($0.utf8) }

    @Test func damagedDocumentsAreRefusedOrRead() throws {
        var random = SeededGenerator(seed: testSeed())
        let count =
            ProcessInfo.processInfo.environment["MORTISE_TEST_MUTATIONS"].flatMap { Int($0) }
            ?? (isFullSize ? 60_000 : 1_500)
        let properties = StorageKind.allCases.map { attribute($0.rawValue, $0, optional: true) }
        let schema = StoredSchema(entities: [
            StoredEntity(name: "E", properties: properties + [toOne("e", "E", inverse: "e"), toMany("t", "T")]),
            StoredEntity(name: "T", properties: [toMany("b", "B")]),
            StoredEntity(name: "B", properties: [attribute("n", .string)]),
            StoredEntity(name: "C", superentity: "B", properties: []),
        ])
        let values = StorageKind.allCases.map { randomValue($0, using: &random) }
        let records = [
            TestRecord("B", 3, [.string("b")]), TestRecord("C", 4, [.string("c")]),
            TestRecord("E", 1, values + [identifier(2, "E"), identifiers([5], "T")]),
            TestRecord("E", 2, values.map { _ in .null } + [identifier(1, "E"), identifiers([], "T")]),
            TestRecord(
                "T", 5,
                [
                    .identifiers([
                        .numbered(3, storeIdentifier: "S", entityName: "B"),
                        .numbered(4, storeIdentifier: "S", entityName: "C"),
                    ])
                ]),
        ]
        let document = try write(schema, next: 9, records)
        var survivors = 0
        for _ in 0..<count {
            var damaged = document
            for _ in 0..<Int.random(in: 1...3, using: &random) { Self.damage(&damaged, using: &random) }
            if damaged != document { #expect(throws: StoreDocumentError.self) { try read(damaged) } }
            do {
                let (header, records) = try read(damaged, integrity: .acceptEdits)
                survivors += 1
                let written = try write(
                    header.schema, next: header.nextSequence, records, store: header.storeIdentifier)
                let again = try read(written).records
                #expect(again.map(\.sequence) == records.map(\.sequence))
                #expect(zip(again, records).allSatisfy { zip($0.values, $1.values).allSatisfy(isIdentical) })
            } catch let error as StoreDocumentError {
                #expect(error.position.offset <= damaged.count)
                #expect(!error.description.isEmpty)
            }
        }
        #expect(survivors > 0)
    }

    private static func damage(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        let start = Int.random(in: 0..<bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...20, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[start] = .random(in: 0...255, using: &random)
        case 2: bytes.removeSubrange(start..<end)
        case 3: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: start)
        case 4: bytes.replaceSubrange(start..<end, with: pieces.randomElement(using: &random) ?? [])
        default:
            let piece = Array(bytes[start..<end])
            bytes.insert(contentsOf: piece, at: .random(in: 0..<bytes.count, using: &random))
        }
    }
}
