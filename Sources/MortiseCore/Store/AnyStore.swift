import Foundation
import Synchronization

/// Changes that a context asks a store to carry out, and the models that show them: for each record of the change set one
/// at the same index, or none at all where records are written without models.
///
/// For a versioned store, values that did not change are null in the change set, and so are derived relationships.
struct ModelChanges {
    var changes: ChangeSet
    var inserted: [any PersistentModel] = []
    var updated: [any PersistentModel] = []
    var deleted: [any PersistentModel] = []
}

struct SaveOutcome {
    private let remapped: [PersistentIdentifier: PersistentIdentifier]
    private let new: NewIdentifiers?
    /// The permanent identifiers by the temporary ones.
    var pairs: [PersistentIdentifier: PersistentIdentifier] { new?.pairs ?? remapped }

    init<Snapshot>(_ result: DataStoreSaveChangesResult<Snapshot>) {
        new = result.new
        remapped = result.new == nil ? result.remappedIdentifiers : [:]
        historyToken = result.historyToken
        reregistered = []
    }

    /// The permanent identifier of a new record, which is at that index of the request; nil if the store gave none.
    func identifier(of temporary: PersistentIdentifier, at place: Int) -> PersistentIdentifier? {
        guard let new else { return remapped[temporary] }
        return place < new.permanent.count ? new.permanent[place] : nil
    }

    /// The changes under the identifiers that the store gave to new records.
    func committed(_ changes: ChangeSet) -> ChangeSet {
        var committed = changes
        if let new {
            committed.inserted = ChangeSet.Insertions(changes.inserted.requested, new: new)
        } else if !changes.inserted.isEmpty {
            committed.inserted = ChangeSet.Insertions(records: changes.inserted.records.compactMap { remapped[$0] })
        }
        return committed
    }

    /// As `committed(_:)`, with the values under those identifiers too, as the store has set them.
    func committedWithValues(_ changes: ChangeSet) -> ChangeSet {
        let pairs = pairs
        let set = Dictionary(reregistered, uniquingKeysWith: { $1 })
        var committed = changes
        committed.inserted = ChangeSet.Insertions(
            changes.inserted.requested.map { snapshot in
                let record = pairs[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
                if let values = set[record] {
                    return DefaultSnapshot(persistentIdentifier: record, layout: snapshot.layout, values: values)
                }
                return snapshot.copy(persistentIdentifier: record, remappedIdentifiers: pairs)
            })
        for index in committed.updated.indices {
            if let values = set[committed.updated[index].record] { committed.updated[index].values = values }
            for slot in committed.updated[index].values.indices {
                committed.updated[index].values[slot].remapIdentifiers(pairs)
            }
        }
        return committed
    }

    /// Values that the store set differently than requested.
    var reregistered: [(PersistentIdentifier, ContiguousArray<StoredValue>)]
    /// The place of the save in the store's history, where the store tells it.
    let historyToken: (any HistoryToken)?
    /// The version that the save made, if it is already known.
    var version: (any StoreVersion)?
    /// Waits for the rest of a deferred save; see `DeferredSave.finish()`.
    var finish: (@Sendable () throws -> (any StoreVersion)?)?
}

/// What a store that hands out snapshots answered to a fetch, and how much of it is left to do.
struct FetchedRows {
    var rows: [(table: ModelTable, row: Int)]
    var isFiltered: Bool
    var isSorted: Bool
    var isLimited: Bool
}

/// The rows that a store found for a query, by the numbers of the tables that they are in.
struct FoundRows {
    var tables: [ModelTable]
    var rows: [RecordReference]
    var scanned: Int
    /// The number of rows, if the store has only counted them.
    var count: Int?
    /// What the store decided after planning; nil for what the plan says.
    var detail: String?
    var isFullScan: Bool?

    init(
        tables: [ModelTable], rows: [RecordReference], scanned: Int, count: Int? = nil, detail: String? = nil,
        isFullScan: Bool? = nil
    ) {
        self.tables = tables
        self.rows = rows
        self.scanned = scanned
        self.count = count
        self.detail = detail
        self.isFullScan = isFullScan
    }

    init(_ places: [(table: ModelTable, row: Int)], scanned: Int) {
        self.init(tables: [], rows: [], scanned: scanned)
        rows.reserveCapacity(places.count)
        for (table, row) in places {
            let number = tables.lastIndex { $0 === table } ?? tables.count
            if number == tables.count { tables.append(table) }
            rows.append(RecordReference(table: number, row: row))
        }
    }
}

/// A store without its type. Serializes the calls, unless the store promises that it need not be.
///
/// @unchecked Sendable: a `DataStore` need not be Sendable; every call on it happens under `lock`.
class AnyStore: @unchecked Sendable {
    let identifier: String
    let configurationName: String
    let schema: Schema
    /// The store itself, for code that knows its type.
    let underlying: any DataStore
    /// Held through a whole save, from reading the latest version to taking over the new one; of a save that the store
    /// defers, to handing it over.
    let saveLock = NSRecursiveLock()
    /// The store's feed, or one for what the container's contexts commit.
    let feed: ChangeFeed
    private let announcesItself: Bool
    /// The number of the last transaction that was announced in place of the store.
    private let lastNumber = Atomic<UInt64>(0)

    init(_ store: any DataStore, configurationName: String) {
        underlying = store
        identifier = store.identifier
        schema = store.schema
        self.configurationName = configurationName
        let announcing = store as? any ChangeAnnouncing
        announcesItself = announcing != nil
        feed = announcing?.changeFeed ?? ChangeFeed()
    }

    /// Posts what a context has committed, unless the store does so itself. Called in the order of the commits.
    func announce(_ body: () -> ChangeSet) {
        if announcesItself { return }
        let number = version?.number ?? lastNumber.add(1, ordering: .relaxed).newValue
        guard feed.isFollowed else { return }
        var changes = body()
        if changes.isEmpty { return }
        changes.commit = changes.commit ?? .init(number: number, timestamp: Date(), process: Self.process)
        feed.post([changes])
    }

    private static let process = ProcessInfo.processInfo.processName

    var version: (any StoreVersion)? { nil }
    /// Fetches with a descriptor. Calls `beforeScan` before it asks a store that does not filter or sort for all
    /// records.
    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, into state: ContextState, beforeScan: () throws -> Void = {}
    ) throws -> FetchedRows {
        throw DataStoreError.unsupportedFeature
    }
    /// Whether the store takes queries instead of descriptors.
    var plansQueries: Bool { false }
    /// The store's plan for a query; nil for a store that takes descriptors only.
    func plan(_ query: StoreQuery) -> FetchPlan? { nil }
    /// The rows that a plan promises, and how many the store looked at.
    func rows(
        for plan: FetchPlan, of binding: StoreBinding, into state: ContextState
    ) throws -> FoundRows {
        throw DataStoreError.unsupportedFeature
    }
    /// The store's type, for messages.
    var typeName: String { "" }
    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, for state: ContextState) throws -> Int {
        throw DataStoreError.unsupportedFeature
    }
    /// Reads records by identifier.
    /// - Returns: the identifiers of those that exist.
    @discardableResult
    func load(
        _ identifiers: [PersistentIdentifier], into state: ContextState, of table: ModelTable
    ) throws -> Set<PersistentIdentifier> { [] }
    /// Saves changes. `mayDefer` says that the caller finishes a save that the store defers.
    func save(_ changes: ModelChanges, for state: ContextState, mayDefer: Bool) throws -> SaveOutcome {
        throw DataStoreError.unsupportedFeature
    }
    /// - Returns: false if the store has no batch delete, or leaves this one to the framework.
    func batchDelete<T: PersistentModel>(
        _ type: T.Type, predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState
    ) throws -> Bool { false }
    /// Whether `batchDelete` can return true.
    var deletesBatches: Bool { false }
    /// Whether `execute` is supported.
    var changesBatches: Bool { false }
    var followsDeleteRules: Bool { false }
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult { throw DataStoreError.unsupportedFeature }
    /// Whether records can be saved for which there is no model object.
    var takesDefaultSnapshots: Bool { false }
    var allowsSave: Bool { true }
    func erase() throws { throw DataStoreError.unsupportedFeature }
    /// Closes the store and releases its files and locks.
    /// - Throws: the store's error. It counts as closed all the same.
    func close() throws {}
    func begin(_ editingState: EditingState) {}
    func end(_ editingState: EditingState) {}
    func history<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H]? { nil }
    func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> Bool { false }
    /// The token in the store's history of the transaction that made a version; nil if the store keeps no history.
    func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? { nil }
    /// Takes the values that the store last knew of records into a context.
    func restore(_ identifiers: [PersistentIdentifier], into state: ContextState) throws {}
}

/// A store that can be closed; a closed store throws on every use.
public protocol ClosableDataStore: DataStore {
    /// Releases the store's files, locks and connections; `ModelContainer.close()` calls it once. Later saves throw
    /// that the store is closed; reads that need what was released throw too. Closing again does nothing.
    /// - Throws: the first error of writing or releasing something; the store is closed nevertheless.
    func close() throws
}

final class StoreBox<Store: DataStore>: AnyStore, @unchecked Sendable {
    private let store: Store
    private let lock: NSRecursiveLock?
    // What the store can do, asked once: a cast costs as much as a small look-up.
    private let versioned: (any VersionedDataStore)?
    private let queryable: (any QueryableDataStore)?
    private let deferring: (any DeferringDataStore)?

    init(_ store: Store, configurationName: String) {
        self.store = store
        versioned = store as? any VersionedDataStore
        queryable = store as? any QueryableDataStore
        deferring = store as? any DeferringDataStore
        self.lock = store is any ConcurrentDataStore ? nil : NSRecursiveLock()
        super.init(store, configurationName: configurationName)
    }

    private func locked<R>(_ body: (Store) throws -> R) rethrows -> R {
        lock?.lock()
        defer { lock?.unlock() }
        return try body(store)
    }

    override var version: (any StoreVersion)? { versioned?.currentVersion }

    override var typeName: String { "\(Store.self)" }

    // MARK: Planned queries

    override var plansQueries: Bool { versioned != nil || queryable != nil }

    override func plan(_ query: StoreQuery) -> FetchPlan? {
        if let versioned { return locked { _ in versioned.plan(query) } }
        if let queryable { return locked { _ in queryable.plan(query) } }
        return nil
    }

    override func rows(
        for plan: FetchPlan, of binding: StoreBinding, into state: ContextState
    ) throws -> FoundRows {
        if let versioned, let version = binding.version {
            let found = try locked { _ in try versioned.rows(for: plan, in: version) }
            return try checked(found, plan, state)
        }
        guard let queryable else { throw DataStoreError.unsupportedFeature }
        return try snapshotRows(of: queryable, plan, into: state)
    }

    /// What a store of versions found, if it can be.
    private func checked(_ found: VersionRows, _ plan: FetchPlan, _ state: ContextState) throws -> FoundRows {
        let isAlone = found.entities == [plan.query.entity]
        let family = isAlone ? [] : Set(state.container.schema.stored.subtree(of: plan.query.entity))
        let tables = try found.entities.map { name in
            guard let table = state.table(named: name) else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "It returned rows of \(name), which is not in the schema.")
            }
            return table
        }
        let isInFamily = isAlone ? [true] : found.entities.map(family.contains)
        // Rows of one table mostly come together.
        var number = -1
        var source = RowSource()
        for row in found.rows {
            if row.table != number {
                guard row.table >= 0, row.table < tables.count else {
                    throw ModelContextError.storeContract(
                        store: identifier, fault: "It returned a row of table \(row.table), which it did not name.")
                }
                guard isInFamily[row.table] else {
                    throw ModelContextError.storeContract(
                        store: identifier,
                        fault: "A query for \(plan.query.entity) returned a row of \(found.entities[row.table]).")
                }
                number = row.table
                source = tables[number].source
            }
            guard source.contains(row: row.row) else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "It returned row \(row.row), which its version does not have.")
            }
        }
        return FoundRows(
            tables: tables, rows: found.rows, scanned: found.scanned, count: found.count, detail: found.detail,
            isFullScan: found.isFullScan)
    }

    private func snapshotRows<Q: QueryableDataStore>(
        of queryable: Q, _ plan: FetchPlan, into state: ContextState
    ) throws -> FoundRows {
        let found = try locked { _ in try queryable.rows(for: plan) }
        let family = Set(state.container.schema.stored.subtree(of: plan.query.entity))
        let rows = try found.snapshots.map { snapshot -> (table: ModelTable, row: Int) in
            guard family.contains(snapshot.persistentIdentifier.entityName), let snapshot = snapshot as? Store.Snapshot
            else {
                throw ModelContextError.storeContract(
                    store: identifier,
                    fault: "A query for \(plan.query.entity) returned \(snapshot.persistentIdentifier).")
            }
            return try register(snapshot, into: state)
        }
        if plan.query.conjuncts.allSatisfy({ plan.claim(of: $0) == .residual }),
            !(plan.appliesLimit && plan.query.isLimited), plan.query.includesSubentities
        {
            forgetMissing(
                found.snapshots.compactMap { $0 as? Store.Snapshot }, of: family.compactMap { state.table(named: $0) },
                in: state)
        }
        var result = FoundRows(rows, scanned: found.scanned)
        result.detail = found.detail
        result.isFullScan = found.isFullScan
        return result
    }

    // MARK: Fetching

    override func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, into state: ContextState, beforeScan: () throws -> Void = {}
    ) throws -> FetchedRows {
        var asked = descriptor
        var answer = FetchedRows(rows: [], isFiltered: true, isSorted: true, isLimited: true)
        let result = try narrowing(&asked, &answer, beforeScan) { store, descriptor in
            try store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: state.editingState))
        }
        let family = Set(try state.tables(under: T.self).map(\.layout.entityName))
        for snapshot in result.fetchedSnapshots {
            let place = try register(snapshot, into: state)
            guard family.contains(place.table.layout.entityName) else {
                throw ModelContextError.storeContract(
                    store: identifier,
                    fault:
                        "A fetch of \(Schema.entityName(for: T.self)) returned \(snapshot.persistentIdentifier) among "
                        + "fetchedSnapshots. Return records of other entities in relatedSnapshots.")
            }
            answer.rows.append(place)
        }
        for (_, snapshot) in result.relatedSnapshots { _ = try register(snapshot, into: state) }
        if asked.predicate == nil, asked.fetchLimit == nil, asked.fetchOffset == nil {
            forgetMissing(result.fetchedSnapshots, of: try state.tables(under: T.self), in: state)
        }
        return answer
    }

    /// All records of a family were read: those that the context knows and that are not among them are gone.
    private func forgetMissing(_ snapshots: [Store.Snapshot], of tables: [ModelTable], in state: ContextState) {
        let present = Set(snapshots.map(\.persistentIdentifier))
        for table in tables {
            guard let rows = table.source as? SnapshotRows, rows.count > 0 else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let identifier = rows.identifier(ofRow: row)
                if present.contains(identifier) { continue }
                if let model = table.registered(row: row) { state.detach(model, table: table) }
                rows.remove(identifier)
            }
        }
    }

    override func fetchCount<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for state: ContextState
    ) throws -> Int {
        try locked { store in
            try store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: state.editingState))
        }
    }

    @discardableResult
    override func load(
        _ identifiers: [PersistentIdentifier], into state: ContextState, of table: ModelTable
    ) throws -> Set<PersistentIdentifier> {
        try load(identifiers, as: table.layout.type, into: state)
    }

    private func load<T: PersistentModel>(
        _ identifiers: [PersistentIdentifier], as type: T.Type, into state: ContextState
    ) throws -> Set<PersistentIdentifier> {
        let wanted = Set(identifiers)
        let found = try fetch(
            FetchDescriptor<T>(predicate: #Predicate { wanted.contains($0.persistentModelID) }), into: state)
        return Set(found.rows.map { $0.table.source.identifier(ofRow: $0.row) })
    }

    /// Asks until the store takes the question, leaving out what it will not do.
    private func narrowing<T: PersistentModel, R>(
        _ asked: inout FetchDescriptor<T>, _ answer: inout FetchedRows, _ beforeScan: () throws -> Void,
        _ ask: (Store, FetchDescriptor<T>) throws -> R
    ) throws -> R {
        while true {
            do {
                return try locked { try ask($0, asked) }
            } catch DataStoreError.preferInMemoryFilter where asked.predicate != nil {
                asked.predicate = nil
                answer.isFiltered = false
                try beforeScan()
            } catch DataStoreError.preferInMemorySort where !asked.sortBy.isEmpty {
                asked.sortBy = []
                answer.isSorted = false
                if asked.predicate == nil, asked.fetchLimit != nil { try beforeScan() }
            }
            asked.fetchLimit = nil
            asked.fetchOffset = nil
            answer.isLimited = false
        }
    }

    private func register(_ snapshot: Store.Snapshot, into state: ContextState) throws -> (table: ModelTable, row: Int)
    {
        let identifier = snapshot.persistentIdentifier
        guard let table = state.table(named: identifier.entityName) else {
            throw ModelContextError.storeContract(
                store: self.identifier, fault: "It returned \(identifier), whose entity is not in the schema.")
        }
        return (table, try state.put(identifier, try values(of: snapshot, in: table.layout), into: table))
    }

    private func values(of snapshot: Store.Snapshot, in layout: ModelLayout) throws -> ContiguousArray<StoredValue> {
        let reader = SnapshotReader(store: identifier, layout: layout)
        if let snapshot = snapshot as? DefaultSnapshot { return try reader.values(of: snapshot) }
        return try reader.values(ofForeign: snapshot)
    }

    // MARK: Saving

    override func save(_ pending: ModelChanges, for state: ContextState, mayDefer: Bool) throws -> SaveOutcome {
        let changes = pending.changes
        let request = DataStoreSaveChangesRequest<Store.Snapshot>(
            inserted: try snapshots(changes.inserted.requested, of: pending.inserted),
            updated: try snapshots(
                changes.updated.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.updated),
            deleted: try snapshots(
                changes.deleted.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.deleted), editingState: state.editingState,
            changedSlots: changes.updated.map(\.slots), baseVersion: changes.baseVersion)
        if let deferring, let request = request as? DataStoreSaveChangesRequest<DefaultSnapshot> {
            let deferred = try deferring.beginSave(request)
            var outcome = SaveOutcome(deferred.result)
            if mayDefer { outcome.finish = deferred.wait } else { outcome.version = try deferred.wait() }
            return outcome
        }
        return try saveAtOnce(request, for: state)
    }

    private func saveAtOnce(
        _ request: DataStoreSaveChangesRequest<Store.Snapshot>, for state: ContextState
    ) throws -> SaveOutcome {
        let result = try locked { try $0.save(request) }
        var outcome = SaveOutcome(result)
        for (identifier, snapshot) in result.snapshotsToReregister {
            guard let table = state.table(named: identifier.entityName) else { continue }
            outcome.reregistered.append((identifier, try values(of: snapshot, in: table.layout)))
        }
        return outcome
    }

    /// The records in the store's own form.
    private func snapshots(
        _ records: [DefaultSnapshot], of models: [any PersistentModel]
    ) throws -> [Store.Snapshot] {
        if Store.Snapshot.self == DefaultSnapshot.self {
            // The same type: a cast would go through the elements one by one.
            return unsafeBitCast(records, to: [Store.Snapshot].self)
        }
        guard models.count == records.count else { throw DataStoreError.unsupportedFeature }
        return models.map { foreignSnapshot(of: $0) }
    }

    private func foreignSnapshot<M: PersistentModel>(of model: M) -> Store.Snapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: model._backingData(), relatedBackingDatas: &related)
    }

    override func batchDelete<T: PersistentModel>(
        _ type: T.Type, predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState
    ) throws -> Bool {
        guard let batching = store as? any DataStoreBatching else { return false }
        do {
            try locked { _ in
                try batching.delete(
                    DataStoreBatchDeleteRequest<T>(
                        predicate: predicate, includeSubclasses: includeSubclasses, editingState: editingState))
            }
            return true
        } catch DataStoreError.preferInMemoryFilter {
            return false
        } catch DataStoreError.unsupportedFeature {
            return false
        }
    }

    override var deletesBatches: Bool { store is any DataStoreBatching }
    override var changesBatches: Bool { store is any BatchChangingDataStore }
    override var followsDeleteRules: Bool { (store as? any BatchChangingDataStore)?.followsDeleteRules ?? false }
    override func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        guard let changing = store as? any BatchChangingDataStore else { throw DataStoreError.unsupportedFeature }
        do {
            return try locked { _ in try changing.execute(batch) }
        } catch let error as any UniqueViolation {
            guard let found = error.uniqueViolation else { throw error }
            throw ModelContextError.notUnique(
                entity: found.entity, properties: found.properties, model: found.record, other: found.other)
        }
    }
    override var takesDefaultSnapshots: Bool { Store.Snapshot.self == DefaultSnapshot.self }

    // MARK: The rest

    override var allowsSave: Bool { store.allowsSave }

    override func erase() throws { try locked { try $0.erase() } }
    override func close() throws { try locked { try ($0 as? any ClosableDataStore)?.close() } }
    override func begin(_ editingState: EditingState) { locked { $0.initializeState(for: editingState) } }
    override func end(_ editingState: EditingState) { locked { $0.invalidateState(for: editingState) } }

    override func history<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H]? {
        guard let provider = store as? any HistoryProviding else { return nil }
        do {
            return try locked { _ in try Self.history(of: provider, descriptor) }
        } catch DataStoreError.unsupportedFeature {
            // A store that forwards to others may keep a history or not.
            return nil
        }
    }
    private static func history<P: HistoryProviding, H: HistoryTransaction>(
        of provider: P, _ descriptor: HistoryDescriptor<H>
    ) throws -> [H]? {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return nil }
        return try provider.fetchHistory(descriptor) as? [H]
    }
    override func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> Bool {
        guard let provider = store as? any HistoryProviding else { return false }
        do {
            return try locked { _ in try Self.deleteHistory(of: provider, descriptor) }
        } catch DataStoreError.unsupportedFeature {
            return false
        }
    }
    override func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        (store as? any VersionNumberedHistory)?.historyToken(ofVersion: number)
    }

    override func restore(_ identifiers: [PersistentIdentifier], into state: ContextState) throws {
        let snapshots = try locked { try $0.cachedSnapshots(for: identifiers, editingState: state.editingState) }
        for identifier in identifiers {
            if let snapshot = snapshots[identifier] { _ = try register(snapshot, into: state) }
        }
    }

    private static func deleteHistory<P: HistoryProviding, H: HistoryTransaction>(
        of provider: P, _ descriptor: HistoryDescriptor<H>
    ) throws -> Bool {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return false }
        try provider.deleteHistory(descriptor)
        return true
    }
}
