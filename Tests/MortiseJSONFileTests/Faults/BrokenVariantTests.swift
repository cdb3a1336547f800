import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// Each mistake that a store could have is caught by the check that is there for it. A check that a mistake escapes is
/// worth nothing.
@Suite struct BrokenVariantTests {
    @Test(arguments: BrokenFileSystem.Mistake.allCases)
    func everyMistakeIsCaughtByItsCheck(mistake: BrokenFileSystem.Mistake) throws {
        let findings = try Self.check(mistake, isBroken: true)
        #expect(!findings.violations.isEmpty)
    }

    /// The check that is there for a mistake, of a store that has it, or has not. What it throws is none of its findings.
    private static func check(_ mistake: BrokenFileSystem.Mistake, isBroken: Bool) throws -> Findings {
        let broken = isBroken ? mistake : nil
        return switch mistake {
        case .skipsDirectorySync, .skipsFileSync, .buffersWrites: try PowerCutCheck(mistake: broken).run()
        case .writesInPlace: try StaleReaderCheck(mistake: broken).run()
        case .ignoresShortWrites: try ShortTransferCheck(mistake: broken).run()
        case .retriesFailedSync: try SyncFailureCheck(mistake: broken).run()
        case .retriesFailedDirectorySync: try SyncFailureCheck(operation: .syncDirectory, mistake: broken).run()
        case .doublesInterruptedWrites: try InterruptionCheck(mistake: broken).run()
        case .ignoresLocks: try LockCheck(mistake: broken).run()
        case .remembersInfo: try BehindTheBackCheck(mistake: broken).run()
        case .findsNoOrphans: try OrphanCheck(mistake: broken).run()
        case .followsNoLinks: try LinkCheck(mistake: broken).run()
        case .forgetsPermissions: try PermissionCheck(mistake: broken).run()
        case .ignoresFullDisk: try FullDiskCheck(mistake: broken, step: 211).run()
        case .ignoresLengthLimit: try LengthLimitCheck(mistake: broken).run()
        case .ignoresExhaustion: try ExhaustionCheck(mistake: broken).run()
        case .ignoresReadOnly: try ReadOnlyCheck(mistake: broken).run()
        case .writesElsewhere: try TouchedPathsCheck(mistake: broken).run()
        case .takesAnythingForAFile:
            try [FileKind.directory, .fifo, .characterDevice].map { try NoFileCheck(kind: $0, mistake: broken).run() }
                .reduce(Findings(), +)
        case .remembersAbsence: try BehindTheBackCheck(mistake: broken).runAppearing()
        case .takesErrorsForAbsence: try BehindTheBackCheck(mistake: broken).runLooking(.io)
        }
    }

    /// Each kind of what is no file, for itself.
    @Test(arguments: [FileKind.directory, .fifo, .socket, .characterDevice, .blockDevice])
    func aStoreThatTakesAnythingForAFileIsCaught(kind: FileKind) throws {
        #expect(try !NoFileCheck(kind: kind, mistake: .takesAnythingForAFile).run().violations.isEmpty)
    }

    @Test func aStoreThatRemembersWhereALinkLedIsCaught() throws {
        let violations = try BehindTheBackCheck(mistake: .remembersInfo).runLink().violations
        #expect(violations.contains { $0.hasPrefix("not noticed") })
    }

    @Test func aStoreThatWritesInPlaceIsCaughtByAReaderThatIsOpening() throws {
        #expect(try !StaleReaderCheck(mistake: .writesInPlace).runWriterInReader().violations.isEmpty)
    }

    @Test func openingsThatDoNotKnowOfEachOtherAreCaught() throws {
        let apart = SharedOpeningCheck { BrokenFileSystem($0, mistake: .ignoresLocks) }
        #expect(try apart.run().violations.contains("two engines on one file"))
        #expect(try apart.runPaths().violations.count == 2)
        // With its lock, and without knowing that the own process has it.
        let locked = SharedOpeningCheck { BrokenFileSystem($0, mistake: .remembersAbsence) }
        #expect(try !locked.runAtOnce().violations.isEmpty)
    }

    @Test func aStoreThatTrustsALockFileItHasSeenIsCaughtByItsRemoval() throws {
        #expect(try LockFileRemovalCheck(mistake: .remembersInfo).run().violations.contains("saved without a lock"))
    }

    @Test(arguments: [BrokenFileSystem.Mistake.skipsFileSync, .skipsDirectorySync])
    func aStoreThatSyncsTooLittleIsCaughtByCrashesInARow(mistake: BrokenFileSystem.Mistake) throws {
        #expect(try !CrashesInARowCheck(seed: 1, rounds: 30, mistake: mistake).run().violations.isEmpty)
    }

    @Test(arguments: [
        (FileError.Code.noSpace, BrokenFileSystem.Mistake.ignoresFullDisk), (.fileTooLarge, .ignoresLengthLimit),
        (.processFiles, .ignoresExhaustion),
    ])
    func aFailureThatIsNotNoticedIsCaughtWhereverItComes(
        code: FileError.Code, mistake: BrokenFileSystem.Mistake
    ) throws {
        #expect(try !FailingOperationCheck(code: code, mistake: mistake).run().violations.isEmpty)
    }

    @Test func aWriterThatKnowsOfNoLimitIsCaughtByItsReader() throws {
        let violations = try ReadableLengthCheck(isBroken: true).run().violations
        #expect(violations.contains { $0.hasPrefix("what was written is not read") })
        let unread = NumberLimitCheck { depot, context in
            let bytes = try NumberLimitCheck.document(of: 3, next: EngineVersion.numberLimit)
            context.rollback()
            try depot.disk.install(bytes, at: Depot.path)
        }
        #expect(try unread.run().violations.contains { $0.contains("what was saved is not read") })
    }

    /// What a store that defers everybody's saves does: the other's look like the bulk's own.
    @Test func aStoreThatDefersTheSavesOfOthersIsCaught() throws {
        let violations = try BulkSaveCheck { $0() }.run().violations
        #expect(violations.contains("another's save was acknowledged, and is not on the disk"))
    }

    /// Foundation's reader makes an object of everything.
    @Test(.enabled(if: HelperProcess.canMeasure, "\(HelperProcess.noMeasure)"))
    func aReaderThatMakesAnObjectOfEverythingTakesTooMuchMemory() throws {
        let violations = try MemoryCheck(name: "links to low numbers", command: "parse").run().violations
        #expect(violations.contains { $0.contains("bytes for a file of") })
    }

    @Test func aStoreThatOverwritesInPlaceDoesNotSurviveAPowerCut() throws {
        #expect(try !PowerCutCheck(mistake: .writesInPlace).run().violations.isEmpty)
    }

    @Test func aStoreThatBelievesTheSecondSyncLosesSavesInAPowerCut() throws {
        let check = PowerCutCheck(mistake: .retriesFailedSync, failingSync: (.sync, 5))
        #expect(try !check.run().violations.isEmpty)
    }

    @Test func aStoreWithoutASealDoesNotNoticeFlippedBits() throws {
        #expect(try !BitFlipCheck(integrity: .acceptEdits).run().violations.isEmpty)
    }

    /// Killed in the middle of writing over the old content, there is neither the old one nor the new.
    @Test(
        .enabled(if: HelperProcess.strace != nil, "strace is not installed"),
        .enabled(if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil, "sanitizers cannot be traced"))
    func aStoreThatOverwritesInPlaceDoesNotSurviveAKill() throws {
        let findings = try KillSweep.run("pwrite64", "signal=SIGKILL", mistake: .writesInPlace)
        #expect(findings.violations.contains { $0.contains("not usable afterwards") })
    }

    /// Foundation's reader takes what a strict one must not: doubled keys, a mark of the byte order, a comma too many.
    @Test func aLenientReaderIsCaughtByTheGrammar() throws {
        let violations = JSONStrictnessCheck { bytes in
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
        }.grammar().violations
        #expect(violations.contains("{\"a\":1,\"a\":2}"))
        #expect(violations.contains("{\"a\":1,\"\\u0061\":2}"))
        #expect(violations.contains("[1,]"))
        #expect(violations.contains("\u{FEFF}[]"))
    }

    @Test func aReaderThatMendsItsBytesIsCaughtByIllFormedText() throws {
        let mending = JSONStrictnessCheck { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
        }
        #expect(mending.encoding().violations.count == mending.encoding().trials)
    }

    @Test func aReaderWithoutALimitIsCaughtByNesting() throws {
        let limitless = JSONStrictnessCheck { bytes in
            struct Unbalanced: Error {}
            let open = bytes.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
            let closed = bytes.count { $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: "}") }
            if open != closed { throw Unbalanced() }
        }
        #expect(Set(limitless.nesting().violations) == ["depth 513", "depth 2000", "depth 100000"])
    }

    @Test func aStoreThatRoundsIsCaughtByTheLimitsOfNumbers() throws {
        let rounded = ValueCheck { $0.double = Double(String(format: "%.15g", $0.double)) ?? 0 }
        #expect(try !rounded.numbers().violations.isEmpty)
        let through = ValueCheck { $0.signed = Int64(clamping: Int(exactly: Double($0.signed)) ?? 0) }
        #expect(try !through.numbers().violations.isEmpty)
        let seconds = ValueCheck {
            $0.date = Date(timeIntervalSinceReferenceDate: $0.date.timeIntervalSinceReferenceDate.rounded())
        }
        #expect(try !seconds.decimalsAndDates().violations.isEmpty)
        let binary = ValueCheck { $0.decimal = Decimal(NSDecimalNumber(decimal: $0.decimal).doubleValue) }
        #expect(try !binary.decimalsAndDates().violations.isEmpty)
    }

    @Test func aStoreThatNormalizesIsCaughtByTexts() throws {
        #expect(try !ValueCheck { $0.text = $0.text.precomposedStringWithCanonicalMapping }.texts().violations.isEmpty)
        let ended = ValueCheck { $0.text = String($0.text.prefix { $0 != "\0" }) }
        #expect(try !ended.texts().violations.isEmpty)
    }

    @Test func aStoreThatWritesTheTimeIsCaughtByWritingTwice() throws {
        let stamped = ClockCheck {
            let line = "  \"saved\": \(Date().timeIntervalSinceReferenceDate)\n"
            return Array(line.utf8) + (try ClockCheck.saves())
        }
        #expect(try !stamped.run().violations.isEmpty)
    }

    @Test func aSaveThatKeepsWhatWasCodedBeforeTheErrorIsCaught() throws {
        let oneByOne = UserCodeCheck { context, samples in
            for sample in samples {
                context.insert(sample)
                try context.save()
            }
        }
        let violations = try oneByOne.run().violations
        #expect(violations.contains("the file has changed") && violations.contains("2 records are visible"))
        #expect(
            try !UserCodeCheck { context, samples in
                for sample in samples { context.insert(sample) }
                try? context.save()
            }.run().violations.isEmpty)
    }

    @Test func storesThatDoNotKnowOfEachOtherAreCaughtBySavingAtOnce() async throws {
        #expect(try await !ConcurrentSaveCheck(containers: 2, mistake: .ignoresLocks).run().violations.isEmpty)
    }

    @Test func aStoreThatReadsItsNewestFormatAloneIsCaughtByTheOlderFiles() throws {
        #expect(try !GoldenCheck { $0.replacing("\"records\"", with: "\"entities\"") }.run().violations.isEmpty)
        #expect(
            try !GoldenCheck { $0.replacing("\"formatVersion\": 1", with: "\"formatVersion\": 0") }.run()
                .violations.isEmpty)
    }

    @Test func aReaderThatLooksAtNoChecksumOfAHistoryIsCaughtByWhatItTells() throws {
        #expect(try HistoryDamageCheck(isResealed: true).run().violations.contains { $0.contains("told") })
    }

    /// That of flipped bits is satisfied in `BitFlipTests`, and takes long.
    @Test func withoutAMistakeEveryCheckIsSatisfied() async throws {
        let strict = JSONStrictnessCheck()
        var findings = try BrokenFileSystem.Mistake.allCases.map { try Self.check($0, isBroken: false) }
        findings += [
            try PowerCutCheck(failingSync: (.sync, 5)).run(), strict.grammar(),
            strict.encoding(), strict.nesting(), try ValueCheck().numbers(), try ValueCheck().decimalsAndDates(),
            try ValueCheck().texts(), try ClockCheck().run(), try UserCodeCheck().run(),
            try await ConcurrentSaveCheck().run(), try GoldenCheck().run(),
            try BehindTheBackCheck().runLink(), try StaleReaderCheck().runWriterInReader(),
            try SharedOpeningCheck().run(), try SharedOpeningCheck().runPaths(),
            try SharedOpeningCheck().runAtOnce(), try LockFileRemovalCheck().run(),
            try CrashesInARowCheck(seed: 1, rounds: 30).run(), try ReadableLengthCheck().run(),
            try NumberLimitCheck().run(), try BulkSaveCheck().run(), try HistoryDamageCheck().run(),
        ]
        findings += try [FileError.Code.noSpace, .fileTooLarge, .processFiles].map {
            try FailingOperationCheck(code: $0).run()
        }
        findings += try [FileKind.socket, .blockDevice].map { try NoFileCheck(kind: $0).run() }
        for findings in findings {
            #expect(findings.trials > 0)
            #expect(findings.violations.isEmpty)
        }
    }
}
