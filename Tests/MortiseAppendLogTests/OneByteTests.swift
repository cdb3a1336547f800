import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A byte too many or too few among acknowledged transactions was taken for a tail that was never synced, and all of them
/// were cut off.
struct OneByteTests {
    /// A log of random frames, each synced before the next, with payloads of zeros, ends and beginnings of headers.
    private static func makeLog(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = TestGenerator(seed: seed)
        let header = FileHeader(
            kind: .log, store: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            file: UUID(uuid: (16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(truncatingIfNeeded: seed))))
        var bytes = header.bytes
        var position = LogPosition.first
        for number in 0..<count {
            let length = Int.random(in: 1...(number % 9 == 0 ? 1_200 : 120), using: &generator)
            let favourites: [UInt8] = [0, 0xFF, 0x4D, 0x1A, .random(in: 0...255, using: &generator)]
            var payload = (0..<length).map { _ in favourites[Int.random(in: 0...4, using: &generator)] }
            if number % 5 == 0 { payload = [UInt8](repeating: 0, count: length) }
            payload.append(payloadEnd)
            bytes += [UInt8](repeating: 0, count: Int(position.offset) - bytes.count)
            var writer = ByteWriter(capacity: 2_000)
            position = writer.frames(
                [(number == 0 ? .schema : .transaction, payload)], from: position, transaction: UInt64(number),
                synced: position.sequence - 1, seed: header.seed)
            bytes += writer.bytes
        }
        return bytes
    }

    /// Whether a survey of the file says that it is damaged.
    private static func isRefused(_ bytes: [UInt8]) throws -> Bool {
        do {
            let header = try FileHeader(Array(bytes.prefix(FileHeader.size)), expecting: .log)
            let reader = FrameReader(BytesFile(bytes), size: Int64(bytes.count), seed: header.seed)
            _ = try reader.scan(from: .first) { _ in true }
            return false
        } catch is LogFault {
            return true
        }
    }

    @Test func everyByteThatIsMissingDoubledOrAddedIsDamage() throws {
        let seed = testSeed()
        // What is not cut off yet behind a log that is open, and nothing.
        for zeros in [0, 4_096] {
            let log = Self.makeLog(60, seed: seed)
            let rest = [UInt8](repeating: 0, count: zeros)
            try #require(try !Self.isRefused(log + rest))
            var accepted: [String] = []
            // One in twelve, another each time: a save's bytes are much like the next one's.
            let step = isFullSize ? 1 : 12
            for place in stride(from: Int(seed % UInt64(step)), to: log.count, by: step) {
                let removed = log[..<place] + log[(place + 1)...]
                // One byte less at the very end, or of equal bytes there, is what a write leaves that was cut short.
                let isCutShort = removed.elementsEqual(log.dropLast())
                if !isCutShort, try !Self.isRefused(removed + rest) { accepted.append("\(place) removed") }
                for value in Set([log[place], 0, 0x4D, 0xFF, UInt8(truncatingIfNeeded: place &* 31)]) {
                    let added = log[..<place] + [value] + log[place...]
                    if try !Self.isRefused(added + rest) { accepted.append("\(value) at \(place)") }
                }
            }
            // Behind the last byte: its double.
            if try !Self.isRefused(log + [payloadEnd] + rest) { accepted.append("the last byte doubled") }
            #expect(accepted == [], "\(log.count) bytes, seed \(seed)")
        }
    }

    /// The last frame, cut anywhere: it may never have been written to its end.
    @Test func aLogThatEndsWithinItsLastFrameIsTornThere() throws {
        let log = Self.makeLog(8, seed: testSeed())
        let frames = try Self.offsets(log)
        let last = try #require(frames.last)
        for length in (last + 1)..<log.count { #expect(try !Self.isRefused(Array(log[..<length])), "\(length)") }
    }

    private static func offsets(_ log: [UInt8], after base: UInt64 = 0) throws -> [Int] {
        let header = try FileHeader(Array(log.prefix(FileHeader.size)), expecting: .log)
        var found: [Int] = []
        let reader = FrameReader(BytesFile(log), size: Int64(log.count), seed: header.seed)
        _ = try reader.scan(from: .first, allowingGapsTo: base) { frame in
            found.append(Int(frame.position.offset))
            return true
        }
        return found
    }

    /// What looks like the beginning of a header at every fourth byte costs no more than anything else of that length.
    @Test(.timeLimit(.minutes(15))) func aTailFullOfMarkersIsSearchedOnce() throws {
        let log = Self.makeLog(3, seed: 1)
        func reading(_ tail: [UInt8]) throws -> Int {
            let file = BytesFile(log[..<(log.count - 1)] + [0] + tail)
            #expect(throws: Never.self) {
                let header = try FileHeader(Array(log.prefix(FileHeader.size)), expecting: .log)
                let reader = FrameReader(file, size: Int64(file.bytes.count), seed: header.seed)
                _ = try reader.nextFrame(from: Int64(log.count))
            }
            return file.bytesRead
        }
        let markers = [UInt8]([0x4D, 0x46, 0x52, 0x1A])
        let hostile = try reading(Array(repeatElement(markers, count: 1 << 19).joined()))
        #expect(hostile <= 3 << 20)
    }

    // MARK: All that look at a log

    /// How much of a store is in its log.
    enum Form: CaseIterable {
        /// All of it.
        case plain
        /// All of it; the first half is in a checkpoint, too.
        case checkpointed
        /// The second half. The first is in a checkpoint.
        case compacted
    }

    /// The files of a store.
    private struct Files {
        var log: [UInt8]
        let checkpoint: [UInt8]?
        /// How many transactions are not in the log.
        let base: UInt64
        /// Up to where opening does not read the log.
        let covered: Int

        func disk() throws -> SimulatedFileSystem { try makeDisk(with: log, checkpoint: checkpoint) }
    }

    private static let saves = 60

    private func makeFiles(_ form: Form, _ generator: inout TestGenerator) throws -> Files {
        let disk = try makeDisk()
        func save(_ numbers: Range<Int>) throws {
            try withLog(logConfiguration(disk)) { context in
                for number in numbers {
                    let name = String(repeating: "x", count: Int.random(in: 0...90, using: &generator))
                    context.insert(Item("\(name)\(number)", count: number % 3 == 0 ? 0 : number, tags: []))
                    try context.save()
                }
            }
        }
        try save(0..<Self.saves / 2)
        var covered = 0
        if form != .plain {
            let store = try openStore(logConfiguration(disk, history: form == .compacted ? .keep(days: 0) : .keepAll))
            if form == .compacted { _ = try store.compact() } else { try store.checkpoint() }
            covered = Int(try #require(store.opened.sink).writer.state.position.end)
            try store.close()
        }
        try save(Self.saves / 2..<Self.saves)
        let log = try #require(disk.contents(at: logPath))
        let header = try FileHeader(Array(log.prefix(FileHeader.size)), expecting: .log)
        let checkpoint = disk.contents(at: logPath + ".checkpoint")
        #expect((checkpoint == nil) == (form == .plain) && (header.base > 0) == (form == .compacted))
        return Files(log: log, checkpoint: checkpoint, base: header.base, covered: covered)
    }

    private func openableState(_ files: Files, allowsSave: Bool) throws -> String {
        do {
            let store = try openStore(logConfiguration(files.disk(), allowsSave: allowsSave))
            defer { try? store.close() }
            return "\(store.recovery?.droppedBytes ?? 0) bytes torn at \(store.engine.version.number)"
        } catch let error as AppendLogError {
            #expect(error.path == logPath)
            return "damaged"
        }
    }

    private func verifiedState(_ files: Files) throws -> String {
        let found = try AppendLogStore.verify(logPath, in: files.disk())
        return found.isSound ? "\(found.tornBytes) bytes torn at \(files.base + UInt64(found.transactions))" : "damaged"
    }

    private func salvagedState(_ files: Files) throws -> String {
        do {
            let found = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: files.disk())
            let transactions = files.base + UInt64(found.transactions)
            return found.lost.isEmpty ? "\(found.tornBytes) bytes torn at \(transactions)" : "damaged"
        } catch is AppendLogError {
            return "damaged"
        }
    }

    private func backupState(_ files: Files) throws -> String {
        do {
            let report = try logConfiguration(files.disk()).backUpStore(to: "/data/new.log")
            return "sound at \(report.figures.first { $0.name == "transactions" }?.value ?? -1)"
        } catch is AppendLogError {
            return "damaged"
        }
    }

    /// What `info` makes of it: it takes the schema from the headers, and opens what it finds under that.
    private func describedState(_ files: Files) throws -> String {
        var configuration = logConfiguration(try files.disk()).readOnly()
        do {
            configuration.schema = Schema(stored: try #require(try configuration.storedSchema()))
            let store = try AppendLogStore(configuration, migrationPlan: nil)
            defer { try? store.close() }
            return "\(store.recovery?.droppedBytes ?? 0) bytes torn at \(store.engine.version.number)"
        } catch let error as AppendLogError {
            #expect(error.path == logPath)
            return "damaged"
        }
    }

    @Test(arguments: Form.allCases) func openingVerifyingSalvagingAndBackupsSayTheSame(form: Form) throws {
        let seed = testSeed()
        var generator = TestGenerator(seed: seed)
        let files = try makeFiles(form, &generator)
        let log = files.log
        let last = try #require(try Self.offsets(log, after: files.base).last)
        let count = isFullSize ? 3_000 : 16
        var draws: [(Int, Int)] = (0..<count).map { _ in
            (Int.random(in: 0..<6, using: &generator), Int.random(in: 0..<log.count, using: &generator))
        }
        // What a write leaves that was cut short, and its neighbours; around what opening reads first.
        draws += [(0, log.count - 1), (0, log.count - 2), (1, log.count - 1), (2, log.count - 1)]
        for place in (files.covered - 2)...(files.covered + 2) where log.indices.contains(place) {
            draws += (0..<6).map { ($0, place) }
        }
        for (kind, place) in draws {
            var bytes = log
            switch kind {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(bytes[place], at: place)
            case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
            case 3: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 4: bytes.removeSubrange(place...)
            default: bytes.removeSubrange(place..<min(place + Int.random(in: 2...90, using: &generator), bytes.count))
            }
            var changed = files
            changed.log = bytes
            let what = "seed \(seed): mutation \(kind) at \(place) of \(log.count)"
            let opened = try openableState(changed, allowsSave: true)
            if bytes == log.dropLast() {
                #expect(opened == "\(bytes.count - last) bytes torn at \(Self.saves - 1)", "\(what)")
            } else if kind < 3 {
                #expect(opened == "damaged", "\(what)")
            }
            #expect(try openableState(changed, allowsSave: false) == opened, "\(what), read only")
            let verified = try verifiedState(changed)
            // What a checkpoint has is not read in opening. Bytes that move are noticed nevertheless.
            if kind == 3, place < files.covered, verified == "damaged" {
                #expect(opened == "damaged" || opened == "0 bytes torn at \(Self.saves)", "\(what)")
            } else {
                #expect(verified == opened, "\(what), verified")
            }
            #expect(try salvagedState(changed) == verified, "\(what), salvaged")
            let copied = try backupState(changed)
            #expect((copied == "damaged") == (verified == "damaged"), "\(what), backed up: \(copied)")
            let described = try describedState(changed)
            #expect(described == opened, "\(what), described")
        }
    }

    /// A salvage finds the frames that one byte has moved, all but the one that it is in.
    @Test func aSalvageFindsTheFramesThatAByteHasMoved() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            for number in 0..<40 {
                context.insert(Item("item \(number)", count: number))
                try context.save()
            }
        }
        let log = try #require(disk.contents(at: logPath))
        let frames = try Self.offsets(log)
        for frame in [1, 7, 20, 38] {
            for change in 0..<2 {
                var bytes = log
                let place = frames[frame] + FrameHeader.size + 30
                if change == 0 { bytes.remove(at: place) } else { bytes.insert(7, at: place) }
                let damaged = try makeDisk(with: bytes)
                let found = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: damaged)
                #expect(found.records == 39, "frame \(frame), change \(change): \(found.lost)")
                #expect(!found.lost.isEmpty)
            }
        }
    }
}

/// A file in memory that is only read.
private final class BytesFile: OpenFile, @unchecked Sendable {
    // @unchecked: used by one test on one thread.
    let bytes: [UInt8]
    var bytesRead = 0
    let path = "bytes"

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let count = max(0, min(buffer.count, bytes.count - Int(offset)))
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...].prefix(count)))
        }
        bytesRead += count
        return count
    }
    private func refuse(_ operation: FileError.Operation) -> FileError {
        FileError(.readOnly, operation: operation, path: path)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int { throw refuse(.write) }
    func sync(_ kind: SyncKind) throws(FileError) {}
    func truncate(to size: Int64) throws(FileError) { throw refuse(.truncate) }
    func info() throws(FileError) -> FileInfo { throw refuse(.info) }
    func setPermissions(_ permissions: UInt32) throws(FileError) { throw refuse(.setPermissions) }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { throw refuse(.setOwner) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { throw refuse(.lock) }
    func close() throws(FileError) {}
}
