#if Tool
import MortiseCore

/// Groups of a query's records, calculated by the store where it can, otherwise here.
struct GroupRun {
    /// In ascending order of their keys, nil first.
    let groups: [AggregateGroup]

    /// - Parameters:
    ///   - query: which records; its order and window are left out.
    ///   - terms: the keys and functions.
    ///   - store: the store.
    /// - Throws: `QueryPlanError`; `QueryEvaluationError`, also where a match of a regular expression takes longer than
    ///   `StoreQueryRun.matchLimit`; `MatchWatchError`; what the store throws.
    init(_ query: StoreQuery, _ terms: GroupTerms, in store: OpenStore) throws {
        var query = query
        (query.order, query.offset, query.limit) = ([], 0, nil)
        let asked = AggregateQuery(query, by: terms.keys.map(\.content), terms.functions.map(\.content))
        try query.checkDepth()
        let hasPattern = query.conjuncts.contains { $0.expression.matchesPatterns }
        groups =
            hasPattern
            ? try MatchWatch.run(limit: StoreQueryRun.matchLimit, deadline: StoreQueryRun.deadline) {
                try Self.groups(asked, in: store)
            }
            : try Self.groups(asked, in: store)
    }

    private static func groups(_ query: AggregateQuery, in store: OpenStore) throws -> [AggregateGroup] {
        if let answer = try pushed(query, in: store) { return answer.groups }
        let run = try StoreQueryRun(query.query, in: store)
        let evaluator = QueryEvaluator(reader: run.reader)
        let states = query.functions.map(AggregateState.init)
        var groups = AggregateGroups()
        if query.keys.isEmpty { _ = groups.number(of: []) }
        for state in states { state.reserve(groups: groups.count) }
        for record in run.records {
            let group =
                query.keys.isEmpty ? 0 : groups.number(of: try query.keys.map { try evaluator.sortKey($0, record) })
            for (state, function) in zip(states, query.functions) {
                state.reserve(groups: groups.count)
                if let expression = function.expression {
                    try state.add(evaluator.sortKey(expression, record), group: group)
                } else {
                    state.add(count: 1, group: group)
                }
            }
            try run.version.check()
        }
        return try groups.results(states)
    }

    /// Nil if the store leaves it to its caller.
    private static func pushed(_ query: AggregateQuery, in store: OpenStore) throws -> AggregateAnswer? {
        let queryable = store.queryable
        guard store.past == nil, queryable.capabilities.contains(.aggregates) else { return nil }
        let plan = queryable.plan(query.query)
        try plan.validate(adapter: store.name, for: query.query)
        guard plan.isExact else { return nil }
        let version = store.versioned?.currentVersion
        guard let answer = try queryable.aggregate(query, in: version) else { return nil }
        try version?.check()
        for group in answer.groups
        where group.keys.count != query.keys.count || group.values.count != query.functions.count {
            throw QueryEvaluationError.unfit(
                expression: "a group with \(group.values.count) results of \(query.functions.count)")
        }
        return answer
    }
}
#endif
