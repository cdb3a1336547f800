import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseTestSupport

/// What libFuzzer tries on the log: an input is a log, or a checkpoint of the log that it begins like, or both, one behind
/// the other.
///
/// Checksums are made to fit first, so that inputs get beyond them; the input as it is, is tried too. An input is fine when
/// everything that is wrong with it is listed, when what can be read of it is salvaged into a store that is sound, and when
/// it is opened for reading or refused. A trap, an error of another type, or more memory than four times the input and 16 MB
/// ends the process.
enum FuzzedLog {
    private static let path = "/fuzzed.log"

    static func run(_ bytes: UnsafeRawBufferPointer) {
        let input = [UInt8](bytes)
        MemoryMeter.measure(limit: 4 * input.count + (16 << 20)) {
            read(input)
            read(mended(input))
        }
    }

    private static func read(_ input: [UInt8]) {
        let (log, checkpoint) = parts(of: input)
        let disk = SimulatedFileSystem(seed: 1)
        do {
            try disk.install(log, at: path)
            if let checkpoint { try disk.install(checkpoint, at: path + ".checkpoint") }
        } catch {
            fatalError("The disk of the fuzzer is not set up: \(error)")
        }
        do {
            _ = try AppendLogStore.verify(path, in: disk)
        } catch is FileError {
        } catch {
            fatalError("Verifying threw another error than it promises: \(error)")
        }
        salvage(disk)
        do {
            try open(disk)
        } catch is AppendLogError {
        } catch is FileError {
        } catch is EngineError {
        } catch {
            fatalError("Opening threw another error than it promises: \(error)")
        }
    }

    /// What is salvaged is sound.
    private static func salvage(_ disk: SimulatedFileSystem) {
        do {
            _ = try AppendLogStore.salvage(path, to: "/salvaged.log", in: disk)
            let problems = try AppendLogStore.verify("/salvaged.log", in: disk).problems
            if let problem = problems.first { fatalError("What was salvaged is not sound: \(problem)") }
        } catch is AppendLogError {
        } catch is FileError {
        } catch is EngineError {
        } catch {
            fatalError("Salvaging threw another error than it promises: \(error)")
        }
    }

    /// Opens the log under the schema that it names itself.
    private static func open(_ disk: SimulatedFileSystem) throws {
        var configuration = AppendLogConfiguration(path: path, allowsSave: false, in: disk)
        // Nobody writes it, so that there is nobody to wait for.
        configuration.readRetries = 0
        guard let schema = try configuration.storedSchema() else { return }
        configuration.schema = Schema(stored: schema)
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        for (_, table) in store.engine.version.tables { _ = table.count }
        try store.close()
    }

    /// A checkpoint begins with the magic bytes and its kind, at a multiple of eight.
    private static func parts(of input: [UInt8]) -> (log: [UInt8], checkpoint: [UInt8]?) {
        let magic: [UInt8] = [0x89, 0x4D, 0x4C, 0x4F, 0x47, 0x0D, 0x0A, 0x1A]
        var place = 8
        while place + 64 <= input.count {
            if input[place..<(place + 8)].elementsEqual(magic) {
                return (Array(input[..<place]), Array(input[place...]))
            }
            place += 8
        }
        return (input, nil)
    }

    private static func mended(_ input: [UInt8]) -> [UInt8] {
        var (log, checkpoint) = parts(of: input)
        mendHeader(&log, isCheckpoint: false)
        mendFrames(&log)
        guard var other = checkpoint.take() else { return log }
        while log.count % 8 != 0 { log.append(0) }
        // The checkpoint is one of this store.
        if log.count >= 32, other.count >= 64 { other.replaceSubrange(16..<32, with: log[16..<32]) }
        mendHeader(&other, isCheckpoint: true)
        mendCheckpoint(&other)
        return log + other
    }

    private static func store(_ value: UInt32, _ bytes: inout [UInt8], at offset: Int) {
        withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<(offset + 4), with: $0) }
    }

    private static func load(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }

    private static func sum(_ bytes: [UInt8], _ range: Range<Int>, seed: UInt32) -> UInt32 {
        var sum = CRC32C(resuming: seed)
        sum.update(Array(bytes[range]))
        return sum.value
    }

    private static func mendHeader(_ bytes: inout [UInt8], isCheckpoint: Bool) {
        guard bytes.count >= 64 else { return }
        let fixed: [UInt8] = [
            0x89, 0x4D, 0x4C, 0x4F, 0x47, 0x0D, 0x0A, 0x1A, 1, 0, isCheckpoint ? 2 : 1, 0, 0, 0, 0, 0,
        ]
        bytes.replaceSubrange(0..<16, with: fixed)
        store(sum(bytes, 0..<60, seed: 0), &bytes, at: 60)
    }

    private static func mendFrames(_ bytes: inout [UInt8]) {
        guard bytes.count >= 64 else { return }
        let seed = sum(bytes, 0..<60, seed: 0)
        var place = 64
        while place + 48 <= bytes.count {
            let length = load(bytes, place + 32)
            if bytes[place..<(place + 4)].elementsEqual([0x4D, 0x46, 0x52, 0x1A]), length > 0,
                length <= UInt64(bytes.count - place - 48)
            {
                bytes[place + 48 + Int(length) - 1] = 0xFF
                store(sum(bytes, (place + 48)..<(place + 48 + Int(length)), seed: seed), &bytes, at: place + 40)
                store(sum(bytes, place..<(place + 44), seed: seed), &bytes, at: place + 44)
            }
            place += 8
        }
    }

    /// Footer and directory only: regions keep their checksums, and the fuzzer learns little from their bytes but much from
    /// where the directory says that they are.
    private static func mendCheckpoint(_ bytes: inout [UInt8]) {
        guard bytes.count >= 128 else { return }
        let seed = sum(bytes, 0..<60, seed: 0)
        let footer = bytes.count - 64
        store(0x1A50_434D, &bytes, at: footer)
        let (offset, length) = (load(bytes, footer + 8), load(bytes, footer + 16))
        if offset <= UInt64(footer), length <= UInt64(footer) - offset {
            store(sum(bytes, Int(offset)..<Int(offset + length), seed: seed), &bytes, at: footer + 24)
        }
        store(sum(bytes, footer..<(footer + 60), seed: seed), &bytes, at: footer + 60)
    }
}
