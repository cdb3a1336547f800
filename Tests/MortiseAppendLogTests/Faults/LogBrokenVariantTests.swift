import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Each mistake that a log could have is caught by the check that is there for it. A check that a mistake escapes is worth
/// nothing.
@Suite struct LogBrokenVariantTests {
    private static let mistakes = BrokenFileSystem.Mistake.allCases.filter {
        !BrokenFileSystem.Mistake.ofReplacing.contains($0)
    }

    @Test(arguments: mistakes) func everyMistakeIsCaughtByItsCheck(mistake: BrokenFileSystem.Mistake) throws {
        var findings = Findings()
        let error = thrown { findings = try Self.check(mistake, isBroken: true) }
        // A log that has lost what it was told is written finds that itself at the next opening, and no run goes on.
        let isFound = mistake == .buffersWrites && error is AppendLogError
        #expect(error == nil || isFound, "the check ended with \(String(describing: error))")
        #expect(!findings.violations.isEmpty || isFound)
    }

    /// The check that is there for a mistake, of a log that has it, or has not. What it throws is none of its findings.
    private static func check(_ mistake: BrokenFileSystem.Mistake, isBroken: Bool) throws -> Findings {
        let broken = isBroken ? mistake : nil
        return switch mistake {
        case .skipsDirectorySync, .skipsFileSync, .buffersWrites: try LogPowerCutCheck(mistake: broken, limit: 2).run()
        case .writesInPlace: try LogStaleReaderCheck(mistake: broken).run()
        case .ignoresShortWrites: try LogShortTransferCheck(mistake: broken).run()
        case .retriesFailedSync: try LogSyncFailureCheck(mistake: broken).run()
        case .retriesFailedDirectorySync: try LogDirectorySyncFailureCheck(mistake: broken).run()
        case .doublesInterruptedWrites:
            try LogFailingOperationCheck(code: .interrupted, work: .compaction, mistake: broken).run()
        case .ignoresLocks: try LogLockCheck(mistake: broken).run()
        case .remembersInfo: try LogBehindTheBackCheck(mistake: broken).run()
        case .findsNoOrphans: try LogOrphanCheck(mistake: broken).run()
        case .followsNoLinks: try LogLinkCheck(mistake: broken).run()
        case .forgetsPermissions: try LogPermissionCheck(mistake: broken).run()
        case .ignoresFullDisk: try LogFullDiskCheck(mistake: broken, step: 211).run()
        case .ignoresLengthLimit: try LogLengthLimitCheck(mistake: broken).run()
        case .ignoresExhaustion: try LogExhaustionCheck(work: .backup, mistake: broken).run()
        case .ignoresReadOnly: try LogReadOnlyCheck(mistake: broken).run()
        case .writesElsewhere: try LogTouchedPathsCheck(mistake: broken).run()
        case .takesAnythingForAFile, .remembersAbsence, .takesErrorsForAbsence:
            try LogNoFileCheck(kind: .fifo, mistake: broken).run()
        }
    }

    /// Each kind of what is no file, for itself.
    @Test(arguments: [FileKind.directory, .fifo, .socket, .characterDevice, .blockDevice])
    func aLogThatTakesAnythingForAFileIsCaught(kind: FileKind) throws {
        #expect(try !LogNoFileCheck(kind: kind, mistake: .takesAnythingForAFile).run().violations.isEmpty)
    }

    @Test func aCompactionThatDoesNotNoticeAFullDiskIsCaught() throws {
        #expect(try !LogFullDiskMaintenanceCheck(mistake: .ignoresFullDisk).run().violations.isEmpty)
    }

    /// What is written once more and is not on the disk, and a lock that is believed to be held.
    @Test func aLogThatTakesOverWithoutLookingIsCaught() throws {
        let overwrite = try LogTakeOverCheck(
            code: .noSpace, othersSyncFails: true, mistake: .ignoresFullDisk
        ).run()
        #expect(!overwrite.violations.isEmpty)
        #expect(try !LogLostLockCheck(mistake: .ignoresLocks).run().violations.isEmpty)
    }

    @Test(arguments: [BrokenFileSystem.Mistake.skipsFileSync, .skipsDirectorySync])
    func aLogThatSyncsTooLittleIsCaughtByCrashesInARow(mistake: BrokenFileSystem.Mistake) throws {
        #expect(try !LogCrashesInARowCheck(seed: 1, rounds: 30, mistake: mistake).run().violations.isEmpty)
    }

    @Test(arguments: NaiveLogReader.Mistake.allCases)
    func everyNaiveReaderIsCaughtByTheDamage(mistake: NaiveLogReader.Mistake) throws {
        let reader = NaiveLogReader(mistake: mistake)
        let findings = try [
            LogCutCheck(read: reader.read), LogFlipCheck(read: reader.read), LogTornCheck(read: reader.read),
            LogBrokenMiddleCheck(read: reader.read), LogLengthCheck(read: reader.read),
        ].map { (check: any LogReadingCheck) in try check.run() }
        #expect(findings.contains { !$0.violations.isEmpty })
    }

    /// And no check of readers lets all of them pass.
    @Test func everyCheckOfReadersIsFailedByANaiveOne() throws {
        func violations(
            _ mistake: NaiveLogReader.Mistake, _ check: (@escaping ([UInt8]) throws -> Int) throws -> Findings
        )
            throws -> [String]
        { try check(NaiveLogReader(mistake: mistake).read).violations }
        #expect(try !violations(.toleratesNoTorn) { try LogCutCheck(read: $0).run() }.isEmpty)
        #expect(try !violations(.endsAtDamage) { try LogFlipCheck(read: $0).run() }.isEmpty)
        #expect(try !violations(.toleratesNoTorn) { try LogTornCheck(read: $0).run() }.isEmpty)
        // One that takes garbage for a torn tail drops what may have been acknowledged.
        let garbage = try violations(.endsAtDamage) { try LogTornCheck(read: $0).run() }
        #expect(garbage.contains { $0.contains("garbage") })
        #expect(try !violations(.skipsDamage) { try LogBrokenMiddleCheck(read: $0).run() }.isEmpty)
        #expect(try !violations(.trustsLengths) { try LogLengthCheck(read: $0).run() }.isEmpty)
    }

    @Test func aReaderThatPassesOverWhatItDoesNotKnowIsCaughtByLaterHeaders() throws {
        let reader = NaiveLogReader(mistake: .skipsDamage)
        let violations = try LogHeaderCheck(read: reader.read).run().violations
        for what in ["kind", "flag", "flag of a kind that may be skipped"] {
            #expect(violations.contains { $0.hasPrefix("another \(what):") }, "\(what)")
        }
    }

    /// Killed before the next write, it has lost what it had acknowledged.
    @Test(
        .enabled(if: HelperProcess.strace != nil, "strace is not installed"),
        .enabled(if: HelperProcess.program != nil, "the helper program is not there"),
        .enabled(if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil, "sanitizers cannot be traced"))
    func aLogThatKeepsWritesToItselfDoesNotSurviveAKill() throws {
        let findings = try LogKillSweep(work: "nothing", mistake: .buffersWrites).run("pwrite64", "signal=SIGKILL")
        #expect(findings.violations.contains { $0.contains("; acknowledged ") })
    }

    @Test func aLogThatRoundsOrNormalizesIsCaughtByValuesAtTheirLimits() throws {
        func violations(_ spoil: @escaping (Kettle) -> Void) throws -> [String] {
            try LogValueCheck(spoil: spoil).run().violations
        }
        #expect(try violations { $0.text = $0.text.precomposedStringWithCanonicalMapping } == ["texts"])
        #expect(try violations { $0.text = String($0.text.prefix { $0 != "\0" }) } == ["texts"])
        #expect(try violations { $0.level = Double(String(format: "%.15g", $0.level)) ?? 0 } == ["numbers"])
        #expect(try violations { $0.price = Decimal(NSDecimalNumber(decimal: $0.price).doubleValue) } == ["decimals"])
        #expect(
            try violations {
                $0.boiled = Date(timeIntervalSinceReferenceDate: $0.boiled.timeIntervalSinceReferenceDate.rounded())
            } == ["dates"])
    }

    @Test func aHistoryInTheOrderOfItsTimesIsCaughtByAClockThatJumps() throws {
        let byTime = LogClockCheck { $0.sorted { $0.timestamp < $1.timestamp } }
        #expect(try !byTime.run().violations.isEmpty)
    }

    @Test func aSaveThatKeepsWhatWasCodedBeforeTheErrorIsCaught() throws {
        let oneByOne = LogUserCodeCheck { context, kettles in
            for kettle in kettles {
                context.insert(kettle)
                try context.save()
            }
        }
        let violations = try oneByOne.run().violations
        #expect(violations.contains("the log has changed") && violations.contains("2 records are visible"))
    }

    @Test func logsThatDoNotKnowOfEachOtherAreCaughtBySavingAtOnce() async throws {
        #expect(try await !LogConcurrentSaveCheck(containers: 2, mistake: .ignoresLocks).run().violations.isEmpty)
    }

    /// A store that has given the kinds of frames other numbers, with checksums that fit.
    @Test func aLogThatReadsItsNewestFormatAloneIsCaughtByTheOlderFiles() throws {
        for kind in LogGoldenCheck.kinds {
            let renumbered = LogGoldenCheck(version: 1, kind: kind) { log in
                for frame in SampleLog.frames(of: log) { log[frame.offset + 4] += 1 }
                LogMutationCheck.mend(&log)
            }
            #expect(try !renumbered.run().violations.isEmpty, "\(kind)")
        }
    }

    @Test func withoutAMistakeEveryCheckIsSatisfied() async throws {
        // What is there for these is the check of another one.
        let distinct = Self.mistakes.filter { ![.skipsFileSync, .buffersWrites].contains($0) }
        var findings = try distinct.map { try Self.check($0, isBroken: false) }
        findings += [
            try LogFullDiskMaintenanceCheck().run(),
            try LogTakeOverCheck(code: .noSpace, othersSyncFails: true).run(), try LogLostLockCheck().run(),
            try LogCutCheck(read: SampleLog.read).run(), try LogFlipCheck(read: SampleLog.read).run(),
            try LogTornCheck(read: SampleLog.read).run(), try LogBrokenMiddleCheck(read: SampleLog.read).run(),
            try LogLengthCheck(read: SampleLog.read).run(), try LogHeaderCheck().run(), try LogValueCheck().run(),
            try LogClockCheck().run(), try LogUserCodeCheck().run(),
            try await LogConcurrentSaveCheck().run(),
            try LogCrashesInARowCheck(seed: 1, rounds: isFullSize ? 30 : 8).run(),
        ]
        findings += try LogGoldenCheck.kinds.map { try LogGoldenCheck(version: 1, kind: $0).run() }
        for findings in findings {
            #expect(findings.trials > 0)
            #expect(findings.violations.isEmpty)
        }
    }
}
