/// A store that aggregates without returning rows. It plans queries too, as a `QueryableDataStore` or a
/// `VersionedDataStore`.
///
/// The framework asks only for records that the store's plan selects with every condition claimed as exact, and only while
/// the context has no unsaved changes that count.
public protocol AggregatingDataStore: DataStore {
    /// Aggregates the records of a query.
    /// - Parameters:
    ///   - query: what to aggregate, and how.
    ///   - version: the version of a versioned store to read; nil for a store without versions.
    /// - Returns: the groups; nil if the store leaves the aggregation to the framework.
    /// - Throws: `QueryEvaluationError`; the store's errors.
    func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer?
}
