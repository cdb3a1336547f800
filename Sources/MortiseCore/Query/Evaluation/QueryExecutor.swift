import Foundation

/// Filters, sorts and limits records by their stored values. The framework uses it for the parts of a query that a
/// store leaves to it; a store of rows can use it for whole queries.
public struct QueryExecutor {
    private let reader: RecordReader

    /// Makes an executor that reads records through a reader.
    public init(reader: RecordReader) { self.reader = reader }

    /// The records for which all expressions hold, in their original order.
    /// - Throws: `QueryEvaluationError`.
    public func filter(
        _ records: [RecordReference], by conjuncts: [QueryExpression]
    ) throws -> [RecordReference] {
        if conjuncts.isEmpty { return records }
        var filters: [Int: CompiledFilter] = [:]
        return try records.filter { record in
            if let filter = filters[record.table] { return try filter.matches(record) }
            let filter = CompiledFilter(conjuncts, reader: reader, table: record.table)
            filters[record.table] = filter
            return try filter.matches(record)
        }
    }

    /// Sorts records by the given keys, and by identity where the keys are equal.
    /// - Parameters:
    ///   - records: the records, in any order.
    ///   - order: the keys, most significant first; empty sorts by identity.
    ///   - limit: the maximum number of records to return, from the first; nil for all. With a small limit, only that
    ///     many are kept in order meanwhile.
    /// - Returns: the first `limit` records in order.
    /// - Throws: `QueryEvaluationError`.
    public func sort(
        _ records: [RecordReference], by order: [StoreQuery.Order], upTo limit: Int? = nil
    ) throws -> [RecordReference] {
        let limit = max(0, limit ?? .max)
        guard records.count > 1, limit > 0 else { return limit > 0 ? records : [] }
        let identity = IdentityOrder(reader: reader, records: records)
        if order.isEmpty { return Array(identity.sorted(records).prefix(limit)) }
        let evaluator = QueryEvaluator(reader: reader)
        func keyed(_ record: RecordReference) throws -> Keyed {
            Keyed(keys: try order.map { try evaluator.sortKey($0.expression, record) }, record: record)
        }
        func precedes(_ left: Keyed, _ right: Keyed) -> Bool {
            for (index, key) in order.enumerated() {
                switch key.compare(left.keys[index], right.keys[index]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return identity.precedes(left.record, right.record)
        }
        // Keeping most records would cost more than sorting all.
        if limit <= records.count / 8 {
            var few = FirstFew<Keyed>(limit)
            for record in records { few.add(try keyed(record), by: precedes) }
            return few.sorted(by: precedes).map(\.record)
        }
        return try records.map(keyed).sorted(by: precedes).prefix(limit).map(\.record)
    }

    private struct Keyed {
        let keys: [StoredValue]
        let record: RecordReference
    }
}

extension StoreQuery.Order {
    /// The order of two keys.
    public func compare(_ a: StoredValue, _ b: StoredValue) -> ComparisonResult {
        let ascending: ComparisonResult
        if let stringOrder, case .string(let left) = a, case .string(let right) = b {
            ascending = stringOrder.compare(left, right)
        } else {
            ascending = ValueSemantics.sortOrder(a, b)
        }
        guard !isAscending else { return ascending }
        switch ascending {
        case .orderedAscending: return .orderedDescending
        case .orderedDescending: return .orderedAscending
        case .orderedSame: return .orderedSame
        }
    }
}

/// The order of records that a sort leaves equal: that of insertion, records that are not stored yet last.
struct IdentityOrder {
    private let reader: RecordReader
    private let isOneTable: Bool

    init(reader: RecordReader, records: [RecordReference]) {
        self.reader = reader
        isOneTable = records.allSatisfy { $0.table == records[0].table }
    }

    /// The order of records of one table, or of several.
    init(reader: RecordReader, isOneTable: Bool) {
        self.reader = reader
        self.isOneTable = isOneTable
    }

    func precedes(_ a: RecordReference, _ b: RecordReference) -> Bool {
        if a.row < 0 || b.row < 0 {
            // Records that are not stored count down from -1.
            return a.row >= 0 ? true : b.row >= 0 ? false : a.row > b.row
        }
        if isOneTable, reader.rowsAreInIdentityOrder { return a.row < b.row }
        return reader.identifier(a) < reader.identifier(b)
    }

    func sorted(_ records: [RecordReference]) -> [RecordReference] {
        for (a, b) in zip(records, records.dropFirst()) where !precedes(a, b) {
            return records.sorted(by: precedes)
        }
        return records
    }
}
