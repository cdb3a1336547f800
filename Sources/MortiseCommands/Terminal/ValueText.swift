#if Tool
import Foundation
import MortiseCore

/// Stored values as text: for people, and for programs without loss.
enum ValueText {
    /// What a table or a CSV file shows; empty for nil.
    static func plain(_ value: StoredValue) -> String {
        switch value {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): value
        case .data(let value): hexadecimal(value)
        case .date(let value): TimestampText.text(of: value)
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .identifier(let value): key(value)
        case .identifiers(let values): values.map(key).joined(separator: " ")
        case .array, .object: json(value)
        }
    }

    /// The key of a record: its number where its store numbers records.
    static func key(_ identifier: PersistentIdentifier) -> String {
        if let number = identifier.sequenceNumber { return "\(number)" }
        let text = "\(identifier)"
        return text.firstIndex(of: "/").map { String(text[text.index(after: $0)...]) } ?? text
    }

    /// JSON. What JSON has no form for is text: dates, decimals, UUIDs, data in hexadecimal digits, NaN and infinity.
    static func json(_ value: StoredValue) -> String {
        switch value {
        case .null: "null"
        case .bool, .integer, .unsigned: plain(value)
        case .float(let number): number.isFinite ? "\(number)" : quoted("\(number)")
        case .double(let number): number.isFinite ? "\(number)" : quoted("\(number)")
        case .decimal, .string, .data, .date, .uuid, .url: quoted(plain(value))
        case .identifier(let identifier): json(identifier)
        case .identifiers(let identifiers): "[" + identifiers.map(json).joined(separator: ",") + "]"
        case .array(let elements): "[" + elements.map(json).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { quoted($0.key) + ":" + json($0.value) }
                .joined(separator: ",") + "}"
        }
    }

    static func json(_ identifier: PersistentIdentifier) -> String {
        identifier.sequenceNumber.map { "\($0)" } ?? quoted(key(identifier))
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.movesText:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A field of a CSV file, in quotation marks where it has to be; an empty text is quoted, nil is not.
    static func csv(_ value: StoredValue) -> String {
        if value.isNull { return "" }
        return csv(plain(value))
    }

    static func csv(_ text: String) -> String {
        let needsQuotes =
            text.isEmpty || text.first == " " || text.last == " "
            || text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        return needsQuotes ? "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\"" : text
    }

    /// A line of a CSV file as a terminal may show it: its values could move the cursor or turn the text around it.
    static func harmless(csv line: String) -> String {
        guard line.unicodeScalars.contains(where: { $0.movesText }) else { return line }
        var result = ""
        for scalar in line.unicodeScalars {
            if scalar.movesText, scalar != "\n", scalar != "\t" {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func hexadecimal(_ data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = Array("0x".utf8)
        bytes.reserveCapacity(2 + 2 * data.count)
        for byte in data { bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal does something for it other than showing it: control characters, ends of lines, and what changes the
    /// direction of the text around it. All have four hexadecimal digits at most.
    fileprivate var movesText: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
#endif
