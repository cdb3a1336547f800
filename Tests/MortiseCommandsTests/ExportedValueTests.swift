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
}
#endif
