import MortiseCore

/// A query carried out on one version of an engine: candidates from the best index or from all rows, then whatever the
/// conjuncts say, in order, cut.
struct EngineQuery {
    private let catalog: Catalog
    private let query: StoreQuery
    private let conditions: [Int: [SearchCondition]]
    private let identifiers: [PersistentIdentifier]?

    init(_ query: StoreQuery, _ catalog: Catalog) {
        self.query = query
        self.catalog = catalog
        let pushed = query.conjuncts.filter { !$0.expression.needsModels }
        conditions = SearchCondition.all(in: pushed)
        identifiers = SearchCondition.identifiers(in: pushed)
    }

    private var entities: [String] {
        query.includesSubentities ? catalog.schema.subtree(of: query.entity) : [query.entity]
    }

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
        let tables = entities.compactMap { catalog.plan($0) }
        let paths = tables.map { AccessPath.all($0, conditions) }
        if !tables.isEmpty, paths.allSatisfy({ !$0.isEmpty }), let first = tables.first {
            let choices = paths[0].map { $0.text(first) }
            plan.detail = choices.count == 1 ? choices[0] : "the most selective of: " + choices.joined(separator: "; ")
            plan.isFullScan = false
        } else if let table = orderedTable(plan) {
            plan.detail = "index \(query.entity)(\(table.name)) in order"
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
        if names.isEmpty, query.conjuncts.isEmpty,
            case .property(.variable(0), let property)? = query.order.first?.expression
        {
            names = ["\\.\(property.name)"]
        }
        guard let first = names.first else { return nil }
        return "#Index<\(query.entity)>([\(first)])"
    }

    /// The index that has the rows in the order asked for, where the query has one key and one table.
    private func orderedTable(_ plan: FetchPlan) -> (index: Int, name: String, isAscending: Bool)? {
        guard plan.order == .total, plan.takesWindow, query.limit != nil, query.purpose != .count,
            query.order.count == 1,
            query.order[0].stringOrder == nil, case .property(.variable(0), let property) = query.order[0].expression,
            entities.count == 1, let table = catalog.plan(query.entity),
            let index = table.indexes.firstIndex(where: { $0.slots == [property.slot] })
        else { return nil }
        return (index, property.name, query.order[0].isAscending)
    }

    // MARK: Running

    /// - Throws: `EngineError.unknownEntity`; `QueryEvaluationError`.
    func run(_ plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        let executor = QueryExecutor(reader: reader)
        let conjuncts = query.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.expression)
        if identifiers == nil, conditions.isEmpty || !hasPath, let ordered = orderedTable(plan),
            let found = try inOrder(ordered.index, ordered.isAscending, conjuncts, reader, executor)
        {
            return found
        }
        var rows: [RecordReference] = []
        for name in entities {
            guard let number = reader.table(named: name) else { throw EngineError.unknownEntity(name) }
            candidates(number, reader.tables[number].rows, into: &rows)
        }
        let scanned = rows.count
        rows = try executor.filter(rows, by: conjuncts)
        if plan.order == .total, query.purpose != .count { rows = try executor.sort(rows, by: query.order) }
        if plan.takesWindow { rows = Array(rows[query.window(of: rows.count)]) }
        return VersionRows(entities: reader.tables.map(\.entityName), rows: rows, scanned: scanned)
    }

    private var hasPath: Bool {
        entities.allSatisfy { name in catalog.plan(name).map { !AccessPath.all($0, conditions).isEmpty } ?? false }
    }

    private func candidates(_ number: Int, _ source: RowSource, into rows: inout [RecordReference]) {
        if let identifiers {
            let found = Set(identifiers.compactMap { source.row(of: $0) }).sorted()
            rows += found.map { RecordReference(table: number, row: $0) }
            return
        }
        if let table = source as? TableVersion, let best = best(table) {
            rows += best.map { RecordReference(table: number, row: $0) }
            return
        }
        rows.reserveCapacity(rows.count + source.count)
        for row in 0..<source.endRow where source.contains(row: row) {
            rows.append(RecordReference(table: number, row: row))
        }
    }

    /// The rows that the most selective path finds, ascending; nil where there is none.
    private func best(_ table: TableVersion) -> [Int]? {
        var best: (index: TableIndex, ranges: [IndexRange], count: Int)?
        for path in AccessPath.all(table.plan, conditions) {
            let index = TableIndex(table, path.index)
            let ranges = path.ranges(in: index)
            let count = ranges.reduce(0) { $0 + index.count(in: $1) }
            if count < best?.count ?? .max { best = (index, ranges, count) }
        }
        return best.map { $0.index.rows(in: $0.ranges) }
    }

    /// Goes along an index until the window is full.
    private func inOrder(
        _ index: Int, _ isAscending: Bool, _ conjuncts: [QueryExpression], _ reader: RecordReader,
        _ executor: QueryExecutor
    ) throws -> VersionRows? {
        guard let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion,
            let limit = query.limit
        else { return nil }
        let filter = CompiledFilter(conjuncts, reader: reader, table: number)
        var rows: [RecordReference] = []
        var scanned = 0
        var left = conjuncts.isEmpty ? 0 : query.offset
        try TableIndex(table, index).forEachRow(
            descending: !isAscending, skipping: conjuncts.isEmpty ? query.offset : 0
        ) { row in
            if rows.count >= limit { return false }
            scanned += 1
            let record = RecordReference(table: number, row: row)
            if try filter.matches(record) {
                if left > 0 { left -= 1 } else { rows.append(record) }
            }
            return rows.count < limit
        }
        return VersionRows(entities: reader.tables.map(\.entityName), rows: rows, scanned: scanned)
    }
}
