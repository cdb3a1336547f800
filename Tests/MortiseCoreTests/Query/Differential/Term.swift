import Foundation
import MortiseCore

/// A predicate expression of which only the result's type is known, and what `#Predicate` would build of it.
struct Term<Output> {
    let expression: any StandardPredicateExpression<Output>

    init(_ expression: any StandardPredicateExpression<Output>) { self.expression = expression }
}

typealias P = PredicateExpressions
typealias Path<Root, Value> = any KeyPath<Root, Value> & Sendable

extension Term {
    static func value(_ value: Output) -> Term where Output: Codable & Sendable { Term(P.build_Arg(value)) }

    subscript<V>(_ path: Path<Output, V>) -> Term<V> {
        func make<E: StandardPredicateExpression<Output>>(_ e: E) -> Term<V> {
            Term<V>(P.build_KeyPath(root: e, keyPath: path))
        }
        return make(expression)
    }
}

// MARK: Comparison

func equal<T: Equatable>(_ a: Term<T>, _ b: Term<T>, negated: Bool = false) -> Term<Bool> {
    func make<A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<Bool> {
        negated ? Term<Bool>(P.build_NotEqual(lhs: a, rhs: b)) : Term<Bool>(P.build_Equal(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}

func isNil<T: Equatable>(_ a: Term<T?>, negated: Bool) -> Term<Bool> {
    func make<A: StandardPredicateExpression<T?>>(_ a: A) -> Term<Bool> {
        negated
            ? Term<Bool>(P.build_NotEqual(lhs: a, rhs: P.build_NilLiteral()))
            : Term<Bool>(P.build_Equal(lhs: a, rhs: P.build_NilLiteral()))
    }
    return make(a.expression)
}

func compare<T: Comparable>(_ a: Term<T>, _ b: Term<T>, _ op: Comparing) -> Term<Bool> {
    func make<A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<Bool> {
        switch op {
        case .less: Term<Bool>(P.build_Comparison(lhs: a, rhs: b, op: .lessThan))
        case .lessOrEqual: Term<Bool>(P.build_Comparison(lhs: a, rhs: b, op: .lessThanOrEqual))
        case .greater: Term<Bool>(P.build_Comparison(lhs: a, rhs: b, op: .greaterThan))
        case .greaterOrEqual: Term<Bool>(P.build_Comparison(lhs: a, rhs: b, op: .greaterThanOrEqual))
        }
    }
    return make(a.expression, b.expression)
}

enum Comparing: CaseIterable { case less, lessOrEqual, greater, greaterOrEqual }

// MARK: Logic

func both(_ a: Term<Bool>, _ b: Term<Bool>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<Bool>, B: StandardPredicateExpression<Bool>>(_ a: A, _ b: B) -> Term<Bool>
    {
        Term<Bool>(P.build_Conjunction(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}
func either(_ a: Term<Bool>, _ b: Term<Bool>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<Bool>, B: StandardPredicateExpression<Bool>>(_ a: A, _ b: B) -> Term<Bool>
    {
        Term<Bool>(P.build_Disjunction(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}
func not(_ a: Term<Bool>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<Bool>>(_ a: A) -> Term<Bool> { Term<Bool>(P.build_Negation(a)) }
    return make(a.expression)
}
func choose<T>(_ test: Term<Bool>, _ a: Term<T>, _ b: Term<T>) -> Term<T> {
    func make<
        C: StandardPredicateExpression<Bool>, A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>
    >(_ c: C, _ a: A, _ b: B) -> Term<T> {
        Term<T>(P.build_Conditional(c, a, b))
    }
    return make(test.expression, a.expression, b.expression)
}

// MARK: Numbers

enum Sum { case add, subtract, multiply }

func calculate<T: Numeric>(_ a: Term<T>, _ b: Term<T>, _ op: Sum) -> Term<T> {
    func make<A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<T> {
        switch op {
        case .add: Term<T>(P.build_Arithmetic(lhs: a, rhs: b, op: .add))
        case .subtract: Term<T>(P.build_Arithmetic(lhs: a, rhs: b, op: .subtract))
        case .multiply: Term<T>(P.build_Arithmetic(lhs: a, rhs: b, op: .multiply))
        }
    }
    return make(a.expression, b.expression)
}
func divide<T: BinaryInteger>(_ a: Term<T>, _ b: Term<T>, remainder: Bool) -> Term<T> {
    func make<A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<T> {
        remainder ? Term<T>(P.build_Remainder(lhs: a, rhs: b)) : Term<T>(P.build_Division(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}
func divide<T: FloatingPoint>(_ a: Term<T>, _ b: Term<T>) -> Term<T> {
    func make<A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<T> {
        Term<T>(P.build_Division(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}
func negative<T: SignedNumeric>(_ a: Term<T>) -> Term<T> {
    func make<A: StandardPredicateExpression<T>>(_ a: A) -> Term<T> { Term<T>(P.build_UnaryMinus(a)) }
    return make(a.expression)
}

// MARK: Optionals

func coalesce<T>(_ a: Term<T?>, _ b: Term<T>) -> Term<T> {
    func make<A: StandardPredicateExpression<T?>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<T> {
        Term<T>(P.build_NilCoalesce(lhs: a, rhs: b))
    }
    return make(a.expression, b.expression)
}
func unwrap<T>(_ a: Term<T?>) -> Term<T> {
    func make<A: StandardPredicateExpression<T?>>(_ a: A) -> Term<T> { Term<T>(P.build_ForcedUnwrap(a)) }
    return make(a.expression)
}

/// Makes an expression twice from the same random numbers: once to know its type, once with the variable that is bound.
struct Scope<Variable, Output> {
    let sample: any StandardPredicateExpression<Output>
    let make: (Term<Variable>) -> Term<Output>
}

func chain<T, V>(_ base: Term<T?>, _ scope: Scope<T, V>) -> Term<V?> {
    func make<A: StandardPredicateExpression<T?>, B: StandardPredicateExpression<V>>(_ a: A, _ sample: B) -> Term<V?> {
        Term<V?>(P.OptionalFlatMap<A, T, B, V>(a) { scope.make(Term<T>($0)).expression as! B })
    }
    return make(base.expression, scope.sample)
}
func chain<T, V>(_ base: Term<T?>, optional scope: Scope<T, V?>) -> Term<V?> {
    func make<A: StandardPredicateExpression<T?>, B: StandardPredicateExpression<V?>>(_ a: A, _ sample: B) -> Term<V?> {
        Term<V?>(P.OptionalFlatMap<A, T, B, V>(a) { scope.make(Term<T>($0)).expression as! B })
    }
    return make(base.expression, scope.sample)
}

// MARK: Collections

func contains<T: Equatable>(_ base: Term<[T]>, _ element: Term<T>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<T>>(_ a: A, _ b: B) -> Term<Bool> {
        Term<Bool>(P.build_contains(a, b))
    }
    return make(base.expression, element.expression)
}
func contains<T: Equatable>(_ base: Term<[T]>, run: Term<[T]>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<[T]>>(_ a: A, _ b: B) -> Term<Bool> {
        Term<Bool>(P.build_contains(a, b))
    }
    return make(base.expression, run.expression)
}
func contains<T>(_ base: Term<[T]>, where scope: Scope<T, Bool>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<Bool>>(
        _ a: A, _ sample: B
    ) -> Term<Bool> {
        Term<Bool>(P.build_contains(a) { scope.make(Term<T>($0)).expression as! B })
    }
    return make(base.expression, scope.sample)
}
func allSatisfy<T>(_ base: Term<[T]>, _ scope: Scope<T, Bool>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<Bool>>(
        _ a: A, _ sample: B
    ) -> Term<Bool> {
        Term<Bool>(P.build_allSatisfy(a) { scope.make(Term<T>($0)).expression as! B })
    }
    return make(base.expression, scope.sample)
}
func filter<T>(_ base: Term<[T]>, _ scope: Scope<T, Bool>) -> Term<[T]> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<Bool>>(
        _ a: A, _ sample: B
    ) -> Term<[T]> {
        Term<[T]>(P.build_filter(a) { scope.make(Term<T>($0)).expression as! B })
    }
    return make(base.expression, scope.sample)
}
func starts<T: Equatable>(_ base: Term<[T]>, with prefix: Term<[T]>) -> Term<Bool> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<[T]>>(_ a: A, _ b: B) -> Term<Bool> {
        Term<Bool>(P.build_starts(a, with: b))
    }
    return make(base.expression, prefix.expression)
}
func extreme<T: Comparable>(_ base: Term<[T]>, maximum: Bool) -> Term<T?> {
    func make<A: StandardPredicateExpression<[T]>>(_ a: A) -> Term<T?> {
        maximum ? Term<T?>(P.build_max(a)) : Term<T?>(P.build_min(a))
    }
    return make(base.expression)
}
func element<T>(_ base: Term<[T]>, _ index: Term<Int>) -> Term<T> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<Int>>(_ a: A, _ b: B) -> Term<T> {
        Term<T>(P.build_subscript(a, b))
    }
    return make(base.expression, index.expression)
}
func slice<T>(_ base: Term<[T]>, _ range: Term<Range<Int>>) -> Term<ArraySlice<T>> {
    func make<A: StandardPredicateExpression<[T]>, B: StandardPredicateExpression<Range<Int>>>(
        _ a: A, _ b: B
    ) -> Term<ArraySlice<T>> {
        Term<ArraySlice<T>>(P.build_subscript(a, b))
    }
    return make(base.expression, range.expression)
}
func lookUp<T: Sendable>(_ base: Term<[String: T]>, _ key: Term<String>) -> Term<T?> {
    func make<A: StandardPredicateExpression<[String: T]>, B: StandardPredicateExpression<String>>(
        _ a: A, _ b: B
    ) -> Term<T?> {
        Term<T?>(P.build_subscript(a, b))
    }
    return make(base.expression, key.expression)
}
func lookUp<T: Sendable>(_ base: Term<[String: T]>, _ key: Term<String>, default other: Term<T>) -> Term<T> {
    func make<
        A: StandardPredicateExpression<[String: T]>, B: StandardPredicateExpression<String>,
        C: StandardPredicateExpression<T>
    >(_ a: A, _ b: B, _ c: C) -> Term<T> {
        Term<T>(P.build_subscript(a, b, default: c))
    }
    return make(base.expression, key.expression, other.expression)
}
func inRange<T: Comparable>(_ lower: Term<T>, _ upper: Term<T>, closed: Bool, _ value: Term<T>) -> Term<Bool> {
    func make<
        A: StandardPredicateExpression<T>, B: StandardPredicateExpression<T>, C: StandardPredicateExpression<T>
    >(_ a: A, _ b: B, _ c: C) -> Term<Bool> {
        closed
            ? Term<Bool>(P.build_contains(P.build_ClosedRange(lower: a, upper: b), c))
            : Term<Bool>(P.build_contains(P.build_Range(lower: a, upper: b), c))
    }
    return make(lower.expression, upper.expression, value.expression)
}

// MARK: Text

enum TextTest: CaseIterable { case contains, starts, localized }

func search(_ base: Term<String>, _ part: Term<String>, _ test: TextTest) -> Term<Bool> {
    func make<A: StandardPredicateExpression<String>, B: StandardPredicateExpression<String>>(
        _ a: A, _ b: B
    ) -> Term<Bool> {
        switch test {
        case .contains: Term<Bool>(P.build_contains(a, b))
        case .localized: Term<Bool>(P.build_localizedStandardContains(a, b))
        case .starts: Term<Bool>(P.build_starts(a, with: b))
        }
    }
    return make(base.expression, part.expression)
}
func matches(_ base: Term<String>, _ pattern: String) -> Term<Bool> {
    func make<A: StandardPredicateExpression<String>>(_ a: A) -> Term<Bool> {
        Term<Bool>(P.build_contains(a, P.build_Arg(try! Regex(pattern))))
    }
    return make(base.expression)
}

// MARK: Types

func isKind<T, D>(_ base: Term<T>, _ type: D.Type) -> Term<Bool> {
    func make<A: StandardPredicateExpression<T>>(_ a: A) -> Term<Bool> { Term<Bool>(P.TypeCheck<A, D>(a)) }
    return make(base.expression)
}
func forceCast<T, D>(_ base: Term<T>, _ type: D.Type) -> Term<D> {
    func make<A: StandardPredicateExpression<T>>(_ a: A) -> Term<D> { Term<D>(P.ForceCast<A, D>(a)) }
    return make(base.expression)
}
func cast<T, D>(_ base: Term<T>, _ type: D.Type) -> Term<D?> {
    func make<A: StandardPredicateExpression<T>>(_ a: A) -> Term<D?> { Term<D?>(P.ConditionalCast<A, D>(a)) }
    return make(base.expression)
}
