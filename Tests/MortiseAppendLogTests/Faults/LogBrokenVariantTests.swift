import FaultWorkload
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

    @Test func withoutAMistakeEveryCheckIsSatisfied() throws {
        let findings = [
            try LogShortTransferCheck().run(), try LogSyncFailureCheck().run(), try LogLockCheck().run(),
            try LogBehindTheBackCheck().run(), try LogOrphanCheck().run(), try LogLinkCheck().run(),
            try LogPermissionCheck().run(), try LogFullDiskCheck(step: 211).run(),
            try LogTakeOverCheck(code: .noSpace, othersSyncFails: true).run(), try LogLostLockCheck().run(),
        ]
        #expect(findings.flatMap(\.violations).isEmpty)
    }
}
