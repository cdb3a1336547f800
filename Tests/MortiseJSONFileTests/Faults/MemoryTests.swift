import FaultWorkload
import Foundation
import MortiseCore
import MortiseJSONFile
import Testing

/// Documents of several megabytes that were made to take memory. Each is opened by a process of its own.
@Suite(.serialized, .enabled(if: HelperProcess.canMeasure, "\(HelperProcess.noMeasure)"))
struct MemoryTests {
    private static let size = 4 << 20

    /// A document with one record, whose coded value is this text.
    private static func document(_ value: String) throws -> [UInt8] {
        let schema = StoredSchema(entities: [StoredEntity(name: "E", properties: [attribute("value", .coded)])])
        let text = String(decoding: try write(schema, [TestRecord("E", 1, [.string("PLACE")])]), as: UTF8.self)
        #expect(text.contains("\"PLACE\""))
        return Array(text.replacing("\"PLACE\"", with: value).utf8)
    }

    private static func array(of element: String, _ count: Int) -> String {
        "[" + String(repeating: element + ",", count: count - 1) + element + "]"
    }

    static let hostile: [(name: String, isRefused: Bool, make: @Sendable () throws -> [UInt8])] = [
        ("nulls", true, { try document(array(of: "null", size / 5)) }),
        ("digits", true, { try document(array(of: "1", size / 2)) }),
        ("empty strings", true, { try document(array(of: "\"\"", size / 3)) }),
        ("empty arrays", true, { try document(array(of: "[]", size / 3)) }),
        ("empty objects", true, { try document(array(of: "{}", size / 3)) }),
        ("arrays in arrays", true, { try document(String(repeating: "[", count: size)) }),
        ("one long number", true, { try document(String(repeating: "9", count: size)) }),
        (
            "members", true,
            {
                try document(
                    "{" + (0..<(size / 12)).map { "\"\($0 + 1_000_000)\":0" }.joined(separator: ",") + "}")
            }
        ),
        ("one long string", false, { try document("\"" + String(repeating: "x", count: size) + "\"") }),
        (
            "one long string of escapes", false,
            { try document("\"" + String(repeating: "\\n", count: size / 2) + "\"") }
        ),
        (
            "tiny records", false,
            {
                let schema = StoredSchema(entities: [
                    StoredEntity(name: "E", properties: [attribute("v", .bool, optional: true)])
                ])
                let records = (1...(size / 16)).map { TestRecord("E", UInt64($0), [.null]) }
                return try write(schema, next: UInt64(size), records)
            }
        ),
        ("links to low numbers", false, { try links(10_000, each: 99) }),
    ]

    /// Many short references to few records, each of which is a link of both ends.
    private static func links(_ count: Int, each: Int) throws -> [UInt8] {
        let schema = StoredSchema(entities: [
            StoredEntity(name: "A", properties: [toMany("links", "B", inverse: "owners")]),
            StoredEntity(name: "B", properties: [toMany("owners", "A", inverse: "links")]),
        ])
        let targets = identifiers((1...each).map(UInt64.init), "B")
        let owners = (0..<count).map { TestRecord("A", UInt64(1_000 + $0), [targets]) }
        let members = (1...each).map { TestRecord("B", UInt64($0), [identifiers([], "A")]) }
        return try write(schema, next: UInt64(1_000 + count), owners + members)
    }

    @Test(arguments: hostile.indices)
    func whatIsMadeToTakeMemoryTakesNoMoreThanFourTimesTheFileAndSixteenMegabytes(index: Int) throws {
        let (name, isRefused, make) = Self.hostile[index]
        try withTemporaryFolder { folder in
            let path = folder + "/hostile.json"
            let bytes = try make()
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let measured = try #require(try HelperProcess.measure(path), "\(name): the process did not live")
            #expect(measured.isRead != isRefused, "\(name): \(measured.outcome)")
            let limit = 4 * bytes.count + 16 << 20
            #expect(measured.grown <= limit, "\(name): \(measured.grown) bytes for a file of \(bytes.count)")
            print("memory: \(name): \(measured.grown) of \(limit) bytes, \(measured.outcome.prefix(120))")
        }
        FaultLedger.add(["F27"], injected: 1)
    }
}
