public import Foundation

/// The records of one entity in one version of a store, read by row.
///
/// Rows are numbered from zero. A row of a version keeps its number and its position in identity order as long as any
/// reader holds that version or a later one; deleted rows leave gaps. All members are safe to call from several
/// threads. Subclass it to serve models directly from a store's memory.
open class RowSource: @unchecked Sendable {
    // @unchecked: the class itself has no state; subclasses promise immutability or their own isolation.

    /// Makes a source without rows; subclasses override the members.
    public init() {}

    /// One more than the highest row.
    open var endRow: Int { 0 }
    /// The number of rows that exist.
    open var count: Int { 0 }
    /// Whether the row exists.
    open func contains(row: Int) -> Bool { false }
    /// The identifier of an existing row.
    open func identifier(ofRow row: Int) -> PersistentIdentifier { .temporary(entityName: "") }
    /// The row of a record; nil if the record does not exist.
    open func row(of identifier: PersistentIdentifier) -> Int? { nil }
    /// Like `row(of:)`, for a caller that can guess the row. The default ignores the guess.
    open func row(of identifier: PersistentIdentifier, expectedAt row: Int) -> Int? { self.row(of: identifier) }
    /// The value in a slot of an existing row; `null` for slots that do not exist. A row that existed when the source
    /// was taken keeps its values.
    open func value(row: Int, slot: Int) -> StoredValue { .null }

    // For values that are not where the row is, and that reading may not find. The defaults are right for a source that
    // has all of its values.

    /// Like `value(row:slot:)`, but throws if the value cannot be read.
    /// - Throws: why the value cannot be read. `value(row:slot:)` is `null` then, and the version's `check()` throws.
    open func readValue(row: Int, slot: Int) throws -> StoredValue { value(row: row, slot: slot) }
    /// A cheap stand-in for the value: identical for identical values of one store, found without reading a file. Opaque
    /// to callers; use it for comparisons only.
    open func storedForm(row: Int, slot: Int) -> StoredValue { value(row: row, slot: slot) }
    /// The rows around an existing one as a source of their own, for a caller that goes through many rows and looks at each once: what
    /// has to be read for them is let go of with it. The default is this source.
    /// - Returns: the source, and the row here that is its row 0.
    open func part(around row: Int) -> (rows: RowSource, first: Int) { (self, 0) }
    /// Like `data(row:slot:)`, but nil for external data; reads no file.
    open func inlineData(row: Int, slot: Int) -> Data? { data(row: row, slot: slot) }

    // Typed access without an intermediate `StoredValue`.

    /// Whether the value is null.
    open func isNull(row: Int, slot: Int) -> Bool { value(row: row, slot: slot).isNull }
    /// A Boolean; nil if the value is null or of another kind.
    open func bool(row: Int, slot: Int) -> Bool? { Bool(storedValue: value(row: row, slot: slot)) }
    /// An integer of any kind but `uint64`; nil if the value is null or of another kind.
    open func int64(row: Int, slot: Int) -> Int64? { Int64(storedValue: value(row: row, slot: slot)) }
    /// An integer of kind `uint64`; nil if the value is null or of another kind.
    open func uint64(row: Int, slot: Int) -> UInt64? { UInt64(storedValue: value(row: row, slot: slot)) }
    /// A float, bit for bit; nil if the value is null or of another kind.
    open func float(row: Int, slot: Int) -> Float? { Float(storedValue: value(row: row, slot: slot)) }
    /// A double, bit for bit; nil if the value is null or of another kind.
    open func double(row: Int, slot: Int) -> Double? { Double(storedValue: value(row: row, slot: slot)) }
    /// A decimal; nil if the value is null or of another kind.
    open func decimal(row: Int, slot: Int) -> Decimal? { Decimal(storedValue: value(row: row, slot: slot)) }
    /// A date; nil if the value is null or of another kind.
    open func date(row: Int, slot: Int) -> Date? { Date(storedValue: value(row: row, slot: slot)) }
    /// A string; nil if the value is null or of another kind.
    open func string(row: Int, slot: Int) -> String? { String(storedValue: value(row: row, slot: slot)) }
    /// Whether the value is a string that equals another; stores that keep bytes can compare without making a string.
    open func isText(_ text: TextToFind, row: Int, slot: Int) -> Bool { string(row: row, slot: slot) == text.string }
    /// Data, read from its file if it is external; nil if the value is null or of another kind.
    open func data(row: Int, slot: Int) -> Data? { Data(storedValue: value(row: row, slot: slot)) }
    /// A UUID; nil if the value is null or of another kind.
    open func uuid(row: Int, slot: Int) -> UUID? { UUID(storedValue: value(row: row, slot: slot)) }
    /// A URL; nil if the value is null or of another kind.
    open func url(row: Int, slot: Int) -> URL? { URL(storedValue: value(row: row, slot: slot)) }
    /// The target of a to-one relationship.
    open func identifier(row: Int, slot: Int) -> PersistentIdentifier? {
        if case .identifier(let target) = value(row: row, slot: slot) { target } else { nil }
    }
    /// The members of a to-many relationship, in identity order.
    open func identifiers(row: Int, slot: Int) -> [PersistentIdentifier] {
        if case .identifiers(let members) = value(row: row, slot: slot) { members } else { [] }
    }

    /// The rows that may have been deleted or changed since an older state of the same source; may include unchanged
    /// rows. Nil if unknown.
    open func rowsThatMayDiffer(from older: RowSource) -> [Range<Int>]? { nil }

    /// Whether the rows are untrusted: they were read from a file or written by another process, and were not yet checked
    /// against a model type's properties. A context checks them before it returns models, and then calls
    /// `noteVerified(for:)`.
    open func needsVerification(for checks: PropertyChecks) -> Bool { false }
    /// Called when all rows of the source have been checked, and have only known values.
    open func noteVerified(for checks: PropertyChecks) {}

    /// The rows that are checked together with a row, itself included, and whether they have been checked. If
    /// `needsVerification` is true, a context asks this for each row whose model it returns. The default checks row by
    /// row.
    open func verification(ofRow row: Int, for checks: PropertyChecks) -> (rows: Range<Int>, isDone: Bool) {
        (row..<(row + 1), false)
    }
    /// Called when the rows that `verification(ofRow:for:)` named have been checked, and have only known values.
    open func noteVerified(_ rows: Range<Int>, for checks: PropertyChecks) {}
}
