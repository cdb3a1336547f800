import Foundation
import MortiseEngine

/// What is known of a log whose file header is damaged.
///
/// The checksums of frames go on from that of the header. So any frame that is whole tells what the header's checksum was,
/// by which it is seen whether the header can be put right.
struct HeaderRecovery {
    /// The base of a log whose history ends at an unknown transaction.
    static let unknownBase = EngineVersion.numberLimit - 1

    let header: FileHeader
    /// What the checksums of the file's frames go on from.
    let seed: UInt32
    /// Whether the header is as it was written.
    let isExact: Bool
    /// Whether the store's identifier is a new one.
    let hasLostIdentifier: Bool

    /// Recovers the header from the first bytes of the file, its frames, and the header of the checkpoint beside it.
    /// Returns nil if the header is undamaged, or nothing in the file belongs to a log. Throws `FileError`.
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
        // A file that is not a log may have many bytes that look like frames and claim to be long.
        var patience = 4 * size
        var found: UInt32?
        // A byte too few in the file header moves the first frame before its position.
        _ = try window.firstMarker(from: 1) { raw, place in
            guard raw[5] & ~1 == 0, raw[6] | raw[7] == 0, patience > 0 else { return patience <= 0 }
            let length = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
            guard length > 0, length <= UInt64(size - place - Int64(FrameHeader.size)) else { return false }
            let sum = raw.loadUnaligned(fromByteOffset: 44, as: UInt32.self).littleEndian
            let seed = CRC32C.origin(of: sum, behind: UnsafeRawBufferPointer(rebasing: raw[..<44]))
            let reader = FrameReader(file, size: size, seed: seed)
            guard let frame = try reader.header(at: place), reader.hasWhole(frame, at: place) else { return false }
            patience -= Int64(frame.length)
            guard try reader.withPayload(of: frame, at: place, { _ in true }) == true else { return false }
            found = seed
            return true
        }
        return found
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
        for byte in bytes.reversed() { state = before(state) ^ UInt32(byte) }
        return ~state
    }

    /// The register as it was before eight bits were shifted through it, the byte that came in still added.
    private static func before(_ state: UInt32) -> UInt32 {
        var state = state
        for _ in 0..<8 {
            // The polynomial has its highest bit, so that it shows whether it was added.
            state = state >> 31 == 1 ? (state ^ 0x82F6_3B78) << 1 | 1 : state << 1
        }
        return state
    }

    /// Whether inserting one byte, somewhere before the last of these, would turn their checksum from `found` into
    /// `wanted`, whatever both started from.
    static func isByteMissing(
        from bytes: UnsafeRawBufferPointer, between found: UInt32, and wanted: UInt32
    ) -> Bool {
        // Going back from the end: what the register was before each byte, and what it has to be after the missing one.
        var (state, needed) = (~found, ~wanted)
        for byte in bytes.reversed() {
            state = before(state) ^ UInt32(byte)
            needed = before(needed) ^ UInt32(byte)
            // A byte changes the lowest eight bits alone.
            if before(needed) >> 8 == state >> 8 { return true }
        }
        return false
    }
}
