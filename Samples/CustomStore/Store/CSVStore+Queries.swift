public import MortiseCore

/// Equality and ranges, done by the store: what they leave out is never looked at again.
extension CSVStore: QueryableDataStore {
    public func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "a look at every record of the file", isFullScan: true)
        for conjunct in query.conjuncts where test(conjunct.expression) != nil { plan.claims[conjunct.id] = .exact }
        return plan
    }

    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let query = plan.query
        let tests = query.conjuncts.filter { plan.claim(of: $0) == .exact }.compactMap { test($0.expression) }
        let found = table.snapshots(of: query.entity, includingSubentities: query.includesSubentities) { record in
            tests.allSatisfy { $0(record) }
        }
        return StoreRows(
            snapshots: found,
            scanned: table.count(of: query.entity, includingSubentities: query.includesSubentities))
    }

    /// Whether a comparison of an attribute with a constant holds; nil for every other condition, which the framework
    /// evaluates.
    private func test(_ condition: QueryExpression) -> ((DefaultSnapshot) -> Bool)? {
        guard case .compare(let comparison, .property(.variable(0), let property), .constant(let wanted)) = condition,
            let slot = schema.stored.recordLayouts()[property.entity]?.slots[property.slot],
            let kind = slot.property.attribute?.kind, kind != .coded
        else { return nil }
        return { ValueSemantics.holds(comparison, $0.values[property.slot], wanted) }
    }
}
