extension JSONReader {
    /// Checks the grammar of one value and moves past it. Duplicate keys, which the grammar allows, are not looked for.
    package mutating func skipValue() throws(JSONFault) {
        let outerDepth = depth
        var isObject = NestingBits()
        repeat {
            switch try peek() {
            case .object:
                try beginObject()
                isObject[depth] = true
            case .array:
                try beginArray()
                isObject[depth] = false
            case .string: _ = try readStringBody()
            case .number: _ = try readNumber()
            case .bool: _ = try readBool()
            case .null: _ = try readNullIfPresent()
            }
            while depth > outerDepth {
                if isObject[depth] {
                    if try advance(to: UInt8(ascii: "}"), expected: "',' or '}'") {
                        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "a key")) }
                        guard bytes[position] == UInt8(ascii: "\"") else {
                            throw fault(.unexpectedByte(bytes[position], expected: "a key in double quotes"))
                        }
                        _ = try readStringBody()
                        try readColon()
                        break
                    }
                } else if try nextElement() {
                    break
                }
            }
        } while depth > outerDepth
    }
}

/// For each depth up to the reader's limit, whether an object is open there.
private struct NestingBits {
    private var words = SIMD16<UInt64>()

    subscript(depth: Int) -> Bool {
        get { words[depth >> 6 & 15] >> UInt64(depth & 63) & 1 == 1 }
        set {
            let bit = UInt64(1) << UInt64(depth & 63)
            if newValue { words[depth >> 6 & 15] |= bit } else { words[depth >> 6 & 15] &= ~bit }
        }
    }
}
