import MortiseEngine

/// The last bytes of a log before a position. By them a checkpoint recognizes the log that it was made from.
///
/// A copy of a log that was continued elsewhere has the same identifier, and its frames may end at the same offsets.
struct LogTail: Hashable {
    static let longest = 1 << 16

    let length: Int
    let checksum: UInt32

    /// Nil for a length that no program writes, such as 0.
    init?(length: UInt32, checksum: UInt32) {
        guard (1...Self.longest).contains(Int(length)) else { return nil }
        self.length = Int(length)
        self.checksum = checksum
    }

    /// - Throws: `FileError`.
    init(before end: Int64, of file: any OpenFile) throws(FileError) {
        let length = Int(min(end, Int64(Self.longest)))
        let bytes = try file.readAll(count: length, at: end - Int64(length))
        self.length = length
        checksum = CRC32C.checksum(of: bytes)
    }
}

extension FrameReader {
    /// Whether the frames before a position differ from those of the log that a checkpoint was made from.
    ///
    /// Damaged or unreadable frames do not count as different: with a checkpoint they are not needed. Nor does a log whose
    /// frames end before the position: it was cut off, and zeros may follow.
    func hasOther(_ tail: LogTail?, before place: LogPosition, base: UInt64) throws -> Bool {
        guard let tail, Int64(tail.length) <= place.end, place.end <= size else { return false }
        do {
            let bytes = try file.readAll(count: tail.length, at: place.end - Int64(tail.length))
            if CRC32C.checksum(of: bytes) == tail.checksum { return false }
            let scanned = try scan(from: .first, allowingGapsTo: base, includingUnknown: true) { frame in
                frame.position.sequence < place.sequence
            }
            return scanned.position.end >= place.end
        } catch is LogFault {
            return false
        } catch is FileError {
            return false
        }
    }
}
