import Foundation
import MortiseCore

/// The columns that hold an attribute: one by its name, and for some kinds another.
///
/// | kind | the column | the other column |
/// |---|---|---|
/// | `bool` | 0 or 1 | |
/// | signed integers, `uint8` to `uint32` | the number | |
/// | `uint64` | the number less 2^63 | |
/// | `float`, `double`, `date` | the number, dates as seconds since 2001; NaN as text | |
/// | `decimal` | its digits, as text | the key by which it is compared |
/// | `string` | its composed form (`CanonicalText`) | the text itself where its bytes differ |
/// | `url` | its text | |
/// | `data`, `uuid` | its bytes | |
/// | `coded` | its `Codable` form as JSON | |
///
/// PostgreSQL has types for Booleans, for floating-point numbers with NaN, for decimals and for UUIDs, and no U+0000 in text:
/// `Adapters/PostgreSQL/MAPPING.md` says what is there.
package struct AttributeColumns: Sendable, Hashable {
    /// The kind of the attribute.
    package let kind: StorageKind
    /// The database.
    package let dialect: SQLDialect
    /// The column that is named by the attribute.
    package let main: String
    /// The column beside it; nil for kinds that need only one.
    package let other: String?

    /// Names the columns of an attribute after the first one.
    package init(_ kind: StorageKind, _ name: String, _ dialect: SQLDialect = .sqlite) {
        self.kind = kind
        self.dialect = dialect
        main = name
        other = Self.suffix(of: kind, dialect).map { name + $0 }
    }

    /// What the name of the second column ends with.
    package static func suffix(of kind: StorageKind, _ dialect: SQLDialect = .sqlite) -> String? {
        switch kind {
        case .decimal where dialect == .sqlite: "__key"
        case .string: "__raw"
        default: nil
        }
    }

    /// The column by which values are compared.
    package var compared: String { kind == .decimal ? other ?? main : main }

    /// The contents of both columns for a value; nil for one that the kind cannot have.
    package func contents(of value: StoredValue) -> (main: SQLValue, other: SQLValue)? {
        guard let main = Self.form(of: value, as: kind, dialect) else { return nil }
        switch (value, main) {
        case (.decimal, .text(let digits)):
            guard let key = DecimalKey.key(ofDigits: digits) else { return nil }
            return (main, .blob(key))
        case (.string(let text), .text(let composed)):
            let whole = dialect == .sqlite ? text : EscapedText.escaped(text)
            return (main, whole.utf8.elementsEqual(composed.utf8) ? .null : .text(whole))
        default: return (main, .null)
        }
    }

    /// The value by which one is compared with others of its kind; nil for one that the kind cannot have.
    package static func compared(
        _ value: StoredValue, as kind: StorageKind, _ dialect: SQLDialect = .sqlite
    ) -> SQLValue? {
        guard let form = form(of: value, as: kind, dialect) else { return nil }
        if kind == .decimal, case .text(let digits) = form {
            return DecimalKey.key(ofDigits: digits).map(SQLValue.blob)
        }
        return form
    }

    private static func form(of value: StoredValue, as kind: StorageKind, _ dialect: SQLDialect) -> SQLValue? {
        guard value.fits(kind) else { return nil }
        if dialect == .postgreSQL { return typedForm(of: value, as: kind) }
        switch value {
        case .null: return .null
        case .bool(let value) where kind == .bool: return .integer(value ? 1 : 0)
        case .integer(let value) where kind != .coded: return .integer(value)
        case .unsigned(let value) where kind != .coded: return .integer(Int64(bitPattern: value ^ 1 << 63))
        case .double(let number) where kind != .coded:
            return number.isNaN ? value.text(as: kind).map(SQLValue.text) : .real(number)
        case .float(let number): return number.isNaN ? value.text(as: kind).map(SQLValue.text) : .real(Double(number))
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isNaN
                ? StoredValue.double(seconds).text(as: .double).map(SQLValue.text) : .real(seconds)
        case .string(let text) where kind == .string: return .text(CanonicalText.composed(text))
        case .data(let data): return .blob(data)
        case .uuid(let uuid): return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        default: return value.text(as: kind).map(SQLValue.text)
        }
    }

    /// The form for a database whose columns have types.
    private static func typedForm(of value: StoredValue, as kind: StorageKind) -> SQLValue? {
        switch value {
        case .null: return .null
        case .bool(let value) where kind == .bool: return .bool(value)
        case .integer(let value) where kind != .coded: return .integer(value)
        case .unsigned(let value) where kind != .coded: return .integer(Int64(bitPattern: value ^ 1 << 63))
        case .double(let number) where kind != .coded: return .real(number)
        case .float(let number): return .float(number)
        case .date(let date): return .real(date.timeIntervalSinceReferenceDate)
        case .decimal(let number) where kind == .decimal:
            // What is no number comes before all that are.
            return number.isNaN ? .decimal("-Infinity") : value.text(as: kind).map(SQLValue.decimal)
        case .string(let text) where kind == .string: return .text(EscapedText.escaped(CanonicalText.composed(text)))
        case .data(let data): return .blob(data)
        case .uuid(let uuid): return .uuid(uuid)
        default: return value.text(as: kind).map { .text(EscapedText.escaped($0)) }
        }
    }

    private func typedValue(_ main: SQLValue, _ other: SQLValue) -> StoredValue? {
        switch (kind, main) {
        case (_, .null): return .null
        case (.bool, .bool(let value)): return .bool(value)
        case (.uint64, .integer(let number)): return .unsigned(UInt64(bitPattern: number) ^ 1 << 63)
        case (.double, .real(let number)): return .double(number)
        case (.float, .float(let number)): return .float(number)
        case (.date, .real(let number)): return .date(Date(timeIntervalSinceReferenceDate: number))
        case (.decimal, .decimal("-Infinity")): return .decimal(.nan)
        case (.decimal, .decimal(let text)):
            guard let value = StoredValue(text: text, as: kind), value != .decimal(.nan) else { return nil }
            return value
        case (.string, .text(let text)):
            if case .text(let raw) = other { return EscapedText.text(raw).map(StoredValue.string) }
            return EscapedText.text(text).map(StoredValue.string)
        case (.url, .text(let text)), (.coded, .text(let text)):
            return EscapedText.text(text).flatMap { StoredValue(text: $0, as: kind) }
        case (.data, .blob(let data)): return .data(data)
        case (.uuid, .uuid(let uuid)): return .uuid(uuid)
        case (_, .integer(let number)):
            return kind.integerRange?.contains(number) == true ? .integer(number) : nil
        default: return nil
        }
    }

    /// The value that the columns hold; nil if it is not of the kind.
    package func value(_ main: SQLValue, _ other: SQLValue) -> StoredValue? {
        if dialect == .postgreSQL { return typedValue(main, other) }
        switch (kind, main) {
        case (_, .null): return .null
        case (.bool, .integer(let number)): return number == 0 ? .bool(false) : number == 1 ? .bool(true) : nil
        case (.uint64, .integer(let number)): return .unsigned(UInt64(bitPattern: number) ^ 1 << 63)
        case (.double, .real(let number)): return .double(number)
        case (.double, .integer(let number)): return Double(exactly: number).map(StoredValue.double)
        case (.float, .real(let number)):
            // Exactly: what does not come from a float was written by somebody else.
            let float = Float(number)
            return Double(float) == number ? .float(float) : nil
        case (.float, .integer(let number)): return Float(exactly: number).map(StoredValue.float)
        case (.date, .real(let number)): return .date(Date(timeIntervalSinceReferenceDate: number))
        case (.date, .integer(let number)):
            return Double(exactly: number).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case (.float, .text(let text)):
            guard case .float(let number)? = StoredValue(text: text, as: .float), number.isNaN else { return nil }
            return .float(number)
        case (.double, .text(let text)), (.date, .text(let text)):
            guard case .double(let number)? = StoredValue(text: text, as: .double), number.isNaN else { return nil }
            return kind == .double ? .double(number) : .date(Date(timeIntervalSinceReferenceDate: number))
        case (.string, .text(let text)):
            guard case .text(let raw) = other else { return .string(text) }
            // Queries compare what is in the first column.
            return CanonicalText.composed(raw).utf8.elementsEqual(text.utf8) ? .string(raw) : nil
        case (.decimal, .text(let text)), (.url, .text(let text)), (.coded, .text(let text)):
            return StoredValue(text: text, as: kind)
        case (.data, .blob(let data)): return .data(data)
        case (.uuid, .blob(let data)):
            guard data.count == 16 else { return nil }
            var uuid = UUID().uuid
            withUnsafeMutableBytes(of: &uuid) { _ = data.copyBytes(to: $0) }
            return .uuid(UUID(uuid: uuid))
        case (_, .integer(let number)):
            return kind.integerRange?.contains(number) == true ? .integer(number) : nil
        default: return nil
        }
    }
}
