import MortiseCore
import MortiseEngine

extension SchemaReader {
    /// Makes sure that a value of a type comes next; returns where.
    func start(_ wanted: JSONReader.Kind, _ reader: inout JSONReader) throws -> Int {
        let found = try reader.peek()
        guard found == wanted else {
            throw DocumentFault(.wrongType(expected: wanted.rawValue, found: found.rawValue), at: reader.position)
        }
        return reader.position
    }

    mutating func list(
        _ reader: inout JSONReader, _ readElement: (inout JSONReader, inout SchemaReader) throws -> Void
    ) throws {
        _ = try start(.array, &reader)
        try reader.beginArray()
        while try reader.nextElement() { try readElement(&reader, &self) }
    }

    func readText(_ reader: inout JSONReader) throws -> String {
        _ = try start(.string, &reader)
        return try reader.readString()
    }

    func readName(_ reader: inout JSONReader) throws -> String {
        let start = try start(.string, &reader)
        let name = try reader.readString()
        try Self.check(.nameLength, name.utf8.count, at: start)
        return name
    }

    func readTruth(_ reader: inout JSONReader) throws -> Bool {
        _ = try start(.bool, &reader)
        return try reader.readBool()
    }

    func readCount(_ reader: inout JSONReader) throws -> Int {
        _ = try start(.number, &reader)
        let number = try reader.readNumber()
        guard let value = reader.integer(number).flatMap({ Int(exactly: $0) }) else {
            throw DocumentFault(.numberOutOfRange(.int64), at: number.range.lowerBound)
        }
        return value
    }

    func readWord<Word>(
        _ reader: inout JSONReader, expected: String, _ word: (String) -> Word?
    ) throws -> Word {
        let start = try start(.string, &reader)
        let text = try reader.readString()
        guard let word = word(text) else { throw DocumentFault(.invalidWord(text, expected: expected), at: start) }
        return word
    }
}

/// Reads the members of one object whose keys are known: in any order, each at most once, no others.
struct KnownMembers {
    private let known: [String]
    private var left: [String]
    private let required: [String]
    private let start: Int

    init(_ required: [String], optional: [String], at start: Int) {
        self.required = required
        self.start = start
        known = required + optional
        left = known
    }

    /// The next member's key; nil after the last.
    mutating func next(_ reader: inout JSONReader) throws -> String? {
        guard let key = try reader.nextKey() else {
            if let missing = required.first(where: left.contains) {
                throw DocumentFault(.missingMember(missing), at: start)
            }
            return nil
        }
        guard known.contains(key) else { throw DocumentFault(.unknownMember(key), at: reader.keyOffset) }
        guard let index = left.firstIndex(of: key) else {
            throw JSONFault(reason: .duplicateKey(key), offset: reader.keyOffset)
        }
        left.remove(at: index)
        return key
    }
}
