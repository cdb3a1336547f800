public import MortiseCore

/// A store whose records are in an engine. The adapter makes the engine; extensions of this protocol do the rest.
public protocol EngineDataStore: VersionedDataStore, DataStoreBatching, Sendable {
    /// The engine that holds the records.
    var engine: Engine { get }
    /// Whether `save(_:)` is allowed.
    var allowsSave: Bool { get }
}

extension EngineDataStore {
    /// The identifier that the engine's catalog gives to the store.
    public var identifier: String { engine.catalog.storeIdentifier }
    /// The names that the engine's schema has kept.
    public var formerNames: [String: [String]] { engine.catalog.schema.formerNames }
    /// The engine's feed.
    public var changeFeed: ChangeFeed? { engine.feed }
    /// The engine's latest published version. Never blocks.
    public var currentVersion: any StoreVersion { engine.version }
    /// Asks the latest version for damage that was met, and what keeps the engine's commits. Takes nothing in that others have
    /// saved, which may have to wait for them.
    /// - Throws: what is wrong.
    public func checkHealth() throws {
        try engine.version.check()
        try engine.checkHealth()
    }
    /// What the engine can do; a store that keeps its records adds its own.
    public var capabilities: StoreCapabilities { engineCapabilities }

    /// What every store over an engine can do.
    public var engineCapabilities: StoreCapabilities {
        StoreCapabilities(conformances: self).union([
            .aggregates, .batchUpdate, .closing, .erase, .uniqueness, .referentialIntegrity, .announcements,
            .healthChecks,
        ])
    }

    /// Returns the records of an entity in order of insertion, within the request's offset and limit.
    /// - Throws: `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort` for a request that filters or sorts.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let rows = try matches(request)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: try rows.map { try $0.table.snapshot(ofRow: $0.row) })
    }

    /// Counts without making snapshots.
    /// - Throws: as `fetch(_:)`.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try matches(request).count
    }

    /// Finds identifiers without making snapshots.
    /// - Throws: as `fetch(_:)`.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try matches(request).map { $0.table.identifier(ofRow: $0.row) }
    }

    /// Deletes all records of an entity as one transaction.
    /// - Throws: `DataStoreError.preferInMemoryFilter` for a request with a predicate; `EngineError`. Nothing was
    ///   deleted then.
    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        if request.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        try checkWritable()
        try engine.deleteAll(
            ofEntity: Schema.entityName(for: T.self), includingSubentities: request.includeSubclasses,
            author: request.editingState.author)
    }

    /// True: the engine carries out delete rules.
    public var followsDeleteRules: Bool { true }

    /// Carries out a batch as one transaction.
    /// - Throws: `EngineError`, `VersionSuperseded`. Nothing was changed then.
    public func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        try checkWritable()
        return try engine.execute(batch)
    }

    /// Removes all records as one transaction.
    /// - Throws: `EngineError`.
    public func erase() throws {
        try checkWritable()
        try engine.erase()
    }

    /// Closes the engine. Saves throw `EngineError.closed` afterwards; versions that are held stay readable.
    public func close() throws { try engine.close() }

    /// What errors call the store: its place, where its configuration tells one.
    package var locationOrIdentifier: String {
        (configuration as? any SelfDescribingConfiguration)?.location ?? identifier
    }

    func checkWritable() throws {
        if !allowsSave { throw EngineError.readOnly(store: locationOrIdentifier) }
    }

    private func matches<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> ArraySlice<(table: TableVersion, row: Int)> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let version = engine.version
        let entity = Schema.entityName(for: T.self)
        guard engine.catalog.layouts[entity] != nil else { throw EngineError.unknownEntity(entity) }
        var rows: [(table: TableVersion, row: Int)] = []
        let family = engine.catalog.schema.subtree(of: entity)
        for name in family {
            guard let table = version.tables[name] else { continue }
            for row in 0..<table.endRow where table.contains(row: row) { rows.append((table, row)) }
        }
        try version.checkDamage()
        if family.count > 1 { rows.sort { $0.table.sequence(ofRow: $0.row) < $1.table.sequence(ofRow: $1.row) } }
        return rows[request.descriptor.window(of: rows.count)]
    }
}

extension TableVersion {
    /// The record in a row that is there, with all of its data.
    /// - Throws: `ExternalValueError`.
    package func snapshot(ofRow row: Int) throws -> DefaultSnapshot {
        DefaultSnapshot(
            persistentIdentifier: identifier(ofRow: row), layout: layout,
            values: ContiguousArray(try layout.slots.indices.map { try readValue(row: row, slot: $0) }))
    }
}
