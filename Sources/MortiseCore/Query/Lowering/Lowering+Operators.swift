import Foundation

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { try lowering.binding(of: key) }
}

extension PredicateExpressions.Conjunction: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .and(
            try [lhs.lowered(&lowering), rhs.lowered(&lowering)].flatMap { part in
                if case .and(let parts) = part { parts } else { [part] }
            })
    }

    func conjuncts(_ variable: PredicateExpressions.VariableID, into conjuncts: inout [QueryExpression]) throws {
        try lhs.conjuncts(variable, into: &conjuncts)
        try rhs.conjuncts(variable, into: &conjuncts)
    }
}
extension PredicateExpressions.Conjunction: SplittableExpression {
    func split<Model: PersistentModel>(
        _ variable: PredicateExpressions.Variable<Model>, into predicate: inout LoweredPredicate<Model>
    ) -> Bool {
        predicate.split(lhs, variable)
        predicate.split(rhs, variable)
        return true
    }
}
extension PredicateExpressions.Disjunction: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .or(
            try [lhs.lowered(&lowering), rhs.lowered(&lowering)].flatMap { part in
                if case .or(let parts) = part { parts } else { [part] }
            })
    }
}
extension PredicateExpressions.Negation: LowerableExpression
where Wrapped: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .not(try wrapped.lowered(&lowering)) }
}
extension PredicateExpressions.Equal: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(LHS.Output.self)
        return .compare(.equal, try lhs.lowered(&lowering), try rhs.lowered(&lowering))
    }
}
extension PredicateExpressions.NotEqual: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(LHS.Output.self)
        return .compare(.notEqual, try lhs.lowered(&lowering), try rhs.lowered(&lowering))
    }
}
extension PredicateExpressions.Comparison: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
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
        return .compare(comparison, try lhs.lowered(&lowering), try rhs.lowered(&lowering))
    }
}
extension PredicateExpressions.Arithmetic: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let operation: QueryExpression.Arithmetic =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw NotLowerable(reason: "the operator \(op) is not known")
            }
        return .arithmetic(
            operation, try lhs.lowered(&lowering), try rhs.lowered(&lowering), try Lowering.numericKind(LHS.Output.self)
        )
    }
}
extension PredicateExpressions.FloatDivision: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .divide, try lhs.lowered(&lowering), try rhs.lowered(&lowering), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.IntDivision: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .divide, try lhs.lowered(&lowering), try rhs.lowered(&lowering), try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.IntRemainder: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .arithmetic(
            .remainder, try lhs.lowered(&lowering), try rhs.lowered(&lowering),
            try Lowering.numericKind(LHS.Output.self))
    }
}
extension PredicateExpressions.UnaryMinus: LowerableExpression
where Wrapped: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .negate(try wrapped.lowered(&lowering), try Lowering.numericKind(Wrapped.Output.self))
    }
}
extension PredicateExpressions.Conditional: LowerableExpression
where Test: LowerableExpression, If: LowerableExpression, Else: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .conditional(try test.lowered(&lowering), try trueBranch.lowered(&lowering), try falseBranch.lowered(&lowering))
    }
}
extension PredicateExpressions.NilCoalesce: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .coalesce(try lhs.lowered(&lowering), try rhs.lowered(&lowering))
    }
}
extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .constant(.null) }
}
extension PredicateExpressions.ForcedUnwrap: LowerableExpression
where Inner: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression { .unwrap(try inner.lowered(&lowering)) }
}
extension PredicateExpressions.OptionalFlatMap: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try wrapped.lowered(&lowering)
        let index = lowering.bind(variable.key)
        let body = try transform.lowered(&lowering)
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

extension PredicateExpressions.TypeCheck: LowerableExpression
where Input: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .isKind(try input.lowered(&lowering), try ComparableType.entityName(Desired.self))
    }
}
extension PredicateExpressions.ConditionalCast: LowerableExpression
where Input: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .cast(try input.lowered(&lowering), try ComparableType.entityName(Desired.self))
    }
}
extension PredicateExpressions.ForceCast: LowerableExpression
where Input: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .unwrap(.cast(try input.lowered(&lowering), try ComparableType.entityName(Desired.self)))
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
