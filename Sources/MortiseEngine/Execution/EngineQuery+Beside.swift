import MortiseCore

/// Rows behind or before a record, in the order of insertion or in the opposite one, as the next pages of an order need them: the
/// others are not gone through.
extension EngineQuery {
    /// The record of a condition on identity order.
    static func bound(
        _ expression: QueryExpression
    ) -> (record: PersistentIdentifier, isBehind: Bool)? {
        guard case .compare(let comparison, .identifier(.variable(0)), .constant(.identifier(let record))) = expression
        else { return nil }
        switch comparison {
        case .greater: return (record, true)
        case .less: return (record, false)
        default: return nil
        }
    }

    /// Whether the rows are asked for in identity order, and which way; nil for another order.
    private var isDescending: Bool? {
        if query.order.isEmpty { return false }
        guard query.order.count == 1, case .identifier(.variable(0)) = query.order[0].expression else { return nil }
        return !query.order[0].isAscending
    }

    /// Whether the first rows beside a record are asked for.
    func goesBeside(_ plan: FetchPlan) -> Bool {
        guard identifiers == nil, !isFamily, plan.order == .total, plan.appliesLimit, query.limit != nil,
            query.purpose != .count, let isDescending
        else { return false }
        return isDescending || expressions.contains { Self.bound($0) != nil }
    }

    /// - Returns: nil for other queries, and where the rows do not lie together.
    /// - Throws: `QueryEvaluationError`.
    func beside(_ plan: FetchPlan, _ conjuncts: [QueryExpression], _ reader: RecordReader) throws -> VersionRows? {
        guard goesBeside(plan), let limit = query.limit, let isDescending,
            let number = reader.table(named: query.entity), let table = reader.tables[number].rows as? TableVersion
        else { return nil }
        var span = 0..<table.endRow
        for conjunct in conjuncts {
            guard let bound = Self.bound(conjunct) else { continue }
            guard let sequence = table.plan.identifiers.sequence(of: bound.record) else { return nil }
            let row = table.firstRow(behind: bound.isBehind ? sequence : sequence &- 1)
            span =
                bound.isBehind
                ? max(span.lowerBound, min(row, span.upperBound))..<span.upperBound
                : span.lowerBound..<max(span.lowerBound, min(row, span.upperBound))
        }
        let (wanted, overflows) = limit.addingReportingOverflow(query.offset)
        if overflows { return nil }
        var rows: [RecordReference] = []
        var scanned = 0
        var detail: String?
        func take(_ candidates: [Int]) throws -> Bool {
            scanned += candidates.count
            var found: [RecordReference] = []
            let scan = TableScan(
                table, candidates: .few(candidates), conjuncts: conjuncts, reader: reader, number: number)
            try scan.append(to: &found)
            rows += isDescending ? found.reversed() : found
            return rows.count < wanted
        }
        if hasPath {
            guard let path = paths[0].first(where: { $0.ties(in: TableIndex(table, $0.index)) != nil }) else {
                return nil
            }
            let index = TableIndex(table, path.index)
            guard let range = path.ties(in: index) else { return nil }
            detail = path.text(table.plan)
            let places = index.places(of: span, in: range)
            try Self.forEachPart(of: places, wanted, isDescending) { part in
                var candidates: [Int] = []
                index.forEachRow(in: range, skipping: part.lowerBound) { row in
                    if candidates.count < part.count { candidates.append(row) }
                    return candidates.count < part.count
                }
                return try take(candidates)
            }
        } else {
            try Self.forEachPart(of: span, wanted, isDescending) { part in
                try take(part.filter { table.contains(row: $0) })
            }
        }
        var report = ExecutionReport(scanned: scanned)
        report.detail = detail
        return VersionRows(
            entities: reader.tables.map(\.entityName), rows: Array(rows.dropFirst(query.offset).prefix(limit)),
            report: report)
    }

    /// Calls the body with parts of a range that grow, from one of its ends, until it returns false.
    private static func forEachPart(
        of range: Range<Int>, _ wanted: Int, _ isDescending: Bool, _ body: (Range<Int>) throws -> Bool
    ) rethrows {
        var left = range
        var size = min(max(wanted, 16), 4096)
        while !left.isEmpty, wanted > 0 {
            let count = min(size, left.count)
            let part =
                isDescending ? left.upperBound - count..<left.upperBound : left.lowerBound..<left.lowerBound + count
            left = isDescending ? left.lowerBound..<part.lowerBound : part.upperBound..<left.upperBound
            if try !body(part) { return }
            size = min(size * 2, 4096)
        }
    }
}

extension TableVersion {
    /// The first row whose record has a number above one; `endRow` if no row has.
    func firstRow(behind sequence: UInt64) -> Int {
        var (low, high) = (0, endRow)
        while low < high {
            let middle = (low + high) / 2
            if self.sequence(ofRow: middle) <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension TableIndex {
    /// The places, within a range of entries that are in the order of rows, of the rows in a span.
    func places(of span: Range<Int>, in range: IndexRange) -> Range<Int> {
        let count = count(in: range)
        func place(ofRow row: Int) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                var found = Int.max
                forEachRow(in: range, skipping: middle) { row in
                    found = row
                    return false
                }
                if found < row { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let first = place(ofRow: span.lowerBound)
        return first..<max(first, place(ofRow: span.upperBound))
    }
}
