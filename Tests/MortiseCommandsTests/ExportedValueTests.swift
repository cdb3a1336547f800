#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// Values at the limits of their kinds, on their way through files and terminals.
@Suite struct ExportedValueTests {
    private static let trip =
        #"{"$entity":"Trip","name":"x","destination":"y","isPublic":true,"seats":1,"#
        + #""code":"00000000-0000-0000-0000-00000000000A","ticket":1,"#

    /// A file had the text of such values that only the export knew: `Date.distantPast` was rejected, and 1e100.
    @Test(arguments: [
        "-63114076800.0", "1e+300", "-0.0", "4001-01-01T00:00:00Z", "700000000000.0", "0001-01-01T00:00:00Z",
    ])
    func everyDateIsImportedAsItIsExported(_ date: String) throws {
        try check(#""price":"1","startDate":"\#(date)""#, "startDate == \"\(date)\"")
    }

    @Test(arguments: [
        "1" + String(repeating: "0", count: 100), "340282366920938463463374607431768211455", "-0.00000001",
        "99999999999999999999999999999999999999" + String(repeating: "0", count: 127),
        "0." + String(repeating: "0", count: 126) + "1",
    ])
    func everyDecimalIsImportedAsItIsExported(_ price: String) throws {
        try check(#""price":"\#(price)","startDate":"2026-05-01T00:00:00Z""#, "price == \"\(price)\"")
    }

    private func check(_ values: String, _ condition: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 0)
        let file = folder.path("one.jsonl")
        try Data((Self.trip + values + "}\n").utf8).write(to: URL(fileURLWithPath: file))
        let imported = try ToolRun("import", store, file)
        #expect(imported.status == 0, "\(imported.errors)")
        let found = try ToolRun("export", store, "--entity", "Trip", "--where", condition)
        #expect(found.status == 0 && found.output.contains(values), "\(found.output) \(found.errors)")
    }

    @Test(arguments: ["2026", "1e5", "12.50", "0x10", "nan5"]) func aNumberThatNoDateIsWrittenAsIsNoDate(_ text: String)
    {
        #expect(throws: UnfitLiteral.self) { try PredicateLiteral.text(text).value(of: .date) }
    }

    @Test(arguments: ["1234567890123456789012345678901234567890.5", "1e200", "340282366920938463463374607431768211456"])
    func aDecimalWithMoreDigitsThanThereIsRoomForIsRefused(_ text: String) {
        #expect(throws: UnfitLiteral.self) { try PredicateLiteral.text(text).value(of: .decimal) }
    }

    /// The end of a line within quotation marks lost its carriage return.
    @Test func endsOfLinesInAQuotedFieldStayAsTheyAre() throws {
        let folder = try ToolFolder()
        let path = folder.path("a.csv")
        try Data("\"a\r\nb\",\"c\rd\"\r\n\r\n\"e\n\",f\r\n".utf8).write(to: URL(fileURLWithPath: path))
        var csv = CSVLines(try FileLines(path))
        let first = try #require(try csv.next())
        #expect(try first.fields.get().map(\.text) == ["a\r\nb", "c\rd"])
        let second = try #require(try csv.next())
        #expect(try second.fields.get().map(\.text) == ["e\n", "f"] && csv.number == 4)
        #expect(try csv.next() == nil)
    }

    /// It opened a field that went on to the next quotation mark, or to the end of the file.
    @Test func aQuotationMarkWithinAFieldIsACharacter() throws {
        let folder = try ToolFolder()
        let path = folder.path("a.csv")
        try Data("5\" disk,x\n\"y\"z,1\nlast,\n".utf8).write(to: URL(fileURLWithPath: path))
        var csv = CSVLines(try FileLines(path))
        let first = try #require(try csv.next())
        #expect(try first.fields.get().map(\.text) == ["5\" disk", "x"])
        let second = try #require(try csv.next())
        #expect(throws: BadLine.self) { try second.fields.get() }
        let third = try #require(try csv.next())
        #expect(try third.fields.get().map(\.text) == ["last", ""])
    }

    /// Half a file stayed, which could be taken for a whole one. A limit for files stands for a full disk here.
    @Test func anExportThatFailsLeavesNoFile() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 60)
        let file = folder.path("trips.jsonl")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", try ToolRun.executable().path, "export", store, file,
        ]
        let errors = Pipe()
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = errors
        try shell.run()
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 74 && told.contains("the output cannot be written: "), "\(told)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func JSONTurnsNoTextAroundIt() throws {
        let text = "a\u{202E}b\u{2028}c\u{7F}\u{200D}\u{1F600}"
        let written = ValueText.quoted(text)
        #expect(written == #""a\u202eb\u2028c\u007f"# + "\u{200D}\u{1F600}\"", "\(written)")
        #expect(try JSONDecoder().decode([String].self, from: Data("[\(written)]".utf8)) == [text])
    }

    @Test func aLineOfCSVIsHarmlessOnATerminal() {
        #expect(
            ValueText.harmless(csv: "\"a\nb\",\t\u{1B}[31m\u{9B}\u{202E}\r")
                == "\"a\nb\",\t\\u{1b}[31m\\u{9b}\\u{202e}\\u{d}")
        #expect(ValueText.harmless(csv: "é😀,1") == "é😀,1")
    }
}
#endif
