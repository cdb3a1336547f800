#if SQLite
import CSQLite
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseSQLite

/// Every case of the errors of stores on SQLite, made: its text, reason, way out and class.
@Suite struct SQLiteErrorTableTests {
    @Test func everyCaseSaysWhatHappenedAndWhatToDo() throws {
        let trip = try PersistentIdentifier.identifier(
            for: ErrorTable.identifier, entityName: "Trip", primaryKey: 1)
        func engine(_ codes: Int32...) -> [SQLiteError.Fault] {
            codes.map { .engine(code: $0, message: "it does not go") }
        }
        let faults: [StoreErrorClass: [SQLiteError.Fault]] = [
            .busy: engine(SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_BUSY | 2 << 8),
            .closed: [.closed], .locked: [.inUse], .alreadyExists: [.exists], .missing: [.missing],
            .denied: engine(SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH),
            .damaged: engine(SQLITE_CORRUPT, SQLITE_NOTADB) + [
                .notAStore, .damagedValue(record: "Trip/1", property: "a", found: "text"),
                .damagedMetadata("no schema"),
            ],
            .failedInputOutput: engine(SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN),
            .usage: [
                .newerFormat(found: 9, known: 1), .olderFormat, .noSchema, .tooManyColumns(table: "Trip", count: 2_001),
            ],
            .conflict: engine(SQLITE_CONSTRAINT) + [
                .schemaChanged, .replaced, .missingTarget(record: "Trip/1", property: "a", target: "Stop/1"),
                .stillReferred(record: "Trip/1"),
                .notUnique(entity: "Trip", properties: ["a"], record: trip, other: trip), .misfit("A column is new"),
                .notEmpty,
            ],
            .invalid: engine(SQLITE_TOOBIG) + [.unfitValue(record: "Trip/1", property: "a")],
        ]
        var table = ErrorTable()
        table.add(SQLiteError.self, faults.mapValues { $0.map { SQLiteError(ErrorTable.place, $0) } })
        #expect(table.faults().isEmpty, "\(table.faults().joined(separator: "\n"))")
        let missing = try table.missingCases(of: ["SQLiteError.Fault"], in: ["Adapters/SQLite"])
        #expect(missing.isEmpty, "\(missing)")
    }
}
#endif
