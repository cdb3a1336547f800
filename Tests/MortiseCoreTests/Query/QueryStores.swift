import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory

/// The engine with none of its own planning: every query is answered with all records.
struct ScanningConfiguration: DataStoreConfiguration {
    typealias Store = ScanningStore
    var name = "scanning"
    var schema: Schema?
}

final class ScanningStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: ScanningConfiguration
    let schema: Schema
    let engine: Engine
    var allowsSave: Bool { true }

    init(_ configuration: ScanningConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.withoutIndexes, storeIdentifier: "scanning")))
    }

    func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }
}

/// The engine without the indexes that the models declare: what is not unique is found by scans.
struct UnindexedConfiguration: DataStoreConfiguration {
    typealias Store = UnindexedStore
    var name = "unindexed"
    var schema: Schema?
}

final class UnindexedStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: UnindexedConfiguration
    let schema: Schema
    let engine: Engine
    var allowsSave: Bool { true }

    init(_ configuration: UnindexedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.withoutIndexes, storeIdentifier: "unindexed")))
    }
}

extension Schema {
    /// The schema as stored, with which an engine has nothing to look conditions up in, also not those that it was told to
    /// leave.
    fileprivate var withoutIndexes: StoredSchema {
        var stored = stored
        for place in stored.entities.indices { stored.entities[place].indices = [] }
        return stored
    }
}

/// A store of Apple's shape: a dictionary that leaves filtering and sorting to the framework.
struct PlainConfiguration: DataStoreConfiguration {
    typealias Store = PlainStore
    /// Whether the store finds records by their identifiers; it can evaluate no other predicate.
    var looksUp = false
    var name = "plain"
    var schema: Schema?
}

final class PlainStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = "plain"
    let schema: Schema
    let configuration: PlainConfiguration
    private var records = KeptRecords()
    /// How often the store was asked.
    private(set) var fetches = 0

    init(_ configuration: PlainConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil, !configuration.looksUp { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        fetches += 1
        var found = records.all(under: Schema.entityName(for: T.self), in: schema)
        if let predicate = request.descriptor.predicate {
            found = try found.filter { snapshot in
                var backing: any BackingData<T> = T.createBackingData()
                backing.persistentModelID = snapshot.persistentIdentifier
                return try predicate.evaluate(T(backingData: backing))
            }
        }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try records.save(request, identifier)
    }
}

/// The records of a test store.
struct KeptRecords {
    private(set) var records: [PersistentIdentifier: DefaultSnapshot] = [:]
    private var lastKey = 0

    /// In identity order.
    func all(under entity: String, in schema: Schema) -> [DefaultSnapshot] {
        let family = schema.stored.subtree(of: entity)
        return records.values.filter { family.contains($0.persistentIdentifier.entityName) }
            .sorted { $0.persistentIdentifier < $1.persistentIdentifier }
    }

    mutating func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ store: String
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            lastKey += 1
            permanent[snapshot.persistentIdentifier] = try .identifier(
                for: store, entityName: snapshot.persistentIdentifier.entityName, primaryKey: lastKey)
        }
        for snapshot in request.inserted + request.updated {
            let key = permanent[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            records[key] = snapshot.copy(persistentIdentifier: key, remappedIdentifiers: permanent)
        }
        for snapshot in request.deleted { records[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: store, remappedIdentifiers: permanent)
    }
}
