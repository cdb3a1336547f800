/// Reads JSON (RFC 8259) member by member, without building a tree: only strings allocate.
///
/// The caller goes through the text in order: `beginObject`, then `nextKey` before each member until that is nil; `beginArray`,
/// then `nextElement` before each element until that is false; one value after each.
struct SchemaTextCursor {
    enum Kind: String {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "true or false"
        case null = "null"
    }

    let bytes: [UInt8]
    var position = 0
    /// Where the key begins that `nextKey` has returned.
    private(set) var keyPosition = 0
    private(set) var depth = 0
    private var isAfterOpening = false

    /// - Throws: `SchemaDocumentError` for a text that is too long or no UTF-8.
    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        guard bytes.count <= SchemaDocumentLimit.bytes else {
            throw SchemaDocumentError(.limitExceeded("bytes", most: SchemaDocumentLimit.bytes), line: 1, column: 1)
        }
        if String(validating: bytes, as: UTF8.self) != nil { return }
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            throw SchemaDocumentError(
                .notJSON(expected: "UTF-8", found: "other bytes"), line: index + 1, column: 1)
        }
    }

    /// An error at a place of the text.
    func error(_ fault: SchemaDocumentError.Fault, at offset: Int) -> SchemaDocumentError {
        let before = bytes[..<min(max(offset, 0), bytes.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return SchemaDocumentError(
            fault, line: before.count { $0 == 0x0A } + 1, column: before.count - start + 1)
    }

    func unexpected(_ expected: String) -> SchemaDocumentError {
        error(.notJSON(expected: expected, found: found), at: position)
    }

    /// What comes next, for people.
    private var found: String {
        guard position < bytes.count else { return "the end" }
        let byte = bytes[position]
        guard (0x20..<0x7F).contains(byte) else { return "the byte \(byte)" }
        return "'\(Character(UnicodeScalar(byte)))'"
    }

    mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
    }

    /// The type of what comes next.
    mutating func peek() throws -> Kind {
        skipSpace()
        guard position < bytes.count else { throw unexpected("a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw unexpected("a value")
        }
    }

    /// Makes sure that a value of a type comes next; returns where.
    @discardableResult
    mutating func expect(_ wanted: Kind) throws -> Int {
        let kind = try peek()
        guard kind == wanted else {
            throw error(.wrongType(expected: wanted.rawValue, found: kind.rawValue), at: position)
        }
        return position
    }

    mutating func beginObject() throws {
        try expect(.object)
        try open()
    }

    mutating func beginArray() throws {
        try expect(.array)
        try open()
    }

    private mutating func open() throws {
        guard depth < SchemaDocumentLimit.depth else {
            throw error(.limitExceeded("levels of nesting", most: SchemaDocumentLimit.depth), at: position)
        }
        depth += 1
        position += 1
        isAfterOpening = true
    }

    /// Moves past the next member's key and colon; nil, and out of the object, at its end.
    mutating func nextKey() throws -> String? {
        guard try advance(to: UInt8(ascii: "}"), expected: "',' or '}'") else { return nil }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw unexpected("a key") }
        keyPosition = position
        let key = try string(limit: SchemaDocumentLimit.nameLength)
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { throw unexpected("':'") }
        position += 1
        return key
    }

    /// Whether another element follows; out of the array at its end.
    mutating func nextElement() throws -> Bool { try advance(to: UInt8(ascii: "]"), expected: "',' or ']'") }

    private mutating func advance(to bracket: UInt8, expected: String) throws -> Bool {
        skipSpace()
        let isFirst = isAfterOpening
        isAfterOpening = false
        guard position < bytes.count else { throw unexpected(expected) }
        if bytes[position] == bracket {
            position += 1
            depth -= 1
            return false
        }
        if isFirst { return true }
        guard bytes[position] == UInt8(ascii: ",") else { throw unexpected(expected) }
        position += 1
        skipSpace()
        guard position < bytes.count, bytes[position] != bracket else { throw unexpected("another one after ','") }
        return true
    }

    /// Makes sure that nothing follows.
    mutating func finish() throws {
        skipSpace()
        guard position == bytes.count else { throw unexpected("the end") }
    }

    mutating func bool() throws -> Bool {
        try expect(.bool)
        let value = bytes[position] == UInt8(ascii: "t")
        try literal(value ? "true" : "false")
        return value
    }

    mutating func null() throws {
        try expect(.null)
        try literal("null")
    }

    private mutating func literal(_ word: String) throws {
        guard bytes[position...].starts(with: word.utf8) else { throw unexpected(word) }
        position += word.utf8.count
    }

    /// Moves past a value of any type.
    mutating func skipValue() throws {
        switch try peek() {
        case .object:
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        case .string: _ = try string(limit: SchemaDocumentLimit.textLength)
        case .number: _ = try number()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }
}
