import Foundation

/// UUIDs as text: 8-4-4-4-12 hexadecimal digits.
enum UUIDText {
    /// The length of the text.
    static let length = 36

    /// Appends a UUID in upper case, in quotes.
    static func write(_ value: UUID, to writer: inout JSONWriter) throws {
        try writer.reserve(length + 2)
        let (high, low) = withUnsafeBytes(of: value.uuid) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        let (first, second) = (digits(UInt32(high >> 32)), digits(UInt32(truncatingIfNeeded: high)))
        let (third, fourth) = (digits(UInt32(low >> 32)), digits(UInt32(truncatingIfNeeded: low)))
        writer.fillBuffer { room in
            func put<T: FixedWidthInteger>(_ text: T, at offset: Int) {
                room.storeBytes(of: text.littleEndian, toByteOffset: offset, as: T.self)
            }
            put(UInt8(ascii: "\""), at: 0)
            put(first, at: 1)
            put(UInt8(ascii: "-"), at: 9)
            put(UInt32(truncatingIfNeeded: second), at: 10)
            put(UInt8(ascii: "-"), at: 14)
            put(UInt32(truncatingIfNeeded: second >> 32), at: 15)
            put(UInt8(ascii: "-"), at: 19)
            put(UInt32(truncatingIfNeeded: third), at: 20)
            put(UInt8(ascii: "-"), at: 24)
            put(UInt32(truncatingIfNeeded: third >> 32), at: 25)
            put(fourth, at: 29)
            put(UInt8(ascii: "\""), at: 37)
            return length + 2
        }
    }

    /// Eight digits in upper case, the first in the lowest byte.
    @inline(__always) private static func digits(_ value: UInt32) -> UInt64 {
        // A byte for each nibble, first to last.
        var spread = UInt64(value.byteSwapped)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        spread = (spread >> 4 & 0x000F_000F_000F_000F) | (spread << 8 & 0x0F00_0F00_0F00_0F00)
        // Six more than a digit's highest carries into the bit above the low four exactly for the letters.
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return spread &+ 0x3030_3030_3030_3030 &+ letters &* 7
    }

    /// Parses a UUID in either case; nil for every other text.
    static func uuid(from text: UnsafeRawBufferPointer) -> UUID? {
        guard text.count == length, text[8] == 0x2D, text[13] == 0x2D, text[18] == 0x2D, text[23] == 0x2D else {
            return nil
        }
        return nibbles.withUnsafeBufferPointer { nibbles in
            // Anything that is no digit has the bits above the low four set; they are collected and looked at once.
            var collected: UInt8 = 0
            func byte(_ index: Int) -> UInt8 {
                let high = nibbles[Int(text[index])]
                let low = nibbles[Int(text[index &+ 1])]
                collected |= high | low
                return high << 4 | low & 15
            }
            let value: uuid_t = (
                byte(0), byte(2), byte(4), byte(6), byte(9), byte(11), byte(14), byte(16), byte(19), byte(21), byte(24),
                byte(26), byte(28), byte(30), byte(32), byte(34)
            )
            return collected <= 15 ? UUID(uuid: value) : nil
        }
    }

    /// The value of each ASCII hexadecimal digit; 0xFF for other bytes.
    private static let nibbles: [UInt8] = (UInt8.min...UInt8.max).map { byte in
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: 0xFF
        }
    }
}
