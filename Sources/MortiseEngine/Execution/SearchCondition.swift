import Foundation
import MortiseCore

/// A condition on the attribute in one slot.
struct SlotCondition {
    let slot: Int
    let condition: SearchCondition

    init(_ slot: Int, _ condition: SearchCondition) {
        self.slot = slot
        self.condition = condition
    }
}

/// A condition that an index can look up: what a conjunct says of one attribute of the record itself.
enum SearchCondition {
    case equal(StoredValue)
    case oneOf([StoredValue])
    case lower(IndexRange.Bound)
    case upper(IndexRange.Bound)
    case beginning(String)
    case notNull
    case notANumber
    case tuple(TupleBound)

    /// The conditions that conjuncts contain. They do not say all that the conjuncts do: what they find is checked again.
    static func all(in conjuncts: [QueryExpression]) -> [SlotCondition] {
        var found: [SlotCondition] = []
        for conjunct in conjuncts { collect(conjunct, into: &found) }
        for case .or(let alternatives) in conjuncts where !alternatives.contains(where: \.mayThrow) {
            found += TupleBound.all(in: alternatives.map(conditions(of:)), beside: found)
        }
        return found
    }

    /// The records that a query names by their identifiers; nil if it names none.
    static func identifiers(in conjuncts: [QueryExpression]) -> [PersistentIdentifier]? {
        for conjunct in conjuncts {
            switch conjunct {
            case .compare(.equal, .identifier(.variable(0)), .constant(.identifier(let identifier))),
                .compare(.equal, .constant(.identifier(let identifier)), .identifier(.variable(0))):
                return [identifier]
            case .contains(.list(let elements), .identifier(.variable(0))):
                let identifiers = elements.compactMap { element -> PersistentIdentifier? in
                    if case .constant(.identifier(let identifier)) = element { identifier } else { nil }
                }
                if identifiers.count == elements.count { return identifiers }
            default: continue
            }
        }
        return nil
    }

    /// What follows from several conditions of which one holds: for each slot on which all of them say something, the widest of
    /// it. Empty where one may throw for records that the others rule out.
    ///
    /// So the next page of an order, `date > d || (date == d && reference > r)`, begins at `date >= d`, and where an index has both
    /// behind `(d, r)`.
    static func implied(by alternatives: [QueryExpression]) -> [SlotCondition] {
        if alternatives.contains(where: \.mayThrow) { return [] }
        let parts = alternatives.map(conditions(of:))
        guard let first = parts.first else { return [] }
        var found = TupleBound.all(in: parts)
        for slot in Set(first.map(\.slot)).sorted() {
            let said = parts.map { $0.filter { $0.slot == slot }.map(\.condition) }
            if said.contains(where: \.isEmpty) { continue }
            if let values = values(said) {
                found.append(SlotCondition(slot, values.count == 1 ? .equal(values[0]) : .oneOf(values)))
                continue
            }
            if let bound = bound(said, { if case .lower(let bound) = $0 { bound } else { nil } }) {
                found.append(SlotCondition(slot, .lower(bound)))
            }
            if let bound = bound(said, { if case .upper(let bound) = $0 { bound } else { nil } }) {
                found.append(SlotCondition(slot, .upper(bound)))
            }
        }
        return found
    }

    private static func conditions(of expression: QueryExpression) -> [SlotCondition] {
        var found: [SlotCondition] = []
        collect(expression, into: &found)
        return found
    }

    /// The values of which one is in the slot, if all alternatives name some.
    private static func values(_ said: [[SearchCondition]]) -> [StoredValue]? {
        var values: [StoredValue] = []
        for conditions in said {
            var named: [StoredValue]?
            for condition in conditions where named == nil {
                switch condition {
                case .equal(let value): named = [value]
                case .oneOf(let list): named = list
                default: break
                }
            }
            guard let named, named.count <= mostValues else { return nil }
            for value in named where !values.contains(where: { $0.isIdentical(to: value) }) { values.append(value) }
            if values.count > mostValues { return nil }
        }
        return values
    }

    private static let mostValues = 256

    /// The bound that all alternatives have, if it is at one value: which of several values is the widest depends on their order.
    private static func bound(
        _ said: [[SearchCondition]], _ bound: (SearchCondition) -> IndexRange.Bound?
    ) -> IndexRange.Bound? {
        var widest: IndexRange.Bound?
        for conditions in said {
            var own: IndexRange.Bound?
            for condition in conditions where own == nil {
                if case .equal(let value) = condition {
                    own = .init(value: value, isIncluded: true)
                } else {
                    own = bound(condition)
                }
            }
            guard let own else { return nil }
            if let known = widest, !known.value.isIdentical(to: own.value) { return nil }
            widest = .init(value: own.value, isIncluded: own.isIncluded || widest?.isIncluded == true)
        }
        return widest
    }

    private static func collect(_ expression: QueryExpression, into found: inout [SlotCondition]) {
        switch expression {
        case .or(let parts): found += implied(by: parts)
        case .and(let parts):
            for part in parts { collect(part, into: &found) }
        case .compare(.notEqual, .property(.variable(0), let property), .property(.variable(0), let other))
        where property.slot == other.slot:
            found.append(SlotCondition(property.slot, .notANumber))
        case .compare(let comparison, .property(.variable(0), let property), .constant(let value)):
            add(comparison, value, property.slot, &found)
        case .compare(let comparison, .constant(let value), .property(.variable(0), let property)):
            add(comparison.mirrored, value, property.slot, &found)
        case .property(.variable(0), let property): found.append(SlotCondition(property.slot, .equal(.bool(true))))
        case .not(.property(.variable(0), let property)):
            found.append(SlotCondition(property.slot, .equal(.bool(false))))
        case .contains(.list(let elements), .property(.variable(0), let property)):
            let values = elements.compactMap { element -> StoredValue? in
                if case .constant(let value) = element { value } else { nil }
            }
            if values.count == elements.count { found.append(SlotCondition(property.slot, .oneOf(values))) }
        case .contains(
            .range(.constant(let lower), .constant(let upper), let isClosed), .property(.variable(0), let property)):
            add(.greaterOrEqual, lower, property.slot, &found)
            add(isClosed ? .lessOrEqual : .less, upper, property.slot, &found)
        case .startsWith(.property(.variable(0), let property), .constant(.string(let start))) where !start.isEmpty:
            found.append(SlotCondition(property.slot, .beginning(start)))
        default: break
        }
    }

    private static func add(
        _ comparison: QueryExpression.Comparison, _ value: StoredValue, _ slot: Int,
        _ found: inout [SlotCondition]
    ) {
        // Every date is neither before nor after one that is NaN, which no range of an index says.
        if case .date(let date) = value, date.timeIntervalSinceReferenceDate.isNaN { return }
        switch comparison {
        case .equal: found.append(SlotCondition(slot, .equal(value)))
        case .notEqual: if value.isNull { found.append(SlotCondition(slot, .notNull)) }
        case .less: found.append(SlotCondition(slot, .upper(.init(value: value, isIncluded: false))))
        case .lessOrEqual: found.append(SlotCondition(slot, .upper(.init(value: value, isIncluded: true))))
        case .greater: found.append(SlotCondition(slot, .lower(.init(value: value, isIncluded: false))))
        case .greaterOrEqual: found.append(SlotCondition(slot, .lower(.init(value: value, isIncluded: true))))
        }
    }
}
