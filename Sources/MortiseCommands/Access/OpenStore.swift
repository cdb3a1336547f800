#if Tool
import MortiseCore

/// A store that was opened from its URL alone, through the schema that it keeps in itself.
final class OpenStore {
    /// The URL as it may be shown.
    let name: String
    let schema: StoredSchema
    let layouts: [String: RecordLayout]
    let store: any DataStore
    /// The records as they were, where they are asked for; queries are answered from it then.
    private(set) var past: (any StoreVersion)?
    let queryable: any QueryableDataStore
    /// Who is named as the author of what is saved.
    var author = "mortise"
    /// Nil for a store without versions.
    let versioned: (any VersionedDataStore)?
    private var loaded: (any StoreVersion)?
    private var walked: (any StoreVersion)?

    /// - Throws: what the adapter throws; `ToolError.unsupported` for a store that cannot be read without models.
    init<C: DataStoreConfiguration>(_ configuration: C, schema: StoredSchema, name: String) throws {
        var configuration = configuration
        configuration.schema = Schema(stored: schema)
        try configuration.validate()
        self.name = name
        self.schema = schema
        layouts = schema.recordLayouts()
        let store = try C.Store(configuration, migrationPlan: nil)
        self.store = store
        let conformances = StoreConformances(store)
        guard let queryable = conformances.queries else {
            throw ToolError.unsupported(store: name, what: "be read without models")
        }
        self.queryable = queryable
        versioned = conformances.versions
    }

    /// Opens a store for reading, as it is now or so that it follows what other processes commit.
    /// - Throws: `ToolError.missing` if the store does not exist, `.unsupported` if it does not describe itself.
    static func reading(_ location: StoreArgument, following: Bool = false) throws -> OpenStore {
        try reading(location.selfDescribing(), location.name, following)
    }

    private static func reading<C: SelfDescribingConfiguration>(
        _ configuration: C, _ name: String, _ following: Bool
    ) throws -> OpenStore {
        guard let schema = try configuration.storedSchema() else { throw ToolError.missing(store: name) }
        return try OpenStore(
            following ? configuration.following() : configuration.readOnly(), schema: schema, name: name)
    }

    /// Lets queries see the records as they were.
    /// - Throws: what `PastPoint.version(of:)` throws.
    func goBack(to point: PastPoint) throws { past = try point.version(of: self) }

    /// The records as they are. For a store without versions all of them are read, once, until `refresh()`.
    func version() throws -> any StoreVersion {
        if let versioned { return versioned.currentVersion }
        if let loaded { return loaded }
        let version = try SnapshotVersion(queryable, schema, layouts, name: name)
        loaded = version
        return version
    }

    /// The records as they are, to be read in identity order. Of a store without versions that claims read consistency and finds
    /// records by their identifiers, this keeps a few at a time; otherwise it is `version()`.
    func walkedVersion() throws -> any StoreVersion {
        if let walked { return walked }
        guard versioned == nil else { return try version() }
        let found: any StoreVersion = try WindowedVersion.of(queryable, schema, layouts, name: name) ?? version()
        walked = found
        return found
    }

    /// Reads all records of a store without versions once.
    /// - Throws: what prevents reading one.
    func readThrough() throws { try (try walkedVersion() as? WindowedVersion)?.readThrough() }

    /// Forgets what was read of a store without versions.
    func refresh() {
        loaded = nil
        (walked as? WindowedVersion)?.endState()
        walked = nil
    }

    /// How many records there are, of all entities.
    func count() throws -> Int {
        let version = try walkedVersion()
        return schema.entities.reduce(0) { $0 + (version.rows(ofEntity: $1.name)?.count ?? 0) }
    }

    /// The records of a store without versions for which a query may hold, without their lists. A store may leave conditions to
    /// its caller.
    /// - Throws: what the store throws; `ToolError.unsupported` for a store with its own type of snapshots.
    func records(_ query: StoreQuery) throws -> [DefaultSnapshot] {
        func records<S: QueryableDataStore>(_ store: S) throws -> [DefaultSnapshot] {
            let plan = store.plan(query)
            try plan.validate(adapter: name, for: query)
            return try store.rows(for: plan).snapshots.map { snapshot in
                guard let snapshot = snapshot as? DefaultSnapshot else {
                    throw ToolError.unsupported(store: name, what: "be read without models")
                }
                return snapshot
            }
        }
        return try records(queryable)
    }

    func reader(of version: any StoreVersion) -> RecordReader {
        if past != nil {
            return PastReader(schema: schema, layouts: layouts) { version.rows(ofEntity: $0) }
        }
        return version is AnswerVersion
            ? AnswerReader(schema: schema, layouts: layouts) { version.rows(ofEntity: $0) }
            : RecordReader(schema: schema, layouts: layouts) { version.rows(ofEntity: $0) }
    }

    /// Saves inserted, updated and deleted records. With `baseVersion` the store has to have that version still, and with
    /// `updatedVersions` and `deletedVersions` the records.
    /// - Throws: what the store throws; `ToolError.unsupported` for a store with its own type of snapshots.
    func save(
        inserted: [DefaultSnapshot] = [], updated: [DefaultSnapshot] = [], deleted: [DefaultSnapshot] = [],
        changedSlots: [SlotSet] = [], baseVersion: UInt64? = nil, updatedVersions: [UInt64] = [],
        deletedVersions: [UInt64] = []
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        func save<S: DataStore>(_ store: S) throws -> [PersistentIdentifier: PersistentIdentifier] {
            let request = DataStoreSaveChangesRequest<DefaultSnapshot>(
                inserted: inserted, updated: updated, deleted: deleted, editingState: EditingState(author: author),
                changedSlots: changedSlots, baseVersion: baseVersion, updatedVersions: updatedVersions,
                deletedVersions: deletedVersions)
            guard let request = request as? DataStoreSaveChangesRequest<S.Snapshot> else {
                throw ToolError.unsupported(store: name, what: "take records without models")
            }
            return try store.save(request).remappedIdentifiers
        }
        return try save(store)
    }

    func close() throws {
        refresh()
        try store.close()
    }
}
#endif
