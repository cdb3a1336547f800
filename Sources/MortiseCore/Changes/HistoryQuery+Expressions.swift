import Foundation

/// A part of a history's predicate that is understood.
protocol HistoryExpression {
    /// The same with each token narrowed to one store and, if a variable is given, in the place of the predicate's own; nil if
    /// a part is not understood and the variable has to be exchanged.
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self?
    /// Whether it needs no more of a transaction than what is known without its changes.
    var readsHeaderAlone: Bool { get }
}

/// A variable of a predicate.
protocol VariableExpression {}
extension PredicateExpressions.Variable: VariableExpression {}

/// A property of a transaction.
protocol HistoryPath {
    /// Nil if it is a property of something else.
    var path: AnyKeyPath? { get }
}

/// A value that a predicate has captured.
protocol HistoryConstant {
    var constant: Any { get }
}

/// A comparison of a property with a value.
protocol HistoryComparison {
    /// Nil if it compares something else.
    var bound: HistoryQuery.Bound? { get }
}

/// Both sides have to hold.
protocol HistoryConjunction {
    var sides: [any PredicateExpression] { get }
}

private func narrow<E: PredicateExpression>(
    _ expression: E, to store: String, _ variable: (any VariableExpression)?
) -> E? {
    guard let known = expression as? any HistoryExpression else { return variable == nil ? expression : nil }
    return known.narrowed(to: store, variable) as? E
}

private func readsHeaderAlone(_ expressions: any PredicateExpression...) -> Bool {
    expressions.allSatisfy { ($0 as? any HistoryExpression)?.readsHeaderAlone ?? false }
}

extension PredicateExpressions.Variable: HistoryExpression {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        variable == nil ? self : variable as? Self
    }
    var readsHeaderAlone: Bool { false }
}

extension PredicateExpressions.Value: HistoryExpression, HistoryConstant {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let token = value as? DefaultHistoryToken, let narrowed = token.narrowed(to: store) as? Output
        else { return self }
        return Self(narrowed)
    }
    var readsHeaderAlone: Bool { true }
    var constant: Any { value }
}

extension PredicateExpressions.NilLiteral: HistoryExpression {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? { self }
    var readsHeaderAlone: Bool { true }
}

extension PredicateExpressions.KeyPath: HistoryExpression, HistoryPath {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let root = narrow(root, to: store, variable) else { return nil }
        return Self(root: root, keyPath: keyPath)
    }
    var readsHeaderAlone: Bool {
        root is any VariableExpression
            ? HistoryQuery.headerPaths.contains(keyPath) : MortiseCore.readsHeaderAlone(root)
    }
    var path: AnyKeyPath? { root is any VariableExpression ? keyPath : nil }
}

extension PredicateExpressions.Conjunction: HistoryExpression, HistoryConjunction {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let lhs = narrow(lhs, to: store, variable), let rhs = narrow(rhs, to: store, variable) else { return nil }
        return Self(lhs: lhs, rhs: rhs)
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(lhs, rhs) }
    var sides: [any PredicateExpression] { [lhs, rhs] }
}

extension PredicateExpressions.Disjunction: HistoryExpression {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let lhs = narrow(lhs, to: store, variable), let rhs = narrow(rhs, to: store, variable) else { return nil }
        return Self(lhs: lhs, rhs: rhs)
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(lhs, rhs) }
}

extension PredicateExpressions.Negation: HistoryExpression {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        narrow(wrapped, to: store, variable).map { Self($0) }
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(wrapped) }
}

extension PredicateExpressions.Negation: HistoryComparison {
    var bound: HistoryQuery.Bound? {
        guard var bound = (wrapped as? any HistoryComparison)?.bound, bound.relation != .equal else { return nil }
        bound.relation = bound.relation.opposite
        return bound
    }
}

extension PredicateExpressions.Equal: HistoryExpression, HistoryComparison {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let lhs = narrow(lhs, to: store, variable), let rhs = narrow(rhs, to: store, variable) else { return nil }
        return Self(lhs: lhs, rhs: rhs)
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(lhs, rhs) }
    var bound: HistoryQuery.Bound? { HistoryQuery.Bound(lhs, .equal, rhs) }
}

extension PredicateExpressions.NotEqual: HistoryExpression {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let lhs = narrow(lhs, to: store, variable), let rhs = narrow(rhs, to: store, variable) else { return nil }
        return Self(lhs: lhs, rhs: rhs)
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(lhs, rhs) }
}

extension PredicateExpressions.Comparison: HistoryExpression, HistoryComparison {
    func narrowed(to store: String, _ variable: (any VariableExpression)?) -> Self? {
        guard let lhs = narrow(lhs, to: store, variable), let rhs = narrow(rhs, to: store, variable) else { return nil }
        return Self(lhs: lhs, rhs: rhs, op: op)
    }
    var readsHeaderAlone: Bool { MortiseCore.readsHeaderAlone(lhs, rhs) }
    var bound: HistoryQuery.Bound? {
        switch op {
        case .lessThan: HistoryQuery.Bound(lhs, .less, rhs)
        case .lessThanOrEqual: HistoryQuery.Bound(lhs, .lessOrEqual, rhs)
        case .greaterThan: HistoryQuery.Bound(lhs, .greater, rhs)
        case .greaterThanOrEqual: HistoryQuery.Bound(lhs, .greaterOrEqual, rhs)
        @unknown default: nil
        }
    }
}
