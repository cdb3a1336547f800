public import MortiseCore

extension EngineQuery {
    /// - Throws: `EngineError.unknownEntity`; `QueryEvaluationError`.
    func run(_ plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        if let few = point(plan, version) { return few }
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        // The plan is the caller's, who may have taken claims back.
        let conjuncts = query.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.expression)
        if let found = try beside(plan, conjuncts, reader) { return found }
        if query.purpose == .count, let found = countInRanges(conjuncts, version) {
            return VersionRows(
                entities: reader.tables.map(\.entityName), rows: [],
                count: plan.appliesLimit ? query.window(of: found.count).count : found.count,
                report: ExecutionReport(scanned: 0, detail: found.detail, isFullScan: false))
        }
        var instead: TableAccess?
        var tried = 0
        if identifiers == nil, let walk = orderedWalk(plan) {
            if conditions.isEmpty || !hasPath {
                switch try inOrder(walk, conjuncts, reader) {
                case .rows(let found): return found
                case .instead(let access): instead = access
                case nil: break
                }
            } else if let found = try inOrderWithin(walk, conjuncts, reader, &tried) {
                return found
            } else if tried == 0, let found = try inOrderBeside(walk, conjuncts, reader, &tried) {
                return found
            }
        }
        var accesses: [TableAccess] = []
        let scans = try entities.enumerated().compactMap { place, name -> TableScan? in
            guard let number = reader.table(named: name) else { throw EngineError.unknownEntity(name) }
            // A table that nothing was ever written to is in no version.
            guard let table = reader.tables[number].rows as? TableVersion else { return nil }
            let access = instead ?? access(table, place)
            accesses.append(access)
            return TableScan(
                table, candidates: access.candidates, conjuncts: conjuncts, reader: reader, number: number)
        }
        var answer = VersionRows(
            entities: [], rows: [],
            report: ExecutionReport(
                scanned: scans.reduce(accesses.reduce(tried) { $0 + $1.tried }) { $0 + $1.scanned }))
        if let detail = accesses.detail {
            answer.report.detail = detail
            answer.report.isFullScan = accesses.contains(where: \.isFullScan)
        }
        let names = { reader.tables.map(\.entityName) }
        if query.purpose == .count, conjuncts.count == query.conjuncts.count {
            let count = try scans.reduce(0) { try $0 + $1.count() }
            answer.count = plan.appliesLimit ? query.window(of: count).count : count
            answer.entities = names()
            return answer
        }
        if plan.order == .total, query.order.isEmpty {
            (answer.rows, answer.report.scanned) = try inIdentityOrder(scans, appliesLimit: plan.appliesLimit)
        } else if plan.order == .total, let sort = RowSort(query.order, scans, reader: reader) {
            answer.rows = try sort.rows(query, appliesLimit: plan.appliesLimit)
        } else {
            var rows: [RecordReference] = []
            for scan in scans { try scan.append(to: &rows) }
            if plan.order == .total {
                let window = plan.appliesLimit ? query.window(of: rows.count) : nil
                rows = try QueryExecutor(reader: reader).sort(rows, by: query.order, upTo: window?.upperBound)
            }
            if plan.appliesLimit, query.isLimited { rows = Array(rows[query.window(of: rows.count)]) }
            answer.rows = rows
        }
        answer.entities = names()
        return answer
    }

    /// The rows of the commonest query, which asks one table for what has a certain value in an indexed attribute: nothing
    /// is prepared for it that looking at a few rows does not need.
    /// - Returns: nil for any other query, and if there are many rows.
    private func point(_ plan: FetchPlan, _ version: any StoreVersion) -> VersionRows? {
        guard entities.count == 1, expressions.count == 1, query.conjuncts.count == 1, identifiers == nil,
            paths.count == 1, paths[0].count == 1, paths[0][0].isPoint, plan.order == .total,
            plan.claim(of: query.conjuncts[0]) == .exact,
            let table = version.rows(ofEntity: entities[0]) as? TableVersion,
            case .compare(.equal, .property(.variable(0), let property), .constant(.string(let wanted))) = expressions[
                0],
            let found = paths[0][0].rows(in: TableIndex(table, paths[0][0].index), upTo: 32),
            query.order.isEmpty || found.count <= 1
        else { return nil }
        var rows: [RecordReference] = []
        // Equal strings have equal keys, and what has the key is compared as a string all the same.
        for row in found where table.string(row: row, slot: property.slot) == wanted {
            rows.append(RecordReference(table: 0, row: row))
        }
        if plan.appliesLimit, query.isLimited { rows = Array(rows[query.window(of: rows.count)]) }
        return VersionRows(
            entities: entities, rows: rows, count: query.purpose == .count ? rows.count : nil,
            report: ExecutionReport(scanned: found.count))
    }

    /// The rows of one table come in the order in which they were inserted.
    private func inIdentityOrder(
        _ scans: [TableScan], appliesLimit: Bool
    ) throws -> (rows: [RecordReference], scanned: Int) {
        var rows: [RecordReference] = []
        let isLimited = appliesLimit && query.isLimited
        let (end, overflows) = (query.limit ?? .max).addingReportingOverflow(query.offset)
        let limit = isLimited && !overflows ? end : Int.max
        if limit == 0 { return ([], 0) }
        var scanned = 0
        if scans.count == 1 {
            scanned = try scans[0].append(to: &rows, limit: limit)
        } else {
            scanned = try FamilyRows(scans).forEachRun { run in
                let number = scans[run.scan].number
                for offset in run.offsets.prefix(limit - rows.count) {
                    rows.append(RecordReference(table: number, row: run.first + offset))
                }
                return rows.count < limit
            }
        }
        return (isLimited ? Array(rows[query.window(of: rows.count)]) : rows, scanned)
    }

    private enum Walked {
        case rows(VersionRows)
        /// The walk is not worth its while: what to do instead.
        case instead(TableAccess)
    }

    /// Goes along an index until the window is full.
    private func inOrder(
        _ walk: OrderedWalk, _ conjuncts: [QueryExpression], _ reader: RecordReader
    ) throws -> Walked? {
        guard let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion,
            let limit = query.limit
        else { return nil }
        let most = max(1024, table.count / 8)
        if conjuncts.isEmpty, let reach = try walk.reach(query, limit, beyond: most, in: table, reader, number) {
            if !query.avoidsFullScan {
                let text = Self.scanText(walk.text(table.plan), leadsTo: reach, of: table)
                return .instead(TableAccess(nil, detail: text))
            }
            if !walk.isExact {
                // Large numbers of rows are sorted faster column by column.
                let rows = TableIndex(table, walk.index).candidates(first: reach, descending: !walk.isAscending)
                return .instead(TableAccess(rows, detail: walk.text(table.plan)))
            }
        }
        let filter = CompiledFilter(conjuncts, reader: reader, table: number)
        let found = try walk.rows(
            query, limit, in: table, by: filter, atMost: conjuncts.isEmpty ? .max : most, reader: reader, number: number
        )
        guard let rows = found.rows else {
            var access = TableAccess(
                nil, detail: "\(Self.scanText), after \(found.scanned) by \(walk.text(table.plan))")
            access.tried = found.scanned
            return .instead(access)
        }
        return .rows(
            VersionRows(
                entities: reader.tables.map(\.entityName), rows: rows,
                report: ExecutionReport(scanned: found.scanned)))
    }
}

extension EngineQuery {
    /// Goes along the part of an index that the conditions leave, until the window is full, where that looks at fewer rows than
    /// the best of the access paths leads to. So a page begins where the one before has ended, however deep it is.
    /// - Returns: nil where it does not, or if it gave up.
    private func inOrderWithin(
        _ walk: OrderedWalk, _ conjuncts: [QueryExpression], _ reader: RecordReader, _ tried: inout Int
    ) throws -> VersionRows? {
        guard let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion,
            let limit = query.limit, limit > 0, let paths = paths.first,
            let path = paths.first(where: { $0.index == walk.index }),
            let (range, count) = path.range(in: TableIndex(table, walk.index))
        else { return nil }
        let least = paths.reduce(count) { least, path in
            let index = TableIndex(table, path.index)
            return min(least, path.ranges(in: index).reduce(0) { $0 + index.count(in: $1) })
        }
        // Of the rows in the part, as many match as the best path leads to.
        let wanted = Double(limit) + Double(query.offset)
        // A few rows that no other path leads to fewer of come in order for nothing.
        let isFew = count == least && count <= 1_024
        guard isFew || least > 64 && wanted * Double(count) < Double(least) * Double(least) else { return nil }
        let filter = CompiledFilter(conjuncts, reader: reader, table: number)
        let found = try walk.rows(
            query, limit, in: table, range, by: filter, atMost: max(1024, table.count / 8), reader: reader,
            number: number)
        guard let rows = found.rows else {
            tried = found.scanned
            return nil
        }
        var report = ExecutionReport(scanned: found.scanned)
        report.detail = "\(path.text(table.plan)), in order"
        report.isFullScan = false
        return VersionRows(entities: reader.tables.map(\.entityName), rows: rows, report: report)
    }
}

extension EngineQuery {
    /// Goes along the index of the order, although the conditions have another one, where most rows match: `x != nil` says little.
    /// - Returns: nil where fewer match, or if it gave up.
    private func inOrderBeside(
        _ walk: OrderedWalk, _ conjuncts: [QueryExpression], _ reader: RecordReader, _ tried: inout Int
    ) throws -> VersionRows? {
        guard let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion,
            let limit = query.limit, let paths = paths.first
        else { return nil }
        let least = paths.reduce(table.count) { least, path in
            let index = TableIndex(table, path.index)
            return min(least, path.ranges(in: index).reduce(0) { $0 + index.count(in: $1) })
        }
        let wanted = Double(limit) + Double(query.offset)
        guard least >= 64, least >= table.count / 4, wanted * 8 < Double(least) else { return nil }
        switch try inOrder(walk, conjuncts, reader) {
        case .rows(var found):
            found.report.detail = walk.text(table.plan)
            found.report.isFullScan = false
            return found
        case .instead(let access):
            tried = access.tried
            return nil
        case nil: return nil
        }
    }
}

extension EngineDataStore {
    /// The rows that a plan of this store promises.
    /// - Throws: `QueryEvaluationError`; the error of a damaged region; once, why what another process has written cannot be taken in.
    public func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        try engine.throwUntold()
        let rows = try EngineQuery.of(plan, engine.catalog).run(plan, in: version)
        // An incomplete answer must not be returned.
        try version.check()
        return rows
    }
}
