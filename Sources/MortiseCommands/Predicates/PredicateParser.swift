#if Tool
import MortiseCore

/// Reads tokens into an expression, from what binds least to what binds most.
struct PredicateParser {
    /// How deep parentheses, negations and quantifiers may be nested, and how long a calculation or a path may be.
    static let deepest = 64

    /// What names stand for: properties of a variable's record, or members of a variable's coded value.
    enum Scope {
        case entity(String, variable: Int)
        case coded(variable: Int)
    }

    let text: String
    let context: PredicateText
    private let tokens: [PredicateToken]
    private var position = 0
    private var depth = 0
    private var nextVariable = 1
    var scope: Scope
    /// What groups have, in a condition on them or in their order; nil where records are meant.
    var terms: GroupTerms?

    init(_ text: String, _ context: PredicateText, entity: String) throws(PredicateTextError) {
        self.text = text
        self.context = context
        var lexer = try PredicateLexer(text)
        tokens = try lexer.tokens()
        scope = .entity(entity, variable: 0)
    }

    // MARK: Wholes

    mutating func wholeCondition() throws(PredicateTextError) -> QueryExpression {
        if current.kind == .end { throw fault(current.place, "expected a condition, such as price > 100") }
        let condition = try condition(try disjunction())
        try expectEnd("\"and\", \"or\" or the end")
        return condition
    }

    mutating func wholeOrder() throws(PredicateTextError) -> [StoreQuery.Order] {
        var keys: [StoreQuery.Order] = []
        repeat {
            var isAscending = true
            if skipSign("-") { isAscending = false } else { _ = skipSign("+") }
            let key = try terms == nil ? path() : groupTerm()
            if skipKeyword("desc") || skipKeyword("descending") {
                isAscending.toggle()
            } else {
                _ = skipKeyword("asc") || skipKeyword("ascending")
            }
            switch key.sort {
            case .value: keys.append(StoreQuery.Order(key.expression, isAscending: isAscending))
            default: throw fault(key.place, "\(key.name) is \(key.sortText); sort by an attribute")
            }
        } while skipSign(",")
        try expectEnd("a comma or the end")
        return keys
    }

    mutating func wholeColumn() throws(PredicateTextError) -> ColumnPath {
        var column = ColumnPath(value: .constant(.null))
        while true {
            let part = try path(stopsAtRecords: true)
            guard case .records(let entity) = part.sort, current.isSign(".") else {
                column.value = part.expression
                break
            }
            guard column.lists.count < ColumnPath.mostLists else {
                throw fault(
                    part.place,
                    "more than \(ColumnPath.mostLists) to-many relationships follow each other; shorten the path")
            }
            _ = take()
            column.lists.append(part.expression)
            scope = .entity(entity, variable: 0)
        }
        try expectEnd("the end")
        return column
    }

    // MARK: Tokens

    var current: PredicateToken { tokens[position] }

    mutating func take() -> PredicateToken {
        let token = tokens[position]
        if position < tokens.count - 1 { position += 1 }
        return token
    }

    mutating func skipSign(_ sign: String) -> Bool {
        guard current.isSign(sign) else { return false }
        position += 1
        return true
    }

    mutating func skipKeyword(_ word: String) -> Bool {
        guard current.keyword == word else { return false }
        position += 1
        return true
    }

    func peek(_ ahead: Int = 1) -> PredicateToken { tokens[min(position + ahead, tokens.count - 1)] }

    func fault(_ place: TextPlace, _ message: String) -> PredicateTextError { PredicateTextError(text, place, message) }

    @discardableResult
    mutating func expectSign(_ sign: String) throws(PredicateTextError) -> TextPlace {
        guard current.isSign(sign) else {
            throw fault(current.place, "expected \"\(sign)\", found \(current.shown)")
        }
        return take().place
    }

    func expectEnd(_ expected: String) throws(PredicateTextError) {
        guard current.kind == .end else {
            throw fault(current.place, "expected \(expected), found \(current.shown)")
        }
    }

    mutating func variable() -> Int {
        nextVariable += 1
        return nextVariable - 1
    }

    /// Runs a part that may nest.
    mutating func nested<R>(
        _ body: (inout PredicateParser) throws(PredicateTextError) -> R
    ) throws(PredicateTextError) -> R {
        guard depth < Self.deepest else {
            throw fault(current.place, "nested more than \(Self.deepest) levels deep; simplify the predicate")
        }
        depth += 1
        let result = try body(&self)
        depth -= 1
        return result
    }

    // MARK: Conditions

    mutating func disjunction() throws(PredicateTextError) -> PredicateOperand {
        let first = try conjunction()
        var parts: [QueryExpression] = []
        var place = first.place
        while current.isSign("||") || current.keyword == "or" {
            if parts.isEmpty { parts.append(try condition(first)) }
            _ = take()
            let next = try conjunction()
            place = place.through(next.place)
            parts.append(try condition(next))
        }
        if parts.isEmpty { return first }
        return PredicateOperand(
            .or(parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }), .condition, place)
    }

    private mutating func conjunction() throws(PredicateTextError) -> PredicateOperand {
        let first = try negation()
        var parts: [QueryExpression] = []
        var place = first.place
        while current.isSign("&&") || current.keyword == "and" {
            if parts.isEmpty { parts.append(try condition(first)) }
            _ = take()
            let next = try negation()
            place = place.through(next.place)
            parts.append(try condition(next))
        }
        if parts.isEmpty { return first }
        return PredicateOperand(
            .and(parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }), .condition, place)
    }

    private mutating func negation() throws(PredicateTextError) -> PredicateOperand {
        guard current.isSign("!") || current.keyword == "not" else { return try comparison() }
        let start = take().place
        let inner = try nested { parser throws(PredicateTextError) in try parser.negation() }
        return PredicateOperand(.not(try condition(inner)), .condition, start.through(inner.place))
    }

    /// The operand as something that holds or does not.
    func condition(_ operand: PredicateOperand) throws(PredicateTextError) -> QueryExpression {
        switch operand.sort {
        case .condition: return operand.expression
        case .value(.bool, isOptional: false): return operand.expression
        case .value(.bool, isOptional: true), .coded:
            return .compare(.equal, operand.expression, .constant(.bool(true)))
        case .literal(.bool(let value)): return .constant(.bool(value))
        default:
            throw fault(
                operand.place,
                "expected a condition, but \(operand.name) is \(operand.sortText); compare it with a value")
        }
    }

    // MARK: Calculations

    mutating func sum() throws(PredicateTextError) -> PredicateOperand {
        try chain(["+": .add, "-": .subtract]) { parser throws(PredicateTextError) in try parser.product() }
    }

    private mutating func product() throws(PredicateTextError) -> PredicateOperand {
        try chain(["*": .multiply, "/": .divide, "%": .remainder]) { parser throws(PredicateTextError) in
            try parser.signed()
        }
    }

    private mutating func chain(
        _ operations: [String: QueryExpression.Arithmetic],
        _ operand: (inout PredicateParser) throws(PredicateTextError) -> PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        var left = try operand(&self)
        var length = 0
        while case .sign(let sign) = current.kind, let operation = operations[sign] {
            let place = take().place
            length += 1
            if length > Self.deepest {
                throw fault(place, "the calculation has more than \(Self.deepest) parts; shorten it")
            }
            let right = try operand(&self)
            left = try calculate(operation, sign, left, right)
        }
        return left
    }

    private mutating func signed() throws(PredicateTextError) -> PredicateOperand {
        guard current.isSign("-") else { return try primary() }
        let start = take().place
        if case .number(let digits) = current.kind {
            let place = start.through(take().place)
            return PredicateOperand(
                .constant(.null), .literal(.number("-" + digits)), place, name: "-" + digits.shown())
        }
        let inner = try nested { parser throws(PredicateTextError) in try parser.signed() }
        guard case .value(let kind, let isOptional) = inner.sort, kind.isNumber, kind != .uint64 else {
            throw fault(
                inner.place,
                "cannot negate \(inner.name), which is \(inner.sortText); only signed numbers can be negated")
        }
        return PredicateOperand(
            .negate(inner.expression, kind), .value(kind, isOptional: isOptional), start.through(inner.place))
    }

    private func calculate(
        _ operation: QueryExpression.Arithmetic, _ sign: String, _ left: PredicateOperand, _ right: PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        let place = left.place.through(right.place)
        let (a, b) = try matched(left, right)
        guard case .value(let kind, let isOptional) = a.sort, case .value(let other, let isOtherOptional) = b.sort,
            kind == other, kind.isNumber
        else {
            throw fault(
                place,
                "\(left.name) is \(left.sortText) and \(right.name) is \(right.sortText); \(sign) takes two "
                    + "numbers of one kind")
        }
        if isOptional || isOtherOptional {
            let name = isOptional ? left.name : right.name
            throw fault(place, "cannot calculate with \(name), which may be nil")
        }
        if operation == .remainder, kind == .float || kind == .double || kind == .decimal {
            throw fault(place, "% takes whole numbers")
        }
        return PredicateOperand(
            .arithmetic(operation, a.expression, b.expression, kind), .value(kind, isOptional: false), place)
    }
}
#endif
