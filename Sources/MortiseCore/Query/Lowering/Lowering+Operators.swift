import Foundation

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { try lowering.binding(of: key) }
}

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .and(
            try [lowering.lower(lhs), lowering.lower(rhs)].flatMap { part in
                if case .and(let parts) = part { parts } else { [part] }
            })
    }

    static func split<Model: PersistentModel>(
        at expression: UnsafeRawPointer, _ variable: PredicateExpressions.Variable<Model>,
        into predicate: inout LoweredPredicate<Model>
    ) -> Bool {
        let conjunction = expression.assumingMemoryBound(to: Self.self)
        predicate.split(conjunction.pointee.lhs, variable)
        predicate.split(conjunction.pointee.rhs, variable)
        return true
    }
}
extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .or(
            try [lowering.lower(lhs), lowering.lower(rhs)].flatMap { part in
                if case .or(let parts) = part { parts } else { [part] }
            })
    }
}
extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .not(try lowering.lower(wrapped)) }
}
extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(LHS.Output.self)
        return .compare(.equal, try lowering.lower(lhs), try lowering.lower(rhs))
    }
}
extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(LHS.Output.self)
        return .compare(.notEqual, try lowering.lower(lhs), try lowering.lower(rhs))
    }
}
extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(LHS.Output.self)
        let comparison: QueryExpression.Comparison =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw NotLowerable(reason: "the operator \(op) is not known")
            }
        return .compare(comparison, try lowering.lower(lhs), try lowering.lower(rhs))
    }
}
extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let operation: QueryExpression.Arithmetic =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw NotLowerable(reason: "the operator \(op) is not known")
            }
        return .arithmetic(
            operation, try lowering.lower(lhs), try lowering.lower(rhs), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .divide, try lowering.lower(lhs), try lowering.lower(rhs), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .divide, try lowering.lower(lhs), try lowering.lower(rhs), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.IntRemainder: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .remainder, try lowering.lower(lhs), try lowering.lower(rhs), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .negate(try lowering.lower(wrapped), try Lowering.numericKind(Wrapped.Output.self))
    }
}
extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .conditional(try lowering.lower(test), try lowering.lower(trueBranch), try lowering.lower(falseBranch))
    }
}
extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .coalesce(try lowering.lower(lhs), try lowering.lower(rhs))
    }
}
extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .constant(.null) }
}
extension PredicateExpressions.ForcedUnwrap: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .unwrap(try lowering.lower(inner)) }
}
extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try lowering.lower(wrapped)
        let index = lowering.bind(variable.key)
        let body = try lowering.lower(transform)
        return body.asChain(from: index, on: base) ?? .flatMap(base, variable: index, body)
    }
}
extension QueryExpression {
    /// A chain of properties that starts at a variable, started at an expression instead: since a null record has null
    /// properties, that is what an optional chain means.
    fileprivate func asChain(from variable: Int, on base: QueryExpression) -> QueryExpression? {
        switch self {
        case .variable(variable): base
        case .property(let inner, let property): inner.asChain(from: variable, on: base).map { .property($0, property) }
        case .identifier(let inner): inner.asChain(from: variable, on: base).map { .identifier($0) }
        default: nil
        }
    }
}

extension PredicateExpressions.TypeCheck: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .isKind(try lowering.lower(input), try ComparableType.entityName(Desired.self))
    }
}
extension PredicateExpressions.ConditionalCast: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .cast(try lowering.lower(input), try ComparableType.entityName(Desired.self))
    }
}
extension PredicateExpressions.ForceCast: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .unwrap(.cast(try lowering.lower(input), try ComparableType.entityName(Desired.self)))
    }
}

extension PredicateExpressions.ExpressionEvaluate: LowerableExpression {
    /// Inlines the nested `#Expression`: its variables are replaced by its inputs.
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard
            let nested = expression
                as? PredicateExpressions.Value<Expression<repeat (each Input).Output, Output>>
        else { throw NotLowerable(reason: "the nested expression is not a constant") }
        // All inputs first: one of them may evaluate the same expression and so bind the same variables.
        var inputs: [QueryExpression] = []
        for input in repeat each input { inputs.append(try lowering.lower(input)) }
        var place = 0
        for variable in repeat each nested.value.variable {
            lowering.bind(variable.key, to: inputs[place])
            place += 1
        }
        return try lowering.lower(nested.value.expression)
    }
}
