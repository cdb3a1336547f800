/// The records that a session has read by the values in some of their slots, or by their identifiers.
struct SelectedRows {
    var records: [(source: RowSource, row: Int)] = []
    /// Whether those are all records of the entity and its subentities, because the store cannot select any.
    var isWhole = false
    /// Keeps the rows' numbers.
    var hold: RowHold?
}

extension StoreSession {
    /// How many values one query names.
    private static let chunk = 1_000

    /// Whether the store finds records of an entity by their identifiers, and looks at no others for that.
    func selectsByIdentifier(ofEntity name: String) -> Bool {
        let some = [1, 2].map { PersistentIdentifier.numbered($0, storeIdentifier: identifier, entityName: name) }
        return [Array(some[..<1]), some].allSatisfy { records in
            guard let plan = try? plan(StoreQuery(name, conjuncts: [Self.condition(records)])) else { return false }
            return plan.isExact && !plan.isFullScan
        }
    }

    private static func condition(_ identifiers: [PersistentIdentifier]) -> QueryExpression {
        let values = identifiers.map { QueryExpression.constant(.identifier($0)) }
        let own = QueryExpression.identifier(.variable(0))
        return values.count == 1 ? .compare(.equal, own, values[0]) : .contains(.list(values), own)
    }

    /// Reads records of an entity and its subentities by identifier, from a store without versions that takes queries.
    /// - Returns: the identifiers of those that exist.
    func load(
        _ identifiers: [PersistentIdentifier], of layout: ModelLayout, prefetching names: [String] = []
    ) throws -> Set<PersistentIdentifier> {
        let wanted = Set(identifiers)
        let found = try select(wanted.sorted(), of: layout, prefetching: names, Self.condition)
        return Set(found.records.lazy.map { $0.source.identifier(ofRow: $0.row) }.filter(wanted.contains))
    }

    /// Reads the records of an entity and its subentities that a condition selects, which is made for some of the values at a
    /// time. A store that leaves such a condition to the framework is asked once for all records.
    func select<Value>(
        _ values: [Value], of layout: ModelLayout, prefetching names: [String] = [],
        _ condition: ([Value]) -> QueryExpression
    ) throws -> SelectedRows {
        var selected = SelectedRows()
        // Observers of what is read may fetch.
        selected.hold = RowHold(self)
        var first = 0
        while first < values.count {
            let end = min(first + Self.chunk, values.count)
            let query = StoreQuery(
                layout.entityName, conjuncts: [condition(Array(values[first..<end]))], prefetch: names)
            guard let plan = try plan(query) else { throw DataStoreError.unsupportedFeature }
            if plan.claim(of: query.conjuncts[0]) == .residual {
                guard let scan = try self.plan(StoreQuery(layout.entityName, prefetch: names)) else {
                    throw DataStoreError.unsupportedFeature
                }
                selected.records = try rows(of: scan)
                selected.isWhole = true
                return selected
            }
            selected.records += try rows(of: plan)
            first = end
        }
        return selected
    }

    private func rows(of plan: FetchPlan) throws -> [(source: RowSource, row: Int)] {
        let found = try execute(plan)
        let sources = found.entities.map { source(ofEntity: $0) }
        return found.rows.map { (sources[$0.table], $0.row) }
    }
}
