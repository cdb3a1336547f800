import FaultWorkload
import MortiseCore
import MortiseEngine
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A workload of saves, checkpoints, compactions, backups and reopenings, with a crash after every operation and with
/// every kind of loss.
struct LogPowerCutCheck {
    var seed: UInt64 = 1
    var mistake: BrokenFileSystem.Mistake?
    var last = 7
    /// How many single cuts and scattered losses to try at each point.
    var limit = 6
    /// What is done after which state.
    var work: [Int: Maintenance] = [2: .checkpoint, 3: .compaction, 5: .backup, 6: .compaction]
    var reopenings: Set<Int> = [3, 4, 6]
    /// Where the store compacts itself: how much history has to be forgotten for that. Another save comes in the middle of
    /// each compaction.
    var leastGarbage: Int64?
    /// How many bytes of a long transaction are gathered before they are written.
    var pieceSize = FrameStream.pieceSize

    /// What was promised: after so many operations, so many saves were acknowledged, and one more was begun or not.
    private struct Promise {
        var operation: Int
        var acknowledged: Int
        /// The state that the backup must have from then on.
        var backup: Int?
    }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(seed: seed, breaking: mistake, pieceSize: pieceSize)
        let promises = try promises(on: depot)
        depot.disk.forEachCrash(limit: limit) { image in
            findings.inject()
            let promise = promises.last { $0.operation <= image.operation }
            let next = promises.first { $0.operation > image.operation }
            let acknowledged = promise?.acknowledged ?? 0
            check(
                image, acknowledged...max(acknowledged, next?.acknowledged ?? 0), backup: promise?.backup, &findings)
        }
        return findings
    }

    private func promises(on depot: LogDepot) throws -> [Promise] {
        var promises: [Promise] = []
        var backup: Int?
        if let leastGarbage { return try promisesInTheBackground(on: depot, leastGarbage) }
        var container = try depot.open()
        for state in 1...last {
            try container.advance(to: state)
            promises.append(Promise(operation: depot.disk.operationCount, acknowledged: state, backup: backup))
            if let work = work[state], let store = container.logStore {
                try work.run(on: store)
                if work == .backup { backup = state }
                promises.append(Promise(operation: depot.disk.operationCount, acknowledged: state, backup: backup))
            }
            guard reopenings.contains(state) else { continue }
            try container.close()
            container = try depot.open()
        }
        try container.close()
        return promises
    }

    private func promisesInTheBackground(on depot: LogDepot, _ leastGarbage: Int64) throws -> [Promise] {
        var configuration = AppendLogConfiguration(
            path: LogDepot.path, history: .keep(days: 0), checkpoints: .onCall, in: depot.fileSystem)
        configuration.allocationStep = 4_096
        configuration.leastGarbage = leastGarbage
        let promises = Mutex<[Promise]>([])
        while promises.withLock({ $0.count }) < last {
            let container = try Workload.open(configuration)
            guard let store = container.logStore else { break }
            @Sendable func advance() throws {
                try promises.withLock { promises in
                    if promises.count == last { return }
                    try container.advance(to: promises.count + 1)
                    promises.append(
                        Promise(operation: depot.disk.operationCount, acknowledged: promises.count + 1, backup: nil))
                }
            }
            store.reportBackgroundCompaction { if $0.completed == $0.total { try advance() } }
            for _ in 0..<3 {
                try advance()
                store.waitForBackgroundWork()
            }
            try container.close()
        }
        let compactions = depot.disk.trace.count {
            $0.operation == .rename && $0.path.hasPrefix("/.depot.log.") && !$0.path.contains(".checkpoint.")
        }
        #expect(compactions > 2)
        return promises.withLock { $0 }
    }

    private func check(
        _ image: SimulatedFileSystem.CrashImage, _ allowed: ClosedRange<Int>, backup: Int?, _ findings: inout Findings
    ) {
        let place = "after operation \(image.operation), \(image.loss)"
        do {
            let store = try Workload.openStore(LogDepot.configuration(image.fileSystem))
            let state = Workload.state(of: store, upTo: last)
            if let damage = store.engine.version.damage { throw damage }
            let faults = store.engine.version.inconsistencies()
            try store.close()
            findings.expect(faults.isEmpty, "\(place): \(faults)")
            guard let state else { return findings.expect(false, "\(place): no whole state") }
            findings.expect(allowed.contains(state), "\(place): state \(state) where \(allowed) may be")
            let left = image.fileSystem.paths.filter { $0.hasPrefix("/.depot.log.") }
            findings.expect(left.isEmpty, "\(place): left behind \(left)")
            if let backup {
                let copy = LogDepot.state(in: image.fileSystem, at: "/copy.log")
                findings.expect(copy == backup, "\(place): the backup has \(String(describing: copy))")
            }
            // The store goes on, and what it then acknowledges is there for good.
            let container = try Workload.open(LogDepot.configuration(image.fileSystem))
            try container.advance(to: state + 1)
            try container.close()
            let again = image.fileSystem.crashed(after: .max, losing: .unsynced)
            findings.expect(LogDepot.state(in: again) == state + 1, "\(place): lost after recovery")
        } catch {
            findings.expect(false, "\(place): \(error)")
        }
    }
}

/// Crashes in a row, with a compaction before every second one.
struct LogCrashesInARowCheck {
    var seed: UInt64
    var rounds = isFullSize ? 200 : 20
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var crashes = CrashesInARow(mistake: mistake, random: TestGenerator(seed: seed)) {
            try Workload.open(LogDepot.configuration($0))
        } maintain: { container in
            try container.logStore?.compact()
        }
        return try crashes.run(rounds: rounds)
    }
}

@Suite struct LogPowerCutTests {
    @Test(arguments: faultSeeds(small: 1, full: 8))
    func noCrashLosesAnAcknowledgedSaveOrLeavesHalfOfOne(seed: UInt64) throws {
        let findings = try LogPowerCutCheck(seed: seed, limit: isFullSize ? 16 : 1).run()
        findings.verify("F13", "F15", "F16", "F17", "F18")
        #expect(findings.trials > (isFullSize ? 1_500 : 100))
    }

    @Test(arguments: faultSeeds(small: 1, full: 8))
    func noCrashLeavesHalfOfASaveWhoseHeaderComesLast(seed: UInt64) throws {
        let findings = try LogPowerCutCheck(seed: seed, limit: isFullSize ? 16 : 1, pieceSize: 64).run()
        findings.verify("F16")
        #expect(findings.trials > (isFullSize ? 1_500 : 100))
    }

    @Test(arguments: faultSeeds(small: 1, full: 8))
    func noCrashInACompactionInTheBackgroundLosesAnAcknowledgedSave(seed: UInt64) throws {
        var check = LogPowerCutCheck(seed: seed, last: 24, limit: isFullSize ? 8 : 1)
        check.leastGarbage = 500
        let findings = try check.run()
        findings.verify("F16", "F17", "F18")
        #expect(findings.trials > (isFullSize ? 1_500 : 100))
    }

    @Test(arguments: faultSeeds(small: 1, full: 10))
    func crashesInARowLoseNoAcknowledgedSave(seed: UInt64) throws {
        try LogCrashesInARowCheck(seed: seed).run().verify("F16")
    }
}
