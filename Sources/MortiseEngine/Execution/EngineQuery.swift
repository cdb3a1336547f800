public import MortiseCore

/// A query carried out on one version of an engine: candidates from the best index or from all rows, then whatever the
/// conjuncts say, in order, cut.
///
/// Made once for planning and running: a plan carries it along.
final class EngineQuery: Sendable {
    let catalog: Catalog
    let query: StoreQuery
    /// The numbers of the conjuncts that can be evaluated on stored values, and their expressions.
    private let pushed: [Int]
    let expressions: [QueryExpression]
    let conditions: [SlotCondition]
    let identifiers: [PersistentIdentifier]?
    /// The query's entity and what counts with it.
    let entities: [String]
    /// For each of these, the ways that its indexes offer.
    let paths: [[AccessPath]]
    /// The ways in words, where there is a choice among them.
    private let texts: [[String]]

    init(_ query: StoreQuery, _ catalog: Catalog) {
        self.query = query
        self.catalog = catalog
        var pushed: [Int] = []
        var expressions: [QueryExpression] = []
        var isConditional = false
        for conjunct in query.conjuncts {
            if conjunct.expression.needsModels || (isConditional && conjunct.expression.mayThrow) {
                isConditional = true
                continue
            }
            pushed.append(conjunct.id)
            expressions.append(conjunct.expression)
        }
        self.pushed = pushed
        self.expressions = expressions
        let conditions = SearchCondition.all(in: expressions)
        self.conditions = conditions
        identifiers = SearchCondition.identifiers(in: expressions)
        let number = catalog.numbers[query.entity]
        let entities = number.flatMap { query.includesSubentities ? catalog.families[$0] : nil } ?? [query.entity]
        self.entities = entities
        if conditions.isEmpty {
            paths = []
        } else if entities.count == 1, let number {
            paths = [AccessPath.all(catalog.plans[number], conditions)]
        } else {
            paths = entities.map { name in catalog.plan(name).map { AccessPath.all($0, conditions) } ?? [] }
        }
        if entities.count == 1, paths.first?.count ?? 0 < 2 {
            texts = []
        } else {
            texts = zip(entities, paths).map { name, paths in
                catalog.plan(name).map { plan in paths.map { $0.text(plan) } } ?? []
            }
        }
    }

    /// Whether records of several entities are asked for.
    var isFamily: Bool { entities.count > 1 }

    /// A way to the rows of one entity, in words.
    func text(_ path: Int, _ place: Int) -> String {
        if !texts.isEmpty { return texts[place][path] }
        return catalog.plan(entities[place]).map { paths[place][path].text($0) } ?? ""
    }

    /// The query of a plan: the one made for planning, or a new one.
    static func of(_ plan: FetchPlan, _ catalog: Catalog) -> EngineQuery {
        if let made = plan.preparation as? EngineQuery, made.catalog === catalog { return made }
        return EngineQuery(plan.query, catalog)
    }

    /// Whether every table has an index that helps.
    var hasPath: Bool { !paths.isEmpty && paths.allSatisfy { !$0.isEmpty } }

    // MARK: Planning

    /// Everything that can be said of stored values is done here, exactly; what needs models is left to the framework, and
    /// what may throw unless what needs models says no before.
    ///
    /// A version is known only when the plan is run. What its records decide is told then, with the rows; whether all rows
    /// are looked at they do not decide for a query that avoids that.
    func plan() -> FetchPlan {
        var plan = FetchPlan(query, detail: Self.scanText, isFullScan: true)
        plan.preparation = self
        for conjunct in pushed { plan.claims[conjunct] = .exact }
        if query.order.allSatisfy({ !$0.expression.needsModels }) {
            plan.order = .total
            plan.appliesLimit = pushed.count == query.conjuncts.count
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
        if hasPath {
            plan.isFullScan = false
            plan.detail =
                paths[0].count == 1
                ? text(0, 0)
                : "the most selective of: " + paths[0].indices.map { text($0, 0) }.joined(separator: "; ")
        } else if goesBeside(plan) {
            plan.isFullScan = query.conjuncts.contains { Self.bound($0.expression) == nil }
            plan.detail = "the rows beside a record in the order of insertion"
        } else if query.conjuncts.isEmpty, query.order.isEmpty, query.limit != nil, plan.appliesLimit, !isFamily {
            plan.isFullScan = false
            plan.detail = "the first rows in the order of insertion"
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
        let slots = Set(conditions.map(\.slot)).sorted().filter { $0 < layout.slots.count }
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
        guard plan.order == .total, plan.appliesLimit, query.limit != nil, query.purpose != .count,
            !query.order.isEmpty, entities.count == 1, let table = catalog.plan(query.entity)
        else { return nil }
        return OrderedWalk(query.order, table, pinned: pinned(plan))
    }

    /// The slots in which all rows that match have one value.
    private func pinned(_ plan: FetchPlan) -> Set<Int> {
        // A caller that has taken a claim back gets rows with other values.
        guard !conditions.isEmpty, query.conjuncts.allSatisfy({ plan.claim(of: $0) == .exact }) else { return [] }
        return Set(conditions.compactMap { if case .equal = $0.condition { $0.slot } else { nil } })
    }
}

extension EngineDataStore {
    /// Plans the query: which conditions run on columns, and which index leads to the rows.
    public func plan(_ query: StoreQuery) -> FetchPlan { EngineQuery(query, engine.catalog).plan() }
}
