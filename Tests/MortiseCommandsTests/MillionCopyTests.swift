#if Tool
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

    private func expectLittleMemory(
        _ run: ToolRun, _ stores: [String], _ what: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        // Counting opens a store and reads none of its records by itself.
        let own = try stores.map { try #require(try ToolRun("fetch", $0, "Trip", "--count").peakMemory) }
        let peak = try #require(run.peakMemory)
        let figures = "\(what): peak \(peak >> 20) MB; the stores' own \(own.map { $0 >> 20 }) MB"
        #expect(peak < own.reduce(Self.allowance, +), "\(figures)", sourceLocation: location)
        print("million-record copy " + figures)
    }

    private func expectProgress(_ run: ToolRun, at location: SourceLocation = #_sourceLocation) {
        #expect(run.status == 0, "\(run.errors)", sourceLocation: location)
        #expect(run.output.contains("are equal in content and order"), sourceLocation: location)
        let told = run.errorLines.filter { $0.hasPrefix("copied ") && $0.contains(" %)") }
        #expect(told.contains { $0.contains("/s, ") && $0.hasSuffix(" left") }, "\(told)", sourceLocation: location)
        #expect(told.last?.contains("(100 %)") == true, "\(told)", sourceLocation: location)
    }

    @Test(.enabled(if: isFull, "full size only: Tests/run tool"), arguments: ["target.log", "target.json"])
    func aMillionRecordsAreCopiedInLittleMemoryAlsoAfterAnInterruption(_ name: String) throws {
        let folder = try ToolFolder()
        let source = try folder.trips("source.log", Self.trips)
        try copyWhole(source, name)
        for signal in [SIGKILL, SIGINT] { try interruptAndGoOn(source, name, signal) }
    }

    private func copyWhole(_ source: String, _ name: String) throws {
        let folder = try ToolFolder()
        let target = folder.storeURL(name)
        let run = try ToolRun(["copy", source, target, "--progress", "always"])
        expectProgress(run)
        try expectLittleMemory(run, [source, target], "into \(name), uninterrupted")
        // Of a store of this size only the headers are read for a look at it.
        #expect(try ToolRun("info", target).output.contains("not counted; pass --check"))
    }

    private func interruptAndGoOn(_ source: String, _ name: String, _ signal: Int32) throws {
        let folder = try ToolFolder()
        let target = folder.storeURL(name)
        let first = try ToolRun(["copy", source, target, "--progress", "always"]) { process, errors, _ in
            // Some have been told, and those of a JSON file written at least once, which it is after 100,000.
            let told = errors.split(separator: "\n").filter { $0.hasPrefix("copied") }
            if told.count >= 2, FileManager.default.fileExists(atPath: folder.path(name)) {
                kill(process.processIdentifier, signal)
            }
        }
        let expected = signal == SIGKILL ? -SIGKILL : ToolExitStatus.interrupted
        #expect(first.status == expected, "it ended before it was interrupted: \(first.errorLines.last ?? "")")
        let held = try ToolRun("fetch", target, "Trip", "--count")
        let count = try #require(Int(held.output.dropLast()), "\(held.errors)")
        #expect(count > 0 && count < Self.trips, "\(count)")

        let resumed = try ToolRun(["copy", source, target, "--resume", "--progress", "always"])
        expectProgress(resumed)
        try expectLittleMemory(resumed, [source, target], "into \(name), resumed after signal \(signal)")
    }
}
#endif
