extension SchemaTextCursor {
    /// Reads a string with a limit on its bytes of UTF-8.
    mutating func string(limit: Int) throws -> String {
        let start = try expect(.string)
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                // The text is UTF-8 and escapes are whole scalars.
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                text.append(contentsOf: try escape())
            case 0..<0x20: throw unexpected("an escape in place of a control character")
            default:
                text.append(byte)
                position += 1
            }
            guard text.count <= limit else { throw error(.limitExceeded("bytes in a text", most: limit), at: start) }
        }
        throw unexpected("'\"'")
    }

    private mutating func escape() throws -> [UInt8] {
        guard position + 1 < bytes.count else { throw unexpected("an escape") }
        let simple: [UInt8: UInt8] = [
            UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 0x08,
            UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        ]
        if let byte = simple[bytes[position + 1]] {
            position += 2
            return [byte]
        }
        guard bytes[position + 1] == UInt8(ascii: "u") else { throw unexpected("an escape of JSON") }
        var code = try codeUnit()
        if (0xD800..<0xDC00).contains(code) {
            let low = try codeUnit()
            guard (0xDC00..<0xE000).contains(low) else { throw unexpected("the other half of a surrogate pair before") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = UnicodeScalar(code) else { throw unexpected("a whole surrogate pair before") }
        return Array(String(Character(scalar)).utf8)
    }

    /// Reads `\uXXXX`.
    private mutating func codeUnit() throws -> UInt32 {
        guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw unexpected("\\u and four digits") }
        var code: UInt32 = 0
        for byte in bytes[position + 2..<position + 6] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, byte < 0x80 else {
                throw unexpected("\\u and four digits")
            }
            code = code << 4 | UInt32(digit)
        }
        position += 6
        return code
    }

    /// Reads a number as it is written.
    mutating func number() throws -> String {
        let start = try expect(.number)
        func isDigit(_ place: Int) -> Bool {
            place < bytes.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place])
        }
        func isOne(of characters: String, _ place: Int) -> Bool {
            place < bytes.count && characters.utf8.contains(bytes[place])
        }
        var end = start
        func takeDigits() throws {
            guard isDigit(end) else {
                position = end
                throw unexpected("a digit")
            }
            while isDigit(end) { end += 1 }
        }
        if isOne(of: "-", end) { end += 1 }
        if isOne(of: "0", end) { end += 1 } else { try takeDigits() }
        if isOne(of: ".", end) {
            end += 1
            try takeDigits()
        }
        if isOne(of: "eE", end) {
            end += 1
            if isOne(of: "+-", end) { end += 1 }
            try takeDigits()
        }
        position = end
        guard end - start <= SchemaDocumentLimit.numberLength else {
            throw error(.limitExceeded("bytes in a number", most: SchemaDocumentLimit.numberLength), at: start)
        }
        if isDigit(end) { throw unexpected("no digits after a leading 0") }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}
