/// A store's error for a save or a batch that would give two records the same unique values. A batch throws
/// `ModelContextError.notUnique` in its place.
public protocol UniqueViolation: Error {
    /// The records that would have had the same values: the one that was to get them, and the one that has them. Nil if the
    /// store does not know.
    var uniqueViolation:
        (entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)?
    { get }
}
