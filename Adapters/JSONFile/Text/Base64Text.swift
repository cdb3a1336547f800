import Foundation

/// Base64 (RFC 4648, section 4) without tolerance: one text for each `Data`.
enum Base64Text {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each ASCII character; 0xFF for those outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// Decodes Base64 text; nil if it has other characters, white space, wrong padding, or bits that would be lost.
    static func data(from text: UnsafeRawBufferPointer) -> Data? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return Data() }
        let padding =
            text[text.count - 1] != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        var data = Data(count: text.count / 4 * 3 - padding)
        let isValid = data.withUnsafeMutableBytes { target in
            values.withUnsafeBufferPointer { decode(text, padding: padding, values: $0, into: target) }
        }
        return isValid ? data : nil
    }

    private static func decode(
        _ text: UnsafeRawBufferPointer, padding: Int, values: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var written = 0
        for start in stride(from: 0, to: text.count, by: 4) {
            let characters = start + 4 == text.count ? 4 - padding : 4
            var group: UInt32 = 0
            for index in 0..<4 {
                let value = index < characters ? values[Int(text[start + index])] : 0
                guard value != 0xFF else { return false }
                group = group << 6 | UInt32(value)
            }
            let count = characters - 1
            let unused = UInt32(0xFF_FFFF) >> UInt32(8 * count)
            if count < 3, group & unused != 0 { return false }
            for index in 0..<count {
                target[written] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))
                written += 1
            }
        }
        return true
    }

    /// Appends the text of `data`, in quotes.
    static func write(_ data: Data, to writer: inout JSONWriter) throws {
        try writer.punctuation("\"")
        try data.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let count = min(3, bytes.count - start)
                var group: UInt32 = 0
                for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
                try writer.reserve(4)
                for index in 0..<4 {
                    let value = Int(truncatingIfNeeded: group >> UInt32(18 - 6 * index) & 63)
                    writer.put(index <= count ? alphabet[value] : UInt8(ascii: "="))
                }
                start += 3
            }
        }
        try writer.punctuation("\"")
    }
}
