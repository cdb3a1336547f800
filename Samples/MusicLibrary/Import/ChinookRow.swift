import Foundation

/// One row of a table, its values read by column with the type that the reader expects.
///
/// Every reader throws ``ChinookError`` naming table, row and column if the column is missing or holds something else.
struct ChinookRow: Sendable {
    let place: ChinookPlace
    private let values: [String: ChinookValue]

    init(place: ChinookPlace, values: [String: ChinookValue]) {
        self.place = place
        self.values = values
    }

    /// A whole number.
    func int(_ column: String) throws -> Int {
        try required(optionalInt(column), column)
    }

    /// A whole number, or nil for `null`.
    func optionalInt(_ column: String) throws -> Int? {
        switch try value(column) {
        case .null: nil
        case .int(let number): number
        case let other: throw ChinookError.wrongType(place, column, expected: "a whole number", found: other.kind)
        }
    }

    /// An amount of money, exact to the last digit that is written.
    func decimal(_ column: String) throws -> Decimal {
        switch try value(column) {
        case .int(let number): Decimal(number)
        case .decimal(let number): number
        case let other: throw ChinookError.wrongType(place, column, expected: "a number", found: other.kind)
        }
    }

    /// A text, which may be empty.
    func string(_ column: String) throws -> String {
        switch try value(column) {
        case .string(let text): text
        case let other: throw ChinookError.wrongType(place, column, expected: "a string", found: other.kind)
        }
    }

    /// A text; nil for `null` and for an empty one.
    func optionalString(_ column: String) throws -> String? {
        if case .null = try value(column) { return nil }
        let text = try string(column)
        return text.isEmpty ? nil : text
    }

    /// A date and time without a zone, such as `2021-01-31T00:00:00`, taken as UTC.
    func date(_ column: String) throws -> Date {
        try required(optionalDate(column), column)
    }

    /// A date as ``date(_:)`` reads it; nil for `null` and for an empty text.
    func optionalDate(_ column: String) throws -> Date? {
        guard let text = try optionalString(column) else { return nil }
        guard let date = ChinookDate.parse(text) else {
            throw ChinookError.wrongType(place, column, expected: "a date", found: "\"\(text)\"")
        }
        return date
    }

    private func value(_ column: String) throws -> ChinookValue {
        guard let value = values[column] else { throw ChinookError.missingColumn(place, column) }
        return value
    }

    private func required<T>(_ value: T?, _ column: String) throws -> T {
        guard let value else { throw ChinookError.wrongType(place, column, expected: "a value", found: "nothing") }
        return value
    }
}

/// A value as the JSON file writes it; numbers keep their decimal digits.
enum ChinookValue: Decodable, Sendable {
    case null
    case int(Int)
    case decimal(Decimal)
    case string(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let number = try? container.decode(Int.self) {
            self = .int(number)
        } else {
            self = .decimal(try container.decode(Decimal.self))
        }
    }

    /// What kind of value this is, in words.
    var kind: String {
        switch self {
        case .null: "null"
        case .int: "a whole number"
        case .decimal: "a number with a fraction"
        case .string: "a string"
        }
    }
}

/// The dates of the file.
enum ChinookDate {
    /// Reads `2021-01-31T00:00:00` as a time in UTC; nil if `text` is anything else, such as a day that does not exist.
    static func parse(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().time(includingFractionalSeconds: false)
        guard let date = try? style.parse(text), style.format(date) == text else { return nil }
        return date
    }
}
