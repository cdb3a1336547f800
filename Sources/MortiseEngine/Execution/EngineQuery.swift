import MortiseCore

/// A query carried out on one version of an engine: candidates from the best index or from all rows, then whatever the
/// conjuncts say, in order, cut.
struct EngineQuery {
    let catalog: Catalog
    let query: StoreQuery
    let conditions: [Int: [SearchCondition]]
    let identifiers: [PersistentIdentifier]?
    /// The query's entity and what counts with it.
    let entities: [String]
    /// For each of these, the ways that its indexes offer.
    let paths: [[AccessPath]]

    init(_ query: StoreQuery, _ catalog: Catalog) {
        self.query = query
        self.catalog = catalog
        let pushed = query.conjuncts.filter { !$0.expression.needsModels }
        conditions = SearchCondition.all(in: pushed)
        identifiers = SearchCondition.identifiers(in: pushed)
        entities = query.includesSubentities ? catalog.families[query.entity] ?? [query.entity] : [query.entity]
        paths =
            conditions.isEmpty
            ? [] : entities.map { [conditions] name in catalog.plan(name).map { AccessPath.all($0, conditions) } ?? [] }
    }

    /// Whether every table has an index that helps.
    var hasPath: Bool { !paths.isEmpty && paths.allSatisfy { !$0.isEmpty } }

    // MARK: Planning

    /// Everything that can be said of stored values is done here, exactly; what needs models is left to the framework.
    func plan() -> FetchPlan {
        var plan = FetchPlan(query, detail: "scan of all rows", isFullScan: true)
        for conjunct in query.conjuncts where !conjunct.expression.needsModels { plan.claims[conjunct.id] = .exact }
        if query.order.allSatisfy({ !$0.expression.needsModels }) {
            plan.order = .total
            plan.takesWindow = plan.claims.count == query.conjuncts.count
        }
        describe(&plan)
        return plan
    }

    private func describe(_ plan: inout FetchPlan) {
        if identifiers != nil {
            plan.detail = "look-up by identifier"
            plan.isFullScan = false
            return
        }
        if hasPath, let first = catalog.plan(entities[0]) {
            let choices = paths[0].map { $0.text(first) }
            plan.detail = choices.count == 1 ? choices[0] : "the most selective of: " + choices.joined(separator: "; ")
            plan.isFullScan = false
        } else if let walk = orderedWalk(plan), let table = catalog.plan(query.entity) {
            plan.detail = walk.text(table)
            plan.isFullScan = !query.conjuncts.isEmpty
        } else {
            plan.suggestion = suggestion
        }
    }

    /// The declaration that would make the most of the query's conditions or order.
    private var suggestion: String? {
        guard let layout = catalog.layouts[query.entity] else { return nil }
        let slots = conditions.keys.sorted().filter { $0 < layout.slots.count }
        var names = slots.map { "\\.\(layout.slots[$0].name)" }
        // What the first key leaves equal is put in order by the others.
        if names.isEmpty, query.conjuncts.isEmpty, query.order.first?.stringOrder == nil,
            case .property(.variable(0), let property)? = query.order.first?.expression
        {
            names = ["\\.\(property.name)"]
        }
        guard let first = names.first else { return nil }
        return "#Index<\(query.entity)>([\(first)])"
    }

    /// The walk along an index that leads to the first rows in the order asked for, where the query has one table.
    func orderedWalk(_ plan: FetchPlan) -> OrderedWalk? {
        guard plan.order == .total, plan.takesWindow, query.limit != nil, query.purpose != .count,
            !query.order.isEmpty, entities.count == 1, let table = catalog.plan(query.entity)
        else { return nil }
        return OrderedWalk(query.order, table)
    }
}
