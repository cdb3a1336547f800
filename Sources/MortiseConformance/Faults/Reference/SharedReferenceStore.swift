import Foundation
import MortiseCore
import Synchronization

/// Opens a reference store that others write too.
struct SharedReferenceConfiguration: DataStoreConfiguration, Sendable {
    typealias Store = SharedReferenceStore

    let name: String
    var schema: Schema?
    let storage: ReferenceStorage
    let fault: StoreFault?
    /// Makes trouble of the kinds that a context must not notice, from this seed; nil makes none.
    let chaos: UInt64?
    private let connection = UUID()

    init(_ name: String, storage: ReferenceStorage, fault: StoreFault?, chaos: UInt64? = nil) {
        self.name = name
        self.storage = storage
        self.fault = fault
        self.chaos = chaos
    }

    /// Every configuration is a connection of its own.
    static func == (lhs: Self, rhs: Self) -> Bool { lhs.connection == rhs.connection }
    func hash(into hasher: inout Hasher) { hasher.combine(connection) }
}

/// A store as one behind a connection is: it takes queries and aggregations, answers with values, a number or identifiers
/// alone, numbers the versions of its records, and has no versions of itself. What it answers to descriptors is Core's.
final class SharedReferenceStore: QueryableDataStore, ReferenceHistory {
    typealias Configuration = SharedReferenceConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: SharedReferenceConfiguration
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }
    let work: ReferenceWork
    private let chaos: ReferenceChaos?
    private let states: ReferenceStates
    /// What a connection with a fault has read.
    private let read = Mutex<[PersistentIdentifier: DefaultSnapshot]>([:])
    /// What a connection with a fault has counted, by the query.
    private let counted = Mutex<[String: Int]>([:])

    init(_ configuration: SharedReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        let chaos = configuration.chaos.map(ReferenceChaos.init(seed:))
        work = try ReferenceWork(configuration.storage, configuration.schema, configuration.fault) { steps in
            steps.numbersRecords = true
            chaos?.change(&steps)
        }
        self.chaos = chaos
        states = ReferenceStates(work)
    }

    static let claims: StoreCapabilities = [
        .durability, .erase, .uniqueness, .referentialIntegrity, .history, .closing, .queries, .recordVersions,
        .aggregates, .deferredRelationships, .readConsistency,
    ]
    var capabilities: StoreCapabilities { work.steps.capabilities(Self.claims) }

    // MARK: Queries

    func plan(_ query: StoreQuery) -> FetchPlan {
        let plan = work.plan(query)
        return chaos?.loosened(plan) ?? plan
    }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let version = states.version(for: plan.scope)
        let found = try work.rows(for: chaos?.widened(plan) ?? plan, in: version)
        let isExact = plan.query.conjuncts.allSatisfy { plan.claim(of: $0) == .exact }
        if plan.query.purpose == .count, isExact {
            let count = counted.withLock { counted in
                guard work.steps.countsOnce else { return found.rows.count }
                let known = counted["\(plan.query)"] ?? found.rows.count
                counted["\(plan.query)"] = known
                return known
            }
            return StoreRows(count: count, report: found.report)
        }
        let isWhole = isExact && plan.order == .total && (plan.appliesLimit || !plan.query.isLimited)
        if plan.query.purpose == .identifiers, isWhole {
            let sources = found.entities.map { version.rows(ofEntity: $0) }
            let identifiers = found.rows.compactMap { sources[$0.table]?.identifier(ofRow: $0.row) }
            return StoreRows(identifiers: identifiers, report: found.report)
        }
        var snapshots = work.snapshots(found, of: plan.query, in: version).map { snapshot in
            var told = leavingOut(snapshot, plan.query)
            told.recordVersion = work.recordVersion(of: snapshot.persistentIdentifier, in: version)
            return told
        }
        if work.steps.readsOnce {
            read.withLock { read in
                snapshots = snapshots.map { read[$0.persistentIdentifier] ?? $0 }
                for snapshot in snapshots { read[snapshot.persistentIdentifier] = snapshot }
            }
        }
        if plan.order == .none { chaos?.shuffle(&snapshots) }
        return StoreRows(snapshots: snapshots, report: found.report)
    }

    func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> {
        Cursor(self, plan, try rows(for: plan).snapshots)
    }

    private final class Cursor: RowCursor {
        private let store: SharedReferenceStore
        private let plan: FetchPlan
        private var left: ArraySlice<DefaultSnapshot>

        init(_ store: SharedReferenceStore, _ plan: FetchPlan, _ records: [DefaultSnapshot]) {
            self.store = store
            self.plan = plan
            left = records[...]
        }

        func next(atMost count: Int) throws -> [DefaultSnapshot] {
            defer { left = left.dropFirst(count) }
            let portion = left.prefix(count)
            guard store.work.steps.cursorsReadLatest else { return Array(portion) }
            var plan = plan
            plan.scope = nil
            let latest = try store.rows(for: plan).snapshots
            return portion.compactMap { record in
                latest.first { $0.persistentIdentifier == record.persistentIdentifier }
            }
        }
    }

    func invalidateState(for editingState: EditingState) { states.end(editingState.id) }

    /// A record without the to-many relationships that nobody has asked for by name; in a chaos without some of them.
    private func leavingOut(_ snapshot: DefaultSnapshot, _ query: StoreQuery) -> DefaultSnapshot {
        var values = snapshot.values
        for (place, slot) in snapshot.layout.slots.enumerated() where slot.role.isToMany {
            let isNamed = query.prefetch.contains(slot.name) && !work.steps.leavesOutNamed(slot)
            if !isNamed, chaos?.leavesOut() ?? true { values[place] = work.steps.leftOut(values[place]) }
        }
        return DefaultSnapshot(
            persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
    }

    func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? {
        try work.aggregate(query)
    }

    // MARK: Changes

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        chaos?.interfere(request, work.storage)
        let result = try work.save(request, enforces: true)
        read.withLock { $0 = [:] }
        counted.withLock { $0 = [:] }
        return result
    }

    func erase() throws {
        try work.erase()
        if work.steps.erasureEndsStates { states.endAll() }
    }
    func close() throws { try work.close() }
}
