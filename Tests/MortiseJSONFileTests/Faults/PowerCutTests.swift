import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// A crash, a start that does some work and crashes too, and so on: what the first crash left must not confuse the second.
struct CrashesInARowCheck {
    var seed: UInt64
    var rounds = isFullSize ? 200 : 30
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        var random = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            var disk = SimulatedFileSystem(seed: random.next())
            var state = 0
            for crash in 0..<5 {
                let place = "crash \(crash) of round \(round)"
                let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(disk, mistake: $0) } ?? disk
                var opened: ModelContainer?
                let error = thrown {
                    opened = try Workload.open(JSONFileConfiguration(path: Depot.path, in: fileSystem))
                }
                guard let container = opened else {
                    findings.expect(false, "\(place): not opened: \(String(describing: error))")
                    break
                }
                let found = container.workloadState
                findings.expect(
                    found == state || found == state + 1, "\(place): found \(String(describing: found)), not \(state)")
                state = found ?? state
                let before = disk.operationCount
                try container.advance(to: state + 1)
                let point = Int.random(in: before...disk.operationCount, using: &random)
                if point == disk.operationCount { state += 1 }
                disk = disk.crashed(after: point, losing: .scattered(seed: random.next()))
                findings.inject()
            }
        }
        return findings
    }
}

/// The power is cut after every operation of a run of saves and reopenings.
@Suite struct PowerCutTests {
    @Test(arguments: faultSeeds(small: 2, full: 10))
    func noCrashLosesAnAcknowledgedSaveOrLeavesHalfOfOne(seed: UInt64) throws {
        let findings = try PowerCutCheck(seed: seed, last: isFullSize ? 12 : 5, limit: isFullSize ? 24 : 8).run()
        findings.verify("F13", "F14", "F16", "F18")
        #expect(findings.injected > (isFullSize ? 2_500 : 500))
    }

    @Test(arguments: [FileError.Operation.sync, .syncDirectory], 1...5)
    func aFailedSyncAndAPowerCutTogetherLoseNothingAcknowledged(operation: FileError.Operation, number: Int) throws {
        let check = PowerCutCheck(seed: UInt64(number), failingSync: (operation, number), limit: isFullSize ? 12 : 3)
        try check.run().verify("F05", "F06", "F16")
    }

    @Test(arguments: faultSeeds(small: 1, full: 10))
    func crashesInARowLoseNoAcknowledgedSave(seed: UInt64) throws {
        try CrashesInARowCheck(seed: seed).run().verify("F16")
    }
}
