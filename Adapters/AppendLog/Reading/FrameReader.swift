import MortiseEngine

/// Reads frames of one file one after another, through a window of bounded size.
final class FrameReader {
    private static let windowSize = 1 << 20
    static let pageSize = 4_096

    let file: any OpenFile
    /// The length of the file when reading began; what was appended since is not looked at.
    let size: Int64
    let seed: UInt32
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
    /// Up to where no more is read at once than has to be, since something there cannot be read.
    private var carefulEnd: Int64 = 0
    /// Where the last read began that failed.
    private(set) var lastUnreadable: Int64?

    init(_ file: any OpenFile, size: Int64, seed: UInt32) {
        self.file = file
        self.size = size
        self.seed = seed
    }

    /// Runs the body with bytes of the file that are known to be there.
    func withBytes<R>(at offset: Int64, count: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        if offset < windowStart || offset + Int64(count) > windowStart + Int64(window.count) {
            window = []
            window = try read(count, at: offset)
            windowStart = offset
            guard window.count >= count else {
                throw FileError(
                    .changed(.truncated(from: size, to: offset + Int64(window.count))), operation: .read,
                    path: file.path)
            }
        }
        let start = Int(offset - windowStart)
        return try window.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
    }

    /// Reads ahead; where that meets what cannot be read, it does not for as far as it had meant to.
    private func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
        let size = offset < carefulEnd ? Self.pageSize - Int(offset) % Self.pageSize : Self.windowSize
        let room = Int(min(Int64(max(count, size)), self.size - offset))
        do throws(FileError) {
            return try file.readAll(count: room, at: offset)
        } catch {
            lastUnreadable = offset
            let isAhead = offset >= carefulEnd
            carefulEnd = max(carefulEnd, offset + Int64(room))
            guard isAhead, room > count else { throw error }
            return try read(count, at: offset)
        }
    }

    /// The header at an offset; nil if none there verifies.
    func header(at offset: Int64) throws -> FrameHeader? {
        guard size - offset >= Int64(FrameHeader.size) else { return nil }
        do {
            return try withBytes(at: offset, count: FrameHeader.size) { FrameHeader($0, seed: seed) }
        } catch let error as FileError {
            // A writer may have cut off what it had allocated, or given up.
            guard case .changed(.truncated) = error.reason else { throw error }
            return nil
        }
    }

    /// Why there is no header at a position although the checksum is right.
    func headerFault(at offset: Int64) throws -> LogFault? {
        guard size - offset >= Int64(FrameHeader.size) else { return nil }
        return try withBytes(at: offset, count: FrameHeader.size) {
            FrameHeader.headerFault(of: $0, seed: seed, at: offset)
        }
    }

    /// Whether the payload of a header at an offset lies within the file.
    func hasWhole(_ header: FrameHeader, at offset: Int64) -> Bool {
        header.length <= UInt64(size - offset - Int64(FrameHeader.size))
    }

    /// Runs the body with the payload of a header; nil if its checksum is wrong.
    func withPayload<R>(
        of header: FrameHeader, at offset: Int64, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R? {
        try withBytes(at: offset + Int64(FrameHeader.size), count: Int(header.length)) { bytes in
            var sum = CRC32C(resuming: seed)
            sum.update(bytes)
            guard sum.value == header.checksum, bytes.last == payloadEnd else { return nil }
            return try body(bytes)
        }
    }

    /// Whether everything in a range is zero.
    func isZero(_ range: Range<Int64>) throws -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(Int64(Self.windowSize), range.upperBound - offset))
            guard try withBytes(at: offset, count: count, { $0.isZero }) else { return false }
            offset += Int64(count)
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    var isZero: Bool {
        var offset = 0
        while count - offset >= 8 {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 { return false }
            offset += 8
        }
        while offset < count {
            if self[offset] != 0 { return false }
            offset += 1
        }
        return true
    }
}
