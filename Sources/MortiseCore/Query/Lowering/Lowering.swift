import Foundation

/// A predicate expression that can say what it means as a `QueryExpression`.
///
/// An expression conforms if its parts do: so one question to the run-time, for the type of a whole predicate, finds what
/// lowers every part, and each part is lowered where it lies. Asking for each part, and copying it to do so, took most of the
/// time of lowering.
protocol LowerableExpression: SendableMetatype {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression
    /// Adds the conditions that an expression joins by "and", each lowered by itself, where `variable` is the record.
    func conjuncts(_ variable: PredicateExpressions.VariableID, into conjuncts: inout [QueryExpression]) throws
}

extension LowerableExpression {
    func conjuncts(_ variable: PredicateExpressions.VariableID, into conjuncts: inout [QueryExpression]) throws {
        var lowering = Lowering(root: variable)
        conjuncts.append(try lowered(&lowering))
    }
}

/// An expression that can be split at "and", whether or not its parts can be lowered.
protocol SplittableExpression {
    /// - Returns: false if the expression has to be lowered as a whole.
    func split<Model: PersistentModel>(
        _ variable: PredicateExpressions.Variable<Model>, into predicate: inout LoweredPredicate<Model>
    ) -> Bool
}

/// The types of predicate expressions that can be lowered.
enum LowerableTypes {
    private static let known = TypeCache<(any LowerableExpression.Type)?>()

    /// The type of an expression, if it can be lowered.
    static func type<Expression>(of expression: Expression) -> (any LowerableExpression.Type)? {
        known.value(of: Expression.self) { $0 as? any LowerableExpression.Type }
    }
}

extension LowerableExpression {
    /// Lowers an expression of this type where it lies: casting would copy it.
    fileprivate static func lowered<Expression>(
        _ expression: Expression, _ lowering: inout Lowering
    ) throws -> QueryExpression {
        precondition(Expression.self == Self.self)
        return try withUnsafePointer(to: expression) { place in
            try UnsafeRawPointer(place).assumingMemoryBound(to: Self.self).pointee.lowered(&lowering)
        }
    }

    /// As `lowered`, for the conditions that an expression of this type joins by "and".
    static func conjuncts<Expression>(
        of expression: Expression, _ variable: PredicateExpressions.VariableID, into conjuncts: inout [QueryExpression]
    ) throws {
        precondition(Expression.self == Self.self)
        try withUnsafePointer(to: expression) { place in
            try UnsafeRawPointer(place).assumingMemoryBound(to: Self.self).pointee.conjuncts(variable, into: &conjuncts)
        }
    }
}

/// What stopped a lowering: the part is left to be evaluated on models.
struct NotLowerable: Error {
    var reason: String
}

/// Turns predicate expressions into query expressions.
struct Lowering {
    /// What an expression's variables stand for.
    enum Binding {
        case variable(Int)
        /// The input of a nested predicate or expression.
        case expression(QueryExpression)
    }

    /// The last one for a variable is valid. There are a few at most, which a dictionary would take longer to find.
    private var bindings: [(variable: PredicateExpressions.VariableID, binding: Binding)] = []
    private let root: PredicateExpressions.VariableID
    private var nextVariable = 1

    init(root: PredicateExpressions.VariableID) { self.root = root }

    /// Lowers an expression of which only the value is known to the code around it.
    mutating func lower<Expression: PredicateExpression>(_ expression: Expression) throws -> QueryExpression {
        guard let type = LowerableTypes.type(of: expression) else {
            throw NotLowerable(reason: "\(Expression.self) is not known")
        }
        return try type.lowered(expression, &self)
    }

    func binding(of variable: PredicateExpressions.VariableID) throws -> QueryExpression {
        switch bindings.last(where: { $0.variable == variable })?.binding {
        case .variable(let index): return .variable(index)
        case .expression(let expression): return expression
        case nil where variable == root: return .variable(0)
        case nil: throw NotLowerable(reason: "a variable is not bound")
        }
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID) -> Int {
        let index = nextVariable
        nextVariable += 1
        bindings.append((variable, .variable(index)))
        return index
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: QueryExpression) {
        bindings.append((variable, .expression(expression)))
    }

    /// The kind in which arithmetic on a type is calculated.
    /// - Throws: `NotLowerable` for a type without arithmetic.
    static func numericKind(_ type: any Any.Type) throws -> StorageKind {
        switch StorageKind(of: type) {
        case .some(let kind) where [.float, .double, .decimal].contains(kind) || kind.isInteger: return kind
        default: throw NotLowerable(reason: "there is no arithmetic on \(type)")
        }
    }
}
