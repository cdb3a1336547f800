import MortiseCore

/// Replaces data that are in an external file: which file, and what it must contain.
package struct ExternalReference: Hashable, Sendable {
    /// What the file is called: 32 lower-case hexadecimal digits.
    package struct Name: Hashable, Sendable {
        let high: UInt64
        let low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// - Returns: nil for any text that is not exactly a name. So nothing that a file says can be a path.
        package init?(_ text: String) {
            let digits = Array(text.utf8)
            guard digits.count == 32 else { return nil }
            var words: [UInt64] = [0, 0]
            for (place, digit) in digits.enumerated() {
                let value: UInt8
                switch digit {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
                default: return nil
                }
                words[place / 16] = words[place / 16] << 4 | UInt64(value)
            }
            self.init(high: words[0], low: words[1])
        }

        package var text: String { Self.digits(high) + Self.digits(low) }

        private static func digits(_ word: UInt64) -> String {
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    package let name: Name
    /// In bytes.
    package let length: UInt64
    /// CRC-32C.
    package let checksum: UInt32

    package init(name: Name, length: UInt64, checksum: UInt32) {
        self.name = name
        self.length = length
        self.checksum = checksum
    }

    // MARK: In memory, and in logs

    /// How many bytes a reference takes.
    static let size = 28

    /// The name in the order of its digits, then length and checksum, little-endian.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        withUnsafeBytes(of: name.high.bigEndian) { bytes += $0 }
        withUnsafeBytes(of: name.low.bigEndian) { bytes += $0 }
        withUnsafeBytes(of: length.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: checksum.littleEndian) { bytes += $0 }
        return bytes
    }

    /// - Returns: nil if there are not as many bytes as in a reference.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
        }
        self.init(
            name: Name(high: UInt64(bigEndian: load(0, UInt64.self)), low: UInt64(bigEndian: load(8, UInt64.self))),
            length: UInt64(littleEndian: load(16, UInt64.self)), checksum: UInt32(littleEndian: load(24, UInt32.self)))
    }

    // MARK: Among values

    /// The reference in place of a value on its way between a store's file and its columns. No attribute of kind `data`
    /// ever has an array, so it cannot be mistaken for a value; `RowSource.value(row:slot:)` never returns it.
    package var storedForm: StoredValue {
        .array([.unsigned(name.high), .unsigned(name.low), .unsigned(length), .unsigned(UInt64(checksum))])
    }

    package init?(storedForm: StoredValue) {
        guard case .array(let parts) = storedForm, parts.count == 4 else { return nil }
        let words = parts.compactMap { part -> UInt64? in if case .unsigned(let word) = part { word } else { nil } }
        guard words.count == 4, let checksum = UInt32(exactly: words[3]) else { return nil }
        self.init(name: Name(high: words[0], low: words[1]), length: words[2], checksum: checksum)
    }
}
