extension DataStore {
    /// The capabilities that follow from the protocols that the store conforms to.
    public var capabilities: StoreCapabilities { StoreCapabilities(conformances: self) }
}

extension StoreCapabilities {
    /// The capabilities of the protocols that a store conforms to, and `migration` where its configuration allows that.
    public init(conformances store: any DataStore) {
        var found: Set<StoreCapability> = []
        let conformances = StoreConformances(store)
        if conformances.batches != nil { found.insert(.batchDelete) }
        if conformances.queries != nil { found.insert(.queries) }
        if conformances.versions != nil { found.insert(.versions) }
        if conformances.history != nil { found.insert(.history) }
        let migratable = store.configuration as any DataStoreConfiguration as? any MigratableConfiguration
        if migratable?.allowsMigration == true { found.insert(.migration) }
        self.init(found)
    }

    /// The union of these capabilities and others.
    public func union(_ others: some Sequence<StoreCapability>) -> StoreCapabilities {
        StoreCapabilities(declared.union(others))
    }
}
