extension QueryExpression {
    /// An equivalent condition in the forms that are evaluated fastest: optional chains and `??` become tests for null,
    /// `?:` becomes conditions. Parts that may throw stay the same, because their errors name the expression.
    package var simplified: QueryExpression {
        guard hasPart(where: \.isChoice), !mayThrow else { return self }
        // Both sides of a choice repeat what is asked around it, so that many would make much of little.
        var choices = 0
        forEachPart { choices += $0.isChoice ? 1 : 0 }
        return choices <= 8 ? condition : self
    }

    private var isChoice: Bool {
        switch self {
        case .flatMap, .coalesce, .conditional: true
        case .compare(_, let a, let b): a.isBoolean || b.isBoolean
        default: false
        }
    }

    /// Whether the value is always true or false, never null.
    var isBoolean: Bool {
        switch self {
        case .compare, .not, .and, .or, .isEmpty, .contains, .exists, .all, .startsWith, .containsSequence,
            .localizedStandardContains, .matches, .isKind, .constant(.bool):
            true
        default: false
        }
    }

    /// The expression as one that is asked only whether it is true.
    private var condition: QueryExpression {
        switch self {
        case .and(let parts): return .and(parts.map(\.condition))
        case .or(let parts): return .or(parts.map(\.condition))
        case .not(let part): return part.condition.negated
        case .compare(let comparison, let a, let b): return Self.compared(comparison, a.choice, b.choice)
        case .conditional, .flatMap, .coalesce:
            guard case .conditional(let test, let a, let b) = choice else { return self }
            // Null is not true: as a condition by itself it would be an error, which is for the evaluator to find.
            guard !a.mayBeNull, !b.mayBeNull else { return self }
            return Self.either(test, a.condition, b.condition)
        default: return self
        }
    }

    private var negated: QueryExpression {
        switch self {
        case .constant(.bool(let value)): .constant(.bool(!value))
        case .not(let part): part
        case .compare(.equal, let a, let b): .compare(.notEqual, a, b)
        case .compare(.notEqual, let a, let b): .compare(.equal, a, b)
        default: .not(self)
        }
    }

    /// The expression as a value, with what it chooses between outermost.
    private var choice: QueryExpression {
        switch self {
        case .flatMap(let base, let variable, let body) where base.isPath:
            return .conditional(
                .compare(.equal, base, .constant(.null)), .constant(.null), body.replacing(variable, by: base).choice)
        case .coalesce(let a, let b): return a.choice.coalesced(b.choice)
        case .conditional(let test, let a, let b): return .conditional(test.condition, a.choice, b.choice)
        default: return self
        }
    }

    private func coalesced(_ other: QueryExpression) -> QueryExpression {
        switch self {
        case .conditional(let test, let a, let b): .conditional(test, a.coalesced(other), b.coalesced(other))
        case .constant(.null): other
        case .constant: self
        case _ where isBoolean: self
        case _ where isPath: .conditional(.compare(.equal, self, .constant(.null)), other, self)
        default: .coalesce(self, other)
        }
    }

    private static func compared(
        _ comparison: Comparison, _ a: QueryExpression, _ b: QueryExpression
    ) -> QueryExpression {
        switch (a, b) {
        case (.conditional(let test, let x, let y), _):
            return either(test, compared(comparison, x, b), compared(comparison, y, b))
        case (_, .conditional(let test, let x, let y)):
            return either(test, compared(comparison, a, x), compared(comparison, a, y))
        case (.constant(let x), .constant(let y)): return .constant(.bool(ValueSemantics.holds(comparison, x, y)))
        case (.constant, _) where b.isBoolean: return compared(comparison.mirrored, b, a)
        case (_, .constant(.bool(let wanted))) where a.isBoolean && (comparison == .equal || comparison == .notEqual):
            return wanted == (comparison == .equal) ? a.condition : a.condition.negated
        case (_, .constant(.null)) where a.isBoolean: return .constant(.bool(comparison == .notEqual))
        default: return .compare(comparison, a, b)
        }
    }

    /// One condition where a test holds, another where it does not.
    private static func either(
        _ test: QueryExpression, _ a: QueryExpression, _ b: QueryExpression
    ) -> QueryExpression {
        switch (a, b) {
        case (.constant(.bool(let x)), .constant(.bool(let y))):
            x == y ? a : x ? test : test.negated
        case (.constant(.bool(false)), _): .and([test.negated, b])
        case (.constant(.bool(true)), _): .or([test, b])
        case (_, .constant(.bool(false))): .and([test, a])
        case (_, .constant(.bool(true))): .or([test.negated, a])
        default: .or([.and([test, a]), .and([test.negated, b])])
        }
    }

    /// Whether a value that the expression is as a condition might be null.
    private var mayBeNull: Bool {
        switch self {
        case .conditional(_, let a, let b): a.mayBeNull || b.mayBeNull
        default: !isBoolean
        }
    }

    /// Whether it is a property of the record in question or of what that leads to: read at no cost worth keeping it for.
    private var isPath: Bool {
        switch self {
        case .variable(0): true
        case .property(let base, _): base.isPath
        default: false
        }
    }

    /// The expression with a variable that is bound around it put into words.
    private func replacing(_ variable: Int, by value: QueryExpression) -> QueryExpression {
        switch self {
        case .variable(variable): value
        case .flatMap(let base, variable, let body):
            .flatMap(base.replacing(variable, by: value), variable: variable, body)
        case .exists(let base, variable, let body):
            .exists(base.replacing(variable, by: value), variable: variable, body)
        case .all(let base, variable, let body):
            .all(base.replacing(variable, by: value), variable: variable, body)
        case .filter(let base, variable, let body):
            .filter(base.replacing(variable, by: value), variable: variable, body)
        default: mapChildren { $0.replacing(variable, by: value) }
        }
    }

    /// The approximate cost of evaluating it for a record; comparing two numbers costs 1.
    package var cost: Int {
        let parts = children.reduce(0) { $0 + $1.cost }
        return switch self {
        case .constant, .variable: 0
        case .property(.variable, _): 1
        // Another record has to be found.
        case .property: parts + 20
        case .list(let elements): elements.count / 8
        case .startsWith, .isEmpty, .contains: parts + 4
        case .containsSequence, .count, .first, .last, .minimum, .maximum, .compareStrings: parts + 20
        case .localizedStandardContains, .matches: parts + 200
        case .exists(let base, _, let body), .all(let base, _, let body), .filter(let base, _, let body):
            base.cost + 40 + 8 * (body.cost + 20)
        case .onModels: 1_000
        default: parts + 1
        }
    }
}
