import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Logs and checkpoints with flipped bits, cut off, and spliced from pieces of themselves and of each other.
struct LogMutationCheck {
    var count: Int
    var seed: UInt64
    /// Makes headers and regions that were changed valid again, so that what they say is read.
    var mendsChecksums = false

    func run() throws -> Findings {
        var findings = Findings()
        var random = TestGenerator(seed: seed)
        let samples = try [(3, false), (5, true), (4, false)].map { state, isCompacted in
            (state, try LogDepot.files(of: state, isCompacted: isCompacted))
        }
        for number in 0..<count {
            let (state, files) = samples[number % samples.count]
            var mutated = files
            let target = Array(files.keys.sorted())[Int(random.next() % UInt64(files.count))]
            let donor = samples[Int(random.next() % UInt64(samples.count))].1.values.randomElement(using: &random) ?? []
            let bytes = mutate(files[target] ?? [], donor, &random)
            mutated[target] = bytes
            if bytes == files[target] { continue }
            findings.inject()
            let disk = SimulatedFileSystem(seed: 1)
            for (path, bytes) in mutated { try disk.install(bytes, at: path) }
            let found = read(disk)
            let place = "mutation \(number) of seed \(seed)"
            findings.expect(
                found.map { $0.state <= state } ?? true, "\(place): state \(String(describing: found?.state))")
            if let found, found.state < state {
                let isTold = found.recovery?.tornAt != nil
                // A compacted log alone does not hold the state, and never an earlier one.
                let log = (mutated[LogDepot.path] ?? [], files[LogDepot.path] ?? [])
                let isEarlier = files.count == 1 && earlierState(in: log.0, of: log.1) == found.state
                // A splice may put the whole beginning of another sample in the log's place: then that is what is there, and
                // the checkpoint, which is of another log, is said to be left aside.
                let isAnother =
                    found.recovery?.ignoredCheckpoint == .checkpointOfAnother
                    && samples.contains { _, files in
                        files.count == 1 && earlierState(in: log.0, of: files[LogDepot.path] ?? []) == found.state
                    }
                findings.expect(
                    isTold || isEarlier || isAnother,
                    "\(place): state \(found.state) of \(state), and no word of it")
            }
            if number % 8 == 0 { salvage(disk, place, &findings) }
            findings.expect(
                mutated.allSatisfy { disk.contents(at: $0.key) == $0.value }, "mutation \(number): a file was changed")
        }
        return findings
    }

    /// What is salvaged is sound, and nothing else happens than a typed error.
    private func salvage(_ disk: SimulatedFileSystem, _ place: String, _ findings: inout Findings) {
        do {
            let result = try AppendLogStore.salvage(LogDepot.path, to: "/salvaged.log", in: disk)
            let found = try AppendLogStore.verify("/salvaged.log", in: disk)
            findings.expect(
                found.isSound && found.records == result.records, "\(place): salvaged what has \(found.problems)")
        } catch is AppendLogError {
        } catch is FileError {
        } catch is EngineError {
        } catch {
            findings.expect(false, "\(place): \(error) in salvaging")
        }
    }

    /// The state of which a log without a checkpoint is the whole log, if it has the first frames of another, each in its
    /// place, and nothing or zeros behind the last: as it was when that was the last. Nobody can tell that there was more.
    /// Bits between two frames tell nothing either.
    private func earlierState(in mutated: [UInt8], of original: [UInt8]) -> Int? {
        guard mutated.starts(with: original.prefix(FileHeader.size)) else { return nil }
        var end = FileHeader.size
        var transactions = -1
        for frame in SampleLog.frames(of: original) {
            let next = frame.offset + FrameHeader.size + Int(frame.header.length)
            guard next <= mutated.count, mutated[frame.offset..<next] == original[frame.offset..<next] else { break }
            end = next
            transactions += 1
        }
        return mutated[end...].allSatisfy { $0 == 0 } ? transactions : nil
    }

    /// The state that a reader finds whole, and its report; nil for a typed error.
    private func read(_ disk: SimulatedFileSystem) -> (state: Int, recovery: AppendLogRecovery?)? {
        do {
            var configuration = LogDepot.configuration(disk, allowsSave: false)
            // Nobody writes, and waiting for a writer is most of the time that these many files take.
            configuration.readRetries = 0
            let store = try Workload.openStore(configuration)
            defer { try? store.close() }
            let lines = Workload.lines(of: store)
            if store.engine.version.damage != nil { return nil }
            // With whole states alone: never a mixture of them.
            return ((0...9).first { Workload.lines(of: $0) == lines } ?? .max, store.recovery)
        } catch is AppendLogError {
            return nil
        } catch is FileError {
            return nil
        } catch is EngineError {
            return nil
        } catch {
            return (.max, nil)
        }
    }

    private func mutate(_ original: [UInt8], _ donor: [UInt8], _ random: inout TestGenerator) -> [UInt8] {
        var bytes = original
        func below(_ limit: Int) -> Int { limit <= 0 ? 0 : Int(random.next() % UInt64(limit)) }
        for _ in 0..<(1 + below(3)) {
            guard !bytes.isEmpty else { return bytes }
            switch below(6) {
            case 0: bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
            case 1: bytes.removeLast(below(bytes.count))
            case 2:
                let start = below(bytes.count)
                bytes.removeSubrange(start..<min(bytes.count, start + 8 * (1 + below(40))))
            case 3:
                let start = below(bytes.count)
                for index in start..<min(bytes.count, start + 1 + below(600)) { bytes[index] = 0 }
            case 4:
                let start = below(donor.count)
                let piece = donor[start..<min(donor.count, start + 8 * (1 + below(64)))]
                let place = below(bytes.count) & ~7
                bytes.replaceSubrange(place..<min(bytes.count, place + piece.count), with: piece)
            default:
                let start = below(bytes.count)
                bytes.append(contentsOf: bytes[start..<min(bytes.count, start + 1 + below(700))])
            }
        }
        if mendsChecksums { Self.mend(&bytes) }
        return bytes
    }

    /// Gives every frame and the footer's directory the checksums that fit what they hold.
    static func mend(_ bytes: inout [UInt8]) {
        guard bytes.count >= 128 else { return }
        func store(_ value: UInt32, at offset: Int) {
            withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<(offset + 4), with: $0) }
        }
        func load(_ offset: Int) -> UInt64 {
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        }
        func sum(_ range: Range<Int>, _ seed: UInt32 = 0) -> UInt32 {
            var sum = CRC32C(resuming: seed)
            sum.update(Array(bytes[range]))
            return sum.value
        }
        store(sum(0..<60), at: 60)
        let seed = sum(0..<60)
        if bytes[10] == 2 {
            let footer = bytes.count - 64
            let (offset, length) = (load(footer + 8), load(footer + 16))
            if offset <= UInt64(footer), length <= UInt64(footer) - offset {
                store(sum(Int(offset)..<Int(offset + length), seed), at: footer + 24)
            }
            store(sum(footer..<(footer + 60), seed), at: footer + 60)
            return
        }
        var place = 64
        while place + FrameHeader.size <= bytes.count {
            let isFrame = bytes[place..<(place + 4)].elementsEqual([0x4D, 0x46, 0x52, 0x1A])
            let length = load(place + 32)
            if isFrame, length <= UInt64(bytes.count - place - FrameHeader.size) {
                let start = place + FrameHeader.size
                store(sum(start..<(start + Int(length)), seed), at: place + 40)
                store(sum(place..<(place + 44), seed), at: place + 44)
            }
            place += 8
        }
    }
}

@Suite struct LogMutationTests {
    @Test(arguments: faultSeeds(small: 1, full: 20))
    func mutatedFilesAreRefusedOrReadAsSomethingThatWasSaved(seed: UInt64) throws {
        let findings = try LogMutationCheck(count: isFullSize ? 10_000 : 1_500, seed: seed).run()
        findings.verify("F02", "F03", "F04", "F25", "F26")
    }

    /// A log that ends with a whole frame is one that nobody has cut; but not where something lies behind that frame, in
    /// the few bytes before the place of the next, in which nothing is ever written. It was taken for whole.
    @Test func whatLiesBehindTheLastFrameIsNoCleanEnd() throws {
        var findings = Findings()
        let sample = try SampleLog()
        for index in sample.frames.indices.dropLast() {
            let (end, next) = (sample.end(index), sample.frames[index + 1].offset)
            for place in end..<next {
                for length in [place + 1, next, next + 600] {
                    var log = Array(sample.bytes[..<end])
                    log.append(contentsOf: repeatElement(0, count: length - end))
                    log[place] = 0x40
                    findings.inject()
                    try check(log, end: end, index, &findings)
                    log[place] = 0
                    let read = try SampleLog.read(log)
                    findings.expect(read == index, "\(length) bytes: \(read) of \(index)")
                }
            }
        }
        findings.verify("F02", "F03")
    }

    /// Damage, and the file stays as it is.
    private func check(_ log: [UInt8], end: Int, _ transactions: Int, _ findings: inout Findings) throws {
        let disk = SimulatedFileSystem(seed: 8)
        try disk.install(log, at: LogDepot.path)
        let place = "\(log.count - end) bytes behind \(transactions) transactions"
        do {
            try Workload.openStore(LogDepot.configuration(disk)).close()
            findings.expect(false, "\(place) were taken for a clean end or a torn tail")
        } catch let error as AppendLogError {
            guard case .damagedFrame(let offset, _, _) = error.fault else {
                return findings.expect(false, "\(place): \(error)")
            }
            findings.expect(offset == Int64(end), "\(place): damage at \(offset)")
        }
        findings.expect(disk.contents(at: LogDepot.path) == log, "\(place): the file was changed")
    }

    /// With checksums that fit anything may be read; what counts is that nothing crashes, hangs or takes memory without end.
    @Test(arguments: faultSeeds(small: 1, full: 10)) func filesOfAMadProgramNeverCrashTheReader(seed: UInt64) throws {
        let check = LogMutationCheck(count: isFullSize ? 10_000 : 1_500, seed: seed, mendsChecksums: true)
        let findings = try check.run()
        #expect(findings.trials > 1_000)
        #expect(!findings.violations.contains { $0.contains("a file was changed") })
        FaultLedger.add(["F25", "F26"], trials: findings.trials)
    }
}
