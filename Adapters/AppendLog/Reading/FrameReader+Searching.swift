import Foundation
import MortiseEngine

extension FrameReader {
    /// Calls the body with every 48 bytes, at any offset, that begin like a header, until it returns true. Takes time
    /// in proportion to the bytes searched.
    ///
    /// With `passesUnreadable`, the search continues after a region that the disk fails to read.
    /// - Returns: the offset where the body returned true.
    /// - Throws: `FileError`; what the body throws.
    func firstMarker(
        from start: Int64, passingUnreadable passesUnreadable: Bool = false,
        _ body: (_ header: UnsafeRawBufferPointer, _ offset: Int64) throws -> Bool
    ) throws -> Int64? {
        let step: Int64 = 1 << 18
        let width = Int64(FrameHeader.size)
        var place = start
        // Where to stop reading at first, because something after it cannot be read.
        var limit: Int64?
        while size - place >= width {
            let end = min(limit ?? size, place + step, size)
            guard end - place >= width else {
                place = end
                limit = nil
                continue
            }
            do {
                let found = try withBytes(at: place, count: Int(end - place)) { bytes in
                    try Self.firstMarker(in: bytes) { try body($0, place + Int64($1)) }
                }
                if let found { return place + Int64(found) }
                place = end - width + 1
                limit = nil
            } catch let error as FileError where passesUnreadable && error.code == .io {
                // As much as the system reads at once.
                let page = Int64(Self.pageSize)
                let next = (place / page + 1) * page
                if end > next {
                    limit = next
                } else {
                    place = next
                    limit = nil
                }
            }
        }
        return nil
    }

    private static func firstMarker(
        in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Int) throws -> Bool
    ) rethrows -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        // The marker's last byte is the rarest in text.
        let last = FrameHeader.marker >> 24
        let tail = FrameHeader.size - 4
        var index = 3
        while index < bytes.count - tail, let hit = memchr(base + index, Int32(last), bytes.count - tail - index) {
            let offset = UnsafeRawPointer(hit) - base - 3
            if bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian == FrameHeader.marker,
                try body(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + FrameHeader.size)]), offset)
            {
                return offset
            }
            index = offset + 4
        }
        return nil
    }

    /// The first header that verifies and that the body takes, from an offset on and at whatever offset.
    func firstHeader(
        from start: Int64, passingUnreadable passesUnreadable: Bool = false,
        _ isWanted: (FrameHeader, _ offset: Int64) -> Bool
    ) throws -> (place: Int64, header: FrameHeader)? {
        var header: FrameHeader?
        let place = try firstMarker(from: start, passingUnreadable: passesUnreadable) { bytes, offset in
            guard let found = FrameHeader(bytes, seed: seed), isWanted(found, offset) else { return false }
            header = found
            return true
        }
        guard let place, let header else { return nil }
        return (place, header)
    }

    /// Finds the next header that verifies, apart from one at `place`, and returns the position to continue at.
    /// `sequence` is the least number that the frame may have, because the data of a record can contain a former log.
    func nextFrame(from start: Int64, except place: Int64? = nil, sequence: UInt64 = 1) throws -> LogPosition? {
        let found = try firstHeader(from: start, passingUnreadable: true) { header, offset in
            offset != place && header.sequence >= max(1, sequence)
        }
        guard let (offset, header) = found else { return nil }
        return LogPosition(
            ofHeaderAt: offset, sequence: header.sequence,
            transaction: header.kind.isTransaction
                ? header.transaction - min(1, header.transaction) : header.transaction)
    }
}
