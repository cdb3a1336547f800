import Foundation

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkEquality(RHS.Output.self)
        return .contains(try lowering.lower(sequence), try lowering.lower(element))
    }
}
extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Element.Output.self)
        return .contains(try lowering.lower(range), try lowering.lower(element))
    }
}
extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try lowering.lower(sequence)
        let index = lowering.bind(variable.key)
        return .exists(base, variable: index, try lowering.lower(test))
    }
}
extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try lowering.lower(sequence)
        let index = lowering.bind(variable.key)
        return .all(base, variable: index, try lowering.lower(test))
    }
}
extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try lowering.lower(sequence)
        let index = lowering.bind(variable.key)
        return .filter(base, variable: index, try lowering.lower(filter))
    }
}
extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .startsWith(try lowering.lower(base), try lowering.lower(prefix))
    }
}
extension PredicateExpressions.SequenceMinimum: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Elements.Output.Element.self)
        return .minimum(try lowering.lower(elements))
    }
}
extension PredicateExpressions.SequenceMaximum: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        try ComparableType.checkOrder(Elements.Output.Element.self)
        return .maximum(try lowering.lower(elements))
    }
}
extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .containsSequence(try lowering.lower(base), try lowering.lower(other))
    }
}
extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Index.Output.self == Int.self else {
            throw NotLowerable(reason: "an index of type \(Index.Output.self) means nothing outside its collection")
        }
        return .element(try lowering.lower(wrapped), try lowering.lower(index))
    }
}
extension PredicateExpressions.CollectionRangeSubscript: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Wrapped.Output.Index.self == Int.self else {
            throw NotLowerable(
                reason: "an index of type \(Wrapped.Output.Index.self) means nothing outside its collection")
        }
        return .slice(try lowering.lower(wrapped), try lowering.lower(range))
    }
}
extension PredicateExpressions.DictionaryKeySubscript: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Key.Output.self == String.self else {
            throw NotLowerable(reason: "dictionaries by \(Key.Output.self) are stored as lists")
        }
        try ComparableType.checkNotOptional(Value.self)
        try ComparableType.checkEquality(Value.self)
        return .lookup(try lowering.lower(wrapped), try lowering.lower(key), nil).decoded(as: Value.self)
    }
}
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard Key.Output.self == String.self else {
            throw NotLowerable(reason: "dictionaries by \(Key.Output.self) are stored as lists")
        }
        try ComparableType.checkNotOptional(Default.Output.self)
        try ComparableType.checkEquality(Default.Output.self)
        return .coalesce(
            .lookup(try lowering.lower(wrapped), try lowering.lower(key), nil).decoded(as: Default.Output.self),
            try lowering.lower(`default`))
    }
}
extension PredicateExpressions.Range: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .range(try lowering.lower(lower), try lowering.lower(upper), isClosed: false)
    }
}
extension PredicateExpressions.ClosedRange: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .range(try lowering.lower(lower), try lowering.lower(upper), isClosed: true)
    }
}
extension PredicateExpressions.StringContainsRegex: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        guard let value = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex> else {
            throw NotLowerable(reason: "the regular expression is not a constant")
        }
        return .matches(try lowering.lower(subject), value.value.stringRepresentation)
    }
}
