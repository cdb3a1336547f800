public import Foundation

/// The records of one entity as one version of a store has them, read by row.
///
/// Rows are numbered from zero. A row that a version knows keeps its number and its place in identity order as long as
/// any reader holds that version or a later one; deleted rows leave gaps. All members are safe to call from several
/// threads. Subclass it to serve models straight out of a store's own memory.
open class RowSource: @unchecked Sendable {
    // @unchecked: the class itself has no state; subclasses promise immutability or their own isolation.

    public init() {}

    /// One more than the highest row.
    open var endRow: Int { 0 }
    /// The number of rows that are there.
    open var count: Int { 0 }
    /// Whether the row is there.
    open func contains(row: Int) -> Bool { false }
    /// The identifier of a row that is there.
    open func identifier(ofRow row: Int) -> PersistentIdentifier { .temporary(entityName: "") }
    /// The row of a record, if it is there.
    open func row(of identifier: PersistentIdentifier) -> Int? { nil }
    /// As `row(of:)`, for a caller that can guess which row it is. The default does not use the guess.
    open func row(of identifier: PersistentIdentifier, expectedAt row: Int) -> Int? { self.row(of: identifier) }
    /// The value in a slot of a row that is there; `null` for slots that do not exist. A row that was there when the
    /// source was taken keeps its values.
    open func value(row: Int, slot: Int) -> StoredValue { .null }

    // For values that are not where the row is, and that reading may not find. The defaults are right for a source that
    // has all of its values.

    /// As `value(row:slot:)`, for whoever can tell its user at once.
    /// - Throws: why the value cannot be read. `value(row:slot:)` is `null` then, and the version's `check()` throws.
    open func readValue(row: Int, slot: Int) throws -> StoredValue { value(row: row, slot: slot) }
    /// A form of the value that is identical for identical values of one store and takes no reading. It is for comparing
    /// only: what it says of a value that lies elsewhere is the source's own affair.
    open func storedForm(row: Int, slot: Int) -> StoredValue { value(row: row, slot: slot) }
    /// As `data(row:slot:)`, but nil as well for data that lie elsewhere; nothing is read.
    open func nearData(row: Int, slot: Int) -> Data? { data(row: row, slot: slot) }

    // Values by type, without a `StoredValue` between. Nil where the value is null, of another kind, or out of range.

    open func isNull(row: Int, slot: Int) -> Bool { value(row: row, slot: slot).isNull }
    open func bool(row: Int, slot: Int) -> Bool? { Bool(storedValue: value(row: row, slot: slot)) }
    /// An integer of any kind but `uint64`.
    open func int64(row: Int, slot: Int) -> Int64? { Int64(storedValue: value(row: row, slot: slot)) }
    open func uint64(row: Int, slot: Int) -> UInt64? { UInt64(storedValue: value(row: row, slot: slot)) }
    open func float(row: Int, slot: Int) -> Float? { Float(storedValue: value(row: row, slot: slot)) }
    open func double(row: Int, slot: Int) -> Double? { Double(storedValue: value(row: row, slot: slot)) }
    open func decimal(row: Int, slot: Int) -> Decimal? { Decimal(storedValue: value(row: row, slot: slot)) }
    open func date(row: Int, slot: Int) -> Date? { Date(storedValue: value(row: row, slot: slot)) }
    open func string(row: Int, slot: Int) -> String? { String(storedValue: value(row: row, slot: slot)) }
    /// Whether the value is a string that is equal to another; stores that keep bytes need not make strings of them.
    open func isText(_ text: TextToFind, row: Int, slot: Int) -> Bool { string(row: row, slot: slot) == text.string }
    open func data(row: Int, slot: Int) -> Data? { Data(storedValue: value(row: row, slot: slot)) }
    open func uuid(row: Int, slot: Int) -> UUID? { UUID(storedValue: value(row: row, slot: slot)) }
    open func url(row: Int, slot: Int) -> URL? { URL(storedValue: value(row: row, slot: slot)) }
    /// The target of a to-one relationship.
    open func identifier(row: Int, slot: Int) -> PersistentIdentifier? {
        if case .identifier(let target) = value(row: row, slot: slot) { target } else { nil }
    }
    /// The members of a to-many relationship, in identity order.
    open func identifiers(row: Int, slot: Int) -> [PersistentIdentifier] {
        if case .identifiers(let members) = value(row: row, slot: slot) { members } else { [] }
    }

    /// The rows of an older state of the same source that may be gone here or have other values: all that do, and perhaps
    /// more. Nil where that is not known.
    open func rowsThatMayDiffer(from older: RowSource) -> [Range<Int>]? { nil }

    /// Whether the rows came from outside and have not been checked against a model type's properties: a context checks
    /// them before it hands out models, and says so with `noteVerified(for:)`.
    open func needsVerification(for layout: ModelLayout) -> Bool { false }
    open func noteVerified(for layout: ModelLayout) {}
}

/// A state of a store: immutable, complete, and readable while later saves go on.
public protocol StoreVersion: AnyObject, Sendable {
    /// Grows with every save; two versions of one store are the same if their numbers are.
    var number: UInt64 { get }
    /// The records of exactly that entity, subentities not included; nil for an entity that the store does not hold.
    func rows(ofEntity name: String) -> RowSource?
    /// The record whose values in the slots of a uniqueness constraint are these; nil where there is none, or where one
    /// of the values is null.
    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier?
    /// Makes sure that whatever was read from this version so far lacks nothing. Rows are read by calls that cannot throw;
    /// whoever has made an answer, a copy or a comparison of them asks here before handing it on.
    /// - Throws: the first error that reading has met, which names the damaged place; again at every call.
    func check() throws
}

extension StoreVersion {
    /// Throws nothing: right for a version that is in memory as a whole.
    public func check() throws {}
}
