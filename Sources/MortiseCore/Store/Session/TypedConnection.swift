import Foundation

/// A connection to a store of a known type.
///
/// @unchecked Sendable: as `StoreConnection`.
final class TypedConnection<Store: DataStore>: StoreConnection, @unchecked Sendable {
    private let store: Store
    private let lock: NSRecursiveLock?
    // The store as what it is, found out once: a cast costs as much as a small look-up.
    private let versioned: (any VersionedDataStore)?
    private let queryable: (any QueryableDataStore)?

    init(_ store: Store, configurationName: String) {
        self.store = store
        versioned = store as? any VersionedDataStore
        queryable = store as? any QueryableDataStore
        // Once: what the store says may depend on when it is asked.
        let capabilities = store.capabilities
        lock = capabilities.contains(.concurrency) ? nil : NSRecursiveLock()
        super.init(store, capabilities, configurationName: configurationName)
    }

    private func locked<R>(_ body: (Store) throws -> R) rethrows -> R {
        lock?.lock()
        defer { lock?.unlock() }
        return try body(store)
    }

    override var version: (any StoreVersion)? { versioned?.currentVersion }

    override var typeName: String { "\(Store.self)" }

    // MARK: Planned queries

    override var plansQueries: Bool { queryable != nil }

    override func plan(_ query: StoreQuery) -> FetchPlan? {
        queryable.map { queryable in locked { _ in queryable.plan(query) } }
    }

    override func rows(for plan: FetchPlan, into session: StoreSession) throws -> FoundRows {
        if let versioned, let version = session.version {
            let found = try locked { _ in try versioned.rows(for: plan, in: version) }
            return try checked(found, plan, session)
        }
        guard let queryable else { throw DataStoreError.unsupportedFeature }
        return try snapshotRows(of: queryable, plan, into: session)
    }

    /// What a store of versions found, if it can be.
    private func checked(_ found: VersionRows, _ plan: FetchPlan, _ session: StoreSession) throws -> FoundRows {
        let isAlone = found.entities == [plan.query.entity]
        let family = isAlone ? [] : Set(session.schema.stored.subtree(of: plan.query.entity))
        let sources = try found.entities.map { name in
            guard session.schema.layouts[name] != nil else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "It returned rows of \(name), which is not in the schema.")
            }
            return session.source(ofEntity: name)
        }
        let isInFamily = isAlone ? [true] : found.entities.map(family.contains)
        // Rows of one table mostly come together.
        var number = -1
        var source = RowSource()
        for row in found.rows {
            if row.table != number {
                guard row.table >= 0, row.table < sources.count else {
                    throw ModelContextError.storeContract(
                        store: identifier, fault: "It returned a row of table \(row.table), which it did not name.")
                }
                guard isInFamily[row.table] else {
                    throw ModelContextError.storeContract(
                        store: identifier,
                        fault: "A query for \(plan.query.entity) returned a row of \(found.entities[row.table]).")
                }
                number = row.table
                source = sources[number]
            }
            guard source.contains(row: row.row) else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "It returned row \(row.row), which its version does not have.")
            }
        }
        return FoundRows(
            entities: found.entities, rows: found.rows, count: found.count, report: found.report)
    }

    private func snapshotRows<Q: QueryableDataStore>(
        of queryable: Q, _ plan: FetchPlan, into session: StoreSession
    ) throws -> FoundRows {
        let found = try locked { _ in try queryable.rows(for: plan) }
        let family = Set(session.schema.stored.subtree(of: plan.query.entity))
        if let bare = try withoutValues(found.count, found.identifiers, plan, family, found.report) { return bare }
        var result = FoundRows(report: found.report)
        try take(found.snapshots, of: plan.query.entity, family, into: session, &result)
        if plan.query.conjuncts.allSatisfy({ plan.claim(of: $0) == .residual }),
            !(plan.appliesLimit && plan.query.isLimited), plan.query.includesSubentities
        {
            session.forgetAll(of: family, except: Set(found.snapshots.map(\.persistentIdentifier)))
        }
        return result
    }

    override func cursor(for plan: FetchPlan, into session: StoreSession) throws -> (Int) throws -> FoundRows? {
        guard versioned == nil, let queryable else { throw DataStoreError.unsupportedFeature }
        return try cursor(of: queryable, plan, into: session)
    }

    private func cursor<Q: QueryableDataStore>(
        of queryable: Q, _ plan: FetchPlan, into session: StoreSession
    ) throws -> (Int) throws -> FoundRows? {
        let cursor = LockedCursor(try locked { _ in try queryable.cursor(for: plan) }, lock)
        let family = Set(session.schema.stored.subtree(of: plan.query.entity))
        return { [self] count in
            let portion = try cursor.next(atMost: count)
            guard portion.count <= count else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "Its cursor returned \(portion.count) rows where \(count) were asked for."
                )
            }
            var result = FoundRows(report: ExecutionReport(scanned: portion.count))
            try take(portion, of: plan.query.entity, family, into: session, &result, isPassing: true)
            return portion.isEmpty ? nil : result
        }
    }

    /// Takes snapshots that a query has returned into a session.
    private func take<Snapshot: DataStoreSnapshot>(
        _ snapshots: [Snapshot], of entity: String, _ family: Set<String>, into session: StoreSession,
        _ result: inout FoundRows, isPassing: Bool = false
    ) throws {
        result.rows.reserveCapacity(result.rows.count + snapshots.count)
        let reread = isPassing ? try session.rereadStale(snapshots.map(\.persistentIdentifier)) : [:]
        for snapshot in snapshots {
            let record = snapshot.persistentIdentifier
            guard family.contains(record.entityName), let snapshot = snapshot as? Store.Snapshot else {
                throw ModelContextError.storeContract(
                    store: identifier, fault: "A query for \(entity) returned \(record).")
            }
            if let row = try reread[record] ?? register(snapshot, into: session, isPassing: isPassing) {
                result.append(row, ofEntity: record.entityName)
            }
        }
    }

    /// The answer of a store that has read no values; nil if there are snapshots.
    private func withoutValues(
        _ count: Int?, _ identifiers: [PersistentIdentifier]?, _ plan: FetchPlan, _ family: Set<String>,
        _ report: ExecutionReport
    ) throws -> FoundRows? {
        func fault(_ text: String) -> ModelContextError { .storeContract(store: identifier, fault: text) }
        if let count {
            guard plan.query.purpose == .count, plan.isExact, count >= 0 else {
                throw fault(
                    "It counted \(count) rows of \(plan.query.entity) in place of returning them. Count only for the purpose "
                        + "count, and if every condition is claimed as exact.")
            }
            return FoundRows(count: count, report: report)
        }
        guard let identifiers else { return nil }
        guard plan.query.purpose == .identifiers, plan.isExact, plan.order == .total,
            plan.appliesLimit || !plan.query.isLimited
        else {
            throw fault(
                "It returned identifiers of \(plan.query.entity) without their records. Do so only for the purpose "
                    + "identifiers, and if the plan leaves no condition, order or window to the framework.")
        }
        if let stranger = identifiers.first(where: { !family.contains($0.entityName) }) {
            throw fault("A query for \(plan.query.entity) returned \(stranger).")
        }
        return FoundRows(identifiers: identifiers, report: report)
    }

    // MARK: Fetching

    override func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, into session: StoreSession, beforeScan: () throws -> Void
    ) throws -> DescriptorAnswer {
        var asked = descriptor
        var answer = DescriptorAnswer()
        let result = try narrowing(&asked, &answer, beforeScan) { store, descriptor in
            try store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: session.editingState))
        }
        guard let entity = session.schema.layout(for: T.self)?.entityName else {
            throw ModelContextError.unknownModel(type: "\(T.self)")
        }
        let family = Set(session.schema.stored.subtree(of: entity))
        for snapshot in result.fetchedSnapshots {
            let name = snapshot.persistentIdentifier.entityName
            let row = try register(snapshot, into: session)
            guard family.contains(name) else {
                throw ModelContextError.storeContract(
                    store: identifier,
                    fault:
                        "A fetch of \(Schema.entityName(for: T.self)) returned \(snapshot.persistentIdentifier) among "
                        + "fetchedSnapshots. Return records of other entities in relatedSnapshots.")
            }
            answer.found.append(row, ofEntity: name)
        }
        for (_, snapshot) in result.relatedSnapshots { _ = try register(snapshot, into: session) }
        answer.found.report.scanned = answer.found.rows.count
        if asked.predicate == nil, asked.fetchLimit == nil, asked.fetchOffset == nil {
            session.forgetAll(of: family, except: Set(result.fetchedSnapshots.map(\.persistentIdentifier)))
        }
        return answer
    }

    override func fetchCount<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, for editingState: EditingState
    ) throws -> Int {
        try locked { store in
            try store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: editingState))
        }
    }

    override func load(
        _ identifiers: [PersistentIdentifier], as type: any PersistentModel.Type, into session: StoreSession
    ) throws -> Set<PersistentIdentifier> {
        func load<T: PersistentModel>(_ type: T.Type) throws -> Set<PersistentIdentifier> {
            let wanted = Set(identifiers)
            let found = try fetch(
                FetchDescriptor<T>(predicate: #Predicate { wanted.contains($0.persistentModelID) }), into: session,
                beforeScan: {}
            ).found
            let sources = found.entities.map { session.source(ofEntity: $0) }
            return Set(found.rows.map { sources[$0.table].identifier(ofRow: $0.row) })
        }
        return try load(type)
    }

    /// Asks until the store takes the question, leaving out what it will not do.
    private func narrowing<T: PersistentModel, R>(
        _ asked: inout FetchDescriptor<T>, _ answer: inout DescriptorAnswer, _ beforeScan: () throws -> Void,
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

    private func register(_ snapshot: Store.Snapshot, into session: StoreSession) throws -> Int {
        let values = try checkedValues(of: snapshot, in: session)
        return try session.put(snapshot.persistentIdentifier, values, version: recordVersion(of: snapshot))
    }

    /// The record's row. If a cursor has handed it out, `isPassing`, nil says that the record has gone since.
    private func register(
        _ snapshot: Store.Snapshot, into session: StoreSession, isPassing: Bool
    ) throws -> Int? {
        if !isPassing { return try register(snapshot, into: session) }
        let values = try checkedValues(of: snapshot, in: session)
        return try session.putPassing(
            snapshot.persistentIdentifier, values, version: recordVersion(of: snapshot))
    }

    private func checkedValues(
        of snapshot: Store.Snapshot, in session: StoreSession
    ) throws -> ContiguousArray<StoredValue> {
        let identifier = snapshot.persistentIdentifier
        guard let layout = session.schema.layouts[identifier.entityName] else {
            throw ModelContextError.storeContract(
                store: self.identifier, fault: "It returned \(identifier), whose entity is not in the schema.")
        }
        return try values(of: snapshot, in: layout)
    }

    private func recordVersion(of snapshot: Store.Snapshot) -> UInt64 {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot.recordVersion }
        return (snapshot as? any RecordVersionTelling)?.recordVersion ?? 0
    }

    private func values(of snapshot: Store.Snapshot, in layout: ModelLayout) throws -> ContiguousArray<StoredValue> {
        let reader = SnapshotReader(store: identifier, layout: layout)
        if let snapshot = snapshot as? DefaultSnapshot { return try reader.values(of: snapshot) }
        return try reader.values(ofForeign: snapshot)
    }

    // MARK: Saving

    override func commit(
        _ pending: ModelChanges, in session: StoreSession, mayDefer: Bool
    ) throws -> SaveOutcome {
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
                }, of: pending.deleted), editingState: session.editingState,
            changedSlots: changes.updated.map(\.slots), baseVersion: changes.baseVersion,
            updatedVersions: session.baseVersions(of: changes.updated.map(\.record)),
            deletedVersions: session.baseVersions(of: changes.deleted.map(\.record)))
        // What a save is waited for would come beside other calls.
        if lock == nil, let versioned, let request = request as? DataStoreSaveChangesRequest<DefaultSnapshot>,
            let deferred = try versioned.beginSave(request)
        {
            var outcome = SaveOutcome(deferred.result)
            if mayDefer { outcome.finish = deferred.wait } else { outcome.version = try deferred.wait() }
            return outcome
        }
        return try saveAtOnce(request, for: session)
    }

    private func saveAtOnce(
        _ request: DataStoreSaveChangesRequest<Store.Snapshot>, for session: StoreSession
    ) throws -> SaveOutcome {
        let result = try locked { try $0.save(request) }
        var outcome = SaveOutcome(result)
        for (identifier, snapshot) in result.snapshotsToReregister {
            guard let layout = session.schema.layouts[identifier.entityName] else { continue }
            var taken = DefaultSnapshot(
                persistentIdentifier: identifier, layout: layout.record, values: try values(of: snapshot, in: layout))
            taken.recordVersion = recordVersion(of: snapshot)
            outcome.reregistered.append(taken)
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

    override var followsDeleteRules: Bool { queryable?.followsDeleteRules ?? false }
    override func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        guard let queryable, capabilities.contains(.batchUpdate) else { throw DataStoreError.unsupportedFeature }
        do {
            return try locked { _ in try queryable.execute(batch) }
        } catch let error as any UniqueViolation {
            guard let found = error.uniqueViolation else { throw error }
            throw ModelContextError.notUnique(
                entity: found.entity, properties: found.properties, model: found.record, other: found.other)
        }
    }
    override func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? {
        guard let queryable, capabilities.contains(.aggregates) else { return nil }
        return try locked { _ in try queryable.aggregate(query, in: version) }
    }
    override var takesDefaultSnapshots: Bool { Store.Snapshot.self == DefaultSnapshot.self }

    // MARK: The rest

    override var allowsSave: Bool { store.allowsSave }

    override func erase() throws { try locked { try $0.erase() } }
    override func close() throws { try locked { try $0.close() } }
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
        locked { $0.historyToken(ofVersion: number) }
    }

    override func restore(_ identifiers: [PersistentIdentifier], into session: StoreSession) throws {
        let snapshots = try locked { try $0.cachedSnapshots(for: identifiers, editingState: session.editingState) }
        for identifier in identifiers {
            if let snapshot = snapshots[identifier] { _ = try register(snapshot, into: session) }
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

/// A cursor that is used and released under the lock of its store's connection, if there is one.
private final class LockedCursor<Snapshot: DataStoreSnapshot> {
    private var cursor: (any RowCursor<Snapshot>)?
    private let lock: NSRecursiveLock?

    init(_ cursor: any RowCursor<Snapshot>, _ lock: NSRecursiveLock?) {
        self.cursor = cursor
        self.lock = lock
    }

    deinit {
        lock?.lock()
        cursor = nil
        lock?.unlock()
    }

    func next(atMost count: Int) throws -> [Snapshot] {
        lock?.lock()
        defer { lock?.unlock() }
        return try cursor?.next(atMost: count) ?? []
    }
}
