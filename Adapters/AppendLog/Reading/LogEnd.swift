import MortiseEngine

/// A place in a log where a frame begins, or will.
struct LogPosition: Hashable, Sendable {
    /// Where the frame before it ends.
    var end: Int64
    /// The number of the frame.
    var sequence: UInt64
    /// The last transaction before it.
    var transaction: UInt64

    /// Where the frame's header is.
    var offset: Int64 { FrameHeader.place(after: end) }

    /// The first frame of a file.
    static let first = LogPosition(end: Int64(FileHeader.size), sequence: 1, transaction: 0)

    /// The place behind a frame that begins here.
    func following(_ header: FrameHeader) -> LogPosition {
        LogPosition(
            end: offset + Int64(FrameHeader.size) + Int64(header.length), sequence: sequence + 1,
            transaction: header.transaction)
    }
}

/// Why there is no valid frame at a place, when the file is not damaged.
enum LogEnd: Hashable, Sendable {
    case clean
    /// So many bytes are left of frames that were never synced.
    case torn(bytes: Int64)
}

extension FrameReader {
    /// Decides whether the log ends at a place without a valid frame, or was torn there.
    /// - Throws: `LogFault`: `damagedFrame`, or why a header whose checksum is right is none.
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
        // Nothing is ever written between a frame and the place of the next; whatever is there at the very end is told of
        // like what is no longer than a header.
        if position.end < min(offset, size), try !isZero(position.end..<min(offset, size)) {
            let rest = size - position.end
            if rest <= Int64(FrameHeader.size) { return .torn(bytes: rest) }
            throw LogFault.damagedFrame(
                offset: position.end, sequence: position.sequence, reason: "the bytes before its place are not zero")
        }
        guard offset < size else { return .clean }
        if let oddity = try oddity(at: offset) { throw oddity }
        guard let reason = try damage(at: offset) else {
            if try isZero(offset..<size) { return .clean }
            if let witness = try frameCallingSynced(position.sequence, behind: offset) {
                throw LogFault.damagedFrame(
                    offset: offset, sequence: position.sequence,
                    reason: "it is missing, and a frame at offset \(witness) says that it was synced")
            }
            return .torn(bytes: size - offset)
        }
        throw LogFault.damagedFrame(offset: offset, sequence: position.sequence, reason: reason)
    }

    /// What is wrong with a frame that is not valid, in a way in which no crash leaves it; nil where one can.
    private func damage(at offset: Int64) throws -> String? {
        let headerEnd = offset + Int64(FrameHeader.size)
        guard headerEnd <= size else { return nil }
        guard let header = try header(at: offset) else {
            if try isZero(offset..<headerEnd) { return nil }
            return try isZero(headerEnd..<size) ? nil : "its header's checksum is wrong"
        }
        guard hasWhole(header, at: offset) else { return nil }
        let end = headerEnd + Int64(header.length)
        if header.length == 0 { return "it has no payload" }
        if try isZero((end - 1)..<end) { return nil }
        var start = (headerEnd + FrameHeader.sector - 1) / FrameHeader.sector * FrameHeader.sector
        while start < end {
            let next = min(start + FrameHeader.sector, end)
            if try isZero(start..<next) { return nil }
            start = next
        }
        return "its payload's checksum is wrong"
    }

    /// Where a later frame stands that calls this one synced.
    private func frameCallingSynced(_ sequence: UInt64, behind offset: Int64) throws -> Int64? {
        let step = 1 << 18
        var start = offset + 8
        while size - start >= Int64(FrameHeader.size) {
            let count = Int(min(Int64(step + FrameHeader.size - 8), size - start))
            let found = try withBytes(at: start, count: count) { bytes -> Int? in
                var place = 0
                while bytes.count - place >= FrameHeader.size {
                    if bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self).littleEndian == FrameHeader.marker,
                        let header = FrameHeader(UnsafeRawBufferPointer(rebasing: bytes[place...]), seed: seed),
                        header.sequence > sequence, header.synced >= sequence
                    {
                        return place
                    }
                    place += 8
                }
                return nil
            }
            if let found { return start + Int64(found) }
            start += Int64(step)
        }
        return nil
    }
}
