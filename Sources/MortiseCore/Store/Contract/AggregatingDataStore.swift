/// A store that aggregates without returning rows.
public protocol AggregatingDataStore: VersionedDataStore, ConcurrentDataStore {
    /// The groups of an aggregation in one of the store's versions; nil if the store leaves it to the framework.
    /// - Throws: `QueryEvaluationError`.
    func aggregate(_ query: AggregateQuery, in version: any StoreVersion) throws -> AggregateAnswer?
}
