/// A session that reads a store as it was. The store is asked for what has not changed since, and the rest is added to what it finds.
final class PastSession: StoreSession {
    private let present: StoreSession
    private let past: PastVersion

    init(_ present: StoreSession, as past: PastVersion, observer: any StoreSessionObserver) {
        self.present = present
        self.past = past
        present.move(to: past.base)
        super.init(present.connection, present.schema, observer: observer)
        move(to: past)
    }

    override var latest: (any StoreVersion)? { past }
    override var typeName: String { present.typeName }
    override var plansQueries: Bool { true }
    override var takesDefaultSnapshots: Bool { present.takesDefaultSnapshots }
    override var followsDeleteRules: Bool { false }

    override var allowsSave: Bool { false }
    override func checkWritable() throws { throw ModelContextError.readsPast }
    override func commit(_ pending: ModelChanges, mayDefer: Bool) throws -> SaveOutcome {
        throw ModelContextError.readsPast
    }
    override func execute(_ batch: StoreBatch) throws -> StoreBatchResult { throw ModelContextError.readsPast }

    // MARK: Queries

    private func family(of query: StoreQuery) -> [String] {
        query.includesSubentities ? schema.stored.subtree(of: query.entity) : [query.entity]
    }

    /// Whether the store's answer is that of then: neither the records nor what the query reads of others has changed.
    private func isAsThen(_ query: StoreQuery) -> Bool {
        family(of: query).allSatisfy { past.pastRows(ofEntity: $0) == nil }
            && query.conjuncts.allSatisfy { !dependsOnOtherRecords($0.expression) }
            && query.order.allSatisfy { !dependsOnOtherRecords($0.expression) }
    }

    private func dependsOnOtherRecords(_ expression: QueryExpression) -> Bool {
        var depends = expression.needsModels
        expression.forEachPart { part in
            guard case .property(let base, let property) = part else { return }
            if base != .variable(0) { depends = true }
            guard let layout = schema.layouts[property.entity]?.record, property.slot < layout.slots.count else {
                return
            }
            if layout.slots[property.slot].role.isRelationship { depends = true }
        }
        return depends
    }

    /// What the store can be asked so that the records that have not changed since are among what it finds.
    private func unchanged(_ query: StoreQuery) -> StoreQuery {
        var asked = query
        asked.purpose = .rows
        asked.conjuncts.removeAll { $0.expression.mayThrow || dependsOnOtherRecords($0.expression) }
        asked.order = []
        asked.offset = 0
        asked.limit = nil
        return asked
    }

    /// The plan that leaves everything to the framework once more, on the records that the store's own plan leads to and on those that
    /// have changed.
    private func plan(_ query: StoreQuery, over plan: FetchPlan) -> FetchPlan {
        FetchPlan(
            query, detail: "\(plan.detail), and \(past.differing) records that have changed since",
            isFullScan: plan.isFullScan, suggestion: plan.suggestion)
    }

    override func plan(_ query: StoreQuery) throws -> FetchPlan? {
        if isAsThen(query) { return try present.plan(query) }
        return try present.plan(unchanged(query)).map { plan(query, over: $0) }
    }

    override func answer(
        _ query: StoreQuery, admitting admit: (FetchPlan) throws -> Void
    ) throws -> (found: FoundRows, plan: FetchPlan)? {
        if isAsThen(query) { return try present.answer(query, admitting: admit) }
        let asked = unchanged(query)
        let answer = try present.answer(asked) { try admit(plan(query, over: $0)) }
        guard let answer else { return nil }
        var found = answer.found
        add(to: &found, query)
        // What the store did is in its own plan.
        return (found, plan(query, over: answer.plan))
    }

    /// Takes out of an answer what has changed since, and adds the records as they were.
    private func add(to found: inout FoundRows, _ query: StoreQuery) {
        let tables = found.entities.map { past.pastRows(ofEntity: $0) }
        found.rows.removeAll { tables[$0.table]?.isUntouched($0.row) == false }
        for name in family(of: query) {
            guard let rows = past.pastRows(ofEntity: name) else { continue }
            let touched = rows.touchedRows.sorted()
            for row in touched { found.append(row, ofEntity: name) }
            found.report.scanned += touched.count
        }
    }

    override func execute(_ plan: FetchPlan) throws -> FoundRows {
        if isAsThen(plan.query) { return try present.execute(plan) }
        var found = FoundRows()
        for name in family(of: plan.query) {
            let source = source(ofEntity: name)
            for row in 0..<source.endRow where source.contains(row: row) { found.append(row, ofEntity: name) }
        }
        found.report.scanned = found.rows.count
        return found
    }
}
