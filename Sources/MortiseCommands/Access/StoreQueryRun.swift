#if Tool
import MortiseCore

/// A query carried out on a store without its models: planned by the store, checked, run, and finished here.
struct StoreQueryRun {
    let records: [RecordReference]
    /// How many records match; a query that only counts may have no `records`.
    let count: Int
    let reader: RecordReader
    /// What the records are read from.
    let version: any StoreVersion
    let explanation: FetchExplanation
    /// A declaration that would spare a scan of all records.
    let suggestion: String?

    /// How long one match of a regular expression may take.
    @TaskLocal static var matchLimit = Duration.seconds(5)

    /// - Throws: `QueryPlanError`; `QueryEvaluationError`, also where a match of a regular expression takes longer than
    ///   `matchLimit`; what the store throws.
    init(_ query: StoreQuery, in store: OpenStore) throws {
        try query.checkDepth()
        let hasPattern = query.conjuncts.contains { $0.expression.matchesPatterns }
        self =
            hasPattern
            ? try MatchWatch.run(limit: Self.matchLimit) { try StoreQueryRun(running: query, in: store) }
            : try StoreQueryRun(running: query, in: store)
    }

    private init(running query: StoreQuery, in store: OpenStore) throws {
        let version = try store.version()
        let reader = store.reader(of: version)
        self.reader = reader
        self.version = version
        var plan: FetchPlan
        var found: [RecordReference] = []
        let report: ExecutionReport
        var counted: Int?
        if let versioned = store.store as? any VersionedDataStore {
            plan = versioned.plan(query)
            try plan.validate(adapter: store.name, for: query)
            let answer = try versioned.rows(for: plan, in: version)
            report = answer.report
            if query.purpose == .count, query.conjuncts.allSatisfy({ plan.claim(of: $0) == .exact }) {
                counted = answer.count.map { plan.appliesLimit ? $0 : query.window(of: $0).count }
            }
            let tables = try answer.entities.map { try Self.table($0, reader) }
            found = answer.rows.map { RecordReference(table: tables[$0.table], row: $0.row) }
        } else if let queryable = store.store as? any QueryableDataStore {
            plan = queryable.plan(query)
            try plan.validate(adapter: store.name, for: query)
            let answer = try Self.answer(queryable, plan)
            report = answer.report
            counted = answer.count.map { plan.appliesLimit ? $0 : query.window(of: $0).count }
            found = answer.identifiers.compactMap { reader.record($0) }
        } else {
            throw ToolError.unsupported(store: store.name, what: "answer queries without models")
        }
        plan.note(report)
        let executor = QueryExecutor(reader: reader)
        let left = query.conjuncts.filter { plan.claim(of: $0) != .exact }.map(\.expression)
        found = try executor.filter(found, by: left)
        if query.purpose != .count, plan.order != .total { found = try executor.sort(found, by: query.order) }
        try version.check()
        records = plan.appliesLimit ? found : Array(found[query.window(of: found.count)])
        count = counted ?? records.count
        suggestion = plan.suggestion
        explanation = FetchExplanation(
            entity: query.entity, store: store.name,
            conjuncts: query.conjuncts.map { conjunct in
                let status: FetchExplanation.Status =
                    switch plan.claim(of: conjunct) {
                    case .exact: .pushed
                    case .superset: .rechecked
                    case .residual: .residual
                    }
                return .init(text: "\(conjunct.expression)", status: status)
            },
            order: query.order.map { "\($0.expression)" + ($0.isAscending ? "" : " descending") },
            orderClaim: plan.order, offset: query.offset, limit: query.limit,
            windowIsPushed: plan.appliesLimit, mergesPendingChanges: false, isFullScan: plan.isFullScan,
            rowsScanned: report.scanned, rowsReturned: count, detail: plan.detail)
    }

    private static func table(_ entity: String, _ reader: RecordReader) throws -> Int {
        guard let table = reader.table(named: entity) else { throw UnknownEntity(name: entity, known: []) }
        return table
    }

    private static func answer<S: QueryableDataStore>(
        _ store: S, _ plan: FetchPlan
    ) throws -> (identifiers: [PersistentIdentifier], count: Int?, report: ExecutionReport) {
        let found = try store.rows(for: plan)
        return (found.identifiers ?? found.snapshots.map(\.persistentIdentifier), found.count, found.report)
    }
}

extension QueryExpression {
    /// Whether any part looks for a regular expression.
    fileprivate var matchesPatterns: Bool {
        if case .matches = self { return true }
        return children.contains { $0.matchesPatterns }
    }
}
#endif
