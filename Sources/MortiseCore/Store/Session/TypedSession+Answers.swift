import Foundation

// What a store answers, checked and taken into the session's rows.

extension TypedSession {
    func snapshotRows<Q: QueryableDataStore>(of queryable: Q, _ plan: FetchPlan) throws -> FoundRows {
        var plan = plan
        plan.scope = scope
        let found = try typed.locked { _ in try queryable.rows(for: plan) }
        let family = Set(schema.stored.subtree(of: plan.query.entity))
        if let bare = try withoutValues(found.count, found.identifiers, plan, family, found.report) { return bare }
        var result = FoundRows(report: found.report)
        try take(found.snapshots, of: plan.query.entity, family, &result)
        if plan.query.conjuncts.allSatisfy({ plan.claim(of: $0) == .residual }),
            !(plan.appliesLimit && plan.query.isLimited), plan.query.includesSubentities
        {
            forgetAll(of: family, except: Set(found.snapshots.map(\.persistentIdentifier)))
        }
        return result
    }

    /// The rows that a plan promises, in portions.
    func portions<Q: QueryableDataStore>(
        of queryable: Q, _ plan: FetchPlan
    ) throws -> (Int) throws -> FoundRows? {
        var plan = plan
        plan.scope = scope
        let cursor = LockedCursor(try typed.locked { _ in try queryable.cursor(for: plan) }, typed.lock)
        let family = Set(schema.stored.subtree(of: plan.query.entity))
        return { [self] count in
            let portion = try cursor.next(atMost: count)
            guard portion.count <= count else {
                throw ModelContextError.storeContract(
                    store: location, fault: "Its cursor returned \(portion.count) rows where \(count) were asked for."
                )
            }
            var result = FoundRows(report: ExecutionReport(scanned: portion.count))
            try take(portion, of: plan.query.entity, family, &result, isPassing: true)
            return portion.isEmpty ? nil : result
        }
    }

    /// Takes snapshots that a query has returned into the session.
    private func take<Snapshot: DataStoreSnapshot>(
        _ snapshots: [Snapshot], of entity: String, _ family: Set<String>,
        _ result: inout FoundRows, isPassing: Bool = false
    ) throws {
        result.rows.reserveCapacity(result.rows.count + snapshots.count)
        // Observers of what is taken may fetch.
        let hold = RowHold(self)
        defer { withExtendedLifetime(hold) {} }
        beginAnswer()
        let reread = isPassing ? try rereadStale(snapshots.map(\.persistentIdentifier)) : [:]
        for snapshot in snapshots {
            let record = snapshot.persistentIdentifier
            guard family.contains(record.entityName), let snapshot = snapshot as? Store.Snapshot else {
                throw ModelContextError.storeContract(
                    store: location, fault: "A query for \(entity) returned \(record).")
            }
            if let row = try reread[record] ?? register(snapshot, isPassing: isPassing) {
                result.append(row, ofEntity: record.entityName)
            }
        }
    }

    /// The answer of a store that has read no values; nil if there are snapshots.
    private func withoutValues(
        _ count: Int?, _ identifiers: [PersistentIdentifier]?, _ plan: FetchPlan, _ family: Set<String>,
        _ report: ExecutionReport
    ) throws -> FoundRows? {
        func fault(_ text: String) -> ModelContextError { .storeContract(store: location, fault: text) }
        if let count {
            guard plan.query.purpose == .count, plan.isExact, count >= 0 else {
                throw fault(
                    "It counted \(count) rows of \(plan.query.entity) in place of returning them. Count only for the purpose "
                        + "count, and if every condition is claimed as exact.")
            }
            return FoundRows(count: count, report: report)
        }
        guard let identifiers else { return nil }
        guard plan.query.purpose == .identifiers, plan.leavesNothing else {
            throw fault(
                "It returned identifiers of \(plan.query.entity) without their records. Do so only for the purpose "
                    + "identifiers, and if the plan leaves no condition, order or window to the framework.")
        }
        if let stranger = identifiers.first(where: { !family.contains($0.entityName) }) {
            throw fault("A query for \(plan.query.entity) returned \(stranger).")
        }
        return FoundRows(identifiers: identifiers, report: report)
    }

    func register(_ snapshot: Store.Snapshot) throws -> Int {
        let values = try checkedValues(of: snapshot)
        return try put(snapshot.persistentIdentifier, values, version: recordVersion(of: snapshot))
    }

    /// The record's row. If a cursor has handed it out, `isPassing`, nil says that the record has gone since.
    private func register(_ snapshot: Store.Snapshot, isPassing: Bool) throws -> Int? {
        if !isPassing { return try register(snapshot) }
        let values = try checkedValues(of: snapshot)
        return try putPassing(
            snapshot.persistentIdentifier, values, version: recordVersion(of: snapshot))
    }

    private func checkedValues(of snapshot: Store.Snapshot) throws -> ContiguousArray<StoredValue> {
        let identifier = snapshot.persistentIdentifier
        guard let layout = schema.layouts[identifier.entityName] else {
            throw ModelContextError.storeContract(
                store: location, fault: "It returned \(identifier), whose entity is not in the schema.")
        }
        return try values(of: snapshot, in: layout)
    }

    func recordVersion(of snapshot: Store.Snapshot) -> UInt64 {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot.recordVersion }
        return (snapshot as? any RecordVersionTelling)?.recordVersion ?? 0
    }

    func values(of snapshot: Store.Snapshot, in layout: ModelLayout) throws -> ContiguousArray<StoredValue> {
        let reader = SnapshotReader(store: location, layout: layout, mayDefer: defersRelationships)
        if let snapshot = snapshot as? DefaultSnapshot { return try reader.values(of: snapshot) }
        return try reader.values(ofForeign: snapshot)
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
