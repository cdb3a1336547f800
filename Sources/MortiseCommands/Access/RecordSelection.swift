#if Tool
import MortiseCore

/// What is read of a store without versions for one purpose. All reads have one scope, which a store that claims
/// `StoreCapability.readConsistency` answers from one state of its storage.
struct RecordSelection<S: QueryableDataStore> {
    private let store: S
    private let name: String
    private let state = EditingState(author: "mortise")

    init(_ store: S, name: String) {
        self.store = store
        self.name = name
        store.initializeState(for: state)
    }

    func end() { store.invalidateState(for: state) }

    /// The store's plan for a query, checked.
    /// - Throws: `QueryPlanError`.
    func plan(_ query: StoreQuery) throws -> FetchPlan {
        var plan = store.plan(query)
        try plan.validate(adapter: name, for: query)
        plan.scope = ReadScope(context: state.id, number: 1)
        return plan
    }

    /// What the store answers to a plan of `plan(_:)`.
    /// - Throws: what the store throws.
    func rows(for plan: FetchPlan) throws -> StoreRows<S.Snapshot> { try store.rows(for: plan) }

    /// - Throws: `ToolError.unsupported` for a store with its own type of snapshots.
    func records(_ snapshots: [S.Snapshot]) throws -> [DefaultSnapshot] {
        if let records = snapshots as? [DefaultSnapshot] { return records }
        throw ToolError.unsupported(store: name, what: "be read without models")
    }

    /// The identifiers of an entity's own records, in order.
    func identifiers(ofEntity entity: String) throws -> [PersistentIdentifier] {
        let rows = try rows(for: plan(StoreQuery(entity, purpose: .identifiers, includesSubentities: false)))
        let found = rows.identifiers ?? rows.snapshots.map(\.persistentIdentifier)
        return found.filter { $0.entityName == entity }.sorted()
    }

    /// Whether the store finds records by their identifiers, and looks at no others for that.
    func selects(_ identifiers: ArraySlice<PersistentIdentifier>) throws -> Bool {
        let plan = try plan(query(identifiers, []))
        return plan.isExact && !plan.isFullScan
    }

    /// The records with some identifiers of one entity. A store may leave out lists that are not asked for by name.
    func records(_ identifiers: ArraySlice<PersistentIdentifier>, lists: [String]) throws -> [DefaultSnapshot] {
        try records(try rows(for: plan(query(identifiers, lists))).snapshots)
    }

    /// All of an entity's own records.
    func records(ofEntity entity: String, lists: [String]) throws -> [DefaultSnapshot] {
        var plan = FetchPlan.scanAll(StoreQuery(entity, includesSubentities: false, prefetch: lists))
        plan.scope = ReadScope(context: state.id, number: 1)
        return try records(try rows(for: plan).snapshots).filter { $0.persistentIdentifier.entityName == entity }
    }

    private func query(_ identifiers: ArraySlice<PersistentIdentifier>, _ lists: [String]) -> StoreQuery {
        let values = identifiers.map { QueryExpression.constant(.identifier($0)) }
        return StoreQuery(
            identifiers.first?.entityName ?? "", includesSubentities: false,
            conjuncts: [.contains(.list(values), .identifier(.variable(0)))], prefetch: lists)
    }
}
#endif
