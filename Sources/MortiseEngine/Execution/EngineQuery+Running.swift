import MortiseCore

extension EngineQuery {
    /// - Throws: `EngineError.unknownEntity`; `QueryEvaluationError`.
    func run(_ plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        let conjuncts = query.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.expression)
        if identifiers == nil, conditions.isEmpty || !hasPath, let walk = orderedWalk(plan),
            let found = try inOrder(walk, conjuncts, reader)
        {
            return found
        }
        let scans = try entities.enumerated().compactMap {
            place, name -> (scan: TableScan, table: TableVersion, number: Int)? in
            guard let number = reader.table(named: name) else { throw EngineError.unknownEntity(name) }
            // A table that nothing was ever written to is in no version.
            guard let table = reader.tables[number].rows as? TableVersion else { return nil }
            let scan = TableScan(
                table, candidates: candidates(table, place), conjuncts: conjuncts, reader: reader, number: number)
            return (scan, table, number)
        }
        let names = { reader.tables.map(\.entityName) }
        let scanned = scans.reduce(0) { $0 + $1.scan.scanned }
        if query.purpose == .count, conjuncts.count == query.conjuncts.count {
            let count = try scans.reduce(0) { try $0 + $1.scan.count() }
            return VersionRows(
                entities: names(), rows: [], scanned: scanned,
                count: plan.takesWindow ? query.window(of: count).count : count)
        }
        if scans.count == 1, plan.order == .total {
            let (scan, table, number) = scans[0]
            if query.order.isEmpty {
                return VersionRows(
                    entities: names(), rows: try inIdentityOrder(scan, takesWindow: plan.takesWindow), scanned: scanned)
            }
            if let sort = RowSort(query.order, table, reader: reader, number: number) {
                let rows = try sort.rows(of: scan, query, takesWindow: plan.takesWindow)
                return VersionRows(entities: names(), rows: rows, scanned: scanned)
            }
        }
        var rows: [RecordReference] = []
        for (scan, _, _) in scans { try scan.append(to: &rows) }
        if plan.order == .total { rows = try QueryExecutor(reader: reader).sort(rows, by: query.order) }
        if plan.takesWindow, query.hasWindow { rows = Array(rows[query.window(of: rows.count)]) }
        return VersionRows(entities: names(), rows: rows, scanned: scanned)
    }

    /// The rows of one table come in the order in which they were inserted.
    private func inIdentityOrder(_ scan: TableScan, takesWindow: Bool) throws -> [RecordReference] {
        var rows: [RecordReference] = []
        guard takesWindow, query.hasWindow else {
            try scan.append(to: &rows)
            return rows
        }
        let (end, overflows) = (query.limit ?? .max).addingReportingOverflow(query.offset)
        if end == 0 { return [] }
        try scan.append(to: &rows, limit: overflows ? .max : end)
        return Array(rows[query.window(of: rows.count)])
    }

    /// The rows in which the query's may be, ascending; nil for all.
    func candidates(_ table: TableVersion, _ place: Int) -> [Int]? {
        if let identifiers { return Set(identifiers.compactMap { table.row(of: $0) }).sorted() }
        if paths.isEmpty { return nil }
        if paths[place].count == 1, paths[place][0].isPoint {
            let index = TableIndex(table, paths[place][0].index)
            let ranges = paths[place][0].ranges(in: index)
            // More than a few would have to be counted first.
            if let rows = index.rows(in: ranges, upTo: 64) { return rows }
        }
        var best: (index: TableIndex, ranges: [IndexRange], count: Int)?
        for path in paths[place] {
            let index = TableIndex(table, path.index)
            let ranges = path.ranges(in: index)
            let count = ranges.reduce(0) { $0 + index.count(in: $1) }
            if count < best?.count ?? .max { best = (index, ranges, count) }
        }
        // Much of a table is found faster by looking at all of it than by going where an index points.
        guard let best, best.count < 64 || best.count < table.count / 4 else { return nil }
        return best.index.rows(in: best.ranges)
    }

    /// Goes along an index until the window is full.
    private func inOrder(
        _ walk: OrderedWalk, _ conjuncts: [QueryExpression], _ reader: RecordReader
    ) throws -> VersionRows? {
        guard let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion,
            let limit = query.limit
        else { return nil }
        let filter = CompiledFilter(conjuncts, reader: reader, table: number)
        return try walk.rows(
            query, limit, in: table, by: filter, isUnfiltered: conjuncts.isEmpty, reader: reader, number: number
        ).map { VersionRows(entities: reader.tables.map(\.entityName), rows: $0.rows, scanned: $0.scanned) }
    }
}
