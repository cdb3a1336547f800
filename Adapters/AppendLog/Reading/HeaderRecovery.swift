import Foundation
import MortiseEngine

/// What is known of a log whose file header is damaged.
///
/// The checksums of frames go on from that of the header. So any frame that is whole tells what the header's checksum was,
/// by which it is seen whether the header can be put right.
struct HeaderRecovery {
    /// Stands where the transaction is not known up to which the log is history only.
    static let unknownBase = EngineVersion.numberLimit - 1

    let header: FileHeader
    /// What the checksums of the file's frames go on from.
    let seed: UInt32
    /// Whether the header is as it was written.
    let isExact: Bool
    /// Whether the store's identifier is a new one.
    let hasLostIdentifier: Bool

    /// - Parameters:
    ///   - bytes: the beginning of the file.
    ///   - checkpoint: the header of the checkpoint beside it.
    /// - Returns: nil where the header is what some program wrote, or there is nothing that belongs to a log.
    init?(_ bytes: [UInt8], of file: any OpenFile, size: Int64, _ checkpoint: FileHeader?) throws {
        guard bytes.count == FileHeader.size else {
            guard !bytes.isEmpty, let checkpoint else { return nil }
            self.init(inexact: checkpoint, seed: 0)
            return
        }
        let stored = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 60, as: UInt32.self).littleEndian }
        if CRC32C.checksum(of: Array(bytes[..<60])) == stored { return nil }
        guard let seed = try Self.seed(of: file, size: size) else {
            guard let checkpoint else { return nil }
            self.init(inexact: checkpoint, seed: 0)
            return
        }
        if let header = Self.repaired(bytes, seed, checkpoint) {
            self.init(header: header, seed: seed, isExact: true, hasLostIdentifier: false)
        } else {
            self.init(inexact: checkpoint, seed: seed)
        }
    }

    private init(header: FileHeader, seed: UInt32, isExact: Bool, hasLostIdentifier: Bool) {
        self.header = header
        self.seed = seed
        self.isExact = isExact
        self.hasLostIdentifier = hasLostIdentifier
    }

    private init(inexact checkpoint: FileHeader?, seed: UInt32) {
        self.init(
            header: FileHeader(kind: .log, store: checkpoint?.store ?? UUID(), base: Self.unknownBase), seed: seed,
            isExact: false, hasLostIdentifier: checkpoint == nil)
    }

    /// What the first frame that is whole says.
    private static func seed(of file: any OpenFile, size: Int64) throws -> UInt32? {
        let window = FrameReader(file, size: size, seed: 0)
        var place = Int64(FileHeader.size)
        // What is no log may have many beginnings of frames that claim to be long.
        var patience = 4 * size
        while size - place >= Int64(FrameHeader.size), patience > 0 {
            let seed = try window.withBytes(at: place, count: FrameHeader.size) { raw -> UInt32? in
                guard raw.loadUnaligned(as: UInt32.self).littleEndian == FrameHeader.marker else { return nil }
                let sum = raw.loadUnaligned(fromByteOffset: 44, as: UInt32.self).littleEndian
                return CRC32C.origin(of: sum, behind: UnsafeRawBufferPointer(rebasing: raw[..<44]))
            }
            if let seed {
                let reader = FrameReader(file, size: size, seed: seed)
                if let frame = try reader.header(at: place), frame.length > 0, reader.hasWhole(frame, at: place) {
                    patience -= Int64(frame.length)
                    if try reader.withPayload(of: frame, at: place, { _ in true }) == true { return seed }
                }
            }
            place += 8
        }
        return nil
    }

    /// The header of a checksum that is like the bytes but for what is known anyway, what the checkpoint knows, and one bit.
    private static func repaired(_ bytes: [UInt8], _ checksum: UInt32, _ checkpoint: FileHeader?) -> FileHeader? {
        let known = FileHeader(kind: .log, store: UUID()).bytes
        var constant = bytes
        for range in [0..<16, 56..<60] { constant.replaceSubrange(range, with: known[range]) }
        withUnsafeBytes(of: checksum.littleEndian) { constant.replaceSubrange(60..<64, with: $0) }
        var candidates = [constant]
        if let checkpoint {
            var other = constant
            other.replaceSubrange(16..<32, with: checkpoint.bytes[16..<32])
            candidates.append(other)
        }
        for candidate in candidates {
            var other = candidate
            other.replaceSubrange(48..<56, with: [UInt8](repeating: 0, count: 8))
            candidates.append(other)
        }
        for candidate in candidates {
            if let header = try? FileHeader(candidate, expecting: .log) { return header }
            for bit in (16 * 8)..<(56 * 8) {
                var flipped = candidate
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                if let header = try? FileHeader(flipped, expecting: .log) { return header }
            }
        }
        return nil
    }
}

extension CRC32C {
    /// The checksum that these bytes lead on from to another.
    static func origin(of value: UInt32, behind bytes: UnsafeRawBufferPointer) -> UInt32 {
        var state = ~value
        for byte in bytes.reversed() {
            for _ in 0..<8 {
                // The polynomial has its highest bit, so that it shows whether it was added.
                state = state >> 31 == 1 ? (state ^ 0x82F6_3B78) << 1 | 1 : state << 1
            }
            state ^= UInt32(byte)
        }
        return ~state
    }
}
