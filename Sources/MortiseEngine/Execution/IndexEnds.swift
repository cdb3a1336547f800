import Foundation
import MortiseCore

/// The least and the greatest values of an aggregation without groups, from the first and the last entries of indexes, and how many
/// records there are. It is there where there are no conditions, or where they all are on what the index begins with.
struct IndexEnds {
    /// One function, and the position of its value in each table's indexes.
    private enum Way {
        case count(EngineQuery.RangeCount?)
        case extreme(isLeast: Bool, slot: Int, places: [Place])
    }

    /// Where in a table the values of a property lie in their order.
    private struct Place {
        let index: Int
        let equalities: [StoredValue]
        /// Of the values themselves.
        let lower: IndexRange.Bound?
        let upper: IndexRange.Bound?
    }

    private let query: EngineQuery
    private let tables: [TableVersion]
    private let ways: [Way]

    /// Nil if a function has to read rows.
    init?(
        _ functions: [AggregateFunction], _ query: EngineQuery, _ tables: [TableVersion], _ version: any StoreVersion
    ) {
        // What may throw has to be evaluated for every row.
        let conjuncts = query.query.conjuncts
        guard query.identifiers == nil, query.conditions.count == conjuncts.count,
            // What follows from alternatives does not say all that they do.
            !conjuncts.contains(where: { if case .or = $0.expression { true } else { false } }),
            !conjuncts.contains(where: \.expression.mayThrow)
        else { return nil }
        var ways: [Way] = []
        for function in functions {
            switch function {
            case .count where conjuncts.isEmpty: ways.append(.count(nil))
            case .count:
                guard let counted = query.countInRanges(conjuncts.map(\.expression), version) else { return nil }
                ways.append(.count(counted))
            case .minimum(.property(.variable(0), let property)), .maximum(.property(.variable(0), let property)):
                let places = tables.compactMap { Self.place(property.slot, $0.plan, query.conditions) }
                guard places.count == tables.count else { return nil }
                var isLeast = false
                if case .minimum = function { isLeast = true }
                ways.append(.extreme(isLeast: isLeast, slot: property.slot, places: places))
            default: return nil
            }
        }
        self.query = query
        self.tables = tables
        self.ways = ways
    }

    /// The index whose properties before one all have certain values, and that has all conditions.
    private static func place(_ slot: Int, _ plan: TablePlan, _ conditions: [SlotCondition]) -> Place? {
        guard slot < plan.columns.count, plan.columns[slot].role == .attribute,
            plan.columns[slot].kind?.sortsAsItsKeys == true
        else { return nil }
        for (number, definition) in plan.indexes.enumerated() {
            guard let depth = definition.slots.firstIndex(of: slot) else { continue }
            let leading = definition.slots.prefix(depth)
            let equalities = leading.compactMap { AccessPath.equality($0, conditions) }
            guard equalities.count == depth else { continue }
            var lower: IndexRange.Bound?
            var upper: IndexRange.Bound?
            var covered = 0
            for condition in conditions {
                switch condition.condition {
                case .equal where leading.contains(condition.slot): covered += 1
                case .lower(let bound) where condition.slot == slot && lower == nil:
                    lower = bound
                    covered += 1
                case .upper(let bound) where condition.slot == slot && upper == nil:
                    upper = bound
                    covered += 1
                default: break
                }
            }
            guard covered == conditions.count else { continue }
            return Place(index: number, equalities: equalities, lower: lower, upper: upper)
        }
        return nil
    }

    /// The results.
    /// - Returns: nil where rows that the conditions leave out lie before those that count, so that looking at all is faster.
    /// - Throws: `QueryEvaluationError`.
    func answer(
        _ reader: RecordReader, _ numbers: [Int], _ conjuncts: [QueryExpression]
    ) throws -> AggregateAnswer? {
        let filters = numbers.map { conjuncts.isEmpty ? nil : CompiledFilter(conjuncts, reader: reader, table: $0) }
        var values: [StoredValue] = []
        var scanned = 0
        for way in ways {
            switch way {
            case .count(let counted):
                values.append(.integer(Int64(counted?.count ?? tables.reduce(0) { $0 + $1.count })))
            case .extreme(let isLeast, let slot, let places):
                var best: Found?
                for (number, table) in tables.enumerated() {
                    var walk = Walk(
                        table: table, number: numbers[number], slot: slot, isLeast: isLeast, filter: filters[number])
                    let isFound = try walk.find(places[number])
                    scanned += walk.scanned
                    if !isFound { return nil }
                    if let found = walk.found, best.map({ found.isBetter(than: $0, isLeast: isLeast) }) ?? true {
                        best = found
                    }
                }
                values.append(best?.value ?? .null)
            }
        }
        return AggregateAnswer(
            groups: [AggregateGroup(keys: [], values: values)],
            report: ExecutionReport(scanned: scanned, detail: detail, isFullScan: false))
    }

    /// In words, for `explain`.
    private var detail: String {
        var texts: [String] = []
        for way in ways {
            if case .count(let counted?) = way, !texts.contains(counted.detail) { texts.append(counted.detail) }
            guard case .extreme(let isLeast, let slot, let places) = way else { continue }
            for (table, place) in zip(tables, places) {
                let names = table.plan.indexes[place.index].slots.map { table.layout.slots[$0].name }
                var parts = names.prefix(place.equalities.count).map { "\($0) equal" }
                if place.lower != nil || place.upper != nil {
                    parts.append("\(table.layout.slots[slot].name) in a range")
                }
                parts.append("\(isLeast ? "least" : "greatest") \(table.layout.slots[slot].name)")
                let text =
                    "index \(table.plan.entityName)(\(names.joined(separator: ", "))): "
                    + parts.joined(separator: ", ")
                if !texts.contains(text) { texts.append(text) }
            }
        }
        return texts.isEmpty ? "the number of records" : texts.joined(separator: "; ")
    }

    /// A value, and the number of the first record that has it.
    private struct Found {
        let value: StoredValue
        let sequence: UInt64

        func isBetter(than other: Found, isLeast: Bool) -> Bool {
            if value.isNotANumber != other.value.isNotANumber { return other.value.isNotANumber }
            switch value.isNotANumber ? .orderedSame : ValueSemantics.sortOrder(value, other.value) {
            case .orderedSame: return sequence < other.sequence
            case .orderedAscending: return isLeast
            case .orderedDescending: return !isLeast
            }
        }
    }

    /// The search in one table's index.
    private struct Walk {
        let table: TableVersion
        let number: Int
        let slot: Int
        let isLeast: Bool
        let filter: CompiledFilter?
        private(set) var scanned = 0
        private(set) var found: Found?

        init(table: TableVersion, number: Int, slot: Int, isLeast: Bool, filter: CompiledFilter?) {
            self.table = table
            self.number = number
            self.slot = slot
            self.isLeast = isLeast
            self.filter = filter
        }

        /// - Returns: false where it was given up.
        mutating func find(_ place: Place) throws -> Bool {
            let index = TableIndex(table, place.index)
            // What follows in the index orders rows whose values are equal, of which the first inserted counts.
            let endsIndex = place.equalities.count + 1 == index.definition.components.count
            let most = max(1024, table.count / 8)
            for range in index.extremes(place.lower, place.upper, after: place.equalities) {
                var isGivenUp = false
                try index.forEachRow(in: range, descending: !isLeast) { row in
                    if scanned >= most {
                        isGivenUp = true
                        return false
                    }
                    scanned += 1
                    let value = table.value(row: row, slot: slot)
                    if value.isNull { return true }
                    if let found, ValueSemantics.sortOrder(value, found.value) != .orderedSame { return false }
                    guard try filter?.matches(RecordReference(table: number, row: row)) ?? true else { return true }
                    let sequence = table.sequence(ofRow: row)
                    if found.map({ sequence < $0.sequence }) ?? true { found = Found(value: value, sequence: sequence) }
                    return !endsIndex && value.hasEqualOthers
                }
                if isGivenUp { return false }
                if found != nil { return true }
            }
            return true
        }
    }
}

extension StorageKind {
    /// Whether the keys of an index order the values as sorting does.
    fileprivate var sortsAsItsKeys: Bool {
        switch self {
        case .url, .coded: false
        default: true
        }
    }
}

extension StoredValue {
    /// Whether others are equal to the value that are not the same.
    fileprivate var hasEqualOthers: Bool {
        switch self {
        case .string, .decimal: true
        case .double(let number): number == 0 || number.isNaN
        case .float(let number): number == 0 || number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate == 0 || date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
