import FaultWorkload
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A sync fails once, and from then on succeeds, as kernels do it.
struct LogSyncFailureCheck {
    var code = FileError.Code.io
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for number in 1...3 {
            let depot = try LogDepot(seed: UInt64(number), state: 2, isCompacted: number == 2, breaking: mistake)
            let container = try depot.open()
            let context = ModelContext(container)
            depot.disk.inject(.fail(code), at: number, of: .sync)
            findings.inject()
            for state in 3..<(2 + number) {
                try Workload.change(context, to: state)
                try context.save()
            }
            let state = 2 + number
            try Workload.change(context, to: state)
            let error = thrown { try context.save() }
            findings.expect(error is FileError, "the save did not fail: \(String(describing: error))")
            findings.expect(context.hasChanges, "the context is not dirty")
            findings.expect(container.workloadState == state - 1, "the failed save is visible")
            let writes = depot.disk.operationCount
            findings.expect(isLatched(thrown { try context.save() }), "the same save again was not refused")
            let shared = try depot.open()
            findings.expect(isLatched(thrown { try shared.advance(to: 40) }), "a second opening unlatched it")
            for work in Maintenance.allCases {
                findings.expect(thrown { try work.run(on: depot.openStore()) } != nil, "\(work) on a latched store")
            }
            let changed = depot.disk.trace[writes...].filter { [.write, .rename, .sync].contains($0.operation) }
            findings.expect(changed.allSatisfy { !$0.path.hasPrefix(LogDepot.path) }, "a latched store was written")
            try shared.close()
            try container.close()

            let reopened = try depot.open()
            let found = reopened.workloadState
            findings.expect(found == state || found == state - 1, "reopened it shows \(String(describing: found))")
            try reopened.advance(to: (found ?? state) + 1)
            try reopened.close()
            // What was acknowledged after the reopening no longer depends on what the failed sync left behind.
            let image = depot.disk.crashed(after: .max, losing: .unsynced)
            findings.expect(LogDepot.state(in: image) == (found ?? state) + 1, "a save after reopening was lost")
        }
        return findings
    }
}

/// A sync of the directory fails once, in a checkpoint, a compaction or a backup.
struct LogDirectorySyncFailureCheck {
    var operation = FileError.Operation.syncDirectory
    var code = FileError.Code.io
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for work in Maintenance.allCases {
            for number in 1...2 {
                let depot = try LogDepot(seed: UInt64(number), state: 3, breaking: mistake)
                let container = try depot.open()
                let store = try depot.openStore()
                let before = depot.disk.trace.count
                depot.disk.inject(.fail(code), at: number, of: operation)
                let error = thrown { try work.run(on: store) }
                depot.disk.removeFaults()
                let asked = depot.disk.trace[before...].count { $0.operation == operation }
                if asked < number { continue }
                findings.inject()
                findings.expect(error is FileError, "\(work) did not fail: \(String(describing: error))")
                findings.expect(container.workloadState == 3, "\(work): the store shows another state")
                // Whether the log's name is on the disk is not known after a compaction; otherwise saves go on.
                let save = thrown { try container.advance(to: 4) }
                let isUnknown = work == .compaction && number == 2
                findings.expect(
                    isUnknown ? isLatched(save) : save == nil, "\(work) \(number): \(String(describing: save))")
                try store.close()
                try container.close()
                let expected = save == nil ? 4 : 3
                let reopened = try depot.open()
                findings.expect(reopened.workloadState == expected, "\(work): reopened it shows another state")
                try reopened.advance(to: expected + 1)
                try reopened.close()
                let image = depot.disk.crashed(after: .max, losing: .unsynced)
                findings.expect(LogDepot.state(in: image) == expected + 1, "\(work): a save after it was lost")
            }
        }
        return findings
    }
}

@Suite struct LogSyncFailureTests {
    @Test(arguments: [FileError.Code.io, .interrupted, .noSpace])
    func afterAFailedSyncTheLogTakesNoSavesUntilReopened(code: FileError.Code) throws {
        try LogSyncFailureCheck(code: code).run().verify("F05")
    }

    @Test(arguments: [FileError.Operation.syncDirectory, .rename])
    func aFailedSyncOfTheDirectoryHarmsNoMaintenance(operation: FileError.Operation) throws {
        try LogDirectorySyncFailureCheck(operation: operation).run().verify("F06")
    }
}
