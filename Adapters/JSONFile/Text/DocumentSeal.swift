import MortiseEngine

/// The last line of a store document: a checksum of every byte before it.
///
/// The line is exactly `  "seal": "crc32c:xxxxxxxx"}` and a line feed, with eight lower-case hexadecimal digits. The
/// checksum is CRC-32C of the bytes from the first of the file to the line feed before the line.
struct DocumentSeal {
    private var checksum = CRC32C()

    static let prefix = "  \"seal\": \"crc32c:"
    static let suffix = "\"}\n"
    /// The length of the line, line feed included.
    static let length = prefix.utf8.count + 8 + suffix.utf8.count

    /// Takes in what the seal is to cover.
    mutating func update(_ bytes: UnsafeRawBufferPointer) { checksum.update(bytes) }

    var value: UInt32 { checksum.value }

    /// The last line for what was taken in.
    var line: String { Self.prefix + Self.text(of: value) + Self.suffix }

    static func text(of value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// What the last line of a text says about the bytes before it.
    enum State: Hashable {
        case intact
        case broken(stored: UInt32, computed: UInt32)
        /// The text does not end with a seal's line.
        case missing
    }

    static func state(of bytes: UnsafeRawBufferPointer) -> State {
        let start = bytes.count - length
        guard start > 0, bytes[start - 1] == UInt8(ascii: "\n"), let stored = storedValue(in: bytes, from: start) else {
            return .missing
        }
        let computed = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[..<start]))
        return stored == computed ? .intact : .broken(stored: stored, computed: computed)
    }

    private static func storedValue(in bytes: UnsafeRawBufferPointer, from start: Int) -> UInt32? {
        let digits = (start + prefix.utf8.count)..<(bytes.count - suffix.utf8.count)
        guard bytes[start..<digits.lowerBound].elementsEqual(prefix.utf8),
            bytes[digits.upperBound...].elementsEqual(suffix.utf8)
        else { return nil }
        var value: UInt32 = 0
        for index in digits {
            switch bytes[index] {
            case let digit where digit &- 0x30 <= 9: value = value << 4 | UInt32(digit &- 0x30)
            case let digit where digit &- 0x61 <= 5: value = value << 4 | UInt32(digit &- 0x57)
            default: return nil
            }
        }
        return value
    }
}
