#if Tool
import Foundation
import MortiseCore

/// A literal does not stand for a value of the kind.
struct UnfitLiteral: Error {
    let reason: String
}

extension PredicateLiteral {
    /// The literal's value as a value of that kind.
    func value(of kind: StorageKind) throws(UnfitLiteral) -> StoredValue {
        switch (self, kind) {
        case (.null, _): return .null
        case (.bool(let value), .bool): return .bool(value)
        case (.number(let digits), .float):
            guard let value = Float(digits), value.isFinite else { throw UnfitLiteral(reason: "it is out of range") }
            return .float(value)
        case (.number(let digits), .double):
            guard let value = Double(digits), value.isFinite else { throw UnfitLiteral(reason: "it is out of range") }
            return .double(value)
        case (.number(let digits), .decimal), (.text(let digits), .decimal): return .decimal(try Self.decimal(digits))
        case (.number(let digits), .uint64):
            guard let value = UInt64(digits) else { throw Self.unfitInteger(digits, 0...UInt64.max) }
            return .unsigned(value)
        case (.number(let digits), _) where kind.integerRange != nil:
            guard let value = Int64(digits), let range = kind.integerRange, range.contains(value) else {
                throw Self.unfitInteger(digits, kind.integerRange ?? 0...0)
            }
            return .integer(value)
        case (.number(let digits), .date):
            guard let seconds = Double(digits) else { break }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.text(let text), .string): return .string(text)
        case (.text(let text), .date):
            guard let date = TimestampText.date(text) ?? Self.date(ofSeconds: text) else {
                throw UnfitLiteral(reason: "a date is written as \"2026-05-01\" or \"2026-05-01T10:00:00Z\"")
            }
            return .date(date)
        case (.text(let text), .uuid):
            guard let uuid = UUID(uuidString: text) else {
                throw UnfitLiteral(reason: "a UUID is written as \"\(Self.exampleUUID)\"")
            }
            return .uuid(uuid)
        case (.text(let text), .url):
            guard let url = URL(string: text) else { throw UnfitLiteral(reason: "it is not a URL") }
            return .url(url)
        case (.text(let text), .data): return .data(try Self.data(text))
        default: break
        }
        throw UnfitLiteral(reason: "it is \(sortText)")
    }

    /// The value that the literal has by itself, for what coded values are made of.
    var natural: StoredValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .text(let text): .string(text)
        case .number(let digits):
            Int64(digits).map(StoredValue.integer) ?? UInt64(digits).map(StoredValue.unsigned)
                ?? .double(Double(digits) ?? .infinity)
        }
    }

    private static let exampleUUID = "01234567-89AB-CDEF-0123-456789ABCDEF"

    private static func unfitInteger<T>(_ digits: String, _ range: ClosedRange<T>) -> UnfitLiteral {
        let isWhole = !digits.contains { ".eE".contains($0) }
        return UnfitLiteral(
            reason: isWhole
                ? "its range is \(range.lowerBound) to \(range.upperBound)" : "it holds whole numbers only")
    }

    /// The date of a text that is written for dates in years without four digits, such as `-63114076800.0`; nil for any other
    /// number, which more likely was to be a year.
    private static func date(ofSeconds text: String) -> Date? {
        guard let seconds = Double(text) else { return nil }
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        return TimestampText.text(of: date) == text ? date : nil
    }

    /// Exactly the digits that are written; a `Decimal` has 38 of them, and zeros before or after them.
    private static func decimal(_ text: String) throws(UnfitLiteral) -> Decimal {
        var rest = Substring(text)
        if rest.first == "-" { rest = rest.dropFirst() }
        let mantissa = rest.prefix { $0 != "e" && $0 != "E" }
        let isNumber =
            !mantissa.isEmpty && mantissa.first != "." && mantissa.last != "."
            && mantissa.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
            && mantissa.count(where: { $0 == "." }) <= 1
        guard isNumber, rest.count - mantissa.count <= 6 else {
            throw UnfitLiteral(reason: "a decimal number is written as 12.50")
        }
        let digits = mantissa.filter { $0 != "." }.drop { $0 == "0" }
        let significant = digits.count - digits.reversed().prefix { $0 == "0" }.count
        guard let value = Decimal(string: text, locale: nil), !value.isNaN,
            significant <= 38 || "\(value)" == text
        else {
            throw UnfitLiteral(reason: "a decimal number has up to 38 digits")
        }
        return value
    }

    /// Hexadecimal digits in pairs, `0x` before them or not.
    private static func data(_ text: String) throws(UnfitLiteral) -> Data {
        let digits = Array((text.hasPrefix("0x") ? text.dropFirst(2) : text[...]).utf8)
        var bytes = Data(capacity: digits.count / 2)
        var index = 0
        while index + 1 < digits.count {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else { break }
            bytes.append(high << 4 | low)
            index += 2
        }
        guard index == digits.count else {
            throw UnfitLiteral(reason: "data is written in hexadecimal digits, two for each byte, as \"0xCAFE\"")
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case 48...57: self - 48
        case 65...70: self - 55
        case 97...102: self - 87
        default: nil
        }
    }
}

extension StorageKind {
    /// Whether values can be added and multiplied.
    var isNumber: Bool { integerRange != nil || [.uint64, .float, .double, .decimal].contains(self) }

    /// Whether values are before and after one another in comparisons.
    var isOrdered: Bool { ![.bool, .data, .url, .coded].contains(self) }
}
#endif
