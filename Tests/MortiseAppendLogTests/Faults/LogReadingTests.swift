import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A check of whoever reads logs: the store, or one that is deliberately naive.
protocol LogReadingCheck {
    /// How many transactions a log has, or an error for damage.
    var read: ([UInt8]) throws -> Int { get }
    func run() throws -> Findings
}

/// A log of six transactions, and where its frames lie.
struct SampleLog {
    static let transactions = 6
    let bytes: [UInt8]
    /// The schema's frame, then those of the transactions.
    let frames: [(offset: Int, header: FrameHeader)]

    init() throws {
        bytes = try LogDepot.files(of: Self.transactions, isCompacted: false)[LogDepot.path] ?? []
        frames = Self.frames(of: bytes)
    }

    /// The frames of a log, by their headers alone.
    static func frames(of bytes: [UInt8]) -> [(offset: Int, header: FrameHeader)] {
        guard let seed = try? FileHeader(Array(bytes.prefix(64)), expecting: .log).seed else { return [] }
        var found: [(offset: Int, header: FrameHeader)] = []
        var position = LogPosition.first
        while let header = bytes.withUnsafeBytes({
            $0.count >= Int(position.offset) + FrameHeader.size
                ? FrameHeader(UnsafeRawBufferPointer(rebasing: $0[Int(position.offset)...]), seed: seed) : nil
        }) {
            found.append((Int(position.offset), header))
            position = position.following(header)
        }
        return found
    }

    /// Where a frame's payload ends.
    func end(_ index: Int) -> Int { frames[index].offset + FrameHeader.size + Int(frames[index].header.length) }

    /// How many transactions end at or before an offset.
    func whole(at length: Int) -> Int { frames.indices.dropFirst().count { end($0) <= length } }

    /// What a store shows: the number of the last transaction, with all that it says.
    static func read(_ log: [UInt8]) throws -> Int {
        let disk = SimulatedFileSystem(seed: 8)
        try disk.install(log, at: LogDepot.path)
        let store = try Workload.openStore(LogDepot.configuration(disk))
        defer { try? store.close() }
        let number = Int(store.engine.version.number)
        guard Workload.state(of: store) == number else { throw PayloadFault(offset: 0, what: "another state") }
        return number
    }
}

/// F01: the file is cut off at every length.
struct LogCutCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    func run() throws -> Findings {
        var findings = Findings()
        let log = try SampleLog()
        for length in stride(from: log.end(0), to: log.bytes.count, by: isFullSize ? 1 : 3) {
            findings.inject()
            let found = try? read(Array(log.bytes[..<length]))
            findings.expect(found == log.whole(at: length), "cut to \(length): \(String(describing: found))")
        }
        return findings
    }
}

/// F02: every bit is flipped.
struct LogFlipCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    func run() throws -> Findings {
        var findings = Findings()
        let log = try SampleLog()
        for bit in stride(from: 0, to: log.bytes.count * 8, by: isFullSize ? 1 : 29) {
            var flipped = log.bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            findings.inject()
            let found = try? read(flipped)
            findings.expect(found == nil || found == SampleLog.transactions, "bit \(bit): \(String(describing: found))")
        }
        return findings
    }
}

/// F03: sectors of the last frame were not written, or the file goes on with zeros. Garbage is none that a crash leaves: what
/// lies behind the frames was zero before, so that it is damage, which is told and never taken for a torn tail.
struct LogTornCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    func run() throws -> Findings {
        var findings = Findings()
        let log = try SampleLog()
        func expect(_ bytes: [UInt8], _ wanted: Int, _ what: String) {
            findings.inject()
            let found = try? read(bytes)
            findings.expect(found == wanted, "\(what): \(String(describing: found))")
        }
        expect(log.bytes + [UInt8](repeating: 0, count: 5_000), SampleLog.transactions, "zeros behind the log")
        let last = log.frames[SampleLog.transactions]
        // A frame of which only the header's sector was written.
        var torn = log.bytes
        for index in (last.offset / 512 + 1) * 512..<torn.count where index < torn.count { torn[index] = 0 }
        if torn != log.bytes { expect(torn, SampleLog.transactions - 1, "later sectors of the last frame missing") }
        torn = log.bytes
        for index in last.offset..<torn.count { torn[index] = 0 }
        expect(torn, SampleLog.transactions - 1, "the last frame missing")
        expect(
            Array(log.bytes[..<(last.offset + FrameHeader.size + 9)]) + [UInt8](repeating: 0, count: 4_096),
            SampleLog.transactions - 1, "the last frame's payload missing")
        for count in [1, 48, 512, 4_096] {
            findings.inject()
            let bytes = log.bytes + [UInt8](repeating: 0xA5, count: count)
            let found = try? read(bytes)
            // However few they are: they are not the beginning of a header.
            findings.expect(found == nil, "\(count) bytes of garbage: \(String(describing: found))")
        }
        var garbage = log.bytes
        for index in (last.offset + FrameHeader.size + 5)..<garbage.count { garbage[index] = 0xA5 }
        findings.inject()
        let found = try? read(garbage)
        findings.expect(found == nil, "garbage for the last payload: \(String(describing: found))")
        return findings
    }
}

/// F04: a frame is damaged, and valid ones follow.
struct LogBrokenMiddleCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    func run() throws -> Findings {
        var findings = Findings()
        let log = try SampleLog()
        for index in 1..<SampleLog.transactions {
            for (place, what) in [(20, "header"), (FrameHeader.size + 10, "payload"), (32, "length")] {
                var damaged = log.bytes
                damaged[log.frames[index].offset + place] ^= 0x10
                findings.inject()
                let found = try? read(damaged)
                findings.expect(found == nil, "\(what) of frame \(index): \(String(describing: found))")
            }
            // Gone altogether, as if never written.
            var zeroed = log.bytes
            for place in log.frames[index].offset..<log.end(index) { zeroed[place] = 0 }
            findings.inject()
            let found = try? read(zeroed)
            findings.expect(found == nil, "frame \(index) zeroed: \(String(describing: found))")
        }
        return findings
    }
}

/// F25: lengths far beyond the file, with checksums that fit.
struct LogLengthCheck: LogReadingCheck {
    var read: ([UInt8]) throws -> Int = SampleLog.read

    func run() throws -> Findings {
        var findings = Findings()
        let log = try SampleLog()
        let seed = try FileHeader(Array(log.bytes.prefix(64)), expecting: .log).seed
        for length in [UInt64.max, UInt64(Int64.max), 1 << 62, 1 << 40, UInt64(log.bytes.count)] {
            for index in 1...SampleLog.transactions {
                var header = log.frames[index].header
                header.length = length
                var writer = ByteWriter(capacity: 64)
                header.write(to: &writer, seed: seed)
                var damaged = log.bytes
                damaged.replaceSubrange(
                    log.frames[index].offset..<(log.frames[index].offset + FrameHeader.size), with: writer.bytes)
                findings.inject()
                // The last frame's header says that more was to come: torn. Any other was synced.
                let found = try? read(damaged)
                let wanted = index == SampleLog.transactions ? index - 1 : nil
                findings.expect(found == wanted, "length \(length) of frame \(index): \(String(describing: found))")
            }
        }
        return findings
    }
}

/// Reads logs as many programs do, each with one classic mistake.
struct NaiveLogReader {
    enum Mistake: CaseIterable {
        /// Whatever cannot be read is taken for the end.
        case endsAtDamage
        /// Frames whose payload is damaged are passed over.
        case skipsDamage
        /// The payload is not checked.
        case trustsPayloads
        /// The length is believed although the header's checksum is wrong.
        case trustsLengths
        /// A torn tail is an error.
        case toleratesNoTorn
    }

    let mistake: Mistake

    func read(_ log: [UInt8]) throws -> Int {
        struct Damage: Error {}
        let header = try FileHeader(Array(log.prefix(64)), expecting: .log)
        var transactions = 0
        var position = LogPosition.first
        while true {
            let offset = Int(position.offset)
            guard offset + FrameHeader.size <= log.count else {
                if mistake == .toleratesNoTorn, Int64(log.count) > position.end { throw Damage() }
                return transactions
            }
            let sealed = log.withUnsafeBytes {
                FrameHeader(UnsafeRawBufferPointer(rebasing: $0[offset...]), seed: header.seed)
            }
            var length = sealed?.length ?? 0
            if sealed == nil {
                if mistake == .endsAtDamage { return transactions }
                if log[offset...].allSatisfy({ $0 == 0 }) { return transactions }
                guard mistake == .trustsLengths || mistake == .skipsDamage else { throw Damage() }
                length = log.withUnsafeBytes {
                    UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self))
                }
            }
            guard length <= UInt64(log.count - offset - FrameHeader.size) else {
                if mistake == .toleratesNoTorn { throw Damage() }
                return transactions
            }
            let start = offset + FrameHeader.size
            var sum = CRC32C(resuming: header.seed)
            sum.update(Array(log[start..<(start + Int(length))]))
            let isWhole = sealed.map { $0.checksum == sum.value } ?? false
            if !isWhole, mistake != .trustsPayloads {
                if mistake == .endsAtDamage { return transactions }
                if mistake != .skipsDamage { throw Damage() }
            } else if sealed?.kind == .transaction {
                transactions += 1
            }
            position = LogPosition(end: Int64(start) + Int64(length), sequence: position.sequence + 1, transaction: 0)
        }
    }
}

@Suite struct LogReadingTests {
    @Test func aLogThatIsCutOffAnywhereKeepsItsWholeTransactions() throws { try LogCutCheck().run().verify("F01") }
    @Test func everyFlippedBitIsAnErrorOrChangesNothing() throws { try LogFlipCheck().run().verify("F02") }
    @Test func aTornTransactionIsGoneAndNothingElse() throws { try LogTornCheck().run().verify("F03") }
    @Test func damageBeforeValidFramesIsAnErrorAndNeverSkipped() throws {
        try LogBrokenMiddleCheck().run().verify("F04")
    }
    @Test func lengthsBeyondTheFileAreNotBelieved() throws { try LogLengthCheck().run().verify("F25") }
}
