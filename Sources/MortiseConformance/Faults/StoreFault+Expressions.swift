import Foundation
import MortiseCore

extension StoreFault {
    /// A store that plans queries, and takes a part of a condition for another one.
    private static func taking(
        _ id: String, _ summary: String, _ rewrite: @escaping @Sendable (QueryExpression) -> QueryExpression?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.rewrite = rewrite }
    }

    private static let null = QueryExpression.constant(.null)

    static let expressionFaults: [StoreFault] = operatorFaults + textFaults + elementFaults + relationshipFaults

    private static let operatorFaults: [StoreFault] = [
        taking("equality-as-prefix", "takes the equality of texts for a common beginning") { part in
            guard case .compare(.equal, let a, .constant(.string(let text))) = part else { return nil }
            if case .property = a { return .startsWith(a, .constant(.string(text))) }
            return nil
        },
        taking("unequal-as-in-sql", "takes != for false where one side is nil") { part in
            guard case .compare(.notEqual, let a, let b) = part, b != null else { return nil }
            return .and([part, .compare(.notEqual, a, null), .compare(.notEqual, b, null)])
        },
        taking("less-or-equal-for-less", "takes < for <=") { part in
            if case .compare(.less, let a, let b) = part { .compare(.lessOrEqual, a, b) } else { nil }
        },
        taking("less-for-less-or-equal", "takes <= for <") { part in
            if case .compare(.lessOrEqual, let a, let b) = part { .compare(.less, a, b) } else { nil }
        },
        taking("greater-or-equal-for-greater", "takes > for >=") { part in
            if case .compare(.greater, let a, let b) = part { .compare(.greaterOrEqual, a, b) } else { nil }
        },
        taking("greater-for-greater-or-equal", "takes >= for >") { part in
            if case .compare(.greaterOrEqual, let a, let b) = part { .compare(.greater, a, b) } else { nil }
        },
        taking("nil-is-empty-text", "finds empty texts where nil is asked for") { part in
            guard case .compare(.equal, let a, null) = part else { return nil }
            return .or([part, .compare(.equal, a, .constant(.string("")))])
        },
        StoreFault("passes-over-bare-conditions", "passes over conditions that compare nothing", in: .planning) {
            steps in
            steps.conditions = { conditions, _ in
                conditions.filter {
                    switch $0 {
                    case .property, .constant: false
                    default: true
                    }
                }
            }
        },
        taking("enum-by-name", "looks for the cases of an enum by their names") { part in
            part == .constant(.string("weiß")) ? .constant(.string("white")) : nil
        },
        taking("ranges-include-their-end", "takes every range for a closed one") { part in
            if case .range(let a, let b, false) = part { .range(a, b, isClosed: true) } else { nil }
        },
        taking("ranges-exclude-their-end", "takes every range for a half-open one") { part in
            if case .range(let a, let b, true) = part { .range(a, b, isClosed: false) } else { nil }
        },
        taking("loses-the-last-parameter", "looks among all of the captured values but the last") { part in
            switch part {
            case .contains(.list(let values), let a) where values.count > 1: .contains(.list(values.dropLast()), a)
            case .contains(.constant(.array(let values)), let a) where values.count > 1:
                .contains(.constant(.array(values.dropLast())), a)
            default: nil
            }
        },
        taking("among-nothing-is-anything", "leaves out the condition to be among no values") { part in
            switch part {
            case .contains(.list([]), _), .contains(.constant(.array([])), _): .constant(.bool(true))
            default: nil
            }
        },
        StoreFault("first-condition-only", "carries out the first of several conditions", in: .planning) { steps in
            steps.conditions = { conditions, _ in Array(conditions.prefix(1)) }
        },
        taking("loses-parentheses", "takes a conjunction inside a disjunction for more of that") { part in
            if case .and(let parts) = part { .or(parts) } else { nil }
        },
        taking("takes-a-part-of-an-or", "carries out the first part of a disjunction") { part in
            if case .or(let parts) = part { parts.first } else { nil }
        },
        taking("passes-over-not", "passes over the negation of a property") { part in
            guard case .not(let a) = part, case .property = a else { return nil }
            return a
        },
        taking("moves-not-inwards", "moves a negation into a disjunction that stays one") { part in
            if case .not(.or(let parts)) = part { .or(parts.map { .not($0) }) } else { nil }
        },
        taking("not-as-in-sql", "takes the negation of a comparison for false where one side is nil") { part in
            guard case .not(.compare(_, let a, let b)) = part else { return nil }
            return .and([part, .compare(.notEqual, a, null), .compare(.notEqual, b, null)])
        },
        taking("exchanges-branches", "exchanges the branches of a conditional") { part in
            if case .conditional(let a, let b, let c) = part { .conditional(a, c, b) } else { nil }
        },
        taking("drops-the-default", "leaves out the operand after ??") { part in
            guard case .coalesce(let a, .constant(.integer)) = part else { return nil }
            return a
        },
        StoreFault("conditions-backwards", "evaluates the last condition first", in: .planning) { steps in
            steps.conditions = { conditions, _ in conditions.reversed() }
        },
        taking("unwraps-nil", "takes a forced unwrap of nil for nil") { part in
            if case .unwrap(let a) = part { a } else { nil }
        },
        taking("chains-over-nil", "follows an optional chain as if nil were an empty text") { part in
            guard case .flatMap(let a, let variable, .isEmpty(let b)) = part else { return nil }
            return .flatMap(.coalesce(a, .constant(.string(""))), variable: variable, .isEmpty(b))
        },
        taking("subtracts-for-adding", "subtracts where it should add") { part in
            if case .arithmetic(.add, let a, let b, let kind) = part { .arithmetic(.subtract, a, b, kind) } else { nil }
        },
        taking("subtracts-backwards", "exchanges the operands of a subtraction") { part in
            if case .arithmetic(.subtract, let a, let b, let kind) = part {
                .arithmetic(.subtract, b, a, kind)
            } else {
                nil
            }
        },
        taking("adds-for-multiplying", "adds where it should multiply") { part in
            if case .arithmetic(.multiply, let a, let b, let kind) = part { .arithmetic(.add, a, b, kind) } else { nil }
        },
        taking("passes-over-minus", "passes over a minus sign") { part in
            if case .negate(let a, _) = part { a } else { nil }
        },
        taking("divides-backwards", "exchanges the operands of a division of fractions") { part in
            if case .arithmetic(.divide, let a, let b, .double) = part {
                .arithmetic(.divide, b, a, .double)
            } else {
                nil
            }
        },
        taking("rounds-up", "rounds up where integers are divided") { part in
            guard case .arithmetic(.divide, let a, let b, let kind) = part, ![.float, .double, .decimal].contains(kind)
            else { return nil }
            return .arithmetic(.divide, .arithmetic(.add, a, .constant(.integer(1)), kind), b, kind)
        },
        taking("modulo-for-remainder", "never gives a negative remainder") { part in
            guard case .arithmetic(.remainder, let a, let b, let kind) = part else { return nil }
            return .arithmetic(.remainder, .arithmetic(.add, part, b, kind), b, kind)
        },
        taking("by-zero-is-nil", "takes a division by zero for nil") { part in
            guard case .arithmetic(.divide, _, let b, _) = part else { return nil }
            return .conditional(.compare(.equal, b, .constant(.integer(0))), null, part)
        },
    ]

    private static let textFaults: [StoreFault] = [
        taking("contains-as-beginning", "looks for a text at the beginning of another only") { part in
            switch part {
            case .containsSequence(let a, let b) where b.isText: .startsWith(a, b)
            case .contains(let a, let b) where b.isText: .startsWith(a, b)
            default: nil
            }
        },
        taking("wildcards", "takes % and _ in a text for wildcards") { part in
            switch part {
            case .containsSequence(_, .constant(.string(let text))), .contains(_, .constant(.string(let text))):
                text == "%" || text == "_" ? .constant(.bool(true)) : nil
            default: nil
            }
        },
        taking("beginning-anywhere", "looks for the beginning of a text anywhere in it") { part in
            guard case .startsWith(let a, let b) = part, b.isText else { return nil }
            return .containsSequence(a, b)
        },
        taking("nothing-begins-nothing", "takes no text for one that starts with the empty one") { part in
            if case .startsWith(_, .constant(.string(""))) = part { .constant(.bool(false)) } else { nil }
        },
        taking("searches-exactly", "takes localizedStandardContains for contains") { part in
            if case .localizedStandardContains(let a, let b) = part { .containsSequence(a, b) } else { nil }
        },
        taking("patterns-as-text", "looks for the text of a regular expression") { part in
            if case .matches(let a, let pattern) = part {
                .containsSequence(a, .constant(.string(pattern)))
            } else {
                nil
            }
        },
        taking("counts-at-least", "takes a count for a least one") { part in
            guard case .compare(.equal, .count(let a), let b) = part else { return nil }
            return .compare(.greaterOrEqual, .count(a), b)
        },
    ]

    private static let elementFaults: [StoreFault] = [
        taking("elements-as-text", "looks for an element inside the text of all") { part in
            guard case .contains(let a, let b) = part, b.isText, case .property = a else { return nil }
            return .exists(a, variable: 77, .containsSequence(.variable(77), b))
        },
        taking("arrays-start-anywhere", "looks for the beginning of an array anywhere in it") { part in
            switch part {
            case .startsWith(let a, .list(let wanted)) where wanted.count == 1: .contains(a, wanted[0])
            case .startsWith(let a, .constant(.array(let wanted))) where wanted.count == 1:
                .contains(a, .constant(wanted[0]))
            default: nil
            }
        },
        taking("empty-is-null", "looks for null where an empty collection is asked for") { part in
            guard case .isEmpty(let a) = part, case .property = a else { return nil }
            return .compare(.equal, a, null)
        },
        taking("last-for-first", "takes the last element for the first") { part in
            if case .first(let a) = part { .last(a) } else { nil }
        },
        taking("first-for-last", "takes the first element for the last") { part in
            if case .last(let a) = part { .first(a) } else { nil }
        },
        taking("counts-from-one", "counts the index of an element from 1") { part in
            guard case .element(let a, let b) = part else { return nil }
            return .element(a, .arithmetic(.subtract, b, .constant(.integer(1)), .int64))
        },
        taking("no-element-is-the-first", "gives the last element for an index beyond the end") { part in
            guard case .element(let a, let b) = part else { return nil }
            return .conditional(.compare(.less, b, .count(a)), part, .last(a))
        },
        taking("slices-include-their-end", "takes the end of a slice for inside") { part in
            guard case .slice(let a, .range(let from, let to, false)) = part else { return nil }
            return .slice(a, .range(from, to, isClosed: true))
        },
        taking("any-is-all", "asks all elements where one is enough") { part in
            if case .exists(let a, let variable, let b) = part { .all(a, variable: variable, b) } else { nil }
        },
        taking("all-is-any", "takes one element for enough where all are asked") { part in
            if case .all(let a, let variable, let b) = part { .exists(a, variable: variable, b) } else { nil }
        },
        taking("passes-over-filters", "counts all elements where some are filtered") { part in
            if case .filter(let a, _, _) = part { a } else { nil }
        },
        taking("smallest-is-first", "takes the first element for the smallest") { part in
            if case .minimum(let a) = part { .first(a) } else { nil }
        },
        taking("largest-is-last", "takes the last element for the largest") { part in
            if case .maximum(let a) = part { .last(a) } else { nil }
        },
        taking("keys-without-case", "looks for keys in lower case") { part in
            guard case .lookup(let a, .constant(.string(let key)), let fallback) = part else { return nil }
            return .lookup(a, .constant(.string(key.lowercased())), fallback)
        },
        taking("drops-dictionary-defaults", "gives nil for a missing key whatever the default") { part in
            guard case .coalesce(let a, _) = part, case .lookup = a else { return nil }
            return a
        },
        taking("members-by-beginning", "compares the members of structs by their beginning") { part in
            guard case .compare(.equal, let a, let b) = part, b.isText, a.readsMember, !a.isChain else { return nil }
            return .startsWith(a, b)
        },
        taking("struct-is-there", "asks only whether an optional struct is there") { part in
            guard case .compare(.equal, let a, _) = part, a.readsMember, a.isChain else { return nil }
            return .compare(.notEqual, a, null)
        },
        StoreFault("claims-code", "claims conditions that only code can evaluate", in: .planning) { steps in
            steps.claim = { _ in .exact }
        },
    ]

    private static let relationshipFaults: [StoreFault] = [
        taking("one-step-too-few", "follows the first of two to-one relationships") { part in
            guard case .property(.property(.property(let base, let first), let second), let last) = part,
                second.name == "outer"
            else { return nil }
            return .property(.property(base, first), last)
        },
        taking("inner-join", "finds nothing where a to-one relationship is nil") { part in
            guard case .compare(_, .property(.property(let base, let relationship), _), _) = part else { return nil }
            return .and([part, .compare(.notEqual, .identifier(.property(base, relationship)), null)])
        },
        taking("no-target-no-identifier", "finds no record whose to-one relationship is nil by that") { part in
            if case .compare(.equal, .identifier(.property), null) = part { .constant(.bool(false)) } else { nil }
        },
        taking("pairs-from-one-side", "reads both sides of a many-to-many relationship from the first") { part in
            guard case .property(let base, let property) = part, property.name == "friends" else { return nil }
            return .property(base, QueryProperty(entity: property.entity, name: "peers", slot: property.slot - 1))
        },
        taking("pairs-from-the-other-side", "reads both sides of a many-to-many relationship from the second") { part in
            guard case .property(let base, let property) = part, property.name == "peers" else { return nil }
            return .property(base, QueryProperty(entity: property.entity, name: "friends", slot: property.slot + 1))
        },
        taking("asks-the-outer-record", "puts the condition on members to the record itself") { part in
            guard case .exists(let a, let variable, let body) = part, body.isTop(of: variable) else { return nil }
            return .exists(a, variable: variable, body.rewritten { $0 == .variable(variable) ? .variable(0) : nil })
        },
        taking("confuses-variables", "takes the variable of an inner condition for that of the outer one") { part in
            guard case .all(let a, let variable, let body) = part, variable > 1 else { return nil }
            return .all(
                a, variable: variable, body.rewritten { $0 == .variable(variable) ? .variable(variable - 1) : nil })
        },
        taking("wrong-slot", "reads a property of the superentity in place of the subentity's own") { part in
            guard case .property(let base, let property) = part, property.name == "extra" else { return nil }
            return .property(base, QueryProperty(entity: "Item", name: "size", slot: 1))
        },
        StoreFault("no-subentities-in-queries", "looks among one entity's own records for conditions", in: .planning) {
            steps in
            steps.found = { found, plan in
                plan.query.conjuncts.isEmpty ? found : found.filter { $0.table == 0 }
            }
        },
        taking("everything-is-of-the-type", "takes every record for one of the subclass") { part in
            if case .isKind(let a, "SpecialItem") = part { .isKind(a, "Item") } else { nil }
        },
        taking("casts-everything", "reads a subclass's property from any record") { part in
            guard case .compare(.equal, let a, let b) = part, a.casts else { return nil }
            return .or([part, .compare(.equal, a, null)])
        },
    ]
}

extension QueryExpression {
    fileprivate var isText: Bool {
        if case .constant(.string) = self { true } else { false }
    }
    private func has(_ test: (QueryExpression) -> Bool) -> Bool {
        var found = false
        forEachPart { if test($0) { found = true } }
        return found
    }
    fileprivate var readsMember: Bool { has { if case .member = $0 { true } else { false } } }
    fileprivate var isChain: Bool { has { if case .flatMap = $0 { true } else { false } } }
    fileprivate var casts: Bool { has { if case .cast = $0 { true } else { false } } }
    /// Whether a body asks its own variable, and a number first.
    fileprivate func isTop(of variable: Int) -> Bool { has { $0 == .variable(variable) } }
}
