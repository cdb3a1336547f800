import Foundation
import MortiseCore

/// A way to the first rows of an order: along an index that begins with the order's first keys. What those leave equal lies
/// together in the index and is put in order by the other keys.
struct OrderedWalk {
    /// The index's number in its table.
    let index: Int
    let isAscending: Bool
    /// How many of the order's keys the index has.
    private let covered: Int
    private let order: [StoreQuery.Order]
    /// Whether the index has the rows in no other order than the one asked for.
    let isExact: Bool
    /// For each property of the index, whether its values ascend; nil where all go in one direction.
    private let directions: [Bool]?

    /// The index of a table that covers most of an order; nil if none has the first key.
    /// - Parameters:
    ///   - order: the order.
    ///   - plan: the table's.
    ///   - pinned: slots in which all rows that match have one value. An index may have them before, between and behind the keys; one
    ///     that begins with them leads to those rows, and is the first choice.
    init?(_ order: [StoreQuery.Order], _ plan: TablePlan, pinned: Set<Int> = []) {
        var slots: [Int] = []
        for key in order {
            guard key.stringOrder == nil, case .property(.variable(0), let property) = key.expression else { break }
            slots.append(property.slot)
        }
        var best: Cover?
        for (number, definition) in plan.indexes.enumerated() {
            guard let cover = Cover(number, definition, order, slots, pinned), cover.isBetter(than: best) else {
                continue
            }
            best = cover
        }
        guard let best else { return nil }
        index = best.index
        covered = best.covered
        isExact = best.isExact
        isAscending = order[0].isAscending
        directions = best.directions
        self.order = order
    }

    /// What an index has of an order.
    private struct Cover {
        let index: Int
        private(set) var covered = 0
        let isExact: Bool
        private(set) var directions: [Bool]?
        /// How many of its first properties are pinned.
        private var leading = 0

        /// Nil if it does not have the first key.
        init?(
            _ index: Int, _ definition: IndexDefinition, _ order: [StoreQuery.Order], _ slots: [Int], _ pinned: Set<Int>
        ) {
            self.index = index
            var ascending: [Bool] = []
            for slot in definition.slots {
                if covered < slots.count, slot == slots[covered] {
                    ascending.append(order[covered].isAscending)
                    covered += 1
                } else if pinned.contains(slot) {
                    // The rows that match have one value there, which any direction has in its place.
                    ascending.append(ascending.last ?? order[0].isAscending)
                    if covered == 0 { leading += 1 }
                } else {
                    break
                }
            }
            isExact = covered == order.count && ascending.count == definition.slots.count
            if isExact {
                if Set(ascending).count > 1 { directions = ascending }
            } else {
                covered = min(covered, order.prefix { $0.isAscending == order[0].isAscending }.count)
            }
            if covered == 0 { return nil }
        }

        func isBetter(than other: Cover?) -> Bool {
            guard let other else { return true }
            if leading != other.leading { return leading > other.leading }
            if isExact != other.isExact { return isExact }
            return !isExact && covered > other.covered
        }
    }

    /// The walk in words, for `explain`.
    func text(_ plan: TablePlan) -> String {
        let names = plan.indexes[index].slots.map { plan.layout.slots[$0].name }
        let ties = order.dropFirst(covered).map { "\($0.expression)" + ($0.isAscending ? "" : " descending") }
        return "index \(plan.entityName)(\(names.joined(separator: ", "))) in order"
            + (ties.isEmpty ? "" : ", ties by \(ties.joined(separator: ", "))")
    }

    /// How many rows have to be read for the window of a query without conditions, including those after it that equal its
    /// last row in the keys that the index has. Known before any row is read.
    /// - Returns: nil unless that is more than `most`.
    /// - Throws: `QueryEvaluationError`.
    func reach(
        _ query: StoreQuery, _ limit: Int, beyond most: Int, in table: TableVersion, _ reader: RecordReader,
        _ number: Int
    ) throws -> Int? {
        let index = TableIndex(table, self.index)
        if index.count <= most || limit == 0 { return nil }
        if isExact {
            // Rows that are skipped cost nothing, unless their groups have to be found one after the other.
            if directions != nil {
                let (end, overflows) = limit.addingReportingOverflow(query.offset)
                let reach = overflows ? index.count : min(end, index.count)
                return reach > max(most, 8_192) ? reach : nil
            }
            let reach = min(limit, index.count - min(query.offset, index.count))
            return reach > most ? reach : nil
        }
        let (end, overflows) = limit.addingReportingOverflow(query.offset)
        if overflows || end >= index.count { return index.count }
        let evaluator = QueryEvaluator(reader: reader)
        func keys(at place: Int) throws -> [StoredValue] {
            guard let row = index.row(at: isAscending ? place : index.count - 1 - place) else { return [] }
            let record = RecordReference(table: number, row: row)
            return try order.prefix(covered).map { try evaluator.sortKey($0.expression, record) }
        }
        let last = try keys(at: end - 1)
        func agrees(_ place: Int) throws -> Bool {
            zip(order, zip(last, try keys(at: place))).allSatisfy { $0.compare($1.0, $1.1) == .orderedSame }
        }
        if end <= most, try !agrees(most) { return nil }
        // Those that agree lie together, so that the first that does not is found by halving.
        var (agreeing, other) = (max(end - 1, end <= most ? most : 0), index.count)
        while agreeing + 1 < other {
            let middle = agreeing + (other - agreeing) / 2
            if try agrees(middle) { agreeing = middle } else { other = middle }
        }
        return other
    }

    /// Walks a part of the index, outside of which no row matches, for the rows of the query's window. After looking at `most` rows
    /// it gives up, because scanning the table in row order is faster then; it is `Int.max` for a query without conditions.
    /// - Returns: the rows, or nil if it gave up; the number of rows it looked at.
    /// - Throws: `QueryEvaluationError`.
    func rows(
        _ query: StoreQuery, _ limit: Int, in table: TableVersion, _ range: IndexRange = .all,
        by filter: CompiledFilter, atMost most: Int, reader: RecordReader, number: Int
    ) throws -> (rows: [RecordReference]?, scanned: Int) {
        let skipped = isExact && query.conjuncts.isEmpty ? query.offset : 0
        let left = query.offset - skipped
        let (end, overflows) = limit.addingReportingOverflow(left)
        let wanted = overflows ? Int.max : end
        if limit == 0 { return ([], 0) }
        var rows: [RecordReference] = []
        var tied = TiedRows(order, covered: covered, reader: reader)
        var scanned = 0
        var shouldContinue = true
        func take(_ row: Int) throws -> Bool {
            if scanned >= most {
                shouldContinue = false
                return false
            }
            scanned += 1
            let record = RecordReference(table: number, row: row)
            guard try filter.matches(record) else { return true }
            if isExact {
                rows.append(record)
            } else if let finished = try tied.add(record) {
                rows += finished
            }
            return rows.count < wanted
        }
        let index = TableIndex(table, self.index)
        if let directions {
            try index.forEachRow(in: range, ascending: directions, skipping: skipped, take)
        } else {
            try index.forEachRow(in: range, descending: !isAscending, skipping: skipped, take)
        }
        guard shouldContinue else { return (nil, scanned) }
        if !isExact, rows.count < wanted { rows += try tied.finish() }
        return (Array(rows.dropFirst(left).prefix(limit)), scanned)
    }
}

/// Rows that come in the order of the first keys, with those that agree in them put in order by the others.
private struct TiedRows {
    private let order: [StoreQuery.Order]
    private let covered: Int
    private let executor: QueryExecutor
    private let evaluator: QueryEvaluator
    private var run: [RecordReference] = []
    private var keys: [StoredValue] = []

    init(_ order: [StoreQuery.Order], covered: Int, reader: RecordReader) {
        self.order = order
        self.covered = covered
        executor = QueryExecutor(reader: reader)
        evaluator = QueryEvaluator(reader: reader)
    }

    /// - Returns: the rows before this one, in order, if it is the first that does not agree with them.
    mutating func add(_ record: RecordReference) throws -> [RecordReference]? {
        let next = try order.prefix(covered).map { try evaluator.sortKey($0.expression, record) }
        if !run.isEmpty, zip(order, zip(keys, next)).allSatisfy({ $0.compare($1.0, $1.1) == .orderedSame }) {
            run.append(record)
            return nil
        }
        defer {
            keys = next
            run = [record]
        }
        return run.isEmpty ? nil : try finish()
    }

    /// The rows since the last that were handed out, in order.
    func finish() throws -> [RecordReference] { try executor.sort(run, by: order) }
}
