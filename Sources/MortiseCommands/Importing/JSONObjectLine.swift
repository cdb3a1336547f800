#if Tool
import Foundation
import MortiseCore

/// Why a line of a file is no record.
struct BadLine: Error {
    let reason: String
}

/// A value of a line, numbers with the digits that are written.
indirect enum LineValue: Sendable {
    case literal(PredicateLiteral)
    case list([LineValue])
    case object([(String, LineValue)])

    /// What a coded value is made of.
    var coded: StoredValue {
        switch self {
        case .literal(let literal): literal.natural
        case .list(let values): .array(values.map(\.coded))
        case .object(let members):
            .object(Dictionary(members.map { ($0.0, $0.1.coded) }, uniquingKeysWith: { $1 }))
        }
    }

    var sortText: String {
        switch self {
        case .literal(let literal): literal.sortText
        case .list: "a list"
        case .object: "an object"
        }
    }
}

/// Reads a line that is one object of JSON.
struct JSONObjectLine {
    private var bytes: ArraySlice<UInt8>
    private let count: Int
    private static let deepest = 64

    /// - Returns: the members in the order of the line.
    /// - Throws: `BadLine` with the column at fault.
    static func members(_ bytes: ArraySlice<UInt8>) throws(BadLine) -> [(String, LineValue)] {
        var line = JSONObjectLine(bytes: bytes, count: bytes.count)
        line.skipSpace()
        guard line.bytes.first == UInt8(ascii: "{") else {
            throw line.unexpected("an object, such as {\"name\":\"Alps\"}")
        }
        let value = try line.value(0)
        line.skipSpace()
        guard line.bytes.isEmpty else { throw line.unexpected("the end of the line") }
        guard case .object(let members) = value else { return [] }
        return members
    }

    private var column: Int { count - bytes.count + 1 }

    private func unexpected(_ expected: String) -> BadLine {
        let found: String
        if let byte = bytes.first {
            let text = String(decoding: bytes.prefix(12), as: UTF8.self)
            found = byte < 0x20 ? "a control character" : "\"\(text.shown(limit: 12))\""
        } else {
            found = "the end of the line"
        }
        return BadLine(reason: "column \(column): expected \(expected), found \(found)")
    }

    private mutating func skipSpace() {
        while let byte = bytes.first, byte == 0x20 || byte == 0x09 || byte == 0x0D { bytes.removeFirst() }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard bytes.first == byte else { return false }
        bytes.removeFirst()
        return true
    }

    private mutating func value(_ depth: Int) throws(BadLine) -> LineValue {
        guard depth < Self.deepest else {
            throw BadLine(reason: "column \(column): nested more than \(Self.deepest) levels deep")
        }
        skipSpace()
        switch bytes.first {
        case UInt8(ascii: "{")?:
            bytes.removeFirst()
            return .object(try members(depth + 1))
        case UInt8(ascii: "[")?:
            bytes.removeFirst()
            return .list(try elements(depth + 1))
        case UInt8(ascii: "\"")?: return .literal(.text(try string()))
        case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return .literal(.number(try number()))
        default:
            for (word, literal) in [("true", PredicateLiteral.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes.starts(with: word.utf8) {
                bytes.removeFirst(word.utf8.count)
                return .literal(literal)
            }
            throw unexpected("a value")
        }
    }

    private mutating func members(_ depth: Int) throws(BadLine) -> [(String, LineValue)] {
        var found: [(String, LineValue)] = []
        if take(UInt8(ascii: "}")) { return found }
        repeat {
            skipSpace()
            guard bytes.first == UInt8(ascii: "\"") else { throw unexpected("a name in quotation marks") }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw unexpected("\":\"") }
            found.append((name, try value(depth)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw unexpected("\",\" or \"}\"") }
        return found
    }

    private mutating func elements(_ depth: Int) throws(BadLine) -> [LineValue] {
        var found: [LineValue] = []
        if take(UInt8(ascii: "]")) { return found }
        repeat { found.append(try value(depth)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw unexpected("\",\" or \"]\"") }
        return found
    }

    private mutating func number() throws(BadLine) -> String {
        let text = bytes.prefix { "+-.0123456789eE".utf8.contains($0) }
        let digits = String(decoding: text, as: UTF8.self)
        let unsigned = digits.drop { $0 == "-" }
        guard Double(digits) != nil, digits.count - unsigned.count < 2, unsigned.first?.isNumber == true,
            unsigned.last?.isNumber == true, !(unsigned.first == "0" && unsigned.dropFirst().first?.isNumber == true)
        else { throw unexpected("a number") }
        bytes.removeFirst(text.count)
        return digits
    }

    private mutating func string() throws(BadLine) -> String {
        bytes.removeFirst()
        var text: [UInt8] = []
        while let byte = bytes.first {
            switch byte {
            case UInt8(ascii: "\""):
                bytes.removeFirst()
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw BadLine(reason: "column \(column): the text is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                bytes.removeFirst()
                try escape(&text)
            case ..<0x20: throw unexpected("a text without control characters")
            default:
                // As many as come before the next character that means something.
                let plain = bytes.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }
                text.append(contentsOf: plain)
                bytes.removeFirst(plain.count)
            }
        }
        throw unexpected("the end of the text, \"")
    }

    private mutating func escape(_ text: inout [UInt8]) throws(BadLine) {
        guard let byte = bytes.first else { throw unexpected("a character after \\") }
        let simple: [UInt8: UInt8] = [
            0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
        ]
        if let meant = simple[byte] {
            bytes.removeFirst()
            text.append(meant)
            return
        }
        guard byte == UInt8(ascii: "u") else { throw unexpected("one of \" \\ / b f n r t u after \\") }
        var unit = try codeUnit()
        if (0xD800...0xDBFF).contains(unit) {
            guard bytes.starts(with: "\\u".utf8) else { throw unexpected("the second half of the character") }
            bytes.removeFirst()
            let low = try codeUnit()
            guard (0xDC00...0xDFFF).contains(low) else { throw unexpected("the second half of the character") }
            unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(unit) else { throw unexpected("a character of Unicode") }
        text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private mutating func codeUnit() throws(BadLine) -> UInt32 {
        bytes.removeFirst()
        let digits = bytes.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw unexpected("four hexadecimal digits")
        }
        bytes.removeFirst(4)
        return unit
    }
}
#endif
