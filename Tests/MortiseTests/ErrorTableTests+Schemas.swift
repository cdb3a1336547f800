import Foundation
import Mortise
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// The errors of schemas, migrations, files and configurations: see `ErrorTableTests`.
@Suite struct SchemaErrorTableTests {
    private static let place = ErrorTable.place
    private static let one = Schema.Version(1, 0, 0)
    private static let two = Schema.Version(2, 0, 0)

    private func expectComplete(_ table: ErrorTable, _ types: String..., of folders: [String] = ["Sources"]) throws {
        #expect(table.faults().isEmpty, "\(table.faults().joined(separator: "\n"))")
        let missing = try table.missingCases(of: types, in: folders)
        #expect(missing.isEmpty, "\(missing)")
    }

    private func record(_ number: Int = 1) throws -> PersistentIdentifier {
        try .identifier(for: ErrorTable.identifier, entityName: "Trip", primaryKey: number)
    }

    @Test func schemas() throws {
        var table = ErrorTable()
        table.add(
            SchemaError.self,
            [
                .usage: [
                    .duplicateEntity(entity: "Trip"), .duplicateProperty(entity: "Trip", property: "name"),
                    .unsupportedType(entity: "Trip", property: "name", type: "Code"),
                    .ephemeralWithoutValue(entity: "Trip", property: "name", type: "Code"),
                    .notARelationship(entity: "Trip", property: "name", type: "Code"),
                    .uniqueToMany(entity: "Trip", property: "stops"),
                    .unknownKeyPath(entity: "Trip", keyPath: "\\Trip.size"),
                    .unknownInverse(entity: "Trip", property: "stops", destination: "Stop"),
                    .inverseOfAnotherEntity(entity: "Trip", property: "stops", inverse: "\\Stop.a", leadsTo: "A"),
                    .inverseMismatch(entity: "Trip", property: "stops", inverse: "\\Stop.a", claimedBy: "Trip.b"),
                    .impossibleCount(entity: "Trip", property: "stops"),
                    .unmarkedSubclass(entity: "Trip", superclass: "Journey"), .neededByDefaultValue(entity: "Trip"),
                    .noModelTypes(entity: "Trip"),
                ]
            ])
        let faults: [SchemaDocumentError.Fault] = [
            .notJSON(expected: "an object", found: "a text"), .otherFormat("svg"), .unknownFormatVersion("9"),
            .duplicateMember("a"), .unknownMember("a"), .missingMember("a"), .memberBeforeKind("a"),
            .wrongType(expected: "a text", found: "a number"), .invalidWord("a", expected: "b"),
            .invalidValue(.date), .limitExceeded("entities", most: 9), .duplicateEntity("Trip"),
            .duplicateProperty(entity: "Trip", property: "name"),
            .unknownSuperentity(entity: "Trip", superentity: "A"), .inheritanceCycle(entity: "Trip"),
            .unknownDestination(entity: "Trip", property: "stops", destination: "Stop"),
            .unknownInverse(entity: "Trip", property: "stops", inverse: "trip"),
            .unknownConstrainedProperty(entity: "Trip", property: "a"),
        ]
        table.add(
            SchemaDocumentError.self,
            [
                .damaged: faults.map { SchemaDocumentError($0, line: 3, column: 4) },
                .usage: [SchemaDocumentError(.unwritable(entity: "Trip", property: "name"))],
            ])
        table.add(
            SchemaFileError.self,
            [
                .usage: [.notAFile(url: "http://x")],
                .failedInputOutput: [.notAccessible(path: Self.place, fault: "\(Self.place) cannot be read")],
                .damaged: [.notASchema(path: Self.place, fault: "line 1")],
            ])
        table.add(
            StoredSchemaFault.self,
            [
                .usage: [
                    .duplicateEntity(entity: "Trip"), .unknownSuperentity(entity: "Trip", superentity: "A"),
                    .inheritanceCycle(entity: "Trip"), .duplicateProperty(entity: "Trip", property: "a"),
                    .reservedName(entity: "Trip", property: "$id"),
                    .unknownDestination(entity: "Trip", property: "a", destination: "B"),
                    .unknownInverse(entity: "Trip", property: "a", inverse: "b"),
                    .unknownConstrainedProperty(entity: "Trip", property: "a"),
                    .unsuitableDefault(entity: "Trip", property: "a"), .unknownOption(entity: "Trip", property: "a"),
                    .limitExceeded(.entities, found: 9, most: 8),
                ]
            ])
        let codes: [StoreErrorClass: [SwiftDataError]] = [
            .invalid: [.modelValidationFailure], .missing: [.historyTokenExpired],
            .conflict: [.backwardMigration, .unknownSchema, .unknownDataStoreSchema, .loadIssueModelContainer],
            .usage: [
                .includePendingChangesWithBatchSize, .unsupportedPredicate, .unsupportedKeyPath,
                .sortingPendingChangesWithIdentifiers, .unsupportedSortDescriptor, .duplicateConfiguration,
                .configurationFileNameTooLong, .configurationFileNameContainsInvalidCharacters,
                .configurationSchemaNotFoundInContainerSchema, .missingModelContext, .invalidTransactionFetchRequest,
            ],
        ]
        table.add(SwiftDataError.self, codes)
        let expired = SwiftDataError.historyTokenExpired(store: Self.place, after: 7, oldest: 9, because: "it is gone")
        table.add(SwiftDataError.self, [.missing: [expired]])
        #expect(expired.description.contains(Self.place))
        try expectComplete(
            table, "SchemaError", "SchemaDocumentError.Fault", "SchemaFileError", "StoredSchemaFault",
            "SwiftDataError.Code")
    }

    @Test func migrations() throws {
        let (store, one, two) = (Self.place, Self.one, Self.two)
        let loss = SchemaLoss(stored: one, opened: two, entities: [.init(name: "A", records: 3)], properties: [])
        let failure = MigrationStageFailure(
            store: store, from: one, to: two, part: .mapping,
            underlying: FileError(.noSpace, operation: .write, path: "/x"))
        let foreign = MigrationStageFailure(
            store: store, from: one, to: two, part: .didMigrate, underlying: CancellationError())
        var table = ErrorTable()
        table.add(
            MigrationError.self,
            [
                .unsupported: [
                    .customStage(store: store, from: one, to: two, stage: two), .plansNotRun(store: store, stage: two),
                    .stagesNotFollowed(store: store, from: one, to: two),
                    .optionsNotFollowed(store: store, options: ["a"]),
                ],
                .locked: [
                    .openElsewhere(store: store), .sharedElsewhere(store: store),
                    .migrationInProgress(store: store, migration: MigrationUnderWay(from: one, to: two)),
                ],
                .missing: [.storeGone(store: store)],
                .failedInputOutput: [
                    .notEnoughSpace(store: store, space: MigrationSpace(needed: 9, free: 1)), .stageFailed(failure),
                ],
                .conflict: [
                    .newerStore(store: store, stored: two, program: one),
                    .unnamedEntities(store: store, version: one, entities: [.init(name: "A", records: 3)]),
                    .unknownOrigin(store: store, name: "A.b", original: "a", candidates: ["A.c"]),
                    .versionChanged(store: store, version: one, differences: ["A is new"]),
                    .unknownVersion(store: store, stored: one, nearest: two, differences: ["A is new"]),
                    .ambiguousVersion(store: store, stored: one, candidates: [one, two]),
                    .migrationNeeded(store: store, from: one, to: two), .lossRefused(store: store, loss: loss),
                    .adoptionLosesData(store: store, loss: loss), .changedMeanwhile(store: store),
                    .attemptsDied(store: store, from: one, to: two, attempts: 2),
                    .entityInAnotherStore(store: store, entity: "A", other: "b"),
                    .identifiersWouldChange(store: store), .classNeeded(store: store, entity: "A"),
                    .targetNotInPlan(program: two, nearest: one, differences: ["A is new"]), .duplicateVersion(one),
                    .backwardStage(from: two, to: one), .missingStage(from: one, to: two),
                    .ambiguousPath(from: one, to: two), .invalidMapping(property: "a", reason: "it is new"),
                    .valuesNotRepresentable(entity: "A", property: "b", count: 2, examples: [try record()]),
                    .duplicates(entity: "A", properties: ["b"], groups: 1, records: 2, examples: [try record()]),
                    .stageFailed(foreign),
                ],
            ])
        table.add(
            MigrationRecordError.self,
            [
                .usage: [
                    .unknownEntity("A"), .unknownProperty(entity: "A", property: "b"), .noSuchRecord(try record()),
                    .otherType(record: try record(), property: "b", expected: "Int"),
                    .keptElsewhere(record: try record(), property: "b", inverse: "a"),
                    .wouldLackPartner(record: try record(), property: "b"), .stageEnded,
                ]
            ])
        try expectComplete(table, "MigrationError", "MigrationRecordError")
    }

    @Test func filesAndEngines() throws {
        var table = ErrorTable()
        func file(_ reason: FileError.Reason) -> FileError { FileError(reason, operation: .open, path: Self.place) }
        table.add(
            FileError.self,
            [
                .missing: [file(.notFound), file(.historyWithoutStore(history: "/x.history"))],
                .alreadyExists: [file(.alreadyExists), file(.notALockFile)],
                .usage: [
                    .notARegularFile(.directory), .notADirectory, .linkLoop, .invalidPath, .symbolicLink(target: "/x"),
                    .severalNames(count: 2),
                ].map(file),
                .locked: [.locked(holder: 7), .locked(holder: nil), .openUnderAnotherName].map(file),
                .denied: [.readOnly, .permissionDenied].map(file), .closed: [file(.closed)],
                .conflict: [
                    .changed(.replaced), .dataWithoutStore(folder: "/x"),
                    .folderOfAnotherStore(expected: ErrorTable.identifier, found: ErrorTable.identifier),
                ].map(file),
                .failedInputOutput: [
                    .noSpace, .tooManyOpenFiles, .fileTooLarge, .exceedsLimit(size: 9, limit: 8), .io, .interrupted,
                    .other,
                ].map(file),
            ])
        let (trip, other) = try (record(), record(2))
        table.add(
            EngineError.self,
            [
                .usage: [.unknownEntity("Trip")], .denied: [.readOnly(store: Self.place)],
                .closed: [.closed(store: Self.place)],
                .failedInputOutput: [
                    .latched(store: Self.place, cause: "the disk is full"), .noMoreNumbers(store: Self.place),
                ],
                .conflict: [
                    .noSuchRecord(trip),
                    .danglingReference(entity: "Trip", property: "a", record: trip, target: other),
                    .wrongDestination(entity: "Trip", property: "a", record: trip, target: other),
                    .notUnique(entity: "Trip", properties: ["name"], record: trip, other: other),
                    .sameDefault(entity: "Trip", properties: ["name"]),
                    .unfitValue(entity: "Trip", property: "name", record: trip, found: "a number"),
                    .codedValueTooLarge(entity: "Trip", property: "name", record: trip),
                    .openWithOtherOptions(path: Self.place),
                    .schemaMismatch(store: Self.place, differences: ["Trip is new"]),
                ],
            ])
        func external(_ reason: ExternalValueError.Reason) -> ExternalValueError {
            ExternalValueError(
                entity: "Trip", property: "picture", record: trip,
                fault: ExternalFileFault(path: Self.place, reason: reason))
        }
        table.add(
            ExternalValueError.self,
            [
                .damaged: [
                    .missing, .wrongLength(expected: 9, found: 8), .wrongChecksum, .noPlace,
                ].map(external),
                .denied: [external(.unreadable(file(.permissionDenied)))],
            ])
        table.add(
            PackedFault.self, [.damaged: [PackedFault(7, "ends early", isDamage: true), PackedFault(7, "is odd")]])
        table.add(VersionPacker.PackedTwoStates.self, [.conflict: [VersionPacker.PackedTwoStates()]])
        try expectComplete(table, "FileError.Reason", "EngineError", "ExternalValueError.Reason")
    }

    @Test func configurations() throws {
        var table = ErrorTable()
        table.add(
            ModelConfigurationError.self,
            [
                .unsupported: [
                    .noCloudKit(configuration: "a", database: "b"), .noAppGroups(configuration: "a", group: "b"),
                ],
                .usage: [
                    .fileNameTooLong(configuration: "a", bytes: 300), .invalidFileName(configuration: "a", file: "b"),
                    .notAFile(configuration: "a", scheme: "http"),
                ],
            ])
        table.add(
            StoreURLError.self,
            [
                .usage: [
                    .malformed(url: "a", fault: "it has no scheme"),
                    .unknownScheme(url: "floppy:a", scheme: "floppy", known: ["log"]),
                    .unknownOption(url: "log:a?b=c", option: "b", allowed: []),
                ]
            ])
        try expectComplete(table, "ModelConfigurationError", "StoreURLError")
    }

    @Test func logs() throws {
        let (conflict, damaged) = (StoreErrorClass.conflict, StoreErrorClass.damaged)
        let denied = FileError(.permissionDenied, operation: .read, path: "/x")
        let faults: [StoreErrorClass: [LogFault]] = [
            damaged: [
                .empty, .emptyCheckpoint(transaction: 0), .emptyCheckpoint(transaction: 7), .tooShort(bytes: 3),
                .notALog, .wrongKindOfFile, .damagedHeader,
                .damagedFrame(offset: 64, sequence: 1, reason: "its checksum is wrong"),
                .damagedRegion(offset: 64, what: "has other bytes"),
                .malformed(part: .frame, offset: 64, what: "is odd"),
                .outOfOrder(offset: 64, expected: 1, found: 2), .checkpointMissing(transaction: 7), .logMissing,
                .checkpointOfAnother, .logShorterThanCheckpoint(offset: 64, size: 9), .schemaMissing(transactions: 2),
                .damagedValue(entity: "Trip", property: "a", record: 1, reason: .missing), .unsupportedVersion(9),
                .unknownKind(offset: 64, kind: 9), .unknownFlags(offset: 64, flags: 9),
                .unreadable(offset: 64, error: denied),
            ],
            .busy: [.unstable],
            conflict: [
                .schemaTooLarge(entities: 9, properties: 9), .invalidSchema(.duplicateEntity(entity: "A")),
                .unwritableValue(entity: "A", property: "b"), .unwritableDefault(entity: "A", property: "b"),
                .regionTooLarge(bytes: 9), .leftBehind(reason: "it was compacted"),
            ],
        ]
        var table = ErrorTable()
        table.add(LogFault.self, faults)
        table.add(AppendLogError.self, faults.mapValues { $0.map { AppendLogError(path: Self.place, fault: $0) } })
        try expectComplete(table, "LogFault", of: ["Adapters/AppendLog"])
    }
}
