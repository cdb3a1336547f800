import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// A process that saves is killed, or misled, at every call to the operating system.
struct KillSweep {
    /// The state that the file holds at the beginning, and the last one that the process saves.
    static let first = 2
    static let last = isFullSize ? 5 : 4
    /// Runs the helper with the n-th call replaced by what `fault` says, for every n that an undisturbed run reaches.
    ///
    /// - Parameters:
    ///   - fault: In strace's words: `signal=SIGKILL`, `error=EIO`.
    ///   - mistake: One of the store's.
    static func run(
        _ call: String, _ fault: String, mistake: BrokenFileSystem.Mistake? = nil
    ) throws -> Findings {
        var findings = Findings()
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            let document = Data(try Depot.document(of: first))
            try document.write(to: URL(fileURLWithPath: path))
            var effects = 0
            let broken = mistake?.rawValue ?? "none"
            let calls = try HelperProcess.calls("save", path, "\(last)", "nothing", broken, of: call)
            for number in stride(from: 1, through: calls, by: 1) {
                for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    try FileManager.default.removeItem(atPath: folder + "/" + name)
                }
                try document.write(to: URL(fileURLWithPath: path))
                let helper = try HelperProcess(
                    "save", path, "\(last)", "nothing", broken, injecting: "\(call):\(fault):when=\(number)")
                let place = "\(call) \(number), \(fault), \(helper.lines.suffix(2))"
                findings.inject()
                // A sweep that has no effect proves nothing.
                if fault.hasPrefix("signal") { findings.expect(!helper.isClosed, "\(place): was not killed") }
                effects += helper.wasRefused || !helper.isClosed ? 1 : 0
                check(path, helper, place, &findings)
            }
            // Interrupted calls are repeated, and the text in the lock file only serves messages.
            let mayPass = fault.hasSuffix("EINTR") || call == "ftruncate" || calls == 0
            findings.expect(effects > 0 || mayPass, "\(call), \(fault): no effect")
        }
        return findings
    }

    private static func check(
        _ path: String, _ helper: HelperProcess, _ place: String, _ findings: inout Findings
    ) {
        let acknowledged = helper.acknowledged ?? first
        let tried = helper.tried ?? first
        do {
            let container = try Workload.open(JSONFileConfiguration(path: path))
            let state = container.workloadState
            findings.expect(
                state.map { $0 >= acknowledged && $0 <= max(tried, acknowledged) } == true,
                "\(place): holds \(String(describing: state)); acknowledged \(acknowledged), tried \(tried)")
            try container.advance(to: (state ?? tried) + 1)
            try container.close()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            findings.expect(
                names == ["depot.json", "depot.json.history", "depot.json.lock"], "\(place): left \(names)")
        } catch {
            findings.expect(false, "\(place): not usable afterwards: \(error)")
        }
    }
}

@Suite(
    .serialized, .enabled(if: HelperProcess.strace != nil, "strace is not installed"),
    .enabled(if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil, "sanitizers cannot be traced"))
struct KillSweepTests {
    #if arch(arm64)
    static let (rename, unlink) = ("renameat", "unlinkat")
    #else
    static let (rename, unlink) = ("rename", "unlink")
    #endif

    /// The calls of a save; those that programs also make to start themselves are swept at full size only.
    static let killed =
        isFullSize
        ? [
            "openat", "pwrite64", "fsync", rename, "fchmod", "ftruncate", "flock", "close", "pread64", "newfstatat",
            unlink,
        ]
        : ["pwrite64", "fsync", rename]

    @Test(arguments: killed) func aProcessKilledBeforeAnyCallLosesNothingAcknowledged(call: String) throws {
        let findings = try KillSweep.run(call, "signal=SIGKILL")
        if call == Self.unlink {
            // A save that goes well removes nothing.
            #expect(findings.violations.isEmpty)
        } else {
            findings.verify("F13")
        }
    }

    static let failures: [(call: String, error: String, id: String)] =
        isFullSize
        ? [
            ("fsync", "EIO", "F05"), ("fsync", "ENOSPC", "F06"), ("fsync", "EINTR", "F08"), ("pwrite64", "EIO", "F09"),
            ("pwrite64", "ENOSPC", "F09"), ("pwrite64", "EINTR", "F08"), ("pwrite64", "EFBIG", "F11"),
            (rename, "EIO", "F06"), (rename, "ENOSPC", "F09"), ("fchmod", "EPERM", "F21"), ("flock", "EINTR", "F08"),
            ("ftruncate", "ENOSPC", "F09"),
        ] : [("fsync", "EIO", "F05"), ("pwrite64", "ENOSPC", "F09"), ("pwrite64", "EINTR", "F08")]

    @Test(arguments: failures.indices) func aCallThatFailsLosesNothingAcknowledged(index: Int) throws {
        let failure = Self.failures[index]
        try KillSweep.run(failure.call, "error=\(failure.error)").verify(failure.id)
    }

    /// Kills the process that cleans up after a failed write, too.
    @Test(.enabled(if: isFullSize, "full size only"))
    func orphansOfAKillBeforeUnlinkAreSwept() throws {
        var findings = Findings()
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            for number in 1...3 {
                try Data(Depot.document(of: 2)).write(to: URL(fileURLWithPath: path))
                _ = try HelperProcess("save", path, "4", injecting: "\(Self.rename):signal=SIGKILL:when=\(number)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                findings.expect(number > 2 || names.contains { $0.hasSuffix(".mortise-tmp") }, "no orphan to sweep")
                findings.inject()
                try Workload.openStore(JSONFileConfiguration(path: path)).close()
                let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                findings.expect(
                    left == ["depot.json", "depot.json.history", "depot.json.lock"], "left \(left)")
            }
        }
        findings.verify("F18")
    }
}
