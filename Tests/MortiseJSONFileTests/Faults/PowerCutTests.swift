import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import PackageTestSupport
import Testing

struct CrashesInARowCheck {
    var seed: UInt64
    var rounds = isFullSize ? 200 : 20
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var crashes = CrashesInARow(mistake: mistake, random: SeededGenerator(seed: seed)) {
            try Workload.open(JSONFileConfiguration(path: Depot.path, in: $0))
        }
        return try crashes.run(rounds: rounds)
    }
}

/// The power is cut after every operation of a run of saves and reopenings.
@Suite struct PowerCutTests {
    @Test(arguments: faultSeeds(small: 1, full: 10))
    func noCrashLosesAnAcknowledgedSaveOrLeavesHalfOfOne(seed: UInt64) throws {
        let findings = try PowerCutCheck(seed: seed, last: isFullSize ? 12 : 5, limit: isFullSize ? 24 : 4).run()
        findings.verify("F13", "F14", "F16", "F18")
        #expect(findings.trials > (isFullSize ? 2_500 : 150))
    }

    @Test(arguments: [FileError.Operation.sync, .syncDirectory], 1...5)
    func aFailedSyncAndAPowerCutTogetherLoseNothingAcknowledged(operation: FileError.Operation, number: Int) throws {
        let check = PowerCutCheck(seed: UInt64(number), failingSync: (operation, number), limit: isFullSize ? 12 : 1)
        try check.run().verify("F05", "F06", "F16")
    }

    @Test(arguments: faultSeeds(small: 1, full: 10))
    func crashesInARowLoseNoAcknowledgedSave(seed: UInt64) throws {
        try CrashesInARowCheck(seed: seed).run().verify("F16")
    }
}
