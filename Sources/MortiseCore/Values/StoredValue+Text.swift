import Foundation

/// Attribute values as text, for stores whose format is one: CSV, key and value, columns of a foreign database.
///
/// | kind | text |
/// |---|---|
/// | `bool` | `true`, `false` |
/// | whole numbers | decimal digits, with `-` where negative |
/// | `float`, `double` | the shortest digits that give back every bit; `inf`, `-inf`, `nan`, `nan:` and hexadecimal bits |
/// | `decimal` | digits with at most one point; `NaN` |
/// | `string` | itself |
/// | `data` | Base64 |
/// | `date` | ISO 8601 in UTC with as many decimals as the date has; seconds since 2001 where that has no form for it |
/// | `uuid` | 8-4-4-4-12 digits |
/// | `url` | itself; one that is relative, a space and its base |
/// | `coded` | JSON of the value's `Codable` form, keys sorted |
extension StoredValue {
    /// The value of an attribute of that kind as text; `init(text:as:)` restores it to the last bit. Equal values have
    /// equal texts. Nil for null, which every format marks in its own way, and for a value of another kind.
    public func text(as kind: StorageKind) -> String? {
        if isNull || !fits(kind) { return nil }
        if kind == .coded { return codedText }
        return switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): value.isPlain ? "\(value)" : Self.notANumber + String(value.bitPattern, radix: 16)
        case .double(let value): value.isPlain ? "\(value)" : Self.notANumber + String(value.bitPattern, radix: 16)
        case .decimal(let value): DecimalText.text(of: value)
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .date(let value):
            value.timeIntervalSinceReferenceDate.isPlain
                ? TimestampText.text(of: value)
                : Self.notANumber + String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16)
        case .uuid(let value): value.uuidString
        case .url(let value): value.exactText
        default: nil
        }
    }

    /// Parses the text of an attribute of that kind; nil if it is not a valid value.
    ///
    /// Besides what `text(as:)` makes, it takes what people and spreadsheets write: `TRUE`, `+5`, `1e3`, dates without
    /// time or with an offset. A number that its kind cannot hold exactly, as written in whole digits, is invalid, and
    /// so is text after a number.
    public init?(text: String, as kind: StorageKind) {
        let value: StoredValue? =
            switch kind {
            case .bool: Bool(text.lowercased()).map(StoredValue.bool)
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: Int64(text).map(StoredValue.integer)
            case .uint64: UInt64(text).map(StoredValue.unsigned)
            case .float:
                (Self.bits(text, of: UInt32.self).map(Float.init(bitPattern:)) ?? Float(text)).map(StoredValue.float)
            case .double: Self.double(text).map(StoredValue.double)
            case .decimal: DecimalText.decimal(from: text).map(StoredValue.decimal)
            case .string: .string(text)
            case .data: Data(base64Encoded: text).map(StoredValue.data)
            case .date:
                (TimestampText.date(text) ?? Self.double(text).map(Date.init(timeIntervalSinceReferenceDate:)))
                    .map(StoredValue.date)
            case .uuid: UUID(uuidString: text).map(StoredValue.uuid)
            case .url: URL(exactText: text).map(StoredValue.url)
            case .coded: try? JSONDecoder().decode(StoredValue.self, from: Data(text.utf8))
            }
        guard let value, value.fits(kind), !value.isNull else { return nil }
        self = value
    }

    private var codedText: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let notANumber = "nan:"

    /// The bits of a NaN other than the one that `nan` denotes.
    private static func bits<Bits: FixedWidthInteger>(_ text: String, of type: Bits.Type) -> Bits? {
        text.hasPrefix(notANumber) ? Bits(text.dropFirst(notANumber.count), radix: 16) : nil
    }

    private static func double(_ text: String) -> Double? {
        bits(text, of: UInt64.self).map(Double.init(bitPattern:)) ?? Double(text)
    }
}

extension BinaryFloatingPoint {
    /// Whether the description gives back every bit.
    fileprivate var isPlain: Bool {
        !isNaN || self.significandBitPattern == Self.nan.significandBitPattern && sign == .plus
    }
}

extension URL {
    fileprivate var exactText: String? {
        guard let baseURL else { return URL(exactText: relativeString) == nil ? nil : relativeString }
        let text = "\(relativeString) \(baseURL.absoluteString)"
        return URL(exactText: text) == nil ? nil : text
    }

    fileprivate init?(exactText text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var base: URL?
        if parts.count > 1 {
            guard let found = URL(string: parts[1]), found.absoluteString == parts[1] else { return nil }
            base = found
        }
        // Parsing may write what is no part of a URL in another way; the text is then another URL's.
        guard let url = URL(string: parts[0], relativeTo: base), url.relativeString == parts[0] else { return nil }
        self = url
    }
}
