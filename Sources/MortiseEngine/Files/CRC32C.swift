/// The Castagnoli checksum of RFC 3720, over bytes that come in any number of pieces.
///
/// It detects every error of up to 32 adjacent bits, and misses any other with a probability of 1 in 2³². It protects
/// against accidents, not against attacks.
///
/// The same bytes give the same value on every platform, however they are cut into pieces.
public struct CRC32C: Sendable, Hashable {
    /// The checksum of all bytes so far; 0 before the first.
    public private(set) var value: UInt32

    /// Starts a checksum, or resumes it from the `value` of earlier bytes.
    public init(resuming value: UInt32 = 0) { self.value = value }

    /// The checksum of `bytes`.
    public static func checksum(of bytes: [UInt8]) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(bytes)
        return checksum.value
    }

    /// The checksum of raw memory.
    public static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(bytes)
        return checksum.value
    }

    /// Adds bytes to the checksum.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds bytes to the checksum.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard Self.hasInstructions else { return updatePortably(bytes) }
        value = ~mortise_crc32c(~value, bytes.baseAddress, bytes.count)
    }

    /// Whether the processor has instructions for this checksum.
    static let hasInstructions = mortise_crc32c_prepare() != 0

    /// As `update`, without the processor's instructions.
    mutating func updatePortably(_ bytes: UnsafeRawBufferPointer) {
        var state = ~value
        Self.tables.withUnsafeBufferPointer { tables in
            var offset = 0
            // Eight bytes at a time, one table for each of their positions ("slicing by 8").
            while bytes.count - offset >= 8 {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let mixed = word ^ UInt64(state)
                state =
                    tables[7 &* 256 &+ Int(truncatingIfNeeded: mixed & 0xFF)]
                    ^ tables[6 &* 256 &+ Int(truncatingIfNeeded: mixed >> 8 & 0xFF)]
                    ^ tables[5 &* 256 &+ Int(truncatingIfNeeded: mixed >> 16 & 0xFF)]
                    ^ tables[4 &* 256 &+ Int(truncatingIfNeeded: mixed >> 24 & 0xFF)]
                    ^ tables[3 &* 256 &+ Int(truncatingIfNeeded: mixed >> 32 & 0xFF)]
                    ^ tables[2 &* 256 &+ Int(truncatingIfNeeded: mixed >> 40 & 0xFF)]
                    ^ tables[1 &* 256 &+ Int(truncatingIfNeeded: mixed >> 48 & 0xFF)]
                    ^ tables[Int(truncatingIfNeeded: mixed >> 56)]
                offset &+= 8
            }
            while offset < bytes.count {
                state = tables[Int(truncatingIfNeeded: (state ^ UInt32(bytes[offset])) & 0xFF)] ^ (state >> 8)
                offset &+= 1
            }
        }
        value = ~state
    }

    /// Eight tables of 256: table k holds the effect of a byte with k more bytes after it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var remainder = UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0x82F6_3B78 }
            tables[byte] = remainder
        }
        for index in 256..<(8 * 256) {
            let shorter = tables[index - 256]
            tables[index] = tables[Int(shorter & 0xFF)] ^ (shorter >> 8)
        }
        return tables
    }()
}
