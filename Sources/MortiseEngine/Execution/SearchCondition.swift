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

    /// The conditions that conjuncts contain. They do not say all that the conjuncts do: what they find is checked again.
    static func all(in conjuncts: [QueryExpression]) -> [SlotCondition] {
        var found: [SlotCondition] = []
        for conjunct in conjuncts { collect(conjunct, into: &found) }
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

    private static func collect(_ expression: QueryExpression, into found: inout [SlotCondition]) {
        switch expression {
        case .and(let parts):
            for part in parts { collect(part, into: &found) }
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
            found.append(SlotCondition(property.slot, .lower(.init(value: lower, isIncluded: true))))
            found.append(SlotCondition(property.slot, .upper(.init(value: upper, isIncluded: isClosed))))
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
        case .notEqual: break
        case .less: found.append(SlotCondition(slot, .upper(.init(value: value, isIncluded: false))))
        case .lessOrEqual: found.append(SlotCondition(slot, .upper(.init(value: value, isIncluded: true))))
        case .greater: found.append(SlotCondition(slot, .lower(.init(value: value, isIncluded: false))))
        case .greaterOrEqual: found.append(SlotCondition(slot, .lower(.init(value: value, isIncluded: true))))
        }
    }
}
