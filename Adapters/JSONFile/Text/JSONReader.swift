/// Reads a JSON text (RFC 8259, UTF-8) value by value, without building a tree.
///
/// The caller goes through the text in order: `beginObject`, then `nextKey` before each member until it returns nil;
/// `beginArray`, then `nextElement` before each element until it returns false; a `read…` for each value between. What
/// the reader accepts is exactly RFC 8259, less these: a byte-order mark, lone surrogate escapes, nesting beyond
/// `maximumDepth` and numbers longer than `maximumNumberLength`. Duplicate keys are refused by `readTree`; a caller of
/// `nextKey` compares keys itself (as `String`s, hence under canonical equivalence).
///
/// Depth costs no stack, and only strings and trees allocate. The bytes have to stay in place and unchanged while the
/// reader is in use. After an error the reader must not be used again.
package struct JSONReader {
    /// How deep arrays and objects may be nested.
    package static let maximumDepth = 512
    /// The largest number of bytes of one number.
    package static let maximumNumberLength = 1024

    let bytes: UnsafeRawBufferPointer
    /// The number of bytes consumed.
    package internal(set) var position = 0
    /// The number of arrays and objects that are open.
    package internal(set) var depth = 0
    /// Whether the last thing read was an opening bracket, so that no comma separates what follows.
    var isAfterOpening = false
    /// Where the key begins that `nextKey` returned last.
    package internal(set) var keyOffset = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Goes on where another reader of the same bytes was, before a value.
    init(_ bytes: UnsafeRawBufferPointer, at position: Int, depth: Int) {
        self.bytes = bytes
        self.position = position
        self.depth = depth
    }

    /// The type of a value, recognized by its first byte.
    package enum Kind: String, Sendable {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "a boolean"
        case null = "null"
    }

    /// Skips white space and returns the kind of what comes next, without consuming it.
    @inline(__always) package mutating func peek() throws(JSONFault) -> Kind {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") { return .string }
        return try peekOther()
    }

    private mutating func peekOther() throws(JSONFault) -> Kind {
        skipWhitespace()
        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "a value")) }
        switch bytes[position] {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case 0xEF where position == 0 && bytes.count >= 3 && bytes[1] == 0xBB && bytes[2] == 0xBF:
            throw fault(.byteOrderMark)
        case let byte: throw fault(.unexpectedByte(byte, expected: "a value"))
        }
    }

    @inline(__always) mutating func skipWhitespace() {
        if position < bytes.count, bytes[position] > 0x20 { return }
        skipWhitespaceBytes()
    }

    private mutating func skipWhitespaceBytes() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
            default: return
            }
        }
    }

    /// Consumes the given bytes if exactly they come next.
    @inline(__always) mutating func consume(_ expected: UnsafeRawBufferPointer) -> Bool {
        guard expected.count <= bytes.count &- position else { return false }
        var index = 0
        while index &+ 8 <= expected.count {
            let found = bytes.loadUnaligned(fromByteOffset: position &+ index, as: UInt64.self)
            if found != expected.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index &+= 8
        }
        while index < expected.count {
            if bytes[position &+ index] != expected[index] { return false }
            index &+= 1
        }
        position &+= expected.count
        return true
    }

    /// Enters an object and goes on after its first key, where the text is exactly this one: a bracket, a key, a colon.
    @inline(__always) mutating func beginObject(writtenAs text: StaticString) -> Bool {
        skipWhitespace()
        let start = position
        guard depth < Self.maximumDepth,
            consume(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        else { return false }
        depth &+= 1
        isAfterOpening = false
        keyOffset = start &+ 1
        return true
    }

    func fault(_ reason: JSONTextError.Reason) -> JSONFault { JSONFault(reason: reason, offset: position) }
}

// MARK: - Structure

extension JSONReader {
    /// Enters an object.
    package mutating func beginObject() throws(JSONFault) {
        try open(UInt8(ascii: "{"), expected: "an object")
    }

    /// Enters an array.
    package mutating func beginArray() throws(JSONFault) {
        try open(UInt8(ascii: "["), expected: "an array")
    }

    /// Moves past the next member's key and colon; leaves the object and returns nil at its end.
    package mutating func nextKey() throws(JSONFault) -> String? {
        guard try advance(to: UInt8(ascii: "}"), expected: "',' or '}'") else { return nil }
        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "a key")) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw fault(.unexpectedByte(bytes[position], expected: "a key in double quotes"))
        }
        keyOffset = position
        let key = try readString()
        try readColon()
        return key
    }

    /// Whether another element follows, moving to it; leaves the array where it ends.
    package mutating func nextElement() throws(JSONFault) -> Bool {
        try advance(to: UInt8(ascii: "]"), expected: "',' or ']'")
    }

    /// Makes sure that nothing but white space follows the value.
    package mutating func finish() throws(JSONFault) {
        skipWhitespace()
        guard position == bytes.count else { throw fault(.trailingBytes) }
    }

    mutating func readColon() throws(JSONFault) {
        skipWhitespace()
        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "':'")) }
        guard bytes[position] == UInt8(ascii: ":") else {
            throw fault(.unexpectedByte(bytes[position], expected: "':'"))
        }
        position &+= 1
    }

    private mutating func open(_ bracket: UInt8, expected: String) throws(JSONFault) {
        _ = try peek()
        guard bytes[position] == bracket else { throw fault(.unexpectedByte(bytes[position], expected: expected)) }
        guard depth < Self.maximumDepth else { throw fault(.nestingTooDeep(limit: Self.maximumDepth)) }
        depth &+= 1
        position &+= 1
        isAfterOpening = true
    }

    /// Moves to the next element or key; false, and past the bracket, if the container ends here.
    mutating func advance(to bracket: UInt8, expected: String) throws(JSONFault) -> Bool {
        skipWhitespace()
        let isFirst = isAfterOpening
        isAfterOpening = false
        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: expected)) }
        if bytes[position] == bracket {
            position &+= 1
            depth &-= 1
            return false
        }
        if isFirst { return true }
        guard bytes[position] == UInt8(ascii: ",") else {
            throw fault(.unexpectedByte(bytes[position], expected: expected))
        }
        let comma = position
        position &+= 1
        skipWhitespace()
        if position < bytes.count, bytes[position] == bracket {
            throw JSONFault(reason: .trailingComma, offset: comma)
        }
        return true
    }
}

// MARK: - Literals

extension JSONReader {
    /// Consumes `null` if it comes next, after white space.
    @inline(__always) package mutating func readNullIfPresent() throws(JSONFault) -> Bool {
        skipWhitespace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "n") else { return false }
        try readLiteral("null")
        return true
    }

    /// Reads `true` or `false`.
    package mutating func readBool() throws(JSONFault) -> Bool {
        guard try peek() == .bool else {
            throw fault(.unexpectedByte(bytes[position], expected: "true or false"))
        }
        let value = bytes[position] == UInt8(ascii: "t")
        try readLiteral(value ? "true" : "false")
        return value
    }

    mutating func readLiteral(_ literal: StaticString) throws(JSONFault) {
        let expected = UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
        guard consume(expected) else {
            var index = 0
            while index < expected.count, position < bytes.count, bytes[position] == expected[index] {
                index &+= 1
                position &+= 1
            }
            guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "\(literal)")) }
            throw fault(.unexpectedByte(bytes[position], expected: "\(literal)"))
        }
    }
}
