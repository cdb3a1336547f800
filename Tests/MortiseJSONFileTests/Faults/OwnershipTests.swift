import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

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

@Suite struct OwnershipTests {
    @Test func orphansAreSweptOnlyWhenOursAndTheLockIsHeld() throws {
        try OrphanCheck().run().verify("F18")
    }

    @Test func aSecondProcessIsToldWhoHoldsTheLockAndAKilledOneHoldsNothing() throws {
        try LockCheck().run().verify("F19")
    }

    @Test func theSameProcessSharesOneStoreIfTheOptionsAreEqual() throws {
        let depot = try Depot(state: 2)
        let first = try depot.open()
        let second = try depot.open()
        #expect(first.jsonStore?.engine === second.jsonStore?.engine)
        try first.advance(to: 3)
        #expect(second.workloadState == 3)
        let error = thrown {
            _ = try Workload.open(JSONFileConfiguration(path: Depot.path, newFilePermissions: 0o644, in: depot.disk))
        }
        #expect(error as? EngineError == .openWithOtherOptions(path: Depot.path))
        try first.close()
        try second.advance(to: 4)
        try second.close()
        #expect(throws: EngineError.self) { try second.jsonStore?.engine.erase() }
        FaultLedger.add(["F19"], injected: 2)
    }

    /// However the path is spelled, through links and folders, it leads to the one store.
    @Test func theSameFileByAnotherPathIsShared() throws {
        let depot = try Depot(state: 2)
        try depot.disk.installLink(to: "depot.json", at: "/link.json")
        let first = try depot.open()
        let second = try Workload.open(JSONFileConfiguration(path: "/link.json", in: depot.disk))
        #expect(first.jsonStore?.engine === second.jsonStore?.engine)
        let third = try Workload.open(JSONFileConfiguration(path: "/../depot.json", in: depot.disk))
        #expect(first.jsonStore?.engine === third.jsonStore?.engine)
    }

    /// Between the end of the last use and the release of the lock an opening was refused by its own process.
    @Test func openingWhileTheLastUserClosesIsNeverRefused() async throws {
        let depot = try Depot(state: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<(isFullSize ? 400 : 60) { try Workload.openStore(depot.configuration()).close() }
                }
            }
            try await group.waitForAll()
        }
        FaultLedger.add(["F19"], injected: 8)
    }

    @Test func aLockFileThatSomebodyRemovedStopsTheSaves() throws {
        let depot = try Depot(state: 2)
        let container = try depot.open()
        try depot.disk.unlink(Depot.path + ".lock")
        let error = thrown { try container.advance(to: 3) } as? FileError
        #expect(error?.reason == .changed(.replaced))
        #expect(error?.path == Depot.path + ".lock")
        #expect(depot.state() == 2)
    }
}
