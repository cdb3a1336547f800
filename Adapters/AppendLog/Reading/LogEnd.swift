import MortiseEngine

/// A position in a log where a frame begins, or will.
struct LogPosition: Hashable, Sendable {
    /// Where the frame before it ends.
    var end: Int64
    /// The number of the frame.
    var sequence: UInt64
    /// The last transaction before it.
    var transaction: UInt64
    /// How many bytes after their proper positions the frames lie; not 0 only where bytes before them are missing or extra.
    var shift: Int64 = 0

    /// Where the frame's header is.
    var offset: Int64 { FrameHeader.place(after: end - shift) + shift }

    /// The first frame of a file.
    static let first = LogPosition(end: Int64(FileHeader.size), sequence: 1, transaction: 0)

    /// The position after a frame that begins here.
    func following(_ header: FrameHeader) -> LogPosition {
        LogPosition(
            end: offset + Int64(FrameHeader.size) + Int64(header.length), sequence: sequence + header.kind.width,
            transaction: header.transaction, shift: shift)
    }

    /// The position of a header that was found at an offset, wherever it should be.
    init(ofHeaderAt offset: Int64, sequence: UInt64, transaction: UInt64) {
        let rest = offset & 7
        let place = FrameHeader.place(after: rest <= 4 ? offset - rest : offset - rest + 8)
        self.init(end: offset, sequence: sequence, transaction: transaction, shift: offset - place)
    }

    init(end: Int64, sequence: UInt64, transaction: UInt64, shift: Int64 = 0) {
        self.end = end
        self.sequence = sequence
        self.transaction = transaction
        self.shift = shift
    }
}

/// Why there is no valid frame at a position, when the file is not damaged.
enum LogEnd: Hashable, Sendable {
    case clean
    /// That many bytes are left of frames that were never synced.
    case torn(bytes: Int64)
}

extension FrameReader {
    /// Decides whether the log ends at a position without a valid frame, or was torn there.
    /// - Throws: `LogFault`: `damagedFrame`, or why a header with the right checksum is invalid.
    func end(at position: LogPosition) throws -> LogEnd {
        do {
            return try endAsFarAsRead(at: position)
        } catch let error as FileError {
            // Beside a writer that has just given up a long frame, and cut it off.
            guard case .changed(.truncated) = error.reason, try file.extent().size >= position.end else { throw error }
            return .clean
        }
    }

    private func endAsFarAsRead(at position: LogPosition) throws -> LogEnd {
        let offset = position.offset
        func damaged(_ offset: Int64, _ reason: String) -> LogFault {
            .damagedFrame(offset: offset, sequence: position.sequence, reason: reason)
        }
        // Nothing is ever written between a frame and the position of the next.
        if position.end < min(offset, size), try !isZero(position.end..<min(offset, size)) {
            throw damaged(position.end, "the bytes before it are not zero")
        }
        guard offset < size else { return .clean }
        if let headerFault = try headerFault(at: offset) { throw headerFault }
        if let reason = try damage(at: position) { throw damaged(offset, reason) }
        if try isZero(offset..<size) { return .clean }
        if let witness = try witness(of: position) {
            throw damaged(offset, "the header at offset \(witness) shows that it was synced")
        }
        return .torn(bytes: size - offset)
    }

    /// The fault of an invalid frame that no crash leaves; nil if a crash can leave it.
    private func damage(at position: LogPosition) throws -> String? {
        let offset = position.offset
        let headerEnd = offset + Int64(FrameHeader.size)
        guard headerEnd <= size else {
            return try canBeginHeader(of: position) ? nil : "the remains of its header do not begin like a header"
        }
        guard let header = try header(at: offset) else {
            if try isZero(offset..<headerEnd) { return nil }
            let isBegun = try isZero(headerEnd..<size) && canBeginHeader(of: position)
            return isBegun ? nil : "its header's checksum is wrong"
        }
        if header.length == 0 { return "it has no payload" }
        let missing = "a byte of its payload is missing"
        guard hasWhole(header, at: offset) else {
            return try lacksByte(header, at: offset) ? missing : nil
        }
        let end = headerEnd + Int64(header.length)
        if try !canFollow(end) { return "its payload continues after its end" }
        if try isZero((end - 1)..<end) { return try lacksByte(header, at: offset) ? missing : nil }
        var start = (headerEnd + FrameHeader.sector - 1) / FrameHeader.sector * FrameHeader.sector
        while start < end {
            let next = min(start + FrameHeader.sector, end)
            if try isZero(start..<next) { return nil }
            start = next
        }
        return "its payload's checksum is wrong"
    }

    /// Whether a write that was cut short may have left what is in the header's place: zeros, or what every header of the
    /// frame has.
    private func canBeginHeader(of position: LogPosition) throws -> Bool {
        var expected = ByteWriter(capacity: FrameHeader.size)
        FrameHeader(
            kind: .schema, sequence: position.sequence, transaction: 0, synced: 0, length: 0, checksum: 0
        ).write(to: &expected, seed: seed)
        let fixed = Set(0..<4).union(6..<16)
        let count = min(FrameHeader.size, Int(size - position.offset))
        return try withBytes(at: position.offset, count: count) { bytes in
            bytes.indices.allSatisfy { !fixed.contains($0) || bytes[$0] == 0 || bytes[$0] == expected.bytes[$0] }
        }
    }

    /// Whether a crash can leave what follows a payload: zeros up to the next position, and there zeros or a header.
    private func canFollow(_ end: Int64) throws -> Bool {
        let place = FrameHeader.place(after: end)
        guard try isZero(min(end, size)..<min(place, size)) else { return false }
        guard place < size else { return true }
        let first = UInt8(truncatingIfNeeded: FrameHeader.marker)
        return try withBytes(at: place, count: 1) { $0[0] == 0 || $0[0] == first }
    }

    /// Whether a payload would be right with one more byte within it. Where it would be with one more at its end, the write
    /// may have been cut short there.
    private func lacksByte(_ header: FrameHeader, at offset: Int64) throws -> Bool {
        let start = offset + Int64(FrameHeader.size)
        guard header.length > 1, UInt64(max(0, size - start)) >= header.length - 1 else { return false }
        return try withBytes(at: start, count: Int(header.length) - 1) { bytes in
            guard bytes.last == payloadEnd else { return false }
            var complete = CRC32C(resuming: seed)
            complete.update(bytes)
            let left = complete.value
            complete.update([payloadEnd])
            if complete.value == header.checksum { return false }
            return CRC32C.isByteMissing(from: bytes, between: left, and: header.checksum)
        }
    }

    /// Where a header is that no crash leaves after a frame that was not synced: one of a later frame that calls this one
    /// synced, or one that is not at its position.
    private func witness(of position: LogPosition) throws -> Int64? {
        try firstHeader(from: position.offset + 1) { header, place in
            if header.sequence > position.sequence, header.synced >= position.sequence { return true }
            // Wherever it is, this frame's own position is another one; and frames lie at multiples of 8.
            return header.sequence == position.sequence || (place & 7 != 0 && header.sequence > position.sequence)
        }?.place
    }
}
