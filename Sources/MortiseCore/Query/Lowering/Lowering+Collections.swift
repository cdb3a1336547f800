import Foundation

extension PredicateExpressions.SequenceContains: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(RHS.Output.self)
        return .contains(try sequence.lowered(&lowering), try element.lowered(&lowering))
    }
}
extension PredicateExpressions.RangeExpressionContains: LowerableExpression
where RangeExpression: LowerableExpression, Element: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Element.Output.self)
        return .contains(try range.lowered(&lowering), try element.lowered(&lowering))
    }
}
extension PredicateExpressions.SequenceContainsWhere: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try sequence.lowered(&lowering)
        let index = lowering.bind(variable.key)
        return .exists(base, variable: index, try test.lowered(&lowering))
    }
}
extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try sequence.lowered(&lowering)
        let index = lowering.bind(variable.key)
        return .all(base, variable: index, try test.lowered(&lowering))
    }
}
extension PredicateExpressions.Filter: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try sequence.lowered(&lowering)
        let index = lowering.bind(variable.key)
        return .filter(base, variable: index, try filter.lowered(&lowering))
    }
}
extension PredicateExpressions.SequenceStartsWith: LowerableExpression
where Base: LowerableExpression, Prefix: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .startsWith(try base.lowered(&lowering), try prefix.lowered(&lowering))
    }
}
extension PredicateExpressions.SequenceMinimum: LowerableExpression
where Elements: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Elements.Output.Element.self)
        return .minimum(try elements.lowered(&lowering))
    }
}
extension PredicateExpressions.SequenceMaximum: LowerableExpression
where Elements: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Elements.Output.Element.self)
        return .maximum(try elements.lowered(&lowering))
    }
}
extension PredicateExpressions.CollectionContainsCollection: LowerableExpression
where Base: LowerableExpression, Other: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .containsSequence(try base.lowered(&lowering), try other.lowered(&lowering))
    }
}
extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression
where Wrapped: LowerableExpression, Index: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Index.Output.self == Int.self else {
            throw NotLowerable(reason: "an index of type \(Index.Output.self) means nothing outside its collection")
        }
        return .element(try wrapped.lowered(&lowering), try index.lowered(&lowering))
    }
}
extension PredicateExpressions.CollectionRangeSubscript: LowerableExpression
where Wrapped: LowerableExpression, Range: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Wrapped.Output.Index.self == Int.self else {
            throw NotLowerable(
                reason: "an index of type \(Wrapped.Output.Index.self) means nothing outside its collection")
        }
        return .slice(try wrapped.lowered(&lowering), try range.lowered(&lowering))
    }
}
extension PredicateExpressions.DictionaryKeySubscript: LowerableExpression
where Wrapped: LowerableExpression, Key: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Key.Output.self == String.self else {
            throw NotLowerable(reason: "dictionaries by \(Key.Output.self) are stored as lists")
        }
        try ComparableType.checkNotOptional(Value.self)
        try ComparableType.checkEquality(Value.self)
        return .lookup(try wrapped.lowered(&lowering), try key.lowered(&lowering), nil).decoded(as: Value.self)
    }
}
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: LowerableExpression
where Wrapped: LowerableExpression, Key: LowerableExpression, Default: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Key.Output.self == String.self else {
            throw NotLowerable(reason: "dictionaries by \(Key.Output.self) are stored as lists")
        }
        try ComparableType.checkNotOptional(Default.Output.self)
        try ComparableType.checkEquality(Default.Output.self)
        return .coalesce(
            .lookup(try wrapped.lowered(&lowering), try key.lowered(&lowering), nil).decoded(as: Default.Output.self),
            try `default`.lowered(&lowering))
    }
}
extension PredicateExpressions.Range: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .range(try lower.lowered(&lowering), try upper.lowered(&lowering), isClosed: false)
    }
}
extension PredicateExpressions.ClosedRange: LowerableExpression
where LHS: LowerableExpression, RHS: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .range(try lower.lowered(&lowering), try upper.lowered(&lowering), isClosed: true)
    }
}
extension PredicateExpressions.StringContainsRegex: LowerableExpression
where Subject: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard let value = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex> else {
            throw NotLowerable(reason: "the regular expression is not a constant")
        }
        return .matches(try subject.lowered(&lowering), value.value.stringRepresentation)
    }
}
