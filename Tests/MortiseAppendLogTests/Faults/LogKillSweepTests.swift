import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

/// A process that saves, writes checkpoints and compacts is killed, or misled, at every call to the operating system.
struct LogKillSweep {
    /// The state that the log holds at the beginning, and the last one that the process saves.
    static let first = 2
    static let last = 4
    /// What the process does after each save.
    var work: String
    /// One of the store's.
    var mistake: BrokenFileSystem.Mistake?

    /// Runs the helper with the n-th call replaced by what `fault` says, for every n that an undisturbed run reaches.
    ///
    /// - Parameter fault: In strace's words: `signal=SIGKILL`, `error=EIO`.
    func run(_ call: String, _ fault: String) throws -> Findings {
        var findings = Findings()
        try withTemporaryFolder { folder in
            let path = folder + "/depot.log"
            let broken = mistake?.rawValue ?? "none"
            let document = Data(try LogDepot.files(of: Self.first, isCompacted: false)[LogDepot.path] ?? [])
            try document.write(to: URL(fileURLWithPath: path))
            let calls = try HelperProcess.calls("save", path, "\(Self.last)", work, broken, of: call)
            for number in stride(from: 1, through: calls, by: 1) {
                for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    try FileManager.default.removeItem(atPath: folder + "/" + name)
                }
                try document.write(to: URL(fileURLWithPath: path))
                let helper = try HelperProcess(
                    "save", path, "\(Self.last)", work, broken, injecting: "\(call):\(fault):when=\(number)")
                let place = "\(work), \(call) \(number), \(fault), \(helper.lines.suffix(2))"
                findings.inject()
                // A sweep that has no effect proves nothing.
                if fault.hasPrefix("signal") { findings.expect(!helper.isClosed, "\(place): was not killed") }
                check(path, helper, place, &findings)
            }
        }
        return findings
    }

    private func check(_ path: String, _ helper: HelperProcess, _ place: String, _ findings: inout Findings) {
        let acknowledged = helper.acknowledged ?? Self.first
        let tried = helper.tried ?? Self.first
        do {
            let container = try Workload.open(path: path)
            let state = Workload.state(of: container)
            findings.expect(
                state.map { $0 >= acknowledged && $0 <= max(tried, acknowledged) } == true,
                "\(place): holds \(String(describing: state)); acknowledged \(acknowledged), tried \(tried)")
            try container.advance(to: (state ?? tried) + 1)
            try container.close()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            findings.expect(!names.contains { $0.hasSuffix(".mortise-tmp") }, "\(place): left \(names)")
            findings.expect(try AppendLogStore.verify(path).isSound, "\(place): not sound")
        } catch {
            findings.expect(false, "\(place): not usable afterwards: \(error)")
        }
    }
}

@Suite(
    .serialized, .enabled(if: HelperProcess.strace != nil, "strace is not installed"),
    .enabled(if: HelperProcess.program != nil, "the helper program is not there"),
    .enabled(if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil, "sanitizers cannot be traced"))
struct LogKillSweepTests {
    #if arch(arm64)
    static let (rename, unlink) = ("renameat", "unlinkat")
    #else
    static let (rename, unlink) = ("rename", "unlink")
    #endif

    /// The calls of a commit, a checkpoint and a compaction; those that programs also make to start themselves are swept at
    /// full size only.
    static let killed =
        isFullSize
        ? [
            "openat", "pwrite64", "fsync", "fdatasync", rename, "fchmod", "ftruncate", "flock", "close", "pread64",
            "newfstatat", "sync_file_range", "statx", "getdents64", "readlink", "lseek", "getrandom",
        ]
        : ["pwrite64", "fdatasync", rename]

    @Test(arguments: ["nothing", "headerLast", "checkpoint", "compact", "background"], killed)
    func aProcessKilledBeforeAnyCallLosesNothingAcknowledged(work: String, call: String) throws {
        let findings = try LogKillSweep(work: work).run(call, "signal=SIGKILL")
        // A commit alone renames nothing and makes no file; only a compaction asks where the holes of one are.
        if findings.trials == 0 {
            #expect(["nothing", "headerLast"].contains(work) || (work, call) == ("checkpoint", "lseek"), "\(call)")
        } else {
            findings.verify("F13", "F17")
        }
    }

    static let failures: [(call: String, error: String, id: String)] =
        isFullSize
        ? [
            ("fdatasync", "EIO", "F05"), ("fdatasync", "ENOSPC", "F06"), ("fsync", "EIO", "F06"),
            ("fsync", "EINTR", "F08"), ("pwrite64", "EIO", "F09"), ("pwrite64", "ENOSPC", "F09"),
            ("pwrite64", "EINTR", "F08"), ("pwrite64", "EFBIG", "F11"), (rename, "EIO", "F06"),
            (rename, "ENOSPC", "F10"), ("fchmod", "EPERM", "F21"), ("flock", "EINTR", "F08"),
            ("ftruncate", "ENOSPC", "F09"),
        ] : [("fdatasync", "EIO", "F05"), ("pwrite64", "ENOSPC", "F09"), ("pwrite64", "EINTR", "F08")]

    @Test(arguments: failures.indices) func aCallThatFailsLosesNothingAcknowledged(index: Int) throws {
        let failure = Self.failures[index]
        try LogKillSweep(work: "compact").run(failure.call, "error=\(failure.error)").verify(failure.id)
    }
}

/// Real processes on real files.
@Suite(.serialized, .enabled(if: HelperProcess.program != nil, "the helper program is not there"))
struct LogProcessTests {
    private func withLog(of state: Int, _ body: (String, String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.log"
            let log = try LogDepot.files(of: state, isCompacted: false)[LogDepot.path] ?? []
            try Data(log).write(to: URL(fileURLWithPath: path))
            try body(folder, path)
        }
    }

    @Test func aLogOpenInAnotherProcessIsLockedByItAndFreeOnceItIsKilled() throws {
        try withLog(of: 2) { _, path in
            let holder = try HelperProcess.process(["hold", path])
            let (input, output) = (Pipe(), Pipe())
            holder.standardInput = input
            holder.standardOutput = output
            try holder.run()
            try #require(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "opened\n")
            let error = thrown { _ = try Workload.open(path: path) } as? FileError
            #expect(error?.reason == .locked(holder: holder.processIdentifier))
            let reader = try Workload.open(path: path, allowsSave: false)
            #expect(Workload.state(of: reader) == 2)
            try reader.close()
            kill(holder.processIdentifier, SIGKILL)
            holder.waitUntilExit()
            let container = try Workload.open(path: path)
            try container.advance(to: 3)
            try container.close()
        }
        FaultLedger.add(["F19"], trials: 2)
    }

    @Test func readersInOtherProcessesSeeAWholeStateWhileAWriterSavesAndCompacts() throws {
        try withLog(of: 1) { _, path in
            let last = isFullSize ? 400 : 40
            let writer = try HelperProcess.process(["save", path, "\(last)", "compact"])
            writer.standardOutput = FileHandle.nullDevice
            try writer.run()
            var (reads, seen) = (0, 0)
            while writer.isRunning || reads == 0 {
                let reader = try Workload.open(path: path, allowsSave: false)
                let state = Workload.state(of: reader, upTo: last) ?? -1
                #expect(state >= seen)
                seen = state
                reads += 1
                try reader.close()
            }
            #expect(writer.terminationStatus == 0)
            FaultLedger.add(["F20"], trials: reads)
        }
    }

    /// Beyond the limit of length the kernel sends SIGXFSZ, which would end the process.
    @Test func pastTheLimitOfLengthASaveFailsAndTheProcessLives() throws {
        try withLog(of: 2) { _, path in
            let limited = try HelperProcess(
                "save", path, "4", before: ["/bin/bash", "-c", "ulimit -f 3; exec \"$@\"", "bash"])
            #expect(!limited.wasKilled)
            #expect(limited.lines.contains { $0.hasPrefix("refused 3 dirty:true") && $0.contains("EFBIG") })
            #expect(limited.acknowledged == nil)
            let reader = try Workload.open(path: path, allowsSave: false)
            #expect(Workload.state(of: reader) == 2)
        }
        FaultLedger.add(["F11"], trials: 2)
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user who may not write here"))
    func inAFolderWithoutWritePermissionReadingWorksAndWritingIsATypedError() throws {
        try withLog(of: 2) { folder, path in
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
            let other = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            #expect(try HelperProcess("state", path, before: other).lines == ["state 2"])
            let writer = try HelperProcess("save", path, "3", before: other)
            #expect(writer.status == 1)
            #expect(writer.lines.first?.contains("EACCES") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["depot.log"])
        }
        FaultLedger.add(["F21"], trials: 1)
    }

    @Test(arguments: [0o000, 0o077] as [UInt32]) func theUmaskDoesNotDecideWhoReadsTheFiles(umask: UInt32) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.log"
            let mask = String(umask, radix: 8)
            let helper = try HelperProcess(
                "save", path, "1", "compact", before: ["/bin/bash", "-c", "umask \(mask); exec \"$@\"", "bash"])
            #expect(helper.isClosed)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                #expect(try POSIXFileSystem().info(folder + "/" + name, followingLinks: false).permissions == 0o600)
            }
        }
        FaultLedger.add(["F23"], trials: 1)
    }
}
