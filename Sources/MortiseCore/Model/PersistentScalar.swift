public import Foundation

/// A type whose values are stored as one `StoredValue` of a fixed kind other than `coded`.
///
/// The standard library's and Foundation's scalars conform. Do not conform your own types: enums with a raw value and
/// all other `Codable` types are persisted without it.
public protocol PersistentScalar: Codable, Sendable {
    /// The kind in which values of this type are stored.
    static var storageKind: StorageKind { get }
    /// This value in stored form, of the kind `storageKind`.
    var storedValue: StoredValue { get }
    /// The Swift value of a stored value; nil if it is null, of another kind, or out of range.
    init?(storedValue: StoredValue)
    /// The result of a getter if a store breaks its contract and has no value for a required property.
    static var placeholder: Self { get }
    /// The value in a slot of an existing row; nil as for `init(storedValue:)`.
    static func _read(_ source: RowSource, row: Int, slot: Int) -> Self?
    /// The Swift value of a stored value; else that of a declared default, else the placeholder.
    static func _value(_ storedValue: StoredValue, default declared: () -> StoredValue) -> Self
}

extension PersistentScalar {
    // A requirement, because each type has it specialized: where the type is a parameter, an optional value of it costs a
    // search for the optional's metadata.
    /// Used by macro expansions: turns a stored value into that of a required property.
    public static func _value(_ storedValue: StoredValue, default declared: () -> StoredValue) -> Self {
        Self(storedValue: storedValue) ?? Self(storedValue: declared()) ?? placeholder
    }
    /// Used by macro expansions: reads the value of a row's slot.
    public static func _read(_ source: RowSource, row: Int, slot: Int) -> Self? {
        Self(storedValue: source.value(row: row, slot: slot))
    }
}

extension Bool: PersistentScalar {
    /// Always `bool`.
    public static var storageKind: StorageKind { .bool }
    /// The value as `StoredValue.bool`.
    @inlinable public var storedValue: StoredValue { .bool(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .bool(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Bool { false }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Bool? {
        source.bool(row: row, slot: slot)
    }
}

extension FixedWidthInteger where Self: PersistentScalar {
    /// The value as `StoredValue.integer`.
    @inlinable public var storedValue: StoredValue { .integer(Int64(truncatingIfNeeded: self)) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    @inlinable public init?(storedValue: StoredValue) {
        guard case .integer(let value) = storedValue, let exact = Self(exactly: value) else { return nil }
        self = exact
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Self { 0 }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Self? {
        source.int64(row: row, slot: slot).flatMap { Self(exactly: $0) }
    }
}

extension Int: PersistentScalar {
    /// Always `int64`.
    public static var storageKind: StorageKind { .int64 }
}
extension Int8: PersistentScalar {
    /// Always `int8`.
    public static var storageKind: StorageKind { .int8 }
}
extension Int16: PersistentScalar {
    /// Always `int16`.
    public static var storageKind: StorageKind { .int16 }
}
extension Int32: PersistentScalar {
    /// Always `int32`.
    public static var storageKind: StorageKind { .int32 }
}
extension Int64: PersistentScalar {
    /// Always `int64`.
    public static var storageKind: StorageKind { .int64 }
}
extension UInt8: PersistentScalar {
    /// Always `uint8`.
    public static var storageKind: StorageKind { .uint8 }
}
extension UInt16: PersistentScalar {
    /// Always `uint16`.
    public static var storageKind: StorageKind { .uint16 }
}
extension UInt32: PersistentScalar {
    /// Always `uint32`.
    public static var storageKind: StorageKind { .uint32 }
}

extension UInt: PersistentScalar {
    /// Always `uint64`.
    public static var storageKind: StorageKind { .uint64 }
    /// The value as `StoredValue.unsigned`.
    @inlinable public var storedValue: StoredValue { .unsigned(UInt64(self)) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .unsigned(let value) = storedValue, let exact = UInt(exactly: value) else { return nil }
        self = exact
    }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UInt? {
        source.uint64(row: row, slot: slot).flatMap { UInt(exactly: $0) }
    }
}

extension UInt64: PersistentScalar {
    /// Always `uint64`.
    public static var storageKind: StorageKind { .uint64 }
    /// The value as `StoredValue.unsigned`.
    @inlinable public var storedValue: StoredValue { .unsigned(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .unsigned(let value) = storedValue else { return nil }
        self = value
    }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UInt64? {
        source.uint64(row: row, slot: slot)
    }
}

extension Float: PersistentScalar {
    /// Always `float`.
    public static var storageKind: StorageKind { .float }
    /// The value as `StoredValue.float`.
    @inlinable public var storedValue: StoredValue { .float(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .float(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Float { 0 }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Float? {
        source.float(row: row, slot: slot)
    }
}

extension Double: PersistentScalar {
    /// Always `double`.
    public static var storageKind: StorageKind { .double }
    /// The value as `StoredValue.double`.
    @inlinable public var storedValue: StoredValue { .double(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .double(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Double { 0 }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Double? {
        source.double(row: row, slot: slot)
    }
}

extension Decimal: PersistentScalar {
    /// Always `decimal`.
    public static var storageKind: StorageKind { .decimal }
    /// The value as `StoredValue.decimal`.
    @inlinable public var storedValue: StoredValue { .decimal(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .decimal(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Decimal { 0 }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Decimal? {
        source.decimal(row: row, slot: slot)
    }
}

extension String: PersistentScalar {
    /// Always `string`.
    public static var storageKind: StorageKind { .string }
    /// The value as `StoredValue.string`.
    @inlinable public var storedValue: StoredValue { .string(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .string(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: String { "" }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> String? {
        source.string(row: row, slot: slot)
    }
}

extension Data: PersistentScalar {
    /// Always `data`.
    public static var storageKind: StorageKind { .data }
    /// The value as `StoredValue.data`.
    @inlinable public var storedValue: StoredValue { .data(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .data(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Data { Data() }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Data? {
        // A getter asks again for what lies elsewhere, where it can tell of an error.
        source.inlineData(row: row, slot: slot)
    }
}

extension Date: PersistentScalar {
    /// Always `date`.
    public static var storageKind: StorageKind { .date }
    /// The value as `StoredValue.date`.
    @inlinable public var storedValue: StoredValue { .date(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .date(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: 0) }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Date? {
        source.date(row: row, slot: slot)
    }
}

extension UUID: PersistentScalar {
    /// Always `uuid`.
    public static var storageKind: StorageKind { .uuid }
    /// The value as `StoredValue.uuid`.
    @inlinable public var storedValue: StoredValue { .uuid(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .uuid(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UUID? {
        source.uuid(row: row, slot: slot)
    }
}

extension URL: PersistentScalar {
    /// Always `url`.
    public static var storageKind: StorageKind { .url }
    /// The value as `StoredValue.url`.
    @inlinable public var storedValue: StoredValue { .url(self) }
    /// The value of the same kind; nil for null, for another kind, and for a number out of range.
    public init?(storedValue: StoredValue) {
        guard case .url(let value) = storedValue else { return nil }
        self = value
    }
    /// What a getter returns if a store breaks its contract.
    public static var placeholder: URL { URL(fileURLWithPath: "/") }
    /// Used by macro expansions: reads the value of a row's slot.
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> URL? {
        source.url(row: row, slot: slot)
    }
}
