import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Each mistake that a log could have is caught by the check that is there for it. A check that a mistake escapes is worth
/// nothing.
@Suite struct LogBrokenVariantTests {
    @Test(arguments: BrokenFileSystem.Mistake.allCases)
    func everyMistakeIsCaughtByItsCheck(mistake: BrokenFileSystem.Mistake) throws {
        // A broken store may also fail where the check expects it to work; that is caught, too.
        var violations: [String] = []
        if let error = thrown({ violations = try Self.check(mistake).violations }) { violations.append("\(error)") }
        #expect(!violations.isEmpty)
    }

    private static func check(_ mistake: BrokenFileSystem.Mistake) throws -> Findings {
        switch mistake {
        case .skipsDirectorySync, .skipsFileSync: try LogPowerCutCheck(mistake: mistake, limit: 2).run()
        case .writesInPlace: try LogStaleReaderCheck(mistake: mistake).run()
        case .ignoresShortWrites: try LogShortTransferCheck(mistake: mistake).run()
        case .retriesFailedSync: try LogSyncFailureCheck(mistake: mistake).run()
        case .retriesFailedDirectorySync: try LogDirectorySyncFailureCheck(mistake: mistake).run()
        case .doublesInterruptedWrites:
            try LogFailingOperationCheck(code: .interrupted, work: .compaction, mistake: mistake).run()
        case .ignoresLocks: try LogLockCheck(mistake: mistake).run()
        case .remembersInfo: try LogBehindTheBackCheck(mistake: mistake).run()
        case .findsNoOrphans: try LogOrphanCheck(mistake: mistake).run()
        case .followsNoLinks: try LogLinkCheck(mistake: mistake).run()
        case .forgetsPermissions: try LogPermissionCheck(mistake: mistake).run()
        case .ignoresFullDisk: try LogFullDiskCheck(mistake: mistake, step: 211).run()
        case .ignoresLengthLimit: try LogLengthLimitCheck(mistake: mistake).run()
        case .ignoresExhaustion: try LogExhaustionCheck(work: .backup, mistake: mistake).run()
        case .ignoresReadOnly: try LogReadOnlyCheck(mistake: mistake).run()
        case .writesElsewhere: try LogTouchedPathsCheck(mistake: mistake).run()
        case .buffersWrites: try LogPowerCutCheck(mistake: mistake, limit: 2).run()
        }
    }

    @Test func aCompactionThatDoesNotNoticeAFullDiskIsCaught() throws {
        var violations: [String] = []
        if let error = thrown({
            violations = try LogFullDiskMaintenanceCheck(mistake: .ignoresFullDisk).run().violations
        }) {
            violations.append("\(error)")
        }
        #expect(!violations.isEmpty)
    }

    /// What is written once more and is not on the disk, and a lock that is believed to be held.
    @Test func aLogThatTakesOverWithoutLookingIsCaught() throws {
        let overwrite = try LogTakeOverCheck(
            code: .noSpace, othersSyncFails: true, mistake: .ignoresFullDisk
        ).run()
        #expect(!overwrite.violations.isEmpty)
        #expect(try !LogLostLockCheck(mistake: .ignoresLocks).run().violations.isEmpty)
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
        let findings = [
            try LogShortTransferCheck().run(), try LogSyncFailureCheck().run(), try LogLockCheck().run(),
            try LogBehindTheBackCheck().run(), try LogOrphanCheck().run(), try LogLinkCheck().run(),
            try LogPermissionCheck().run(), try LogFullDiskCheck(step: 211).run(),
            try LogTakeOverCheck(code: .noSpace, othersSyncFails: true).run(), try LogLostLockCheck().run(),
            try LogLengthLimitCheck().run(), try LogExhaustionCheck(work: .backup).run(),
            try LogReadOnlyCheck().run(), try LogTouchedPathsCheck().run(), try LogHeaderCheck().run(),
            try LogValueCheck().run(), try LogClockCheck().run(), try LogUserCodeCheck().run(),
            try await LogConcurrentSaveCheck().run(), try LogGoldenCheck(version: 1, kind: "whole").run(),
        ]
        #expect(findings.flatMap(\.violations).isEmpty)
    }
}
