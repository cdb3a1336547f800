import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Synchronization
import Testing
import MortiseTestSupport

/// Who may write the file, and who may tidy up beside it.
struct OrphanCheck {
    var mistake: BrokenFileSystem.Mistake?
    static let orphans = [
        "/.depot.json.77-0123456789abcdef.mortise-tmp", "/.depot.json.1-ffffffffffffffff.mortise-tmp",
    ]
    static let strangers = [
        "/.depot.json.77-0123456789abcdeg.mortise-tmp", "/.depot.json.mortise-tmp", "/depot.json.bak",
        "/.other.json.77-0123456789abcdef.mortise-tmp", "/.depot.json.x.77-0123456789abcdef.mortise-tmp",
        "/depot.json.77-0123456789abcdef.mortise-tmp",
    ]

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        for path in Self.orphans + Self.strangers { try depot.disk.install([1], at: path) }
        findings.inject(Self.orphans.count + Self.strangers.count)

        let other = depot.disk.process(200)
        let holder = try FileLock(forStoreAt: Depot.path, in: other)
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

/// Two openings of one file.
struct LockCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        let first = try depot.open()
        let theirs = depot.disk.process(200)
        let view: any FileSystem = mistake.map { BrokenFileSystem(theirs, mistake: $0) } ?? theirs
        let configuration = depot.configuration(in: view)
        findings.inject()
        let error = thrown { _ = try Workload.open(configuration) } as? FileError
        findings.expect(
            error?.reason == .locked(holder: depot.disk.processID), "not refused: \(String(describing: error))")
        findings.expect(thrown { try JSONFileStore.reseal(Depot.path, in: view) } is FileError, "resealed while open")
        let saved = thrown { try first.advance(to: 3) }
        findings.expect(saved == nil, "who holds the lock cannot save: \(String(describing: saved))")
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

/// One file, opened several times in one process.
struct SharedOpeningCheck {
    /// What each opening sees the disk through: of two that are not the same nobody knows that they are one disk.
    var view: @Sendable (SimulatedFileSystem) -> any FileSystem = { $0 }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2)
        func open(_ path: String = Depot.path, permissions: UInt32 = 0o600) throws -> ModelContainer {
            try Workload.open(
                JSONFileConfiguration(path: path, newFilePermissions: permissions, in: view(depot.disk)))
        }
        findings.inject(2)
        let first = try open()
        let second = try open()
        findings.expect(first.jsonStore?.engine === second.jsonStore?.engine, "two engines on one file")
        try first.advance(to: 3)
        let seen = second.workloadState
        findings.expect(seen == 3, "the second opening shows \(String(describing: seen))")
        var other: ModelContainer?
        let error = thrown { other = try open(permissions: 0o644) }
        findings.expect(
            error as? EngineError == .openWithOtherOptions(path: Depot.path),
            "with other options: \(String(describing: error))")
        try other?.close()
        try first.close()
        let later = thrown { try second.advance(to: 4) }
        findings.expect(later == nil, "after the first was closed: \(String(describing: later))")
        try second.close()
        findings.expect(thrown { try second.jsonStore?.engine.erase() } is EngineError, "it was not closed at the end")
        return findings
    }

    /// However the path is spelled, through links and folders.
    func runPaths() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2)
        try depot.disk.installLink(to: "depot.json", at: "/link.json")
        func open(_ path: String) throws -> ModelContainer {
            try Workload.open(JSONFileConfiguration(path: path, in: view(depot.disk)))
        }
        let first = try open(Depot.path)
        for path in ["/link.json", "/../depot.json"] {
            findings.inject()
            let other = try open(path)
            findings.expect(first.jsonStore?.engine === other.jsonStore?.engine, "\(path) is another store")
        }
        return findings
    }

    /// Many open and close at once.
    func runAtOnce() throws -> Findings {
        let depot = try Depot(state: 2)
        let all = Mutex(Findings())
        // Threads of their own: tasks may come one after the other.
        let ended = DispatchGroup()
        for _ in 0..<8 {
            ended.enter()
            Thread { [view] in
                var findings = Findings()
                findings.inject()
                for _ in 0..<(isFullSize ? 400 : 60) {
                    let error = thrown {
                        try Workload.openStore(depot.configuration(in: view(depot.disk))).close()
                    }
                    findings.expect(error == nil, "\(String(describing: error))")
                }
                all.withLock { $0 = $0 + findings }
                ended.leave()
            }.start()
        }
        ended.wait()
        return all.withLock { $0 }
    }
}

/// Somebody removes the lock file of an open store.
struct LockFileRemovalCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        let container = try depot.open()
        findings.inject()
        try depot.disk.unlink(Depot.path + ".lock")
        let error = thrown { try container.advance(to: 3) } as? FileError
        findings.expect(
            error?.reason == .changed(.replaced) && error?.path == Depot.path + ".lock", "\(String(describing: error))")
        findings.expect(depot.state() == 2, "saved without a lock")
        return findings
    }
}

@Suite struct OwnershipTests {
    @Test func orphansAreSweptOnlyWhenOursAndTheLockIsHeld() throws { try OrphanCheck().run().verify("F18") }

    @Test func aSecondProcessIsToldWhoHoldsTheLockAndAKilledOneHoldsNothing() throws {
        try LockCheck().run().verify("F19")
    }

    @Test func theSameProcessSharesOneStoreIfTheOptionsAreEqual() throws {
        try SharedOpeningCheck().run().verify("F19")
    }

    @Test func theSameFileByAnotherPathIsShared() throws { try SharedOpeningCheck().runPaths().verify("F19") }

    /// Between the end of the last use and the release of the lock an opening was refused by its own process.
    @Test func openingWhileTheLastUserClosesIsNeverRefused() throws {
        try SharedOpeningCheck().runAtOnce().verify("F19")
    }

    @Test func aLockFileThatSomebodyRemovedStopsTheSaves() throws { try LockFileRemovalCheck().run().verify("F19") }
}
