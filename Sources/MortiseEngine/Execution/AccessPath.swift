import MortiseCore

/// A way to the rows of a query through one index: equal values in its first properties, and perhaps a range, a beginning
/// or several values in the next.
struct AccessPath {
    /// The index's number in its table.
    let index: Int
    private let equalities: [StoredValue]
    private let tail: Tail?

    private enum Tail {
        case between(IndexRange.Bound?, IndexRange.Bound?)
        case beyond(TupleBound, IndexRange.Bound?, IndexRange.Bound?)
        case beginning(String)
        case oneOf([StoredValue])
        case notNull
        case notANumber
    }

    /// The paths that a table's indexes offer for the conditions.
    static func all(_ plan: TablePlan, _ conditions: [SlotCondition]) -> [AccessPath] {
        var paths: [AccessPath] = []
        for number in plan.indexes.indices {
            if let path = AccessPath(number, plan.indexes[number], conditions) { paths.append(path) }
        }
        return paths
    }

    private init?(_ number: Int, _ definition: IndexDefinition, _ conditions: [SlotCondition]) {
        var equalities: [StoredValue] = []
        var tail: Tail?
        for component in definition.components {
            if let value = Self.equality(component.slot, conditions) {
                equalities.append(value)
                continue
            }
            let rest = definition.slots.dropFirst(equalities.count)
            tail = Self.tail(component.slot, conditions, tuple: Self.tuple(rest, conditions))
            break
        }
        if equalities.isEmpty, tail == nil { return nil }
        index = number
        self.equalities = equalities
        self.tail = tail
    }

    /// The one part of an index in which the rows lie, with how many there are; nil if there are several parts.
    func range(in index: TableIndex) -> (range: IndexRange, count: Int)? {
        // Dates that are not a number have a part of their own, in which there is hardly ever any.
        let parts = ranges(in: index).map { (range: $0, count: index.count(in: $0)) }
        let filled = parts.filter { $0.count > 0 }
        return filled.count > 1 ? nil : filled.first ?? parts.first
    }

    /// The rows with one value in all properties of the index, which lie there in the order of insertion; nil for other paths.
    func ties(in index: TableIndex) -> IndexRange? {
        guard tail == nil, equalities.count == index.definition.components.count else { return nil }
        return index.equal(to: equalities)
    }

    /// Whether it leads to the rows with certain values, and to no range.
    var isPoint: Bool { tail == nil }

    /// Whether the ranges have exactly the rows for which all conditions hold, each once: every condition is an equality in one of
    /// the first properties, or the only lower or the only upper bound of the next.
    func isExact(_ plan: TablePlan, for conditions: [SlotCondition]) -> Bool {
        let components = plan.indexes[index].components
        var (lowers, uppers) = (0, 0)
        for (place, component) in components.prefix(equalities.count + (tail == nil ? 0 : 1)).enumerated() {
            switch component.kind {
            // What keys do not tell apart, or do not order as comparisons do.
            case nil, .url, .coded: return false
            case .string:
                // Of few strings beyond ASCII, Swift tells neither that they are equal nor which comes first.
                guard place < equalities.count else { return false }
                if case .string(let text) = equalities[place], !text.utf8.allSatisfy({ $0 < 0x80 }) { return false }
            default: break
            }
        }
        for condition in conditions {
            guard let place = components.firstIndex(where: { $0.slot == condition.slot }) else { return false }
            switch condition.condition {
            case .equal where place < equalities.count:
                if conditions.count(where: { $0.slot == condition.slot }) > 1 { return false }
            case .lower where place == equalities.count: lowers += 1
            case .upper where place == equalities.count: uppers += 1
            default: return false
            }
        }
        switch tail {
        case nil: return lowers + uppers == 0
        case .between: return lowers <= 1 && uppers <= 1
        case .beyond, .beginning, .oneOf, .notNull, .notANumber: return false
        }
    }

    /// The bound of most of an index's next slots.
    private static func tuple(_ slots: some Collection<Int>, _ conditions: [SlotCondition]) -> TupleBound? {
        conditions.compactMap { condition in
            if case .tuple(let bound) = condition.condition { bound.limited(to: slots) } else { nil }
        }.max { $0.slots.count < $1.slots.count }
    }

    static func equality(_ slot: Int, _ conditions: [SlotCondition]) -> StoredValue? {
        for condition in conditions where condition.slot == slot {
            if case .equal(let value) = condition.condition { return value }
        }
        return nil
    }

    private static func tail(_ slot: Int, _ conditions: [SlotCondition], tuple: TupleBound?) -> Tail? {
        var lower: IndexRange.Bound?
        var upper: IndexRange.Bound?
        var isNotNull = false
        for condition in conditions where condition.slot == slot {
            switch condition.condition {
            case .oneOf(let values): return .oneOf(values)
            case .beginning(let start): return .beginning(start)
            case .lower(let bound): lower = lower ?? bound
            case .upper(let bound): upper = upper ?? bound
            case .notANumber: return .notANumber
            case .notNull: isNotNull = true
            case .equal, .tuple: break
            }
        }
        if let tuple { return .beyond(tuple, lower, upper) }
        if lower == nil, upper == nil { return isNotNull ? .notNull : nil }
        return .between(lower, upper)
    }

    /// The parts of the index in which the rows lie; empty where there can be none.
    func ranges(in index: TableIndex) -> [IndexRange] {
        let range: IndexRange?
        switch tail {
        case nil: range = index.equal(to: equalities)
        case .beyond(let tuple, let lower, let upper):
            guard let found = tuple.range(in: index, after: equalities, lower, upper) else {
                return Self.ranges(from: lower, to: upper, after: equalities, in: index)
            }
            guard tuple.mayHoldNaN, let nanDates = index.nanDates(after: equalities) else { return [found] }
            return [found, nanDates]
        case .between(let lower, let upper): return Self.ranges(from: lower, to: upper, after: equalities, in: index)
        case .beginning(let start): range = index.beginning(with: start, after: equalities)
        case .notNull:
            let numbers = index.between(nil, nil, after: equalities)
            return [index.notANumber(after: equalities), numbers].compactMap { $0 }
        case .notANumber: range = index.notANumber(after: equalities)
        case .oneOf(let values):
            return values.compactMap { index.equal(to: equalities + [$0]) }
        }
        return range.map { [$0] } ?? []
    }

    private static func ranges(
        from lower: IndexRange.Bound?, to upper: IndexRange.Bound?, after equalities: [StoredValue],
        in index: TableIndex
    ) -> [IndexRange] {
        // Nothing lies before or after nil, not even a date that is NaN.
        if lower?.value.isNull == true || upper?.value.isNull == true { return [] }
        let found = index.between(lower, upper, after: equalities)
        // Such a date is in no order, so it fulfils `>=` and `<=` with any other, and neither `<` nor `>`.
        let mayHoldNaN = (lower?.isIncluded ?? true) && (upper?.isIncluded ?? true)
        return [found, mayHoldNaN ? index.nanDates(after: equalities) : nil].compactMap { $0 }
    }

    /// The rows of a path that is a point, ascending; nil if there are more than `limit`.
    func rows(in index: TableIndex, upTo limit: Int) -> [Int]? {
        if equalities.count == index.definition.components.count { return index.rows(equalTo: equalities, upTo: limit) }
        return index.rows(in: ranges(in: index), upTo: limit)
    }

    /// The path in words, for `explain`.
    func text(_ plan: TablePlan) -> String {
        if tail == nil, equalities.count == plan.indexes[index].components.count { return plan.equalityTexts[index] }
        return Self.text(plan.layout, plan.indexes[index].slots, equalities: equalities.count, tail)
    }

    /// The words for looking up all properties of each index of an entity, which are asked for most.
    static func equalityTexts(_ layout: RecordLayout, _ indexes: [IndexDefinition]) -> [String] {
        indexes.map { text(layout, $0.slots, equalities: $0.slots.count, nil) }
    }

    private static func text(_ layout: RecordLayout, _ slots: [Int], equalities: Int, _ tail: Tail?) -> String {
        let names = slots.map { layout.slots[$0].name }
        var parts = names.prefix(equalities).map { "\($0) equal" }
        if let tail, equalities < names.count {
            let name = names[equalities]
            switch tail {
            case .between: parts.append("\(name) in a range")
            case .beyond(let tuple, _, _):
                parts.append("\(names[equalities...].prefix(tuple.slots.count).joined(separator: ", ")) in a range")
            case .beginning: parts.append("\(name) by its beginning")
            case .oneOf(let values): parts.append("\(name) one of \(values.count)")
            case .notNull: parts.append("\(name) not nil")
            case .notANumber: parts.append("\(name) not a number")
            }
        }
        return "index \(layout.entityName)(\(names.joined(separator: ", "))): \(parts.joined(separator: ", "))"
    }
}
