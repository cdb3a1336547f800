import FaultWorkload
import Foundation
import MortiseCore
import MortiseJSONFile
import Testing

/// What reading a document takes that was made to take memory, in a process of its own.
struct MemoryCheck {
    var name: String
    /// `read` reads the text, record by record; `measure` opens the store; `parse` is another's reader.
    var command = "measure"
    /// What the records themselves may take beside, in bytes.
    var records = 0

    func run() throws -> Findings {
        var findings = Findings()
        guard let (_, isRefused, make) = MemoryTests.hostile.first(where: { $0.name == name }) else { return findings }
        try withTemporaryFolder { folder in
            let path = folder + "/hostile.json"
            let bytes = try make()
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            findings.inject()
            guard let measured = try HelperProcess.measure(path, command) else {
                return findings.expect(false, "\(name): the process did not live")
            }
            findings.expect(measured.isRead != isRefused, "\(name): \(measured.outcome)")
            let limit = 4 * bytes.count + 16 << 20 + records
            findings.expect(
                measured.grown <= limit, "\(name): \(command): \(measured.grown) bytes for a file of \(bytes.count)")
            findings.expect(measured.grown > bytes.count / 2, "\(name): \(command): nothing was measured")
            print("memory: \(command) \(name): \(measured.grown) of \(limit) bytes, \(measured.outcome.prefix(60))")
        }
        return findings
    }
}

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
        ("links to low numbers", false, { try document(links: 10_000, each: 99) }),
    ]
    private static let links = 10_000 * 99

    /// Many short references to few records, each of which is a link of both ends.
    private static func document(links count: Int, each: Int) throws -> [UInt8] {
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
        try MemoryCheck(name: Self.hostile[index].name, command: "read").run().verify("F27")
    }

    /// An open store has its records in memory: of a link 27 bytes at either end.
    @Test(arguments: hostile.indices) func anOpenStoreTakesNoMoreBesideItsLinks(index: Int) throws {
        let links = Self.hostile[index].name.hasPrefix("links") ? Self.links : 0
        try MemoryCheck(name: Self.hostile[index].name, records: 2 * 27 * links).run().verify("F27")
    }
}
