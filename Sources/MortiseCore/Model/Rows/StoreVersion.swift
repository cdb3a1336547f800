/// A state of a store: immutable, complete, and readable while later saves go on.
public protocol StoreVersion: AnyObject, Sendable {
    /// A number that grows with every save; two versions of one store are the same if their numbers are equal.
    var number: UInt64 { get }
    /// The records of exactly that entity, subentities not included; nil for an entity that the store does not hold.
    func rows(ofEntity name: String) -> RowSource?
    /// The record whose values in the slots of a uniqueness constraint are these; nil if no record has them, or if one of the values
    /// conflicts with nothing: null, and a number or a date that is not a number. Both zeros are one value.
    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier?
    /// Checks that everything read from this version so far was complete. Rows are read by calls that cannot throw, so
    /// call this before returning an answer, a copy or a comparison based on them.
    /// - Throws: the first error of reading, which names the damaged part; the same error at every call.
    func check() throws
}

extension StoreVersion {
    /// Throws nothing: correct for a version that is in memory as a whole.
    public func check() throws {}
}
