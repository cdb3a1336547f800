#if SQLite
import Foundation
import MortiseCore
import MortiseSQLite
import PackageTestSupport
import Testing

/// Statements that a person types: they read, and end.
@Suite struct TypedStatementTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64)])]

    private func answer(_ text: String, _ limits: StatementLimits = StatementLimits()) throws -> StatementAnswer {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a"), "size": .integer(1)])
        return try SQLiteConfiguration(path: folder.path()).answer(toStatement: text, within: limits)
    }

    @Test func aStatementReads() throws {
        let answer = try answer("SELECT name, upper(name) FROM Item")
        #expect(answer.columns == ["name", "upper(name)"])
        #expect(answer.rows.map { $0.map(\.value) } == [[.string("a"), .string("A")]])
    }

    /// One call of these ends after days, or with all memory, and no limit of time is looked at meanwhile.
    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            "instr(printf('%.*c', 8000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')", "randomblob(10000000)",
            "zeroblob(10000000)", "REPLACE(name, 'a', 'bb')", "format('%9999999s', 'a')",
        ])
    func aFunctionWithoutAnEndIsRefused(_ call: String) throws {
        #expect {
            _ = try answer("SELECT \(call) FROM Item")
        } throws: {
            if case .refused? = $0 as? StatementError { true } else { false }
        }
    }

    @Test func aRowHasItsLimits() throws {
        let columns = Array(repeating: "name", count: 201).joined(separator: ", ")
        #expect(throws: StatementError.refused(message: "it has more than 200 columns")) {
            _ = try answer("SELECT \(columns) FROM Item")
        }
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        #expect(throws: StatementError.tookTooLong(.milliseconds(100))) {
            _ = try answer(endless, StatementLimits(time: .milliseconds(100)))
        }
    }
}
#endif
