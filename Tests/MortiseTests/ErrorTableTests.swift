import Foundation
import Mortise
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Every case of every public error that an app can meet, made: its text, reason, way out and class. Those of JSON files and of databases
/// are in the tests of their modules. `ErrorClassTests` sees to it that no type is left out.
@Suite struct ErrorTableTests {
    private static let place = ErrorTable.place
    private static let one = Schema.Version(1, 0, 0)
    private static let two = Schema.Version(2, 0, 0)

    private static func record(_ number: Int = 1) throws -> PersistentIdentifier {
        try .identifier(for: ErrorTable.identifier, entityName: "Trip", primaryKey: number)
    }

    private func expectComplete(_ table: ErrorTable, _ types: String..., of folders: [String] = ["Sources"]) throws {
        #expect(table.faults().isEmpty, "\(table.faults().joined(separator: "\n"))")
        let missing = try table.missingCases(of: types, in: folders)
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func contextsAndContainers() throws {
        let (trip, other) = try (Self.record(), Self.record(2))
        var table = ErrorTable()
        table.add(
            ModelContextError.self,
            [
                .missing: [.noSuchModel(trip)],
                .closed: [.containerClosed],
                .denied: [.readOnly(configuration: Self.place), .readsPast],
                .conflict: [
                    .notUnique(
                        entity: "Trip", properties: ["name"], values: [.string("a")], model: trip, other: other),
                    .notUnique(entity: "Trip", properties: ["name"], values: [], model: trip, other: other),
                    .severalModels(entity: "Trip"),
                ],
                .damaged: [.invalidStoredValue(entity: "Trip", property: "kind", model: trip, found: "\"x\"")],
                .unsupported: [.storeContract(store: Self.place, fault: "It returned no rows.")],
                .usage: [
                    .unknownModel(type: "Trip"), .registeredElsewhere(model: trip), .unsavedChanges,
                    .authorTooLong(bytes: 2_000, most: 1_024),
                ],
            ])
        table.add(
            ModelValidationError.self,
            [
                .invalid: [
                    .missingValue(entity: "Trip", property: "name", model: trip),
                    .tooFew(entity: "Trip", property: "stops", model: trip, count: 1, minimum: 2),
                    .tooMany(entity: "Trip", property: "stops", model: trip, count: 3, maximum: 2),
                    .deletionDenied(entity: "Trip", property: "stops", model: trip, count: 1),
                    .refersToDeleted(entity: "Trip", property: "stops", model: trip, deleted: other),
                    .unencodableValue(entity: "Trip", property: "colour", model: trip),
                ]
            ])
        table.add(
            SaveConflict.self,
            [
                .conflict: [
                    SaveConflict(
                        entity: "Trip", model: trip,
                        properties: [.init(name: "name", base: .null, stored: .string("a"), unsaved: nil)],
                        isDeletion: true)
                ]
            ])
        table.add(RecordsSuperseded.self, [.conflict: [RecordsSuperseded([trip, other])]])
        table.add(VersionSuperseded.self, [.conflict: [VersionSuperseded()]])
        table.add(
            StatementError.self,
            [
                .unsupported: [.noLanguage],
                .usage: [.notOne, .notReadOnly, .refused(message: "there is no table a"), .tookTooLong(.seconds(5))],
            ])
        table.add(
            DataStoreError.self,
            [
                .unsupported: [.unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort],
                .usage: [.invalidPredicate],
            ])
        table.add(
            IdentifierTextError.self,
            [.usage: [.malformed], .missing: [.unknown(store: ErrorTable.identifier, entity: "Trip")]])
        table.add(LiveResultsError.self, [.usage: [.observersKeepChanging]])
        let skipped = UndoReport.Skipped(model: trip, property: "name", reason: .changedByOthers)
        table.add(
            UndoError.self,
            [.usage: [.insideUndo, .groupIsOpen(level: 2)], .conflict: [.changedByOthers([skipped])]])
        let conflict = RevertConflict(record: trip, property: "name", reason: .changedSince)
        let token = DefaultHistoryToken(7, mark: nil, store: ErrorTable.identifier)
        table.add(
            RevertError.self,
            [
                .conflict: [.conflicts([conflict])],
                .usage: [HistoryEntry.Kind.erasure, .migration, .changes, .stub].map {
                    .notRevertible(store: Self.place, transaction: 7, kind: $0)
                } + [.noStore(token)],
            ])
        try expectComplete(
            table, "ModelContextError", "ModelValidationError", "DataStoreError", "IdentifierTextError",
            "LiveResultsError", "UndoError", "RevertError")
    }

    @Test func historyAndMaintenance() throws {
        var table = ErrorTable()
        table.add(
            AsOfUnavailable.self,
            [
                .usage: AsOfUnavailable.Reason.allCases.flatMap { reason in
                    [nil, 7].map { AsOfUnavailable(store: Self.place, oldest: $0, reason: reason) }
                }
            ])
        table.add(HistoryHolderError.self, [.missing: [.unknown(name: "sync"), .lost(name: "sync")]])
        table.add(HistoryHeld.self, [.conflict: [HistoryHeld(store: Self.place, holders: ["sync"])]])
        table.add(
            HistoryDamaged.self, [.damaged: [HistoryDamaged(path: Self.place, offset: 7, reason: "it ends early")]])
        table.add(
            MaintenanceError.self,
            [
                .unsupported: MaintenanceOperation.allCases.map { .unsupported($0, store: Self.place) },
                .denied: [.folderNotMade(path: Self.place, fault: .denied)],
                .alreadyExists: [.folderNotMade(path: Self.place, fault: .fileInTheWay)],
                .usage: [.folderNotMade(path: Self.place, fault: .invalidPath)],
                .failedInputOutput: [.folderNotMade(path: Self.place, fault: .failed)],
            ])
        table.add(
            RestoreError.self,
            [
                .alreadyExists: [.storeExists(location: Self.place)],
                .conflict: [.otherStore(location: Self.place, found: ErrorTable.identifier, backup: "B")],
                .missing: [.noBackup(store: "trips", path: Self.place)],
                .damaged: [.damagedBackup(path: Self.place, reason: "It is empty.")],
                .locked: [.containerIsOpen],
                .usage: [.backupIsStore(path: Self.place), .readOnly(store: Self.place)],
            ])
        try expectComplete(
            table, "AsOfUnavailable.Reason", "HistoryHolderError", "MaintenanceError", "MaintenanceError.FolderFault",
            "RestoreError")
    }

    @Test func queriesAndBatches() throws {
        var table = ErrorTable()
        table.add(
            QueryEvaluationError.self,
            [
                .usage: [
                    .unwrappedNull(expression: "name!"), .arithmeticOverflow(expression: "a + b"),
                    .divisionByZero(expression: "a / b"), .indexOutOfRange(expression: "a[9]", index: 9, count: 2),
                    .invalidRange(expression: "9...2"), .codeUnavailable(text: "code 1"), .unfit(expression: "a == b"),
                    .invalidRegex("("), .regexTooSlow(pattern: "(a*)*", limit: .seconds(1)), .nestedTooDeep(limit: 9),
                ]
            ])
        table.add(
            QueryPlanError.self,
            [
                .usage: [.fullScanRefused(entity: "Trip", causes: [], suggestion: "an index")],
                .unsupported: [
                    .illegalClaim(adapter: "A", conjunct: "a == b", reason: "it claims a limit"),
                    .falseClaim(adapter: "A", claim: "the order", expected: "a", found: "b"),
                ],
            ])
        table.add(
            AggregateError.self,
            [
                .usage: [
                    .notStored(entity: "Trip", keyPath: "\\Trip.length"),
                    .unusableKey(entity: "Trip", key: "length", reason: "it is computed"),
                ],
                .unsupported: [.falseResult(adapter: "A", expected: "1", found: "2")],
            ])
        let reasons: [BatchError.Reason] = [
            .notPersisted, .ephemeral, .toMany, .oneToOne, .sharedInverse, .assignedTwice, .unencodable,
            .expression("a text is no number"),
        ]
        table.add(BatchError.Reason.self, [.usage: reasons])
        table.add(
            BatchError.self,
            [.usage: reasons.map { .unassignable(entity: "Trip", property: "name", reason: $0) }])
        table.add(
            PageError.self,
            [
                .usage: [
                    .invalidCursor("it was cut"), .otherEntity(expected: "Trip", found: "Stop"),
                    .otherPredicate(entity: "Trip"), .otherOrder(entity: "Trip"), .otherStore(entity: "Trip"),
                    .unsavedPlace(entity: "Trip"), .unsupportedOrder(entity: "Trip", key: "colour"),
                ]
            ])
        table.add(
            SnapshotTableError.self,
            [
                .conflict: [
                    .noSuchRecord(try Self.record()), .holdsRecords(ofStore: Self.place),
                    .isRequired(try Self.record(), by: try Self.record(), property: "team"),
                ],
                .unsupported: [.numbersExhausted],
                .damaged: [
                    .unknownEntity("Trip"), .repeatedRecord(try Self.record()),
                    .missingColumn(entity: "Trip", property: "name"), .unknownColumn(entity: "Trip", column: "name"),
                    .changedKind(entity: "Trip", property: "name", written: "string", asked: "integer"),
                    .malformedRow(entity: "Trip", row: 3, cells: 2, expected: 4),
                    .unreadable(source: Self.place, row: 2),
                    .doesNotFit(entity: "Trip", property: "name", row: 2, found: "x"),
                ],
            ])
        try expectComplete(
            table, "QueryEvaluationError", "QueryPlanError", "AggregateError", "BatchError.Reason", "BatchError",
            "PageError", "SnapshotTableError")
    }
}
