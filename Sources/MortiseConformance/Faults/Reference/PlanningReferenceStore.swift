import Foundation
import MortiseCore
import Synchronization

/// Opens a reference store that plans queries.
struct PlanningReferenceConfiguration: DataStoreConfiguration, Sendable {
    typealias Store = PlanningReferenceStore

    let name: String
    var schema: Schema?
    let storage: ReferenceStorage
    let fault: StoreFault?

    init(_ name: String, storage: ReferenceStorage, fault: StoreFault?) {
        self.name = name
        self.storage = storage
        self.fault = fault
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.storage === rhs.storage }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// A store that takes every query whole, hands out snapshots, keeps a history and enforces its constraints.
final class PlanningReferenceStore: QueryableDataStore, DataStoreBatching, ReferenceHistory {
    typealias Configuration = PlanningReferenceConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: PlanningReferenceConfiguration
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }
    let work: ReferenceWork

    init(_ configuration: PlanningReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try ReferenceWork(configuration.storage, configuration.schema, configuration.fault)
    }

    static let claims: StoreCapabilities = [
        .durability, .erase, .batchDelete, .uniqueness, .referentialIntegrity, .history, .closing, .queries,
        .announcements,
    ]
    var capabilities: StoreCapabilities { work.steps.capabilities(Self.claims) }
    var changeFeed: ChangeFeed? { work.steps.makesFeeds ? ChangeFeed() : work.feed }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try work.fetch(request) }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try work.fetchCount(request)
    }

    func plan(_ query: StoreQuery) -> FetchPlan { work.plan(query) }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let version = work.version
        let rows = try work.rows(for: plan, in: version)
        if plan.query.purpose == .count, plan.isExact { return StoreRows(count: rows.rows.count, report: rows.report) }
        return StoreRows(snapshots: work.snapshots(rows, of: plan.query, in: version), report: rows.report)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try work.save(request, enforces: true) }

    func erase() throws { try work.erase() }
    func close() throws { try work.close() }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        if request.predicate != nil, !work.steps.deletesWhateverMatches { throw DataStoreError.preferInMemoryFilter }
        try work.deleteAll(of: Schema.entityName(for: T.self), includingSubentities: request.includeSubclasses)
    }
}

/// Opens a reference store of versions.
struct VersionedReferenceConfiguration: DataStoreConfiguration, Sendable {
    typealias Store = VersionedReferenceStore

    let name: String
    var schema: Schema?
    let storage: ReferenceStorage
    let fault: StoreFault?

    init(_ name: String, storage: ReferenceStorage, fault: StoreFault?) {
        self.name = name
        self.storage = storage
        self.fault = fault
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.storage === rhs.storage }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// A store whose states can be held, that may be called from several threads at once, and that carries out batches.
final class VersionedReferenceStore: VersionedDataStore, Sendable, ReferenceHistory {
    typealias Configuration = VersionedReferenceConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: VersionedReferenceConfiguration
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }
    let work: ReferenceWork
    private let opening = UUID()

    init(_ configuration: VersionedReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try ReferenceWork(configuration.storage, configuration.schema, configuration.fault)
        let keepsOut = work.steps.copying.keepsOthersOut
        try configuration.storage.use.withLock { [opening] use throws(ReferenceStoreError) in
            if use.isMigrating, keepsOut { throw .inUse }
            use.stores.insert(opening)
        }
    }

    deinit { leave() }

    /// Lets go of the storage. The store goes on to work, as one does that holds nothing.
    func close() throws { leave() }

    private func leave() { _ = configuration.storage.use.withLock { [opening] in $0.stores.remove(opening) } }

    static let claims: StoreCapabilities = [
        .durability, .erase, .uniqueness, .referentialIntegrity, .versions, .batchUpdate, .history, .migration,
    ]
    var capabilities: StoreCapabilities { work.steps.capabilities(Self.claims) }

    var currentVersion: any StoreVersion { work.version }

    func plan(_ query: StoreQuery) -> FetchPlan { work.plan(query) }

    func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        let version = work.steps.readsLive ? work.version : version as? ReferenceVersion ?? work.version
        return try work.rows(for: plan, in: version)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try work.fetch(request) }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try work.fetchCount(request)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try work.save(request, enforces: true) }

    func erase() throws { try work.erase() }

    func execute(_ batch: StoreBatch) throws -> StoreBatchResult { try work.execute(batch) }
}
