#if Tool
import MortiseCore

/// Reads records of a CSV file: fields in quotation marks may hold commas, line ends and doubled quotation marks.
struct CSVLines {
    struct Field {
        let text: String
        /// An empty field in quotation marks is an empty text, one without is nil.
        let isQuoted: Bool
    }

    private var lines: FileLines
    /// The number of the line in which the record that was read last begins, counted from 1.
    private(set) var number = 0

    /// How many bytes were read.
    var consumed: Int { lines.consumed }

    init(_ lines: FileLines) { self.lines = lines }

    /// The next record, with the text as it is in the file; nil after the last. Empty lines are passed over.
    /// - Throws: `ToolError.unreadableFile`.
    mutating func next() throws -> (text: [UInt8], fields: Result<[Field], BadLine>)? {
        var text: [UInt8] = []
        var place = Place.start
        while let line = try lines.next(keepingCarriageReturn: true) {
            if place != .quoted {
                number = lines.number
                if line.bytes.isEmpty || line.bytes.elementsEqual([0x0D]), !line.isTooLong { continue }
            } else {
                text.append(0x0A)
            }
            if line.isTooLong || text.count + line.bytes.count > FileLines.limit {
                return (text, .failure(BadLine(reason: FileLines.tooLong)))
            }
            text.append(contentsOf: line.bytes)
            for byte in line.bytes { place = place.after(byte) }
            if place == .quoted { continue }
            if text.last == 0x0D { text.removeLast() }
            return (text, Self.fields(text))
        }
        if place == .quoted { return (text, .failure(BadLine(reason: "a field's quotation mark is not closed"))) }
        return nil
    }

    /// Where in a record a byte is.
    private enum Place {
        /// At the beginning of a field.
        case start
        case plain
        case quoted
        /// After a quotation mark in a quoted field: its end, or the first of two that stand for one.
        case closing

        func after(_ byte: UInt8) -> Place {
            switch (self, byte) {
            case (.quoted, 0x22): .closing
            case (.quoted, _), (.start, 0x22), (.closing, 0x22): .quoted
            case (_, 0x2C): .start
            default: .plain
            }
        }
    }

    private static func fields(_ bytes: [UInt8]) -> Result<[Field], BadLine> {
        guard String(validating: bytes, as: UTF8.self) != nil else { return .failure(BadLine(reason: "not UTF-8")) }
        var fields: [Field] = []
        var rest = bytes[...]
        while true {
            var field: [UInt8] = []
            let isQuoted = rest.first == 0x22
            if isQuoted {
                rest.removeFirst()
                while true {
                    let part = rest.prefix { $0 != 0x22 }
                    field.append(contentsOf: part)
                    rest.removeFirst(min(part.count + 1, rest.count))
                    guard rest.first == 0x22 else { break }
                    field.append(0x22)
                    rest.removeFirst()
                }
                guard rest.isEmpty || rest.first == 0x2C else {
                    return .failure(
                        BadLine(reason: "field \(fields.count + 1): expected a comma after the quotation mark"))
                }
            } else {
                field.append(contentsOf: rest.prefix { $0 != 0x2C })
                rest.removeFirst(field.count)
            }
            fields.append(Field(text: String(decoding: field, as: UTF8.self), isQuoted: isQuoted))
            guard rest.first == 0x2C else { return .success(fields) }
            rest.removeFirst()
        }
    }
}
#endif
