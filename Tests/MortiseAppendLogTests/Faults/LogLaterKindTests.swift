import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// F26: headers of another time and of other files, each an error of its own.
struct LogHeaderCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    /// The log with a frame that is like its last one but for what the body changes; checksums fit.
    static func log(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        let log = try SampleLog()
        let seed = try FileHeader(Array(log.bytes.prefix(64)), expecting: .log).seed
        var header = log.frames[SampleLog.transactions].header
        header.sequence += 1
        header.synced = header.sequence - 1
        let place = Int(FrameHeader.place(after: Int64(log.bytes.count)))
        var frame = ByteWriter()
        header.write(to: &frame, seed: seed)
        var raw = frame.bytes
        change(&raw)
        var sum = CRC32C(resuming: seed)
        sum.update(Array(raw[..<44]))
        withUnsafeBytes(of: sum.value.littleEndian) { raw.replaceSubrange(44..<48, with: $0) }
        let payload = log.bytes[(log.frames[SampleLog.transactions].offset + FrameHeader.size)...]
        return log.bytes + [UInt8](repeating: 0, count: place - log.bytes.count) + raw + payload
    }

    static let later:
        [(name: String, make: @Sendable (inout [UInt8]) -> Void, isExpected: @Sendable (LogFault) -> Bool)] =
            [
                ("kind", { $0[4] = 77 }, { if case .unknownKind(_, 77) = $0 { true } else { false } }),
                ("flag", { $0[5] = 0x42 }, { if case .unknownFlags(_, 0x42) = $0 { true } else { false } }),
                (
                    "flag of a kind that may be skipped", { ($0[4], $0[5]) = (77, 3) },
                    { if case .unknownFlags(_, 3) = $0 { true } else { false } }
                ),
                ("reserved byte", { $0[7] = 1 }, { if case .malformed = $0 { true } else { false } }),
                ("sequence number", { $0[15] = 0x40 }, { if case .malformed = $0 { true } else { false } }),
            ]

    func run() throws -> Findings {
        var findings = Findings()
        for (name, make, isExpected) in Self.later {
            findings.inject()
            let error = thrown { _ = try read(Self.log(make)) }
            let fault = (error as? AppendLogError)?.fault
            findings.expect(fault.map(isExpected) == true, "another \(name): \(String(describing: error))")
        }
        let log = try SampleLog().bytes
        var newer = log
        newer[8] = 2
        let files: [(String, [UInt8], LogFault)] = [
            ("empty", [], .empty), ("short", Array(log[..<63]), .tooShort(bytes: 63)),
            ("another", Array("{\"format\": 1}".utf8), .notALog), ("newer", newer, .unsupportedVersion(2)),
        ]
        for (name, bytes, expected) in files {
            findings.inject()
            let error = thrown { _ = try read(bytes) }
            findings.expect(
                (error as? AppendLogError)?.fault == expected, "\(name): \(String(describing: error))")
        }
        return findings
    }
}

/// Frames of a later time that may be skipped: a shared log, and a compaction, keep them.
@Suite struct LogLaterKindTests {
    @Test func unknownKindsFlagsAndVersionsAreErrorsOfTheirOwn() throws { try LogHeaderCheck().run().verify("F26") }

    private func configuration(_ disk: any FileSystem) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: LogDepot.path, sharing: .shared, history: .keep(days: 0), checkpoints: .onCall, in: disk)
        configuration.allocationStep = 4_096
        return configuration
    }

    /// Appends a frame of a kind that only later programs know, as such a program would.
    private func appendLater(_ text: String, to disk: SimulatedFileSystem) throws {
        let bytes = try #require(disk.contents(at: LogDepot.path))
        let header = try FileHeader(Array(bytes.prefix(64)), expecting: .log)
        let last = try #require(SampleLog.frames(of: bytes).last)
        let end = last.offset + FrameHeader.size + Int(last.header.length)
        let payload = Array(text.utf8) + [payloadEnd]
        var frame = FrameHeader(
            kind: FrameKind(rawValue: 77), payload: payload, sequence: last.header.sequence + 1,
            transaction: max(header.base, last.header.transaction), synced: last.header.sequence, seed: header.seed)
        frame.isSkippable = true
        var writer = ByteWriter()
        frame.write(to: &writer, seed: header.seed)
        let place = FrameHeader.place(after: Int64(end))
        try disk.open(LogDepot.path, mode: .readWrite).writeAll(writer.bytes + payload, at: place)
    }

    private func later(in disk: SimulatedFileSystem) throws -> [String] {
        let bytes = try #require(disk.contents(at: LogDepot.path))
        return SampleLog.frames(of: bytes).filter { $0.header.kind.rawValue == 77 && $0.header.isSkippable }.map {
            let start = $0.offset + FrameHeader.size
            return String(decoding: bytes[start..<(start + Int($0.header.length) - 1)], as: UTF8.self)
        }
    }

    @Test func framesThatMayBeSkippedStayThroughSavesOfAllAndCompactions() throws {
        let disk = SimulatedFileSystem(seed: 12)
        let one = try Workload.open(configuration(disk.process(100)))
        let other = try Workload.open(configuration(disk.process(101)))
        try one.advance(to: 1)
        try appendLater("first", to: disk)
        // Behind it saves the process that wrote last, then one that has not seen it, then one behind two at once.
        try one.advance(to: 2)
        try other.advance(to: 3)
        try appendLater("second", to: disk)
        try appendLater("third", to: disk)
        #expect(other.workloadState == 3)
        try other.advance(to: 4)
        try one.advance(to: 5)
        #expect(try later(in: disk) == ["first", "second", "third"])
        try other.close()
        // Up to the checkpoint that a compaction makes, all are history.
        try one.logStore?.compact()
        #expect(try later(in: disk) == ["first", "second", "third"])
        try appendLater("fourth", to: disk)
        try one.advance(to: 6)
        try one.logStore?.compact()
        try one.close()
        #expect(try later(in: disk) == ["first", "second", "third", "fourth"])
        #expect(try AppendLogStore.verify(LogDepot.path, in: disk).isSound)
        // A salvage makes a new log and lists what it does not carry over.
        let salvaged = try AppendLogStore.salvage(LogDepot.path, to: "/salvaged.log", in: disk)
        let kinds = salvaged.lost.map { if case .unknownKind(_, let kind) = $0.fault { kind } else { UInt8(0) } }
        #expect(kinds == [77, 77, 77, 77])
        let alone = try Workload.open(LogDepot.configuration(disk))
        #expect(alone.workloadState == 6)
        try alone.advance(to: 7)
        try alone.close()
        #expect(LogDepot.state(in: disk) == 7)
        #expect(try later(in: disk).count == 4)
        FaultLedger.add(["F26"], trials: 4)
    }
}
