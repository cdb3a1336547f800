import Foundation
import MortiseCore

/// Opens a reference store that carries out batches and keeps states of its own.
struct BatchingReferenceConfiguration: DataStoreConfiguration, Sendable {
    typealias Store = BatchingReferenceStore

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

/// A store that takes queries, batches and aggregations whole, keeps for each context the state that it reads from, and posts
/// every commit.
final class BatchingReferenceStore: QueryableDataStore, ReferenceHistory {
    typealias Configuration = BatchingReferenceConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: BatchingReferenceConfiguration
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }
    let work: ReferenceWork
    private let states: ReferenceStates

    init(_ configuration: BatchingReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try ReferenceWork(configuration.storage, configuration.schema, configuration.fault)
        states = ReferenceStates(work)
    }

    static let claims: StoreCapabilities = [
        .durability, .erase, .uniqueness, .referentialIntegrity, .history, .closing, .queries, .batchUpdate,
        .aggregates,
        .readConsistency, .announcements,
    ]
    var capabilities: StoreCapabilities { work.steps.capabilities(Self.claims) }
    var changeFeed: ChangeFeed? { work.feed }

    func plan(_ query: StoreQuery) -> FetchPlan { work.plan(query) }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let version = states.version(for: plan.scope)
        let rows = try work.rows(for: plan, in: version)
        return StoreRows(snapshots: work.snapshots(rows, of: plan.query, in: version), report: rows.report)
    }

    func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? {
        try work.aggregate(query)
    }

    func invalidateState(for editingState: EditingState) { states.end(editingState.id) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try work.save(request, enforces: true) }

    func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        let result = try work.execute(batch)
        if work.steps.batchEndsStates { states.endAll() }
        return result
    }

    func erase() throws {
        try work.erase()
        if work.steps.erasureEndsStates { states.endAll() }
    }

    func close() throws { try work.close() }
}
