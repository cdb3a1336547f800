import FaultWorkload
import MortiseEngine
import MortiseJSONFile
import Testing

/// Each mistake that a store could have is caught by the check that is there for it. A check that a mistake escapes is
/// worth nothing.
@Suite struct BrokenVariantTests {
    @Test(arguments: BrokenFileSystem.Mistake.allCases)
    func everyMistakeIsCaughtByItsCheck(mistake: BrokenFileSystem.Mistake) throws {
        // A broken store may also fail where the check expects it to work; that is caught, too.
        var violations: [String] = []
        if let error = thrown({ violations = try Self.check(mistake).violations }) { violations.append("\(error)") }
        #expect(!violations.isEmpty)
    }

    private static func check(_ mistake: BrokenFileSystem.Mistake) throws -> Findings {
        switch mistake {
        case .skipsDirectorySync, .skipsFileSync: try PowerCutCheck(mistake: mistake).run()
        case .writesInPlace: try StaleReaderCheck(mistake: mistake).run()
        case .ignoresShortWrites: try ShortTransferCheck(mistake: mistake).run()
        case .retriesFailedSync: try SyncFailureCheck(mistake: mistake).run()
        case .retriesFailedDirectorySync: try SyncFailureCheck(operation: .syncDirectory, mistake: mistake).run()
        case .doublesInterruptedWrites: try InterruptionCheck(mistake: mistake).run()
        case .ignoresLocks: try LockCheck(mistake: mistake).run()
        case .remembersInfo: try BehindTheBackCheck(mistake: mistake).run()
        case .findsNoOrphans: try OrphanCheck(mistake: mistake).run()
        case .followsNoLinks: try LinkCheck(mistake: mistake).run()
        case .forgetsPermissions: try PermissionCheck(mistake: mistake).run()
        case .ignoresFullDisk: try FullDiskCheck(mistake: mistake, step: 211).run()
        }
    }

    @Test func aStoreThatOverwritesInPlaceDoesNotSurviveAPowerCut() throws {
        #expect(try !PowerCutCheck(mistake: .writesInPlace).run().violations.isEmpty)
    }

    @Test func aStoreThatBelievesTheSecondSyncLosesSavesInAPowerCut() throws {
        let check = PowerCutCheck(mistake: .retriesFailedSync, failingSync: (.sync, 3))
        #expect(try !check.run().violations.isEmpty)
    }

    @Test func aStoreWithoutASealDoesNotNoticeFlippedBits() throws {
        #expect(try !BitFlipCheck(integrity: .acceptEdits).run().violations.isEmpty)
    }

    @Test func withoutAMistakeEveryCheckIsSatisfied() throws {
        let findings = [
            try PowerCutCheck().run(), try ShortTransferCheck().run(), try SyncFailureCheck().run(),
            try SyncFailureCheck(operation: .syncDirectory).run(), try InterruptionCheck().run(), try LockCheck().run(),
            try BehindTheBackCheck().run(), try OrphanCheck().run(), try LinkCheck().run(),
            try PermissionCheck().run(), try FullDiskCheck(step: 211).run(), try StaleReaderCheck().run(),
        ]
        #expect(findings.flatMap(\.violations).isEmpty)
    }
}
