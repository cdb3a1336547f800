import Foundation

extension MigrationMapping.Conversion {
    /// A value of another kind.
    /// - Returns: the value; nil if the new kind has none for it, and the way makes none.
    func converted(
        _ value: StoredValue, to kind: StorageKind, default fallback: StoredValue?
    ) -> StoredValue? {
        if value.isNull { return .null }
        switch way {
        case .exactly: return Self.exact(value, kind)
        case .rounding: return Self.exact(value, kind) ?? Self.rounded(value, kind, clamping: false)
        case .clamping: return Self.exact(value, kind) ?? Self.rounded(value, kind, clamping: true)
        case .nilIfNot: return Self.exact(value, kind) ?? .null
        case .orDefault: return Self.exact(value, kind) ?? fallback
        case .rawValues(let table):
            guard case .string(let text) = value else { return Self.exact(value, kind) }
            return Self.exact(.string(table[text] ?? text), kind)
        case .made: return nil
        }
    }

    private static func exact(_ value: StoredValue, _ kind: StorageKind) -> StoredValue? {
        if value.fits(kind), kind != .coded { return value }
        switch kind {
        case .string: return text(value).map(StoredValue.string)
        case .bool:
            switch value {
            case .integer(0), .string("false"): return .bool(false)
            case .integer(1), .string("true"): return .bool(true)
            default: return nil
            }
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            guard let number = integer(value), kind.integerRange?.contains(number) == true else { return nil }
            return .integer(number)
        case .uint64:
            switch value {
            case .string(let text): return UInt64(plain: text).map(StoredValue.unsigned)
            case .decimal(let decimal): return UInt64(exactly: decimal).map(StoredValue.unsigned)
            case .float(let number): return UInt64(exactly: number).map(StoredValue.unsigned)
            case .double(let number): return UInt64(exactly: number).map(StoredValue.unsigned)
            default: return integer(value).flatMap(UInt64.init(exactly:)).map(StoredValue.unsigned)
            }
        case .float:
            switch value {
            case .string(let text): return Float(plain: text).map(StoredValue.float)
            case .decimal(let decimal): return Float(plain: DecimalText.text(of: decimal)).map(StoredValue.float)
            default: return double(value).flatMap { Float(same: $0) }.map(StoredValue.float)
            }
        case .double: return double(value).map(StoredValue.double)
        case .decimal: return decimal(value).map(StoredValue.decimal)
        case .date:
            switch value {
            case .string(let text):
                if let date = TimestampText.date(text) {
                    return fraction(of: text) == fraction(of: TimestampText.text(of: date)) ? .date(date) : nil
                }
                return Double(plain: text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
            default: return double(value).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
            }
        case .uuid: if case .string(let text) = value { return UUID(uuidString: text).map(StoredValue.uuid) }
        case .url:
            // Without the escapes that would make a URL of any text.
            if case .string(let text) = value, let url = URL(string: text, encodingInvalidCharacters: false),
                url.absoluteString == text
            {
                return .url(url)
            }
        case .data:
            if case .string(let text) = value { return Data(base64Encoded: text).map(StoredValue.data) }
        case .coded: break
        }
        return nil
    }

    private static func text(_ value: StoredValue) -> String? {
        switch value {
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        // The shortest text that gives the number back.
        case .float(let number): number.isFinite ? "\(number)" : nil
        case .double(let number): number.isFinite ? "\(number)" : nil
        case .decimal(let number): DecimalText.text(of: number)
        case .string(let text): text
        case .data(let bytes): bytes.base64EncodedString()
        case .date(let date): TimestampText.text(of: date)
        case .uuid(let identifier): identifier.uuidString
        // The base of a URL is no part of a text.
        case .url(let url): url.baseURL == nil ? url.absoluteString : nil
        default: nil
        }
    }

    /// The digits behind the seconds of a time, without zeros at the end.
    private static func fraction(of text: String) -> String {
        guard let point = text.firstIndex(where: { $0 == "." || $0 == "," }) else { return "" }
        let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
        return String(digits.reversed().drop { $0 == "0" }.reversed())
    }

    private static func integer(_ value: StoredValue) -> Int64? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): number
        case .unsigned(let number): Int64(exactly: number)
        case .float(let number): Int64(exactly: number)
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): Int64(exactly: number)
        case .date(let date): Int64(exactly: date.timeIntervalSinceReferenceDate)
        case .string(let text): Int64(plain: text)
        default: nil
        }
    }

    private static func double(_ value: StoredValue) -> Double? {
        switch value {
        case .integer(let number): Double(exactly: number)
        case .unsigned(let number): Double(exactly: number)
        case .float(let number): Double(number)
        case .double(let number): number
        case .date(let date): date.timeIntervalSinceReferenceDate
        case .decimal(let number):
            // Most fractions of ten have no exact form: the one that comes back as the same decimal counts.
            Double(plain: DecimalText.text(of: number))
        case .string(let text): Double(plain: text)
        default: nil
        }
    }

    private static func decimal(_ value: StoredValue) -> Decimal? {
        switch value {
        case .integer(let number): Decimal(number)
        case .unsigned(let number): Decimal(number)
        case .float(let number): number.isFinite ? DecimalText.decimal(from: "\(number)") : nil
        case .double(let number): number.isFinite ? DecimalText.decimal(from: "\(number)") : nil
        case .string(let text): DecimalText.decimal(from: text)
        default: nil
        }
    }

    private static func rounded(_ value: StoredValue, _ kind: StorageKind, clamping: Bool) -> StoredValue? {
        if case .string(let text) = value {
            return DecimalText.decimal(from: text).flatMap {
                exact(.decimal($0), kind) ?? rounded(.decimal($0), kind, clamping: clamping)
            }
        }
        switch kind {
        case .float:
            guard let number = near(value) else { return nil }
            // Once: rounding to a double first could round twice.
            let near = Self.nearFloat(value) ?? Float(number)
            guard near.isInfinite, number.isFinite else { return .float(near) }
            return clamping ? .float(number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude) : nil
        case .double: return near(value).map(StoredValue.double)
        case .decimal:
            guard let number = near(value), number.isFinite, clamping else { return nil }
            return .decimal(number < 0 ? -Decimal.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        default: break
        }
        guard let number = nearest(value) else { return nil }
        if kind == .uint64 {
            if let fitting = UInt64(exactly: number) { return .unsigned(fitting) }
            return clamping ? .unsigned(number < 0 ? 0 : .max) : nil
        }
        guard let range = kind.integerRange else { return nil }
        if let fitting = Int64(exactly: number), range.contains(fitting) { return .integer(fitting) }
        return clamping ? .integer(number < 0 ? range.lowerBound : range.upperBound) : nil
    }

    /// The nearest double; nil for what is no number.
    private static func near(_ value: StoredValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.isNaN ? nil : Double(DecimalText.text(of: number))
        default: nil
        }
    }

    private static func nearFloat(_ value: StoredValue) -> Float? {
        switch value {
        case .integer(let number): Float(number)
        case .unsigned(let number): Float(number)
        case .decimal(let number): Float(DecimalText.text(of: number))
        default: nil
        }
    }

    /// The nearest whole number; nil for what is no number.
    private static func nearest(_ value: StoredValue) -> Decimal? {
        switch value {
        case .integer(let number): return Decimal(number)
        case .unsigned(let number): return Decimal(number)
        case .float(let number): return nearest(.double(Double(number)))
        case .double(let number):
            if number.isNaN { return nil }
            // Beyond all integers the sign is what counts.
            if abs(number) >= 0x1p100 {
                return Decimal(sign: number < 0 ? .minus : .plus, exponent: 30, significand: 1)
            }
            return Decimal(string: String(format: "%.0f", number.rounded(.toNearestOrEven)))
        case .decimal(var number):
            if number.isNaN { return nil }
            var result = Decimal()
            NSDecimalRound(&result, &number, 0, .bankers)
            return result
        default: return nil
        }
    }
}

extension FixedWidthInteger {
    /// A number in plain notation: digits, perhaps after a minus; nil for other texts.
    fileprivate init?(plain text: String) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D }) else { return nil }
        self.init(text, radix: 10)
    }

    fileprivate init?(exactly decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        self.init(plain: decimal.description)
    }
}

extension Float {
    /// The same number; nil if it has none. A NaN stays one.
    fileprivate init?(same number: Double) {
        let near = Float(number)
        guard number.isNaN || Double(near) == number else { return nil }
        self = near
    }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// A finite number in plain or exponential notation; nil for other texts, and for those of which another number would come
    /// back.
    fileprivate init?(plain text: String) {
        let allowed = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x65 || $0 == 0x45 || $0 == 0x2B
        }
        guard allowed, let number = Self(text), number.isFinite else { return nil }
        // Beyond the range of decimals only the text that the number itself has.
        guard let given = DecimalText.decimal(from: text), let found = DecimalText.decimal(from: number.description)
        else {
            if number.description != text { return nil }
            self = number
            return
        }
        guard given == found else { return nil }
        self = number
    }
}
