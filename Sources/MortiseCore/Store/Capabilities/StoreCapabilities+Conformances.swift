extension DataStore {
    /// The capabilities that follow from the protocols that the store conforms to.
    public var capabilities: StoreCapabilities { StoreCapabilities(conformances: self) }
}

extension StoreCapabilities {
    /// The capabilities of the protocols that a store conforms to, and `migration` where its configuration allows that.
    public init(conformances store: any DataStore) {
        var found: Set<StoreCapability> = []
        if store is any DataStoreBatching { found.insert(.batchDelete) }
        if store is any QueryableDataStore { found.insert(.queries) }
        if store is any VersionedDataStore { found.insert(.versions) }
        if store is any HistoryProviding { found.insert(.history) }
        let migratable = store.configuration as any DataStoreConfiguration as? any MigratableConfiguration
        if migratable?.allowsMigration == true { found.insert(.migration) }
        self.init(found)
    }

    /// The union of these capabilities and others.
    public func union(_ others: some Sequence<StoreCapability>) -> StoreCapabilities {
        StoreCapabilities(declared.union(others))
    }
}
