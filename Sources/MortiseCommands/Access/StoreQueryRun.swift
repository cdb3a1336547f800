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
    /// How long all matches of a query may take in a program that goes on after it; nil in one that ends.
    @TaskLocal static var deadline: Duration?

    /// - Throws: `QueryPlanError`; `QueryEvaluationError`, also where a match of a regular expression takes longer than
    ///   `matchLimit`; `MatchWatchError`; what the store throws.
    init(_ query: StoreQuery, in store: OpenStore) throws {
        try query.checkDepth()
        let hasPattern = query.conjuncts.contains { $0.expression.matchesPatterns }
        self =
            hasPattern
            ? try MatchWatch.run(limit: Self.matchLimit, deadline: Self.deadline) {
                try StoreQueryRun(running: query, in: store)
            }
            : try StoreQueryRun(running: query, in: store)
    }

    private init(running query: StoreQuery, in store: OpenStore) throws {
        var answer = try Self.answer(to: query, in: store)
        var counted: Int?
        if query.purpose == .count, query.conjuncts.allSatisfy({ answer.plan.claim(of: $0) == .exact }) {
            counted = answer.count.map { answer.plan.appliesLimit ? $0 : query.window(of: $0).count }
        }
        answer.plan.note(answer.report)
        let plan = answer.plan
        let executor = QueryExecutor(reader: answer.reader)
        let left = query.conjuncts.filter { plan.claim(of: $0) != .exact }.map(\.expression)
        var found = try executor.filter(answer.records, by: left)
        try MatchWatch.checkIsAwaited()
        if query.purpose != .count, plan.order != .total { found = try executor.sort(found, by: query.order) }
        try answer.version.check()
        if !plan.appliesLimit { found = Array(found[query.window(of: found.count)]) }
        if query.purpose != .count, found.count < answer.records.count {
            found = try Self.keeping(found, of: &answer, in: store)
        }
        reader = answer.reader
        version = answer.version
        records = found
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
            rowsScanned: answer.report.scanned, rowsReturned: count, detail: plan.detail)
    }

    /// What a store answered, before the rest is done here.
    private struct Answer {
        var plan: FetchPlan
        var records: [RecordReference]
        let count: Int?
        let report: ExecutionReport
        var version: any StoreVersion
        var reader: RecordReader
    }

    private static func answer(to query: StoreQuery, in store: OpenStore) throws -> Answer {
        if let past = store.past { return try answer(to: query, in: store, as: past) }
        if let versioned = store.versioned {
            let version = versioned.currentVersion
            let reader = store.reader(of: version)
            let plan = versioned.plan(query)
            try plan.validate(adapter: store.name, for: query)
            let answer = try versioned.rows(for: plan, in: version)
            let tables = try answer.entities.map { try Self.table($0, reader) }
            return Answer(
                plan: plan, records: answer.rows.map { RecordReference(table: tables[$0.table], row: $0.row) },
                count: answer.count, report: answer.report, version: version, reader: reader)
        }
        let answer = try AnswerVersion.answer(to: query, of: store.queryable, store.layouts, name: store.name)
        let reader = store.reader(of: answer.version)
        return Answer(
            plan: answer.plan, records: try Self.references(answer.rows, reader), count: answer.count,
            report: answer.report, version: answer.version, reader: reader)
    }

    /// All records of an entity as they were: what the store knows to find some of them is about now.
    private static func answer(
        to query: StoreQuery, in store: OpenStore, as past: any StoreVersion
    ) throws -> Answer {
        let reader = store.reader(of: past)
        var records: [RecordReference] = []
        for entity in query.includesSubentities ? store.schema.subtree(of: query.entity) : [query.entity] {
            guard let rows = past.rows(ofEntity: entity) else { continue }
            let table = try table(entity, reader)
            for row in 0..<rows.endRow where rows.contains(row: row) {
                records.append(RecordReference(table: table, row: row))
            }
        }
        return Answer(
            plan: FetchPlan(query, detail: "all records as they were", isFullScan: true), records: records, count: nil,
            report: ExecutionReport(scanned: records.count), version: past, reader: reader)
    }

    /// Forgets what an answer has besides some records, in a store without versions.
    private static func keeping(
        _ records: [RecordReference], of answer: inout Answer, in store: OpenStore
    ) throws -> [RecordReference] {
        guard let version = answer.version as? AnswerVersion else { return records }
        let tables = answer.reader.tables
        let kept = try version.keeping(records.map { (tables[$0.table].entityName, $0.row) })
        answer.version = kept.version
        answer.reader = store.reader(of: kept.version)
        return try references(kept.rows, answer.reader)
    }

    private static func references(_ rows: [AnswerVersion.Row], _ reader: RecordReader) throws -> [RecordReference] {
        var tables: [String: Int] = [:]
        return try rows.map { row in
            let table = try tables[row.entity] ?? table(row.entity, reader)
            tables[row.entity] = table
            return RecordReference(table: table, row: row.row)
        }
    }

    private static func table(_ entity: String, _ reader: RecordReader) throws -> Int {
        guard let table = reader.table(named: entity) else { throw UnknownEntity(name: entity, known: []) }
        return table
    }
}

extension QueryExpression {
    /// Whether any part looks for a regular expression.
    var matchesPatterns: Bool {
        if case .matches = self { return true }
        return children.contains { $0.matchesPatterns }
    }
}
#endif
