import MortiseCore
import MortiseEngine

/// Writes the payload of a frame while it is made, piece by piece, so that a transaction of any size takes no more memory
/// than a piece, and the disk is at work meanwhile.
///
/// The header comes last: until then zeros are there, and no reader looks at the bytes after them.
///
/// Used by the thread that appends alone. Until `finish` or `abandon` nothing else is appended to the log.
final class FrameStream: PayloadStream {
    /// The usual length of a piece.
    static let pieceSize = 1 << 20

    /// How many bytes are gathered before they are written.
    let pieceSize: Int
    private let writer: LogWriter
    /// The frames before this one, which become valid together with it.
    private let leading: [(kind: FrameKind, payload: [UInt8])]
    private var start: LogWriter.StreamStart?
    /// The position of the frame, once it has begun.
    private var place = LogPosition.first
    /// Where the next piece goes.
    private var offset: Int64 = 0
    /// How far the file was written; 0 where nothing was.
    private var written: Int64 = 0
    /// What shares a sector with the header, and is written with it.
    private var head: [UInt8] = []
    private var headSize = 0
    private var length = 0
    private var sum = CRC32C()
    private var failure: (any Error)?
    /// What is left to be written, and where the next frame goes then.
    private var prepared: (first: [UInt8], next: LogPosition)?

    init(
        to writer: LogWriter, behind leading: [(kind: FrameKind, payload: [UInt8])],
        pieceSize: Int = FrameStream.pieceSize
    ) {
        self.writer = writer
        self.pieceSize = max(1, pieceSize)
        self.leading = leading
    }

    /// Whether it has taken a part of the payload, so that it has to be finished or abandoned.
    var hasBegun: Bool { start != nil || failure != nil }

    /// Pieces end where pages of the system's cache end, so that none is written twice; short ones at least where sectors
    /// end, so that no power cut finds a sector of which one piece is on the disk and another is not.
    private var multiple: Int64 { pieceSize < 4_096 ? FrameHeader.sector : 4_096 }

    /// Takes what comes next of the payload, but for a part at the end that is left for the next piece. What goes wrong is
    /// thrown by `finish`.
    func take(_ bytes: inout [UInt8]) {
        guard failure == nil else { return bytes.removeAll(keepingCapacity: true) }
        do {
            let start = try self.start ?? begin()
            let taken = fillHead(from: bytes)
            let end = (offset + Int64(bytes.count - taken)) / multiple * multiple
            let count = max(0, Int(end - offset))
            if count > 0 { try writer.checkStream(writtenTo: written, before: end) }
            try write(bytes[taken..<(taken + count)], to: start.file)
            if start.startsWriting, count > 0 { try start.file.startWriting((offset - Int64(count))..<offset) }
            note(bytes[..<(taken + count)])
            bytes.removeSubrange(..<(taken + count))
        } catch {
            failure = error
            bytes.removeAll(keepingCapacity: true)
        }
    }

    private func begin() throws -> LogWriter.StreamStart {
        let start = try writer.beginStream(of: leading.count + 1)
        self.start = start
        place = leading.reduce(start.position) { position, frame in
            position.following(FrameHeader(kind: frame.kind, length: frame.payload.count, at: position))
        }
        offset = place.offset + Int64(FrameHeader.size)
        let beyond = offset % FrameHeader.sector
        headSize = beyond == 0 ? 0 : Int(FrameHeader.sector - beyond)
        offset += Int64(headSize)
        sum = CRC32C(resuming: start.seed)
        return start
    }

    private func fillHead(from bytes: [UInt8]) -> Int {
        let count = min(headSize - head.count, bytes.count)
        head += bytes[..<count]
        return count
    }

    private func write(_ bytes: ArraySlice<UInt8>, to file: any OpenFile) throws {
        if bytes.isEmpty { return }
        try bytes.withUnsafeBytes { try file.writeAll($0, at: offset) }
        offset += Int64(bytes.count)
        written = offset
    }

    private func note(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { sum.update($0) }
        length += bytes.count
    }

    /// Writes the rest of the payload, which is what `take` has left and what came after it, and then the header that
    /// makes it a frame. `transaction` is the number of the transaction that the frame holds.
    /// - Returns: the number of the frame, to wait for.
    /// - Throws: `EngineError.latched`; `FileError`. The log then has nothing of it.
    func finish(_ rest: [UInt8], _ kind: FrameKind, transaction: UInt64) throws -> UInt64 {
        try abandoningIfItFails {
            let (start, first, next) = try writeAll(rest, kind, transaction: transaction)
            return try writer.endStream(start, first, next: next, writtenTo: written)
        }
    }

    /// As `finish`, but for the header: what it will take is on the disk, or has its place there. Until `commit` or `abandon` nothing else
    /// is appended.
    /// - Throws: as `finish`.
    func prepare(_ rest: [UInt8], _ kind: FrameKind, transaction: UInt64) throws {
        try abandoningIfItFails {
            let (start, first, next) = try writeAll(rest, kind, transaction: transaction)
            written = try writer.prepareStream(start, first, next: next, writtenTo: written)
            prepared = (first, next)
        }
    }

    /// Makes what was prepared a frame.
    /// - Returns: the number of the frame, to wait for.
    /// - Throws: as `finish`.
    func commit() throws -> UInt64 {
        guard let start, let (first, next) = prepared else {
            throw EngineError.latched(store: writer.path, cause: failure.map { "\($0)" } ?? "nothing was prepared")
        }
        return try abandoningIfItFails {
            try writer.endStream(start, first, next: next, writtenTo: written, isPrepared: true)
        }
    }

    private func abandoningIfItFails<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            if start != nil { writer.abandonStream(after: error, writtenTo: written) }
            start = nil
            failure = error
            throw error
        }
    }

    /// Writes all but what has to come last.
    private func writeAll(
        _ rest: [UInt8], _ kind: FrameKind, transaction: UInt64
    ) throws -> (start: LogWriter.StreamStart, first: [UInt8], next: LogPosition) {
        if start == nil, let failure { throw failure }
        let start = try self.start ?? begin()
        if let failure { throw failure }
        let taken = fillHead(from: rest)
        try writer.checkStream(writtenTo: written, before: offset + Int64(rest.count - taken))
        try write(rest[taken...], to: start.file)
        note(rest[...])
        let header = FrameHeader(
            kind: kind, sequence: place.sequence, transaction: transaction, synced: start.synced,
            length: UInt64(length), checksum: sum.value)
        var first = ByteWriter(capacity: 1_024)
        _ = first.frames(
            leading, from: start.position, transaction: transaction, synced: start.synced, seed: start.seed)
        first.zeros(Int(place.offset - start.position.offset) - first.count)
        header.write(to: &first, seed: start.seed)
        head.withUnsafeBytes { first.raw($0) }
        return (start, first.bytes, place.following(header))
    }

    /// Cuts off what was written, because the rest could not be made.
    /// - Returns: what had gone wrong before that.
    @discardableResult
    func abandon() -> (any Error)? {
        if start != nil { writer.abandonStream(after: failure, writtenTo: written) }
        start = nil
        return failure
    }
}

extension FrameHeader {
    /// What tells where the next frame goes.
    fileprivate init(kind: FrameKind, length: Int, at position: LogPosition) {
        self.init(
            kind: kind, sequence: position.sequence, transaction: position.transaction, synced: 0,
            length: UInt64(length), checksum: 0)
    }
}
