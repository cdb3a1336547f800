import Foundation

/// UUIDs as text: 8-4-4-4-12 hexadecimal digits.
enum UUIDText {
    /// The length of the text.
    static let length = 36

    /// Appends a UUID in upper case, in quotes.
    static func write(_ value: UUID, to writer: inout JSONWriter) throws {
        try writer.reserve(length + 2)
        writer.put(UInt8(ascii: "\""))
        withUnsafeBytes(of: value.uuid) { bytes in
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 { writer.put(UInt8(ascii: "-")) }
                writer.put(digit(bytes[index] >> 4))
                writer.put(digit(bytes[index] & 15))
            }
        }
        writer.put(UInt8(ascii: "\""))
    }

    /// The UUID that a text in either case stands for; nil for every other text.
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

    @inline(__always) private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? 0x30 &+ nibble : 0x37 &+ nibble
    }
}
