import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

/// A process that saves external data, and compacts, is killed at every call to the operating system.
struct PictureKillSweep {
    /// The state that the store holds at the beginning, and the last one that the process saves. From the fourth on files
    /// that no record names any more are swept.
    static let first = 3
    static let last = 5

    func run(_ call: String) throws -> Findings {
        var findings = Findings()
        try withTemporaryFolder { folder in
            let beginning = folder + "/beginning"
            let place = folder + "/place"
            try FileManager.default.createDirectory(atPath: beginning, withIntermediateDirectories: false)
            let container = try PictureStore.log.open(POSIXFileSystem(), path: beginning + "/pictures.log")
            for state in 1...Self.first { try container.advancePictures(to: state) }
            try container.close()
            func begin() throws -> String {
                if FileManager.default.fileExists(atPath: place) {
                    try FileManager.default.removeItem(atPath: place)
                }
                try FileManager.default.copyItem(atPath: beginning, toPath: place)
                return place + "/pictures.log"
            }
            let calls = try HelperProcess.calls("pictures", try begin(), "\(Self.last)", of: call)
            for number in stride(from: 1, through: calls, by: 1) {
                let path = try begin()
                let helper = try HelperProcess(
                    "pictures", path, "\(Self.last)", injecting: "\(call):signal=SIGKILL:when=\(number)")
                let place = "\(call) \(number), \(helper.lines.suffix(2))"
                findings.inject()
                findings.expect(!helper.isClosed, "\(place): was not killed")
                check(path, helper, place, &findings)
            }
        }
        return findings
    }

    private func check(_ path: String, _ helper: HelperProcess, _ place: String, _ findings: inout Findings) {
        let acknowledged = helper.acknowledged ?? Self.first
        let tried = helper.tried ?? Self.first
        do {
            let container = try PictureStore.log.open(POSIXFileSystem(), path: path)
            // Every value is read: a record that names what is not there throws.
            let state = try Pictures.state(of: container)
            findings.expect(
                state.map { $0 >= acknowledged && $0 <= max(tried, acknowledged) } == true,
                "\(place): holds \(String(describing: state)); acknowledged \(acknowledged), tried \(tried)")
            let files = try FileManager.default.contentsOfDirectory(atPath: path + ".external")
                .filter { $0.utf8.count == 32 }
            findings.expect(
                files.count == Pictures.lines(of: state ?? 0).count, "\(place): \(files.count) files in that state")
            try container.advancePictures(to: (state ?? tried) + 1)
            try container.close()
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
struct PictureKillSweepTests {
    /// The calls that make, fill, name and sweep files of data.
    static let killed =
        isFullSize
        ? ["openat", "pwrite64", "fsync", "fdatasync", LogKillSweepTests.rename, LogKillSweepTests.unlink, "close"]
        : [LogKillSweepTests.unlink, "fsync"]

    @Test(arguments: killed) func aProcessKilledBeforeAnyCallLosesNoDataAndLeavesNone(call: String) throws {
        let findings = try PictureKillSweep().run(call)
        #expect(findings.trials > 0, "\(call)")
        findings.verify("F13", "F17")
    }
}
