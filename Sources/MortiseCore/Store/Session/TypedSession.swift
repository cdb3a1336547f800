import Foundation

/// A session of a store of a known type.
final class TypedSession<Store: DataStore>: StoreSession {
    let typed: TypedConnection<Store>

    init(_ connection: TypedConnection<Store>, _ schema: Schema, observer: any StoreSessionObserver) {
        typed = connection
        super.init(connection, schema, observer: observer)
    }

    override var latest: (any StoreVersion)? { typed.versioned?.currentVersion }
    override var typeName: String { "\(Store.self)" }
    override var plansQueries: Bool { typed.queryable != nil }
    override var takesDefaultSnapshots: Bool { Store.Snapshot.self == DefaultSnapshot.self }
    override var followsDeleteRules: Bool { typed.queryable?.followsDeleteRules ?? false }

    // MARK: Planned queries

    override func plan(_ query: StoreQuery) throws -> FetchPlan? {
        guard let queryable = typed.queryable else { return nil }
        let plan = typed.locked { _ in queryable.plan(query) }
        try plan.validate(adapter: typeName, for: query)
        return plan
    }

    override func answer(
        _ query: StoreQuery, admitting admit: (FetchPlan) throws -> Void
    ) throws -> (found: FoundRows, plan: FetchPlan)? {
        guard let queryable = typed.queryable else { return nil }
        var plan = typed.locked { _ in queryable.plan(query) }
        try plan.validate(adapter: typeName, for: query)
        try admit(plan)
        let found = try execute(plan)
        plan.note(found.report)
        return (found, plan)
    }

    override func rows(
        ofEntity entity: String, having value: StoredValue, at slot: Int, upTo limit: Int
    ) throws -> [Int]? {
        guard let versioned = typed.versioned, let version else { return nil }
        let found = try typed.locked { _ in
            try versioned.rows(ofEntity: entity, having: value, at: slot, upTo: limit, in: version)
        }
        guard let found, !found.isEmpty else { return found }
        let source = source(ofEntity: entity)
        for row in found where !source.contains(row: row) {
            throw fault("It found \(entity) in row \(row), which its version does not have.")
        }
        return found
    }

    override func execute(_ plan: FetchPlan) throws -> FoundRows {
        if let versioned = typed.versioned, let version {
            return try checked(typed.locked { _ in try versioned.rows(for: plan, in: version) }, plan)
        }
        guard let queryable = typed.queryable else { throw DataStoreError.unsupportedFeature }
        return try snapshotRows(of: queryable, plan)
    }

    /// What a store of versions found, if it can be.
    private func checked(_ found: VersionRows, _ plan: FetchPlan) throws -> FoundRows {
        if found.entities.count == 1, found.entities[0] == plan.query.entity {
            let source = source(ofEntity: plan.query.entity)
            for row in found.rows where row.table != 0 || !source.contains(row: row.row) { throw fault(of: row, found) }
        } else {
            try checkFamily(found, plan)
        }
        return FoundRows(entities: found.entities, rows: found.rows, count: found.count, report: found.report)
    }

    /// Checks rows of several tables.
    private func checkFamily(_ found: VersionRows, _ plan: FetchPlan) throws {
        let family = Set(schema.stored.subtree(of: plan.query.entity))
        let sources = try found.entities.map { name in
            guard schema.layouts[name] != nil else {
                throw fault("It returned rows of \(name), which is not in the schema.")
            }
            return self.source(ofEntity: name)
        }
        let isInFamily = found.entities.map(family.contains)
        // Rows of one table mostly come together.
        var number = -1
        var source = RowSource()
        for row in found.rows {
            if row.table != number {
                guard sources.indices.contains(row.table) else { throw fault(of: row, found) }
                guard isInFamily[row.table] else {
                    throw fault("A query for \(plan.query.entity) returned a row of \(found.entities[row.table]).")
                }
                number = row.table
                source = sources[number]
            }
            guard source.contains(row: row.row) else { throw fault(of: row, found) }
        }
    }

    private func fault(of row: RecordReference, _ found: VersionRows) -> ModelContextError {
        fault(
            found.entities.indices.contains(row.table)
                ? "It returned row \(row.row), which its version does not have."
                : "It returned a row of table \(row.table), which it did not name.")
    }

    private func fault(_ text: String) -> ModelContextError { .storeContract(store: location, fault: text) }

    override func cursor(for plan: FetchPlan) throws -> (Int) throws -> FoundRows? {
        guard version == nil, let queryable = typed.queryable else { throw DataStoreError.unsupportedFeature }
        return try portions(of: queryable, plan)
    }

    override func aggregate(_ query: AggregateQuery) throws -> AggregateAnswer? {
        guard let queryable = typed.queryable, capabilities.contains(.aggregates) else { return nil }
        return try typed.locked { _ in try queryable.aggregate(query, in: version) }
    }

    override func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        guard let queryable = typed.queryable, capabilities.contains(.batchUpdate) else {
            throw DataStoreError.unsupportedFeature
        }
        defer { moveOn() }
        do {
            return try committing {
                try typed.locked { _ in try queryable.execute(batch) }
            } knowing: {
                $0.changes
            }
        } catch let error as any UniqueViolation {
            guard let found = error.uniqueViolation else { throw error }
            throw ModelContextError.notUnique(
                entity: found.entity, properties: found.properties, values: [], model: found.record, other: found.other)
        }
    }

    // MARK: Descriptors

    override func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, beforeScan: () throws -> Void
    ) throws -> DescriptorAnswer {
        var asked = descriptor
        var answer = DescriptorAnswer()
        let result = try narrowing(&asked, &answer, beforeScan) { store, descriptor in
            try store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: editingState))
        }
        guard let entity = schema.layout(for: T.self)?.entityName else {
            throw ModelContextError.unknownModel(type: "\(T.self)")
        }
        let family = Set(schema.stored.subtree(of: entity))
        for snapshot in result.fetchedSnapshots {
            let name = snapshot.persistentIdentifier.entityName
            let row = try register(snapshot)
            guard family.contains(name) else {
                throw ModelContextError.storeContract(
                    store: location,
                    fault:
                        "A fetch of \(Schema.entityName(for: T.self)) returned \(snapshot.persistentIdentifier) among "
                        + "fetchedSnapshots. Return records of other entities in relatedSnapshots.")
            }
            answer.found.append(row, ofEntity: name)
        }
        for (_, snapshot) in result.relatedSnapshots { _ = try register(snapshot) }
        answer.found.report.scanned = answer.found.rows.count
        if asked.predicate == nil, asked.fetchLimit == nil, asked.fetchOffset == nil {
            forgetAll(of: family, except: Set(result.fetchedSnapshots.map(\.persistentIdentifier)))
        }
        return answer
    }

    override func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try typed.locked { store in
            try store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: editingState))
        }
    }

    override func loadByDescriptor(
        _ identifiers: [PersistentIdentifier], as type: any PersistentModel.Type
    ) throws -> Set<PersistentIdentifier> {
        func load<T: PersistentModel>(_ type: T.Type) throws -> Set<PersistentIdentifier> {
            let wanted = Set(identifiers)
            // Observers of what is read may fetch.
            let hold = RowHold(self)
            defer { withExtendedLifetime(hold) {} }
            let found = try fetch(
                FetchDescriptor<T>(predicate: #Predicate { wanted.contains($0.persistentModelID) }),
                beforeScan: {}
            ).found
            let sources = found.entities.map { source(ofEntity: $0) }
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
                return try typed.locked { try ask($0, asked) }
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

    override func batchDelete<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, includeSubclasses: Bool
    ) throws -> Bool {
        guard let batching = typed.batching else { return false }
        do {
            try typed.locked { _ in
                try batching.delete(
                    DataStoreBatchDeleteRequest<T>(
                        predicate: descriptor.predicate, includeSubclasses: includeSubclasses,
                        editingState: editingState))
            }
            return true
        } catch DataStoreError.preferInMemoryFilter {
            return false
        } catch DataStoreError.unsupportedFeature {
            return false
        }
    }

    override func restore(_ identifiers: [PersistentIdentifier]) throws {
        let snapshots = try typed.locked { try $0.cachedSnapshots(for: identifiers, editingState: editingState) }
        for identifier in identifiers {
            if let snapshot = snapshots[identifier] { _ = try register(snapshot) }
        }
    }

    // MARK: Saving

    override func commit(_ pending: ModelChanges, mayDefer: Bool) throws -> SaveOutcome {
        let request = try request(for: pending)
        // Whether it succeeds or has to be done again on what others have stored.
        defer { moveOn() }
        var outcome = try committing {
            try commit(request, mayDefer: mayDefer)
        } knowing: {
            $0.surelyNamed(pending.changes)
        }
        takeTurn(&outcome)
        return outcome
    }

    private func commit(
        _ request: DataStoreSaveChangesRequest<Store.Snapshot>, mayDefer: Bool
    ) throws -> SaveOutcome {
        // Waiting for a deferred save would run outside the lock.
        if typed.lock == nil, let versioned = typed.versioned,
            let request = request as? DataStoreSaveChangesRequest<DefaultSnapshot>,
            let deferred = try versioned.beginSave(request)
        {
            var outcome = SaveOutcome(deferred.result)
            if mayDefer { outcome.finish = deferred.wait } else { outcome.version = try deferred.wait() }
            return outcome
        }
        return try outcome(of: typed.locked { try $0.save(request) })
    }

    /// The request that carries out changes.
    private func request(for pending: ModelChanges) throws -> DataStoreSaveChangesRequest<Store.Snapshot> {
        let changes = pending.changes
        return DataStoreSaveChangesRequest(
            inserted: try snapshots(changes.inserted.requested, of: pending.inserted),
            updated: try snapshots(
                changes.updated.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.updated),
            deleted: try snapshots(
                changes.deleted.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.deleted), editingState: editingState,
            changedSlots: changes.updated.map(\.slots), baseVersion: changes.baseVersion,
            updatedVersions: baseVersions(of: changes.updated.map(\.record)),
            deletedVersions: baseVersions(of: changes.deleted.map(\.record)))
    }

    private func outcome(of result: DataStoreSaveChangesResult<Store.Snapshot>) throws -> SaveOutcome {
        var outcome = SaveOutcome(result)
        for (identifier, snapshot) in result.snapshotsToReregister {
            guard let layout = schema.layouts[identifier.entityName] else { continue }
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
}
