import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// A copy of a million records: progress, memory, and going on after it was interrupted.
@Suite(.serialized) struct MillionCopyTests {
    static let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
    /// Each trip has two stops.
    static let trips = 333_400
    static let allowance = 200 << 20

    @Test(
        .enabled(if: isFull, "full size only: Tests/run tool"),
        arguments: [("target.log", SIGKILL), ("target.json", SIGINT), ("target.log", SIGINT)])
    func aMillionRecordsAreCopiedInLittleMemoryAndAfterAnInterruption(_ name: String, _ signal: Int32) throws {
        let folder = try ToolFolder()
        let source = try folder.trips("source.log", Self.trips)
        let target = folder.storeURL(name)
        let killed = try ToolRun(["copy", source, target, "--progress", "always"]) { process, errors in
            let told = errors.split(separator: "\n").filter { $0.hasPrefix("copied") }
            if told.count >= 8 { kill(process.processIdentifier, signal) }
        }
        let expected = signal == SIGKILL ? -SIGKILL : ToolExitStatus.interrupted
        #expect(killed.status == expected, "it ended before it was interrupted: \(killed.errorLines.last ?? "")")

        let resumed = try ToolRun(["copy", source, target, "--resume", "--progress", "always"])
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(resumed.output.contains("are equal in content and order"))
        #expect(resumed.errorLines.contains { $0.contains("% ") || $0.contains("%)") && $0.contains("/s") })
        #expect(resumed.errorLines.contains { $0.contains(" left") })

        let own = try [source, target].map { try #require(try ToolRun("info", $0).peakMemory) }
        let peak = try #require(resumed.peakMemory)
        #expect(
            peak < own[0] + own[1] + Self.allowance, "\(peak >> 20) MB, the stores' own \(own.map { $0 >> 20 }) MB")
        print("million-record copy into \(name): peak \(peak >> 20) MB; the stores' own \(own.map { $0 >> 20 }) MB")
    }
}
