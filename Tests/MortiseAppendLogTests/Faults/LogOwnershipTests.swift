import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Who may tidy up beside the log.
struct LogOrphanCheck {
    var mistake: BrokenFileSystem.Mistake?
    static let orphans = [
        "/.depot.log.77-0123456789abcdef.mortise-tmp", "/.depot.log.checkpoint.1-ffffffffffffffff.mortise-tmp",
    ]
    static let strangers = [
        "/.depot.log.77-0123456789abcdeg.mortise-tmp", "/depot.log.bak", "/depot.log.torn-64-0123456789abcdef",
        "/.other.log.77-0123456789abcdef.mortise-tmp", "/depot.log.77-0123456789abcdef.mortise-tmp",
        "/.depot.log.checkpoint.x.mortise-tmp",
    ]

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(state: 2, breaking: mistake)
        for path in Self.orphans + Self.strangers { try depot.disk.install([1], at: path) }
        findings.inject(Self.orphans.count + Self.strangers.count)
        let holder = try FileLock(forStoreAt: LogDepot.path, in: depot.disk.process(200))
        findings.expect(thrown { _ = try depot.open() } is FileError, "opened against the lock")
        findings.expect(Set(depot.disk.paths).isSuperset(of: Self.orphans), "swept without the lock")
        holder.release()
        let reader = try Workload.openStore(depot.configuration(allowsSave: false))
        findings.expect(Set(depot.disk.paths).isSuperset(of: Self.orphans), "swept by a reader")
        try reader.close()
        let container = try depot.open()
        findings.expect(Set(depot.disk.paths).isDisjoint(with: Self.orphans), "orphans are still there")
        findings.expect(Set(depot.disk.paths).isSuperset(of: Self.strangers), "a stranger's file was removed")
        try container.close()
        return findings
    }
}

/// Two openings of one log.
struct LogLockCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(state: 2, breaking: mistake)
        let first = try depot.open()
        let theirs = depot.disk.process(200)
        let view: any FileSystem = mistake.map { BrokenFileSystem(theirs, mistake: $0) } ?? theirs
        let configuration = LogDepot.configuration(view)
        findings.inject()
        let error = thrown { _ = try Workload.open(configuration) } as? FileError
        findings.expect(
            error?.reason == .locked(holder: depot.disk.processID), "not refused: \(String(describing: error))")
        try first.advance(to: 3)
        // The lock of a process that was killed is free, whatever its lock file says.
        findings.inject()
        depot.disk.kill()
        do {
            let second = try Workload.open(configuration)
            findings.expect(second.workloadState == 3, "after a kill: \(String(describing: second.workloadState))")
            try second.advance(to: 4)
            let dead = thrown { try first.advance(to: 4) }
            findings.expect(dead is FileError, "a killed process saved: \(String(describing: dead))")
            findings.expect(depot.state() == 4, "the second's save is gone")
            try second.close()
        } catch {
            findings.expect(false, "a stale lock kept others out: \(error)")
        }
        return findings
    }
}

/// A reader opens at every step of a save, a checkpoint and a compaction.
struct LogStaleReaderCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for operation in [FileError.Operation.write, .sync, .rename, .truncate, .open, .syncDirectory] {
            for number in 1...6 {
                let depot = try LogDepot(state: 2, isCompacted: number % 2 == 0, breaking: mistake)
                let container = try depot.open()
                let early = try Workload.openStore(LogDepot.configuration(depot.disk.process(5), allowsSave: false))
                var seen: [Int?] = []
                nonisolated(unsafe) let place: UnsafeMutablePointer<[Int?]> = .allocate(capacity: 1)
                place.initialize(to: [])
                defer {
                    place.deinitialize(count: 1)
                    place.deallocate()
                }
                let disk = depot.disk
                disk.interject(at: number, of: operation) { place.pointee.append(LogDepot.state(in: disk)) }
                let error = thrown {
                    try container.advance(to: 3)
                    try container.logStore?.compact()
                    try container.advance(to: 4)
                    try container.logStore?.checkpoint()
                }
                disk.removeFaults()
                seen = place.pointee
                findings.inject(seen.count)
                findings.expect(error == nil, "\(operation) \(number): \(String(describing: error))")
                findings.expect(
                    seen.allSatisfy { $0.map { (2...4).contains($0) } == true },
                    "\(operation) \(number): a reader saw \(seen)")
                let followed = Workload.state(of: early)
                findings.expect(
                    followed.map { (2...4).contains($0) } == true,
                    "\(operation) \(number): an open reader saw \(followed ?? -1)")
                try early.close()
                try container.close()
            }
        }
        return findings
    }
}

@Suite struct LogOwnershipTests {
    @Test func orphansAreSweptOnlyWhenOursAndTheLockIsHeld() throws {
        try LogOrphanCheck().run().verify("F18")
    }

    @Test func aSecondProcessIsToldWhoHoldsTheLockAndAKilledOneHoldsNothing() throws {
        try LogLockCheck().run().verify("F19")
    }

    @Test func aReaderSeesAWholeStateAtEveryStep() throws {
        try LogStaleReaderCheck().run().verify("F20")
    }

    /// However the path is spelled, through links and folders, it leads to the one store.
    @Test func theSameLogByAnotherPathIsShared() throws {
        let depot = try LogDepot()
        try depot.disk.install(.directory, at: "/real")
        try depot.disk.installLink(to: "real", at: "/other")
        try depot.disk.installLink(to: "store.log", at: "/real/link.log")
        let stores = try ["/real/store.log", "/other/store.log", "/real/../real/store.log", "/other/link.log"].map {
            try Workload.openStore(LogDepot.configuration(depot.disk, path: $0))
        }
        #expect(stores.allSatisfy { $0.engine === stores[0].engine })
        for store in stores { try store.close() }
        FaultLedger.add(["F19", "F22"], trials: stores.count)
    }

    /// Between the end of the last use and the release of the lock an opening was refused by its own process.
    @Test func openingWhileTheLastUserClosesIsNeverRefused() async throws {
        let depot = try LogDepot(state: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask { for _ in 0..<(isFullSize ? 200 : 20) { try depot.openStore().close() } }
            }
            try await group.waitForAll()
        }
        FaultLedger.add(["F19"], trials: 6)
    }
}
