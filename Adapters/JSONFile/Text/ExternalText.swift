import MortiseCore
import MortiseEngine

/// The text of data that are in a file of their own: an object that names the file and says what is in it.
enum ExternalText {
    private static let file = "file"
    private static let length = "length"
    private static let checksum = "crc32c"

    static func write(_ reference: ExternalReference, to writer: inout JSONWriter) throws {
        try writer.punctuation("{\"file\": ")
        try writer.string(reference.name.text)
        try writer.punctuation(", \"length\": ")
        try writer.unsigned(reference.length)
        try writer.punctuation(", \"crc32c\": ")
        try writer.string(DocumentSeal.text(of: reference.checksum))
        try writer.punctuation("}")
    }

    /// - Throws: `JSONFault` for malformed text, `DocumentFault` for an object that is no reference.
    static func read(from reader: inout JSONReader) throws -> ExternalReference {
        _ = try reader.peek()
        let start = reader.position
        try reader.beginObject()
        var name: ExternalReference.Name?
        var length: UInt64?
        var checksum: UInt32?
        while let key = try reader.nextKey() {
            let isRepeated =
                switch key {
                case Self.file: name != nil
                case Self.length: length != nil
                case Self.checksum: checksum != nil
                default: throw DocumentFault(.unknownMember(key), at: reader.keyOffset)
                }
            if isRepeated { throw JSONFault(reason: .duplicateKey(key), offset: reader.keyOffset) }
            let found = try reader.peek()
            let offset = reader.position
            let wanted: JSONReader.Kind = key == Self.length ? .number : .string
            guard found == wanted else {
                throw DocumentFault(.wrongType(expected: wanted.rawValue, found: found.rawValue), at: offset)
            }
            if key == Self.length {
                let number = try reader.readNumber()
                guard let value = reader.unsigned(number) else {
                    throw DocumentFault(.numberOutOfRange(.uint64), at: offset)
                }
                length = value
                continue
            }
            let text = try reader.readString()
            if key == Self.file {
                guard let value = ExternalReference.Name(text) else {
                    throw DocumentFault(.invalidText(.data), at: offset)
                }
                name = value
            } else {
                guard let value = UInt32(text, radix: 16), DocumentSeal.text(of: value) == text else {
                    throw DocumentFault(.invalidText(.data), at: offset)
                }
                checksum = value
            }
        }
        guard let name else { throw DocumentFault(.missingMember(Self.file), at: start) }
        guard let length else { throw DocumentFault(.missingMember(Self.length), at: start) }
        guard let checksum else { throw DocumentFault(.missingMember(Self.checksum), at: start) }
        return ExternalReference(name: name, length: length, checksum: checksum)
    }
}
