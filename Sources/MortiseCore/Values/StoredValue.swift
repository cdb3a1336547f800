public import Foundation

/// The kinds of value that an attribute can have in a store. The set is closed: an adapter that handles each of these
/// handles every model.
///
/// A property's Swift type maps to exactly one kind. `Int` is `int64`, `UInt` is `uint64`, an enum has the kind of its
/// raw value, and every other `Codable` type (structs, arrays, dictionaries) is `coded`.
public enum StorageKind: String, Sendable, Codable, CaseIterable {
    /// `Bool`.
    case bool
    /// A signed integer of as many bits. `Int` is `int64`.
    case int8, int16, int32, int64
    /// An unsigned integer of as many bits. `UInt` is `uint64`.
    case uint8, uint16, uint32, uint64
    /// An IEEE 754 number of 32 or 64 bits, with every bit kept: the sign of zero and the payload of a NaN too.
    case float, double
    /// `Decimal`: up to 38 digits and an exponent of ten.
    case decimal
    /// `String`, kept as it is, not normalized.
    case string
    /// `Data`.
    case data
    /// `Date`: seconds from the start of 2001, UTC, as 64-bit floating point.
    case date
    /// `UUID`.
    case uuid
    /// `URL`.
    case url
    /// A tree of nulls, booleans, numbers, strings, arrays and objects, as `StoredValueEncoder` writes it.
    case coded
}

/// The value of one property of one record, in stored form.
///
/// Integers up to 64 signed bits are `integer`; `uint64` alone uses `unsigned`. A to-one relationship is `identifier`
/// or `null`, a to-many relationship `identifiers`. `array` and `object` occur only inside `coded` values, whose leaves
/// are `null`, `bool`, `integer`, `unsigned`, `double` and `string`.
///
/// Equality is that of the stored bits, not of a query: `double(.nan)` equals itself, `-0.0` differs from `0.0`.
/// Strings are equal when canonically equivalent.
public enum StoredValue: Sendable {
    /// No value. Only optional properties may have it.
    case null
    /// A value of `StorageKind.bool`.
    case bool(Bool)
    /// A value of `int8` to `int64` or `uint8` to `uint32`, within the bounds of its kind.
    case integer(Int64)
    /// A value of `StorageKind.uint64`.
    case unsigned(UInt64)
    /// A value of `StorageKind.float`.
    case float(Float)
    /// A value of `StorageKind.double`.
    case double(Double)
    /// A value of `StorageKind.decimal`.
    case decimal(Decimal)
    /// A value of `StorageKind.string`.
    case string(String)
    /// A value of `StorageKind.data`.
    case data(Data)
    /// A value of `StorageKind.date`.
    case date(Date)
    /// A value of `StorageKind.uuid`.
    case uuid(UUID)
    /// A value of `StorageKind.url`.
    case url(URL)
    /// The target of a to-one relationship.
    case identifier(PersistentIdentifier)
    /// The members of a to-many relationship, each once, in any order.
    case identifiers([PersistentIdentifier])
    /// A list within a value of `StorageKind.coded`.
    case array([StoredValue])
    /// A keyed container within a value of `StorageKind.coded`.
    case object([String: StoredValue])

    /// Whether this is `null`.
    @inlinable public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension StoredValue: Hashable {
    /// Equality of the stored bits, except that canonically equivalent strings are equal.
    public static func == (lhs: StoredValue, rhs: StoredValue) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.decimal(let a), .decimal(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.date(let a), .date(let b)):
            a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
        case (.uuid(let a), .uuid(let b)): a == b
        case (.url(let a), .url(let b)): a == b
        case (.identifier(let a), .identifier(let b)): a == b
        case (.identifiers(let a), .identifiers(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.bitPattern)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .identifier(let value): hasher.combine(value)
        case .identifiers(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension StoredValue {
    /// Whether this is the same value to the last bit; unlike `==`, it distinguishes canonically equivalent strings.
    public func isIdentical(to other: StoredValue) -> Bool {
        switch (self, other) {
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.url(let a), .url(let b)):
            a.relativeString.utf8.elementsEqual(b.relativeString.utf8) && a.baseURL == b.baseURL
        case (.array(let a), .array(let b)): a.elementsEqual(b) { $0.isIdentical(to: $1) }
        case (.object(let a), .object(let b)):
            a.count == b.count
                && a.allSatisfy { key, value in
                    guard let place = b.index(forKey: key) else { return false }
                    return b[place].key.utf8.elementsEqual(key.utf8) && value.isIdentical(to: b[place].value)
                }
        default: self == other
        }
    }

    /// Whether an attribute of the given kind can hold this value. `null` fits every kind; the schema decides whether
    /// the attribute allows it.
    public func fits(_ kind: StorageKind) -> Bool {
        switch (self, kind) {
        case (.null, _): true
        case (.bool, .bool), (.float, .float), (.double, .double), (.decimal, .decimal), (.string, .string),
            (.data, .data), (.date, .date), (.uuid, .uuid), (.url, .url), (.unsigned, .uint64):
            true
        case (.integer(let value), _): kind.integerRange?.contains(value) ?? (kind == .coded)
        case (.array, .coded), (.object, .coded), (.bool, .coded), (.unsigned, .coded), (.double, .coded),
            (.string, .coded):
            true
        default: false
        }
    }
}

extension StorageKind {
    /// The range of an `integer` of this kind; nil for kinds that are not stored as `StoredValue.integer`.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .int8: Int64(Int8.min)...Int64(Int8.max)
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        case .uint8: 0...Int64(UInt8.max)
        case .uint16: 0...Int64(UInt16.max)
        case .uint32: 0...Int64(UInt32.max)
        default: nil
        }
    }
}

extension StoredValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case null, bool, integer, unsigned, float, double, decimal, string, data, date, uuid, url, identifier,
            identifiers
        case array, object
    }

    /// Decodes the tagged, lossless form that `encode(to:)` writes: one key, the case's name, with its value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "Expected one key, the name of a case.")
            )
        }
        switch key {
        case .null: self = .null
        case .bool: self = .bool(try container.decode(Bool.self, forKey: key))
        case .integer: self = .integer(try container.decode(Int64.self, forKey: key))
        case .unsigned: self = .unsigned(try container.decode(UInt64.self, forKey: key))
        case .float: self = .float(Float(bitPattern: try container.decode(UInt32.self, forKey: key)))
        case .double: self = .double(Double(bitPattern: try container.decode(UInt64.self, forKey: key)))
        case .decimal:
            let text = try container.decode(String.self, forKey: key)
            guard let value = Decimal(storedText: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "\"\(text)\" is not a decimal number.")
            }
            self = .decimal(value)
        case .string: self = .string(try container.decode(String.self, forKey: key))
        case .data: self = .data(try container.decode(Data.self, forKey: key))
        case .date:
            let bits = try container.decode(UInt64.self, forKey: key)
            self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .uuid: self = .uuid(try container.decode(UUID.self, forKey: key))
        case .url:
            guard var parts = try? container.nestedUnkeyedContainer(forKey: key) else {
                self = .url(try container.decode(URL.self, forKey: key))
                return
            }
            let text = try parts.decode(String.self)
            guard case .url(let base) = try parts.decode(StoredValue.self),
                let url = URL(string: text, relativeTo: base)
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "\"\(text)\" with its base is not a URL.")
            }
            self = .url(url)
        case .identifier: self = .identifier(try container.decode(PersistentIdentifier.self, forKey: key))
        case .identifiers: self = .identifiers(try container.decode([PersistentIdentifier].self, forKey: key))
        case .array: self = .array(try container.decode([StoredValue].self, forKey: key))
        case .object: self = .object(try container.decode([String: StoredValue].self, forKey: key))
        }
    }

    /// Encodes one key, the case's name, with its value; floating-point numbers and dates as their bit patterns, and a URL
    /// that has a base as a list of its relative part and the base as a stored value, so that every value comes back bit for
    /// bit.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: try container.encode(true, forKey: .null)
        case .bool(let value): try container.encode(value, forKey: .bool)
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .unsigned(let value): try container.encode(value, forKey: .unsigned)
        case .float(let value): try container.encode(value.bitPattern, forKey: .float)
        case .double(let value): try container.encode(value.bitPattern, forKey: .double)
        case .decimal(let value): try container.encode(value.description, forKey: .decimal)
        case .string(let value): try container.encode(value, forKey: .string)
        case .data(let value): try container.encode(value, forKey: .data)
        case .date(let value): try container.encode(value.timeIntervalSinceReferenceDate.bitPattern, forKey: .date)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        case .url(let value):
            guard let base = value.baseURL else { return try container.encode(value, forKey: .url) }
            var parts = container.nestedUnkeyedContainer(forKey: .url)
            try parts.encode(value.relativeString)
            try parts.encode(StoredValue.url(base))
        case .identifier(let value): try container.encode(value, forKey: .identifier)
        case .identifiers(let value): try container.encode(value, forKey: .identifiers)
        case .array(let value): try container.encode(value, forKey: .array)
        case .object(let value): try container.encode(value, forKey: .object)
        }
    }
}

extension StoredValue: CustomStringConvertible {
    /// The value as written in a predicate, as far as it can be written.
    public var description: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .string(let value): value.debugDescription
        case .data(let value): "\(value.count) bytes"
        case .date(let value): value.safeText
        case .uuid(let value): "\(value)"
        case .url(let value): "\(value)"
        case .identifier(let value): "\(value)"
        case .identifiers(let values): "\(values)"
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .object(let members): CodedForm(value: .object(members)).description
        }
    }
}
