import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// Where the transactions of a log are, found out when somebody asks and kept in memory: of what was found out before, nothing is
/// read again.
final class LogHistory: Sendable {
    /// One place is noted for each run of this many frames.
    static let step: UInt64 = 256

    private let path: String
    private let state = Mutex(State())

    init(_ path: String) { self.path = path }

    struct Place {
        let position: LogPosition
        /// The latest time of a transaction before it.
        let latest: Date
        /// How many schemas come before it.
        let schemas: Int
    }

    /// What is known of the frames of a file.
    struct State {
        var file: UUID?
        var base: UInt64 = 0
        var places: [Place] = []
        var schemas: [StoredSchema] = []
        var end = LogPosition.first
        var latest = Date.distantPast
        var frames: UInt64 = 0
        /// Whether only stubs have come so far.
        var isBeforeFirst = true
        /// The number after which the history begins; nil as long as no transaction was met.
        var horizon: (number: UInt64, stub: LogPosition?)?
        var last: UInt64 = 0
        var count = 0
        var stubs = 0
    }

    /// Runs a body with a reader of the log, and what is known of it up to a transaction.
    /// - Throws: `AppendLogError` for a damaged or unknown frame; `FileError`; what the body throws.
    func read<R>(upTo last: UInt64, in fileSystem: any FileSystem, _ body: (FrameReader, State) throws -> R) throws -> R
    {
        // A compaction may exchange the file meanwhile; the one that is open stays whole.
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            // What another reads meanwhile is read twice, and the one who knows more is believed.
            var known = state.withLock { $0 }
            if known.file != header.file {
                known = State()
                known.file = header.file
                known.base = header.base
            }
            let before = known.end
            try known.extend(upTo: last, reader)
            if known.end != before {
                state.withLock { state in
                    if state.file != known.file || state.end.sequence < known.end.sequence { state = known }
                }
            }
            return try body(reader, known)
        }
    }
}

extension LogHistory.State {
    /// Goes from header to header up to the last transaction that is published.
    fileprivate mutating func extend(upTo last: UInt64, _ reader: FrameReader) throws {
        while self.last < last, let header = try reader.header(at: end.offset),
            reader.hasWhole(header, at: end.offset)
        {
            guard header.sequence == end.sequence else {
                throw LogFault.outOfOrder(offset: end.offset, expected: end.sequence, found: header.sequence)
            }
            guard header.kind.isKnown || header.isSkippable else {
                throw LogFault.unknownKind(offset: end.offset, kind: header.kind.rawValue)
            }
            if header.kind.isTransaction, header.transaction > last { return }
            if frames % LogHistory.step == 0 {
                places.append(.init(position: end, latest: latest, schemas: schemas.count))
            }
            try note(header, reader)
            frames += 1
            end = end.following(header)
        }
        // Says what is wrong where there should be more.
        if self.last < last { _ = try reader.scan(from: end, allowingGapsTo: base) { _ in true } }
    }

    private mutating func note(_ header: FrameHeader, _ reader: FrameReader) throws {
        if header.kind == .schema || header.kind == .migration {
            let position = end
            let found = try reader.withPayload(of: header, at: end.offset) { payload in
                try ScannedFrame(header: header, position: position, payload: payload).parts()
                    .filter { $0.header.kind == .schema }.map { part in try part.reading { try $0.schema() } }
            }
            schemas += found ?? []
        }
        if header.kind == .stub {
            if isBeforeFirst { horizon = (header.transaction, end) } else { stubs += 1 }
        }
        guard header.kind.isTransaction else { return }
        if isBeforeFirst, horizon == nil { horizon = (header.transaction - min(1, header.transaction), nil) }
        isBeforeFirst = false
        last = header.transaction
        count += 1
        guard header.kind != .migration, header.length >= 8 else { return }
        let bits = try reader.withBytes(at: end.offset + Int64(FrameHeader.size), count: 8) {
            UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))
        }
        latest = max(latest, Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    }

    /// Where to begin reading for a number and a time.
    func place(of number: UInt64, from earliest: Date?) -> LogHistory.Place? {
        func last(_ isBefore: (LogHistory.Place) -> Bool) -> Int {
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                if isBefore(places[middle]) { low = middle + 1 } else { high = middle }
            }
            return max(low - 1, 0)
        }
        var found = last { $0.position.transaction < number }
        if let earliest { found = max(found, last { $0.latest < earliest }) }
        return places.indices.contains(found) ? places[found] : nil
    }
}

extension ScannedFrame {
    /// The transaction or stub in the frame, without its changes.
    func entry() throws -> HistoryEntry {
        let number = header.transaction
        if header.kind == .stub { return try reading { try $0.stub(number) } }
        let isMigration = header.kind == .migration
        guard let last = try parts().last else {
            throw LogFault.malformed(part: .frame, offset: position.offset, what: "has no parts")
        }
        return try last.reading { reader in
            let (origin, isErasure, _) = try reader.origin()
            return HistoryEntry(
                number: Int64(clamping: number), mark: reader.mark, timestamp: origin.timestamp, author: origin.author,
                process: origin.process, bundle: origin.bundle,
                kind: isErasure ? .erasure : isMigration ? .migration : .changes)
        }
    }
}
