// MARK: - Strings

extension JSONReader {
    /// Reads a string; unescaped, well-formed, otherwise byte for byte as written.
    package mutating func readString() throws(JSONFault) -> String {
        let body = try readStringBody()
        let content = UnsafeRawBufferPointer(rebasing: bytes[body.range])
        guard body.hasEscapes else { return String(decoding: content, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: content.count) { Self.unescape(content, into: $0) }
    }

    /// A string's text between the quotes, checked but not unescaped.
    struct StringBody {
        let range: Range<Int>
        let hasEscapes: Bool
    }

    /// Checks a string and moves past it.
    @inline(__always) mutating func readStringBody() throws(JSONFault) -> StringBody {
        if position >= bytes.count || bytes[position] != UInt8(ascii: "\"") {
            guard try peek() == .string else { throw fault(.unexpectedByte(bytes[position], expected: "a string")) }
        }
        let start = position &+ 1
        let stop = plainEnd(from: start)
        if stop < bytes.count, bytes[stop] == UInt8(ascii: "\"") {
            position = stop &+ 1
            return StringBody(range: start..<stop, hasEscapes: false)
        }
        return try readStringBody(from: start, stop: stop)
    }

    /// Goes on where the first byte that is not plain ASCII was found.
    private mutating func readStringBody(from start: Int, stop: Int) throws(JSONFault) -> StringBody {
        position = stop
        var hasEscapes = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position &+= 1
                return StringBody(range: start..<(position &- 1), hasEscapes: hasEscapes)
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try checkEscape()
            } else if byte >= 0x80 {
                let length = sequenceLength(at: position)
                guard length > 0 else { throw fault(.invalidUTF8) }
                position &+= length
                if position < bytes.count, bytes[position] >= 0x80 { continue }
            } else {
                throw fault(.controlCharacter(byte))
            }
            position = plainEnd(from: position)
        }
        throw fault(.unexpectedEnd(expected: "the closing quote of a string"))
    }

    /// The offset of the first byte from `start` that is a quote, a backslash, a control character or not ASCII.
    @inline(__always) func plainEnd(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quotes = (word ^ (ones &* 0x22)) &- ones
            let backslashes = (word ^ (ones &* 0x5C)) &- ones
            let controls = word &- ones &* 0x20
            let hits = (quotes | backslashes | controls | word) & highs
            // A borrow can only mark bytes after the first hit, so the first is exact.
            if hits != 0 { return index &+ hits.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 || byte >= 0x80 { break }
            index &+= 1
        }
        return index
    }

    /// The length of the well-formed UTF-8 sequence of more than one byte at `index` (Unicode, table 3-7); 0 if no such
    /// sequence begins there.
    func sequenceLength(at index: Int) -> Int {
        let lead = bytes[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard bytes.count &- index >= length, second.contains(bytes[index &+ 1]) else { return 0 }
        for next in 2..<max(length, 2) where bytes[index &+ next] & 0xC0 != 0x80 { return 0 }
        return length
    }
}

// MARK: - Escapes

extension JSONReader {
    /// Checks the escape at the backslash and moves past it, over both halves of a surrogate pair.
    private mutating func checkEscape() throws(JSONFault) {
        guard position &+ 1 < bytes.count else {
            position = bytes.count
            throw fault(.unexpectedEnd(expected: "the rest of an escape"))
        }
        switch bytes[position &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 2
        case UInt8(ascii: "u"):
            let unit = try checkHexadecimal(at: position)
            switch unit {
            case 0xD800...0xDBFF:
                let next = position &+ 6
                guard next &+ 1 < bytes.count, bytes[next] == UInt8(ascii: "\\"), bytes[next &+ 1] == UInt8(ascii: "u"),
                    (0xDC00...0xDFFF).contains(try checkHexadecimal(at: next))
                else { throw fault(.loneSurrogate) }
                position &+= 12
            case 0xDC00...0xDFFF: throw fault(.loneSurrogate)
            default: position &+= 6
            }
        default: throw fault(.invalidEscape)
        }
    }

    /// The four hexadecimal digits of the `\u` escape at `index`.
    private func checkHexadecimal(at index: Int) throws(JSONFault) -> UInt32 {
        guard bytes.count &- index >= 6 else {
            throw JSONFault(reason: .unexpectedEnd(expected: "four hexadecimal digits"), offset: bytes.count)
        }
        guard let unit = Self.hexadecimal(UnsafeRawBufferPointer(rebasing: bytes[(index &+ 2)..<(index &+ 6)])) else {
            throw JSONFault(reason: .invalidEscape, offset: index)
        }
        return unit
    }

    private static func hexadecimal(_ digits: UnsafeRawBufferPointer) -> UInt32? {
        var value: UInt32 = 0
        for digit in digits {
            guard let nibble = Unicode.Scalar(digit).hexDigitValue else { return nil }
            value = value << 4 | nibble
        }
        return value
    }

    /// Writes a checked text with its escapes resolved; never longer than the text.
    private static func unescape(_ text: UnsafeRawBufferPointer, into target: UnsafeMutableBufferPointer<UInt8>) -> Int
    {
        var read = 0
        var written = 0
        func put(_ byte: UInt8) {
            target[written] = byte
            written &+= 1
        }
        func unit(at index: Int) -> UInt32 {
            hexadecimal(UnsafeRawBufferPointer(rebasing: text[index..<(index &+ 4)])) ?? 0xFFFD
        }
        while read < text.count {
            let byte = text[read]
            read &+= 1
            guard byte == UInt8(ascii: "\\") else {
                put(byte)
                continue
            }
            let escape = text[read]
            read &+= 1
            switch escape {
            case UInt8(ascii: "b"): put(0x08)
            case UInt8(ascii: "f"): put(0x0C)
            case UInt8(ascii: "n"): put(0x0A)
            case UInt8(ascii: "r"): put(0x0D)
            case UInt8(ascii: "t"): put(0x09)
            case UInt8(ascii: "u"):
                var value = unit(at: read)
                read &+= 4
                if (0xD800...0xDBFF).contains(value) {
                    value = 0x10000 &+ (value & 0x3FF) << 10 | unit(at: read &+ 2) & 0x3FF
                    read &+= 6
                }
                UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}")?.forEach(put)
            default: put(escape)
            }
        }
        return written
    }
}

extension Unicode.Scalar {
    fileprivate var hexDigitValue: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x57
        case "A"..."F": value - 0x37
        default: nil
        }
    }
}
