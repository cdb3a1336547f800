import FaultWorkload
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing
import MortiseTestSupport

/// Saves of external data, checkpoints, compactions and reopenings, with a crash after every operation and
/// with every kind of loss.
struct ExternalPowerCutCheck {
    let store: PictureStore
    var seed: UInt64 = 1
    var mistake: BrokenFileSystem.Mistake?
    var last = 4
    var limit = 2

    private struct Promise {
        var operation: Int
        var acknowledged: Int
    }

    private static let backup = "/backup.log"
    /// The state in which the backup is taken, of a log.
    private static let backedUp = 3

    func run() throws -> Findings {
        var findings = Findings()
        let disk = SimulatedFileSystem(seed: seed)
        let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(disk, mistake: $0) } ?? disk
        var promises: [Promise] = []
        var backup = Int.max
        var container = try store.open(fileSystem)
        for state in 1...last {
            try container.advancePictures(to: state)
            promises.append(Promise(operation: disk.operationCount, acknowledged: state))
            if let log = container.store(AppendLogStore.self) {
                if state == 2 { try log.checkpoint() }
                if state == 3 { try log.compact() }
                if state == Self.backedUp {
                    try log.backup(to: Self.backup)
                    backup = disk.operationCount
                }
                promises.append(Promise(operation: disk.operationCount, acknowledged: state))
            }
            guard state == 2 || state == 3 else { continue }
            try container.close()
            container = try store.open(fileSystem)
        }
        try container.close()
        disk.forEachCrash(limit: limit) { image in
            findings.inject()
            let acknowledged = promises.last { $0.operation <= image.operation }?.acknowledged ?? 0
            let next = promises.first { $0.operation > image.operation }?.acknowledged ?? 0
            check(image, acknowledged...max(acknowledged, next), &findings)
            checkBackup(image, isDone: backup <= image.operation, &findings)
        }
        return findings
    }

    private func check(
        _ image: SimulatedFileSystem.CrashImage, _ allowed: ClosedRange<Int>, _ findings: inout Findings
    ) {
        let place = "after operation \(image.operation), \(image.loss)"
        do {
            let container = try store.open(image.fileSystem)
            // Every value is read: a record that names what is not there throws.
            guard let state = try Pictures.state(of: container, upTo: last) else {
                return findings.expect(false, "\(place): no whole state")
            }
            findings.expect(allowed.contains(state), "\(place): state \(state) where \(allowed) may be")
            let files = store.dataFiles(on: image.fileSystem).count
            let named = Pictures.lines(of: state).count
            // An opening that cuts off a torn end removes nothing: what the torn bytes would have named is not known.
            let isTorn = container.store(AppendLogStore.self)?.recovery != nil
            findings.expect(isTorn ? files >= named : files == named, "\(place): \(files) files in state \(state)")
            // The store goes on, and what it then acknowledges is there for good.
            try container.advancePictures(to: state + 1)
            try container.close()
            let restarted = image.fileSystem.crashed(after: .max, losing: .unsynced)
            let again = try store.open(restarted)
            findings.expect(try Pictures.state(of: again) == state + 1, "\(place): lost after recovery")
            try again.close()
            let settled = store.dataFiles(on: restarted).count
            let wanted = Pictures.lines(of: state + 1).count
            findings.expect(settled == wanted, "\(place): \(settled) files, not \(wanted), after recovery")
        } catch {
            findings.expect(false, "\(place): \(error)")
        }
    }
}

extension ExternalPowerCutCheck {
    /// A backup is there whole with all its data, or not at all; only the latter before the call has returned.
    private func checkBackup(_ image: SimulatedFileSystem.CrashImage, isDone: Bool, _ findings: inout Findings) {
        let place = "backup after operation \(image.operation), \(image.loss)"
        guard image.fileSystem.contents(at: Self.backup) != nil else {
            return findings.expect(!isDone, "\(place): is not there")
        }
        do {
            let container = try store.open(image.fileSystem, path: Self.backup)
            findings.expect(try Pictures.state(of: container, upTo: last) == Self.backedUp, "\(place): another state")
            try container.close()
        } catch {
            findings.expect(false, "\(place): \(error)")
        }
    }
}

@Suite struct ExternalPowerCutTests {
    @Test(arguments: PictureStore.allCases, faultSeeds(small: 1, full: 6))
    func noCrashLosesAnAcknowledgedValueOrLeavesARecordThatNamesNoFile(store: PictureStore, seed: UInt64) throws {
        let findings = try ExternalPowerCutCheck(store: store, seed: seed, limit: isFullSize ? 12 : 1).run()
        #expect(findings.violations.prefix(5) == [])
        #expect(findings.trials > 100)
    }

    @Test(arguments: PictureStore.allCases, [BrokenFileSystem.Mistake.skipsFileSync, .skipsDirectorySync])
    func theCheckCatchesAStoreThatSyncsLess(store: PictureStore, mistake: BrokenFileSystem.Mistake) throws {
        #expect(
            try !ExternalPowerCutCheck(store: store, mistake: mistake, last: isFullSize ? 4 : 2, limit: 1).run()
                .violations.isEmpty)
    }
}
