public import Foundation

/// A type whose values a store keeps as one `StoredValue` of a fixed kind other than `coded`.
///
/// The standard library's and Foundation's scalars conform. Do not conform types of your own: an enum with a raw value
/// and every other `Codable` type is persisted without it.
public protocol PersistentScalar: Codable, Sendable {
    /// The kind under which values of this type are stored.
    static var storageKind: StorageKind { get }
    /// This value in stored form; its case is the one that `storageKind` calls for.
    var storedValue: StoredValue { get }
    /// The value that a stored value stands for; nil if it is null, of another kind, or out of range.
    init?(storedValue: StoredValue)
    /// What a getter returns where a store, against its contract, holds no value for a required property.
    static var placeholder: Self { get }
    /// The value in a slot of a row that is there; nil as for `init(storedValue:)`.
    static func _read(_ source: RowSource, row: Int, slot: Int) -> Self?
}

extension PersistentScalar {
    public static func _read(_ source: RowSource, row: Int, slot: Int) -> Self? {
        Self(storedValue: source.value(row: row, slot: slot))
    }
}

extension Bool: PersistentScalar {
    public static var storageKind: StorageKind { .bool }
    @inlinable public var storedValue: StoredValue { .bool(self) }
    public init?(storedValue: StoredValue) {
        guard case .bool(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Bool { false }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Bool? {
        source.bool(row: row, slot: slot)
    }
}

extension FixedWidthInteger where Self: PersistentScalar {
    @inlinable public var storedValue: StoredValue { .integer(Int64(truncatingIfNeeded: self)) }
    @inlinable public init?(storedValue: StoredValue) {
        guard case .integer(let value) = storedValue, let exact = Self(exactly: value) else { return nil }
        self = exact
    }
    public static var placeholder: Self { 0 }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Self? {
        source.int64(row: row, slot: slot).flatMap { Self(exactly: $0) }
    }
}

extension Int: PersistentScalar { public static var storageKind: StorageKind { .int64 } }
extension Int8: PersistentScalar { public static var storageKind: StorageKind { .int8 } }
extension Int16: PersistentScalar { public static var storageKind: StorageKind { .int16 } }
extension Int32: PersistentScalar { public static var storageKind: StorageKind { .int32 } }
extension Int64: PersistentScalar { public static var storageKind: StorageKind { .int64 } }
extension UInt8: PersistentScalar { public static var storageKind: StorageKind { .uint8 } }
extension UInt16: PersistentScalar { public static var storageKind: StorageKind { .uint16 } }
extension UInt32: PersistentScalar { public static var storageKind: StorageKind { .uint32 } }

extension UInt: PersistentScalar {
    public static var storageKind: StorageKind { .uint64 }
    @inlinable public var storedValue: StoredValue { .unsigned(UInt64(self)) }
    public init?(storedValue: StoredValue) {
        guard case .unsigned(let value) = storedValue, let exact = UInt(exactly: value) else { return nil }
        self = exact
    }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UInt? {
        source.uint64(row: row, slot: slot).flatMap { UInt(exactly: $0) }
    }
}

extension UInt64: PersistentScalar {
    public static var storageKind: StorageKind { .uint64 }
    @inlinable public var storedValue: StoredValue { .unsigned(self) }
    public init?(storedValue: StoredValue) {
        guard case .unsigned(let value) = storedValue else { return nil }
        self = value
    }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UInt64? {
        source.uint64(row: row, slot: slot)
    }
}

extension Float: PersistentScalar {
    public static var storageKind: StorageKind { .float }
    @inlinable public var storedValue: StoredValue { .float(self) }
    public init?(storedValue: StoredValue) {
        guard case .float(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Float { 0 }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Float? {
        source.float(row: row, slot: slot)
    }
}

extension Double: PersistentScalar {
    public static var storageKind: StorageKind { .double }
    @inlinable public var storedValue: StoredValue { .double(self) }
    public init?(storedValue: StoredValue) {
        guard case .double(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Double { 0 }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Double? {
        source.double(row: row, slot: slot)
    }
}

extension Decimal: PersistentScalar {
    public static var storageKind: StorageKind { .decimal }
    @inlinable public var storedValue: StoredValue { .decimal(self) }
    public init?(storedValue: StoredValue) {
        guard case .decimal(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Decimal { 0 }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Decimal? {
        source.decimal(row: row, slot: slot)
    }
}

extension String: PersistentScalar {
    public static var storageKind: StorageKind { .string }
    @inlinable public var storedValue: StoredValue { .string(self) }
    public init?(storedValue: StoredValue) {
        guard case .string(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: String { "" }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> String? {
        source.string(row: row, slot: slot)
    }
}

extension Data: PersistentScalar {
    public static var storageKind: StorageKind { .data }
    @inlinable public var storedValue: StoredValue { .data(self) }
    public init?(storedValue: StoredValue) {
        guard case .data(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Data { Data() }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Data? {
        // A getter asks again for what lies elsewhere, where it can tell of an error.
        source.nearData(row: row, slot: slot)
    }
}

extension Date: PersistentScalar {
    public static var storageKind: StorageKind { .date }
    @inlinable public var storedValue: StoredValue { .date(self) }
    public init?(storedValue: StoredValue) {
        guard case .date(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: 0) }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> Date? {
        source.date(row: row, slot: slot)
    }
}

extension UUID: PersistentScalar {
    public static var storageKind: StorageKind { .uuid }
    @inlinable public var storedValue: StoredValue { .uuid(self) }
    public init?(storedValue: StoredValue) {
        guard case .uuid(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> UUID? {
        source.uuid(row: row, slot: slot)
    }
}

extension URL: PersistentScalar {
    public static var storageKind: StorageKind { .url }
    @inlinable public var storedValue: StoredValue { .url(self) }
    public init?(storedValue: StoredValue) {
        guard case .url(let value) = storedValue else { return nil }
        self = value
    }
    public static var placeholder: URL { URL(fileURLWithPath: "/") }
    @inlinable public static func _read(_ source: RowSource, row: Int, slot: Int) -> URL? {
        source.url(row: row, slot: slot)
    }
}
