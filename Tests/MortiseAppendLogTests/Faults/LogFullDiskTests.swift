import FaultWorkload
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// The disk fills up at every byte of a save, then has room again.
struct LogFullDiskCheck {
    var mistake: BrokenFileSystem.Mistake?
    var step = isFullSize ? 1 : 37
    var pieceSize = FrameStream.pieceSize

    func run() throws -> Findings {
        var findings = Findings()
        // The log is cut to its frames when it is closed, so that the next save needs room of its own.
        for room in stride(from: 0, to: 500, by: step) {
            let depot = try LogDepot(state: 2, breaking: mistake, pieceSize: pieceSize)
            let container = try depot.open()
            let context = ModelContext(container)
            try Workload.change(context, to: 3)
            let used = depot.disk.paths.reduce(0) { $0 + (depot.disk.contents(at: $1)?.count ?? 0) }
            depot.disk.limits.capacity = used + room
            findings.inject()
            let error = thrown { try context.save() }
            findings.expect(
                (error as? FileError)?.reason == .noSpace, "with \(room) bytes: \(String(describing: error))")
            findings.expect(context.hasChanges, "with \(room) bytes: the context is not dirty")
            findings.expect(depot.state() == 2, "with \(room) bytes: the log is not as it was")
            try container.close()
            depot.disk.limits.capacity = nil
            let reopened = try depot.open()
            let later = thrown { try reopened.advance(to: 3) }
            findings.expect(later == nil, "with room again: \(String(describing: later))")
            findings.expect(depot.state() == 3, "with room again: state \(String(describing: depot.state()))")
            try reopened.close()
        }
        return findings
    }
}

/// The disk fills up during a checkpoint, a compaction or a backup; saves that need no room go on.
struct LogFullDiskMaintenanceCheck {
    var mistake: BrokenFileSystem.Mistake?
    var step = isFullSize ? 50 : 500

    func run() throws -> Findings {
        var findings = Findings()
        for work in Maintenance.allCases {
            var room = 0
            while true {
                let depot = try LogDepot(state: 3, breaking: mistake)
                let container = try depot.open()
                // Makes room ahead in the log.
                try container.advance(to: 4)
                let log = depot.disk.contents(at: LogDepot.path)
                let used = depot.disk.paths.reduce(0) { $0 + (depot.disk.contents(at: $1)?.count ?? 0) }
                depot.disk.limits.capacity = used + room
                let error = thrown { try container.logStore.map { try work.run(on: $0) } }
                if error == nil {
                    findings.expect(room > 0, "\(work) needed no room")
                    try container.close()
                    break
                }
                findings.inject()
                findings.expect(
                    (error as? FileError)?.reason == .noSpace, "\(work), \(room): \(String(describing: error))")
                findings.expect(depot.disk.contents(at: LogDepot.path) == log, "\(work), \(room): the log has changed")
                findings.expect(depot.temporaries.isEmpty, "\(work), \(room): left \(depot.temporaries)")
                let save = thrown { try container.advance(to: 5) }
                findings.expect(save == nil, "\(work), \(room): no save afterwards: \(String(describing: save))")
                findings.expect(depot.state() == 5, "\(work), \(room): the save is not there")
                try container.close()
                room += step
            }
        }
        return findings
    }
}

/// The log may not become longer than so much.
struct LogLengthLimitCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for limit in [0, 100, 1_000] {
            let depot = try LogDepot(state: 2, breaking: mistake)
            let size = depot.disk.contents(at: LogDepot.path)?.count ?? 0
            let container = try depot.open()
            depot.disk.limits.fileSize = size + limit / 10
            findings.inject()
            let error = thrown { try container.advance(to: 3) } as? FileError
            findings.expect(error?.reason == .fileTooLarge, "limit \(limit): \(String(describing: error))")
            findings.expect(depot.state() == 2, "limit \(limit): not as it was")
            try container.close()
            depot.disk.limits.fileSize = nil
            let reopened = try depot.open()
            try reopened.advance(to: 3)
            findings.expect(depot.state() == 3, "with the limit gone")
            try reopened.close()
        }
        return findings
    }
}

/// There are no more inodes, or descriptors.
struct LogExhaustionCheck {
    var work: Maintenance
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(state: 2, breaking: mistake)
        let container = try depot.open()
        guard let store = container.logStore else { return findings }
        // The log and its lock file are there, and both are open.
        for (state, exhaust, supply) in [(3, \SimulatedFileSystem.Limits.nodes, 2), (4, \.openFiles, 2)] {
            depot.disk.limits[keyPath: exhaust] = supply
            findings.inject()
            let error = thrown { try work.run(on: store) } as? FileError
            try container.advance(to: state)
            depot.disk.limits[keyPath: exhaust] = nil
            findings.expect(
                error.map { [.noSpace, .tooManyOpenFiles].contains($0.reason) } == true, "\(String(describing: error))")
            findings.expect(depot.temporaries.isEmpty, "left \(depot.temporaries)")
        }
        try work.run(on: store)
        try container.advance(to: 5)
        findings.expect(depot.state() == 5, "afterwards")
        try container.close()
        return findings
    }
}

@Suite struct LogFullDiskTests {
    @Test func aSaveOnAFullDiskFailsWholeAndIsDoneOnceThereIsRoom() throws {
        try LogFullDiskCheck().run().verify("F09")
        try LogFullDiskCheck(pieceSize: 64).run().verify("F09")
    }

    @Test func aFullDiskDuringMaintenanceLeavesTheOldLog() throws {
        try LogFullDiskMaintenanceCheck().run().verify("F10")
    }

    @Test func aSaveBeyondTheLimitOfLengthIsATypedError() throws { try LogLengthLimitCheck().run().verify("F11") }

    @Test(arguments: Maintenance.allCases) func withoutInodesOrDescriptorsTheLogStaysUsable(work: Maintenance) throws {
        try LogExhaustionCheck(work: work).run().verify("F12")
    }
}
