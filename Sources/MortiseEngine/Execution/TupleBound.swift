import MortiseCore

/// A bound of several attributes compared one after the other: of `date > d || (date == d && reference > r)`, the next page of
/// an order, `(date, reference)` above `(d, r)`. An index that has them side by side has the rows in one range.
struct TupleBound {
    var slots: [Int]
    var values: [StoredValue]
    /// Whether it is a lower bound; an upper one otherwise.
    var isLower: Bool
    var isIncluded: Bool
    /// Whether a date that is NaN in the first slot may fulfil what the bound was made from.
    var mayHoldNaN = false

    /// Those of several attributes that follow from alternatives of which one holds.
    static func all(in alternatives: [[SlotCondition]]) -> [SlotCondition] {
        guard (2...mostAlternatives).contains(alternatives.count) else { return [] }
        return [true, false].compactMap { chain(alternatives, isLower: $0) }.map(\.condition)
    }

    /// Those that follow from alternatives and a bound beside them: of `date >= d && (date > d || reference > r)`, the same as
    /// above.
    static func all(in alternatives: [[SlotCondition]], beside bounds: [SlotCondition]) -> [SlotCondition] {
        bounds.flatMap { bound -> [SlotCondition] in
            guard let outer = TupleBound(bound), outer.slots.count == 1, outer.isIncluded,
                alternatives.contains(where: { outer.isBeyond($0) })
            else { return [] }
            let equality = SlotCondition(bound.slot, .equal(outer.values[0]))
            // The others go on where the first attribute has the bound's value.
            let chained = alternatives.map { outer.isBeyond($0) ? $0 : $0 + [equality] }
            return all(in: chained).compactMap { found in
                guard case .tuple(var tuple) = found.condition, tuple.isLower == outer.isLower,
                    tuple.slots[0] == bound.slot
                else { return nil }
                tuple.mayHoldNaN = true
                return tuple.condition
            }
        }
    }

    private static let mostAlternatives = 16

    private init(slots: [Int], values: [StoredValue], isLower: Bool, isIncluded: Bool) {
        self.slots = slots
        self.values = values
        self.isLower = isLower
        self.isIncluded = isIncluded
    }

    /// The bound that a condition is; nil for a condition of another kind, and for a comparison with nil.
    private init?(_ condition: SlotCondition) {
        switch condition.condition {
        case .lower(let bound) where !bound.value.isNull:
            self.init(
                slots: [condition.slot], values: [bound.value], isLower: true, isIncluded: bound.isIncluded)
        case .upper(let bound) where !bound.value.isNull:
            self.init(
                slots: [condition.slot], values: [bound.value], isLower: false, isIncluded: bound.isIncluded)
        case .tuple(let tuple): self = tuple
        default: return nil
        }
    }

    private var condition: SlotCondition { SlotCondition(slots[0], .tuple(self)) }

    /// Whether conditions have this bound of one attribute, without its value.
    private func isBeyond(_ conditions: [SlotCondition]) -> Bool {
        conditions.contains { condition in
            guard let own = TupleBound(condition) else { return false }
            return own.slots == slots && own.isLower == isLower && !own.isIncluded
                && own.values[0].isIdentical(to: values[0])
        }
    }

    /// Takes the alternatives one after the other: each is beyond a value that all that are left have.
    private static func chain(_ alternatives: [[SlotCondition]], isLower: Bool) -> TupleBound? {
        var left = alternatives
        var bound = TupleBound(slots: [], values: [], isLower: isLower, isIncluded: true)
        while left.count > 1 {
            guard let (place, next) = step(left, after: bound) else { return nil }
            left.remove(at: place)
            bound.slots += next.slots
            bound.values += next.values
        }
        let last = left[0].compactMap(TupleBound.init).filter { own in
            own.isLower == isLower && own.slots.allSatisfy { !bound.slots.contains($0) }
        }.max { $0.slots.count < $1.slots.count }
        if let last {
            bound.slots += last.slots
            bound.values += last.values
            bound.isIncluded = last.isIncluded
        }
        bound.leaveOutNaN()
        return bound.slots.count > 1 ? bound : nil
    }

    private static func step(_ left: [[SlotCondition]], after bound: TupleBound) -> (place: Int, next: TupleBound)? {
        for (place, conditions) in left.enumerated() {
            for next in conditions.compactMap(TupleBound.init)
            where next.slots.count == 1 && next.isLower == bound.isLower && !next.isIncluded
                && !bound.slots.contains(next.slots[0])
            {
                let isShared = left.indices.allSatisfy { other in
                    other == place
                        || left[other].contains { condition in
                            guard condition.slot == next.slots[0], case .equal(let value) = condition.condition else {
                                return false
                            }
                            return value.isIdentical(to: next.values[0])
                        }
                }
                if isShared { return (place, next) }
            }
        }
        return nil
    }

    /// A date that is NaN fulfils `>=` and `<=` with any other, and lies in no range with them: the bound ends before it.
    private mutating func leaveOutNaN() {
        while isIncluded, case .date = values.last {
            slots.removeLast()
            values.removeLast()
        }
    }

    /// The bound as far as an index goes that has certain slots in this order; nil unless it has at least two of them.
    func limited(to slots: some Collection<Int>) -> TupleBound? {
        let count = zip(self.slots, slots).prefix { $0 == $1 }.count
        if count < 2 { return nil }
        if count == self.slots.count { return self }
        var bound = self
        bound.slots = Array(self.slots.prefix(count))
        bound.values = Array(values.prefix(count))
        bound.isIncluded = true
        bound.leaveOutNaN()
        return bound.slots.count < 2 ? nil : bound
    }

    /// The part of an index in which the rows lie, behind equal values and within another bound of the first attribute.
    /// - Returns: nil if the index cannot compare one of the values.
    func range(
        in index: TableIndex, after equalities: [StoredValue], _ lower: IndexRange.Bound?, _ upper: IndexRange.Bound?
    ) -> IndexRange? {
        let first = IndexRange.Bound(value: values[0], isIncluded: false)
        let last = IndexRange.Bound(value: values[values.count - 1], isIncluded: isIncluded)
        let prefix = equalities + values.dropLast()
        // What has the first values lies directly beside what is beyond the first of them.
        if isLower {
            guard let near = index.between(last, nil, after: prefix),
                let far = index.between(first, upper, after: equalities)
            else { return nil }
            return IndexRange(lower: near.lower, upper: far.upper)
        }
        guard let near = index.between(nil, last, after: prefix),
            let far = index.between(lower, first, after: equalities)
        else { return nil }
        return IndexRange(lower: far.lower, upper: near.upper)
    }
}
