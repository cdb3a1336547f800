/// The protocols of the contract that a store conforms to. Found out once, when the store has been opened: a cast costs as much as a
/// small look-up. Whatever else a store can do, it tells by its capabilities.
package struct StoreConformances {
    /// The store as one of queries.
    package let queries: (any QueryableDataStore)?
    /// The store as one of versions.
    package let versions: (any VersionedDataStore)?
    // SwiftData's contract tells these two by conformances alone.
    /// The store as one that deletes batches.
    package let batches: (any DataStoreBatching)?
    /// The store as one that keeps a history.
    package let history: (any HistoryProviding)?

    /// Finds out what a store is.
    package init(_ store: any DataStore) {
        queries = store as? any QueryableDataStore
        versions = store as? any VersionedDataStore
        batches = store as? any DataStoreBatching
        history = store as? any HistoryProviding
    }
}

extension DataStore {
    /// The latest version; nil for a store without versions.
    var latestVersion: (any StoreVersion)? { StoreConformances(self).versions?.currentVersion }
}
