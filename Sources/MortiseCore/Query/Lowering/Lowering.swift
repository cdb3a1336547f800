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

    static func lowerable<Expression>(_ expression: Expression) -> (any LowerableExpression)? {
        func cast<Lowerable: LowerableExpression>(_ type: Lowerable.Type) -> (any LowerableExpression)? {
            expression as? Lowerable
        }
        return known.value(of: Expression.self) { $0 as? any LowerableExpression.Type }.flatMap { cast($0) }
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
        guard let lowerable = LowerableTypes.lowerable(expression) else {
            throw NotLowerable(reason: "\(Expression.self) is not known")
        }
        return try lowerable.lowered(&self)
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

/// A predicate or sort order in lowered form, with what had to be left to code.
struct LoweredPredicate<Model: PersistentModel> {
    /// The conditions, joined by "and". Parts left to code are `onModels` with the index into `code`.
    var conjuncts: [QueryExpression] = []
    var code: [@Sendable (Model) throws -> Bool] = []

    init(_ predicate: Predicate<Model>?) {
        guard let predicate else { return }
        take(predicate.expression, predicate.variable)
    }

    private mutating func take<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let lowerable = LowerableTypes.lowerable(expression),
            (try? lowerable.conjuncts(variable.key, into: &conjuncts)) != nil
        {
            return
        }
        conjuncts = []
        split(expression, variable)
    }

    /// Lowers the conditions of a predicate one by one, and leaves to code what cannot be lowered.
    mutating func split<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let parts = expression as? any SplittableExpression, parts.split(variable, into: &self) { return }
        var lowering = Lowering(root: variable.key)
        // Code is evaluated last; what may throw must not be evaluated before the code that guards it.
        let reason: String
        do {
            let lowered = try lowering.lower(expression)
            if code.isEmpty || !lowered.mayThrow {
                conjuncts.append(lowered)
                return
            }
            reason = "it may throw, and is evaluated after the code in front of it"
        } catch {
            reason = (error as? NotLowerable)?.reason ?? "\(error)"
        }
        conjuncts.append(.onModels(id: code.count, text: CodeText.of(expression, because: reason)))
        let part = CodePart(expression: expression, variable: variable)
        code.append { try part.evaluate($0) }
    }
}

/// The text of a part that is left to code.
private enum CodeText {
    /// The part and why it was left to code, with the names of properties.
    static func of(_ expression: any PredicateExpression, because reason: String) -> String {
        KeyPathText.named("\(isPrintable(expression) ? "\(expression)" : "\(type(of: expression))"), because \(reason)")
    }

    private static func isPrintable(_ value: Any) -> Bool {
        if let date = value as? Date { return date.isPrintable }
        if let joined = value as? JoinedPredicate { return joined.leaves.allSatisfy { isPrintable($0) } }
        return Mirror(reflecting: value).children.allSatisfy { isPrintable($0.value) }
    }
}

/// @unchecked Sendable: the expressions of a `Predicate` are, but an existential of a part does not say so.
private struct CodePart<Model: PersistentModel>: @unchecked Sendable {
    let expression: any PredicateExpression<Bool>
    let variable: PredicateExpressions.Variable<Model>

    func evaluate(_ model: Model) throws -> Bool { try expression.evaluate(PredicateBindings((variable, model))) }
}
