import Foundation

// The parts and leaves of each kind of expression, in the order in which its lowering comes to them. Kinds that are not here
// take more out of an expression than its leaves: a regular expression's text, a nested expression, closures.

extension PredicateExpressions.Variable {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.addReading(\Self.key, at: offset)
    }
}
extension PredicateExpressions.Value {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.addValue(\Self.value, of: Self.self, at: offset)
    }
}
extension PredicateExpressions.KeyPath {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.root, at: offset) && outline.addKeyPath(\Self.keyPath, at: offset)
    }
}
extension PredicateExpressions.NilLiteral {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        true
    }
}
extension PredicateExpressions.Comparison {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.addOperation(\Self.op, at: offset) && outline.add(\Self.lhs, at: offset)
            && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.Arithmetic {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.addOperation(\Self.op, at: offset) && outline.add(\Self.lhs, at: offset)
            && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.Conjunction {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.Disjunction {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.Equal {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.NotEqual {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.FloatDivision {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.IntDivision {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.IntRemainder {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.NilCoalesce {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lhs, at: offset) && outline.add(\Self.rhs, at: offset)
    }
}
extension PredicateExpressions.Negation {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset)
    }
}
extension PredicateExpressions.UnaryMinus {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset)
    }
}
extension PredicateExpressions.Conditional {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.test, at: offset) && outline.add(\Self.trueBranch, at: offset)
            && outline.add(\Self.falseBranch, at: offset)
    }
}
extension PredicateExpressions.ForcedUnwrap {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.inner, at: offset)
    }
}
extension PredicateExpressions.TypeCheck {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.input, at: offset)
    }
}
extension PredicateExpressions.ConditionalCast {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.input, at: offset)
    }
}
extension PredicateExpressions.ForceCast {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.input, at: offset)
    }
}
extension PredicateExpressions.SequenceContains {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.sequence, at: offset) && outline.add(\Self.element, at: offset)
    }
}
extension PredicateExpressions.RangeExpressionContains {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.range, at: offset) && outline.add(\Self.element, at: offset)
    }
}
extension PredicateExpressions.SequenceStartsWith {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.base, at: offset) && outline.add(\Self.prefix, at: offset)
    }
}
extension PredicateExpressions.SequenceMinimum {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.elements, at: offset)
    }
}
extension PredicateExpressions.SequenceMaximum {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.elements, at: offset)
    }
}
extension PredicateExpressions.CollectionContainsCollection {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.base, at: offset) && outline.add(\Self.other, at: offset)
    }
}
extension PredicateExpressions.CollectionIndexSubscript {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset) && outline.add(\Self.index, at: offset)
    }
}
extension PredicateExpressions.CollectionRangeSubscript {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset) && outline.add(\Self.range, at: offset)
    }
}
extension PredicateExpressions.DictionaryKeySubscript {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset) && outline.add(\Self.key, at: offset)
    }
}
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset) && outline.add(\Self.key, at: offset)
            && outline.add(\Self.`default`, at: offset)
    }
}
extension PredicateExpressions.Range {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lower, at: offset) && outline.add(\Self.upper, at: offset)
    }
}
extension PredicateExpressions.ClosedRange {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.lower, at: offset) && outline.add(\Self.upper, at: offset)
    }
}
extension PredicateExpressions.OptionalFlatMap {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.wrapped, at: offset) && outline.addVariable(\Self.variable, at: offset)
            && outline.add(\Self.transform, at: offset)
    }
}
extension PredicateExpressions.SequenceContainsWhere {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.sequence, at: offset) && outline.addVariable(\Self.variable, at: offset)
            && outline.add(\Self.test, at: offset)
    }
}
extension PredicateExpressions.SequenceAllSatisfy {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.sequence, at: offset) && outline.addVariable(\Self.variable, at: offset)
            && outline.add(\Self.test, at: offset)
    }
}
extension PredicateExpressions.Filter {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.sequence, at: offset) && outline.addVariable(\Self.variable, at: offset)
            && outline.add(\Self.filter, at: offset)
    }
}
#if !canImport(Darwin)
extension PredicateExpressions.StringLocalizedStandardContains {
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool {
        outline.add(\Self.root, at: offset) && outline.add(\Self.other, at: offset)
    }
}
#endif
extension PredicateExpressions.Value: CapturingExpression {
    static func loweredValue(at expression: UnsafeRawPointer) throws -> QueryExpression {
        try ConstantLowering.lower(expression.assumingMemoryBound(to: Self.self).pointee.value)
    }
}
