#if PostgreSQL
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortisePostgreSQL

/// Every case of the errors of stores on PostgreSQL, made: its text, reason, way out and class.
@Suite struct PostgreSQLErrorTableTests {
    @Test func everyCaseSaysWhatHappenedAndWhatToDo() throws {
        let trip = try PersistentIdentifier.identifier(
            for: ErrorTable.identifier, entityName: "Trip", primaryKey: 1)
        func engine(_ states: String...) -> [PostgreSQLError.Fault] {
            states.map {
                .engine(state: $0, message: "it does not go", table: "trip", column: nil, constraint: "trip_key")
            }
        }
        let faults: [StoreErrorClass: [PostgreSQLError.Fault]] = [
            .busy: engine("55P03", "40001", "40P01") + [.noConnection(limit: 4)],
            .closed: [.closed],
            .locked: [.inUse],
            .missing: engine("3D000") + [.missing],
            .denied: engine("42501", "25006", "28P01"),
            .damaged: engine("42P01", "XX001") + [
                .notAStore, .damagedValue(record: "Trip/1", property: "a", found: "text"),
                .damagedMetadata("no schema"),
            ],
            .failedInputOutput: engine("53100", "08006") + [
                .unreachable(message: "connection refused"), .timedOut, .outcomeUnknown, .outcomeForgotten,
            ],
            .unsupported: engine("0A000") + [.encoding(found: "LATIN1"), .oldServer(version: 12)],
            .usage: [
                .newerFormat(found: 9, known: 1), .olderFormat, .noSchema, .tooManyColumns(table: "trip", count: 1_601),
            ],
            .conflict: engine("23505") + [
                .schemaChanged, .missingTarget(record: "Trip/1", property: "a", target: "Stop/1"),
                .stillReferred(record: "Trip/1"),
                .notUnique(entity: "Trip", properties: ["a"], record: trip, other: trip),
                .unnamedLoss(
                    SchemaLoss(
                        stored: Schema.Version(1, 0, 0), opened: Schema.Version(1, 0, 0),
                        entities: [SchemaLoss.Entity(name: "Gone", records: 3)], properties: [])),
                .misfit("A column is new"), .notEmpty, .usedByOthers(["the view a"]), .schemaTaken("app_next"),
            ],
            .invalid: engine("54000", "22001") + [.unfitValue(record: "Trip/1", property: "a")],
        ]
        var table = ErrorTable()
        table.add(PostgreSQLError.self, faults.mapValues { $0.map { PostgreSQLError(ErrorTable.place, $0) } })
        #expect(table.faults().isEmpty, "\(table.faults().joined(separator: "\n"))")
        let missing = try table.missingCases(of: ["PostgreSQLError.Fault"], in: ["Adapters/PostgreSQL"])
        #expect(missing.isEmpty, "\(missing)")
    }
}
#endif
