#if Tool
import Foundation
import MortiseCore

extension PredicateParser {
    private static let comparisons: [String: QueryExpression.Comparison] = [
        "==": .equal, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual,
    ]

    mutating func comparison() throws(PredicateTextError) -> PredicateOperand {
        let left = try sum()
        if case .sign(let sign) = current.kind, let comparison = Self.comparisons[sign] {
            _ = take()
            if comparison == .equal || comparison == .notEqual, current.isSign("[") {
                return try caseInsensitive(comparison, left)
            }
            return try compare(comparison, left, try sum())
        }
        let isNegated = current.keyword == "not" && Self.tests.contains(peek().keyword ?? "")
        if isNegated { _ = take() }
        guard let word = current.keyword, Self.tests.contains(word) else { return left }
        let place = take().place
        let found: PredicateOperand
        switch word {
        case "in": found = try membership(left)
        case "between": found = try range(left)
        case "contains": found = try contains(left, place)
        case "beginswith", "startswith": found = try textTest(left) { .startsWith($0, $1) }
        case "endswith":
            found = try textTest(left, constantOnly: true) { .matches($0, Self.suffixPattern($1)) }
        case "matches": found = try pattern(left)
        default: found = try kind(left)
        }
        return isNegated ? PredicateOperand(.not(found.expression), .condition, found.place) : found
    }

    private static let tests: Set<String> = [
        "in", "between", "contains", "beginswith", "startswith", "endswith", "matches", "is",
    ]
    /// The keywords that follow a value: a word before one of them is a name, not a quantifier.
    static let words = tests.union(["and", "or", "not", "asc", "ascending", "desc", "descending"])

    // MARK: Operators

    /// The two with literals in the kind of the other one.
    func matched(
        _ left: PredicateOperand, _ right: PredicateOperand
    ) throws(PredicateTextError) -> (PredicateOperand, PredicateOperand) {
        switch (left.sort, right.sort) {
        case (.literal, .literal):
            throw fault(left.place.through(right.place), "expected a property on one side of the comparison")
        case (.literal, _): return (try typed(left, like: right), right)
        case (_, .literal): return (left, try typed(right, like: left))
        default: return (left, right)
        }
    }

    /// A literal as a value of the kind of another operand.
    func typed(
        _ operand: PredicateOperand, like other: PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        guard case .literal(let literal) = operand.sort else { return operand }
        func made(_ value: StoredValue, _ sort: PredicateOperand.Sort) -> PredicateOperand {
            PredicateOperand(.constant(value), sort, operand.place, name: operand.name)
        }
        switch other.sort {
        case .value(let kind, _):
            do throws(UnfitLiteral) {
                return made(try literal.value(of: kind), .value(kind, isOptional: literal == .null))
            } catch {
                throw fault(
                    operand.place,
                    "cannot compare \(other.name) (\(kind.rawValue)) with \(operand.name): "
                        + error.reason)
            }
        case .coded: return made(literal.natural, .coded)
        case .record(let entity, _) where literal == .null:
            return made(.null, .record(entity: entity, isOptional: true))
        case .condition, .literal:
            if case .bool(let value) = literal { return made(.bool(value), .value(.bool, isOptional: false)) }
        default: break
        }
        throw fault(
            operand.place,
            "\(operand.name) is \(literal.sortText), and \(other.name) is \(other.sortText)"
                + Self.hint(for: other))
    }

    private static func hint(for operand: PredicateOperand) -> String {
        switch operand.sort {
        case .record: "; compare a property of it, or its number as \(operand.name).$id"
        case .records: "; ask \"any \(operand.name) (…)\", \"\(operand.name).count\" or \"\(operand.name).isEmpty\""
        default: ""
        }
    }

    private func compare(
        _ comparison: QueryExpression.Comparison, _ left: PredicateOperand, _ right: PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        let place = left.place.through(right.place)
        if case .identifier(let entity) = left.sort { return try identifiers(comparison, left, entity, [right]) }
        if case .identifier(let entity) = right.sort { return try identifiers(comparison, right, entity, [left]) }
        let (a, b) = try matched(left, right)
        let isEquality = comparison == .equal || comparison == .notEqual
        guard areComparable(a, b) else {
            throw fault(
                place,
                "cannot compare \(left.name), which is \(left.sortText), with \(right.name), which is \(right.sortText)"
                    + Self.hint(for: a))
        }
        if !isEquality {
            if case .literal(.null) = right.sort { throw fault(right.place, "nil has no order; use == or !=") }
            if case .value(let kind, _) = a.sort, !kind.isOrdered {
                throw fault(place, "\(left.name) is of kind \(kind.rawValue), which has no order; use == or !=")
            }
            if case .record = a.sort { throw fault(place, "records have no order; use == or !=") }
        }
        return PredicateOperand(.compare(comparison, a.expression, b.expression), .condition, place)
    }

    private func areComparable(_ a: PredicateOperand, _ b: PredicateOperand) -> Bool {
        switch (a.sort, b.sort) {
        case (.value(let x, _), .value(let y, _)): x == y || (x.integerRange != nil && y.integerRange != nil)
        case (.coded, .coded), (.coded, .value), (.value, .coded): true
        case (.record(let x, _), .record(let y, _)):
            context.schema.subtree(of: x).contains(y) || context.schema.subtree(of: y).contains(x)
        case (.condition, .value(.bool, _)), (.value(.bool, _), .condition), (.condition, .condition): true
        default: false
        }
    }

    /// `==[c]`: equal but for the case of letters.
    private mutating func caseInsensitive(
        _ comparison: QueryExpression.Comparison, _ left: PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        try modifier(["c"])
        let right = try typed(try sum(), like: left)
        try checkText(left)
        try checkText(right)
        return guarded(left) { base in
            .compare(comparison, .compareStrings(.caseInsensitive, base, right.expression), .constant(.integer(0)))
        }
    }

    private mutating func modifier(_ allowed: [String]) throws(PredicateTextError) {
        try expectSign("[")
        guard let word = current.keyword, allowed.contains(word) else {
            throw fault(
                current.place, "expected \(allowed.joined(separator: " or ")) in brackets, found \(current.shown)")
        }
        _ = take()
        try expectSign("]")
    }

    // MARK: Words

    private mutating func membership(_ left: PredicateOperand) throws(PredicateTextError) -> PredicateOperand {
        let close = current.isSign("(") ? ")" : "]"
        let start = try expectSign(close == ")" ? "(" : "[")
        var members: [PredicateOperand] = []
        if !current.isSign(close) {
            repeat { members.append(try sum()) } while skipSign(",")
        }
        let place = left.place.through(start).through(try expectSign(close))
        if case .identifier(let entity) = left.sort { return try identifiers(.equal, left, entity, members) }
        var values: [QueryExpression] = []
        for member in members {
            guard case .literal = member.sort else {
                throw fault(member.place, "a list takes values only; join comparisons with properties by \"or\"")
            }
            values.append(try typed(member, like: left).expression)
        }
        return PredicateOperand(.contains(.list(values), left.expression), .condition, place)
    }

    private mutating func range(_ left: PredicateOperand) throws(PredicateTextError) -> PredicateOperand {
        let lower = try sum()
        guard skipKeyword("and") || skipSign(",") || skipSign("&&") else {
            throw fault(current.place, "between takes two values joined by \"and\"")
        }
        let upper = try sum()
        let parts = [
            try compare(.greaterOrEqual, left, lower).expression, try compare(.lessOrEqual, left, upper).expression,
        ]
        return PredicateOperand(.and(parts), .condition, left.place.through(upper.place))
    }

    private mutating func contains(
        _ left: PredicateOperand, _ word: TextPlace
    ) throws(PredicateTextError) -> PredicateOperand {
        if case .coded = left.sort {
            let right = try typed(try sum(), like: left)
            return PredicateOperand(
                .contains(left.expression, right.expression), .condition, left.place.through(right.place))
        }
        if current.isSign("[") {
            try modifier(["cd"])
            return try textTest(left, keepsGuard: true) { .localizedStandardContains($0, $1) }
        }
        return try textTest(left) { .containsSequence($0, $1) }
    }

    /// Parses the right side of a test of text for text. `keepsGuard` says that the test throws for null, so that it
    /// must not be evaluated then.
    private mutating func textTest(
        _ left: PredicateOperand, constantOnly: Bool = false, keepsGuard: Bool = false,
        _ make: (QueryExpression, QueryExpression) -> QueryExpression
    ) throws(PredicateTextError) -> PredicateOperand {
        try checkText(left)
        let right = try typed(try sum(), like: left)
        try checkText(right)
        var isConstant = false
        var isEmpty = false
        if case .constant(.string(let text)) = right.expression { (isConstant, isEmpty) = (true, text.isEmpty) }
        if constantOnly, !isConstant { throw fault(right.place, "expected text in quotation marks") }
        if right.isOptional { throw fault(right.place, "\(right.name) may be nil; write text in quotation marks") }
        let place = left.place.through(right.place)
        if isConstant, !isEmpty, !constantOnly, !keepsGuard {
            // In nil there is no text, so the test is false without a guard; indexes know the plain form.
            return PredicateOperand(make(left.expression, right.expression), .condition, place)
        }
        var result = guarded(left) { make($0, right.expression) }
        result.place = place
        return result
    }

    private mutating func pattern(_ left: PredicateOperand) throws(PredicateTextError) -> PredicateOperand {
        try checkText(left)
        guard case .text(let pattern) = current.kind else {
            throw fault(current.place, "expected a regular expression in quotation marks")
        }
        let place = take().place
        do {
            _ = try Regex(pattern)
        } catch {
            throw fault(place, "invalid regular expression: \("\(error)".shown(limit: 120))")
        }
        return guarded(left) { .matches($0, pattern) }
    }

    /// The test on the value; false for nil.
    private mutating func guarded(
        _ operand: PredicateOperand, _ make: (QueryExpression) -> QueryExpression
    ) -> PredicateOperand {
        guard operand.isOptional else { return PredicateOperand(make(operand.expression), .condition, operand.place) }
        let variable = variable()
        return PredicateOperand(
            .compare(
                .equal, .flatMap(operand.expression, variable: variable, make(.variable(variable))),
                .constant(.bool(true))), .condition, operand.place)
    }

    private func checkText(_ operand: PredicateOperand) throws(PredicateTextError) {
        switch operand.sort {
        case .value(.string, _): return
        default:
            throw fault(
                operand.place,
                "expected text, but \(operand.name) is \(operand.sortText)"
                    + Self.hint(for: operand))
        }
    }

    /// A regular expression for whatever ends with a text.
    private static func suffixPattern(_ suffix: QueryExpression) -> String {
        guard case .constant(.string(let text)) = suffix else { return "" }
        let escaped = text.map { character in
            character.isLetter || character.isNumber || !character.isASCII ? "\(character)" : "\\\(character)"
        }
        return escaped.joined() + "\\z"
    }

    /// `is Entity`, `is not Entity`, `is nil`.
    private mutating func kind(_ left: PredicateOperand) throws(PredicateTextError) -> PredicateOperand {
        let isNegated = skipKeyword("not")
        if current.keyword == "nil" || current.keyword == "null" {
            return try compare(isNegated ? .notEqual : .equal, left, try sum())
        }
        guard terms == nil, case .record(let entity, _) = left.sort else {
            throw fault(left.place, "expected a record, but \(left.name) is \(left.sortText)")
        }
        guard case .word(let name, _) = current.kind else {
            throw fault(current.place, "expected the name of an entity or nil, found \(current.shown)")
        }
        let place = take().place
        let family = context.schema.subtree(of: entity)
        guard family.contains(name) else {
            throw fault(
                place, "no record of \(entity) is a \"\(name.shown())\"" + Suggestion.text(name, among: family))
        }
        let test = QueryExpression.isKind(left.expression, name)
        return PredicateOperand(isNegated ? .not(test) : test, .condition, left.place.through(place))
    }

    /// A record's number compared with numbers: the identifiers that they can stand for.
    private func identifiers(
        _ comparison: QueryExpression.Comparison, _ left: PredicateOperand, _ entity: String,
        _ members: [PredicateOperand]
    ) throws(PredicateTextError) -> PredicateOperand {
        guard comparison == .equal || comparison == .notEqual else {
            throw fault(left.place, "a record's number cannot be ordered here; use ==, != or in")
        }
        var wanted: [QueryExpression] = []
        for member in members {
            guard case .literal(let literal) = member.sort, case .integer(let number) = literal.natural, number >= 0
            else { throw fault(member.place, "expected the number of a record, such as 17") }
            for name in context.schema.subtree(of: entity) {
                let identifiers = IdentifierNamespace(storeIdentifier: context.storeIdentifier, entityName: name)
                wanted.append(.constant(.identifier(identifiers[UInt64(number)])))
            }
        }
        let test = QueryExpression.contains(.list(wanted), left.expression)
        let place = left.place.through(members.last?.place ?? left.place)
        return PredicateOperand(comparison == .equal ? test : .not(test), .condition, place)
    }
}
#endif
