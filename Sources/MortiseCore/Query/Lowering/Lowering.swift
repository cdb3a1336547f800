import Foundation

/// A predicate expression that can say what it means as a `QueryExpression`.
protocol LowerableExpression: SendableMetatype {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression

    /// Lowers the value of this type at an address, in place: an expression contains its parts by value, so an
    /// existential of each would copy whole trees.
    static func lowered(at expression: UnsafeRawPointer, _ lowering: inout Lowering) throws -> QueryExpression
    /// Splits the expression at an address if it is a conjunction.
    static func split<Model: PersistentModel>(
        at expression: UnsafeRawPointer, _ variable: PredicateExpressions.Variable<Model>,
        into predicate: inout LoweredPredicate<Model>
    ) -> Bool
    /// Adds the expression's parts and leaves to an outline, in the order in which lowering visits them.
    /// - Returns: false for an expression whose lowered form depends on more than its type and its leaves.
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool
}

extension LowerableExpression {
    static func lowered(at expression: UnsafeRawPointer, _ lowering: inout Lowering) throws -> QueryExpression {
        try expression.assumingMemoryBound(to: Self.self).pointee.lowered(&lowering)
    }
    static func split<Model: PersistentModel>(
        at expression: UnsafeRawPointer, _ variable: PredicateExpressions.Variable<Model>,
        into predicate: inout LoweredPredicate<Model>
    ) -> Bool { false }
    static func outline(_ outline: inout PredicateOutline, at offset: Int) -> Bool { false }
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

    private var bindings: [PredicateExpressions.VariableID: Binding] = [:]
    private var nextVariable = 1
    /// How many captured values were replaced by placeholders; nil if values are lowered.
    private(set) var placeholders: Int?

    init(root: PredicateExpressions.VariableID, placeholders: Int? = nil) {
        bindings[root] = .variable(0)
        self.placeholders = placeholders
    }

    /// The placeholder for a captured value in a template; nil if the value itself is wanted.
    mutating func placeholder() -> QueryExpression? {
        guard let number = placeholders else { return nil }
        placeholders = number + 1
        return LoweredTemplate.placeholder(number)
    }

    mutating func lower<Expression: PredicateExpression>(_ expression: Expression) throws -> QueryExpression {
        guard let type = LowerableTypes.of(Expression.self) else {
            throw NotLowerable(reason: "\(Expression.self) is not known")
        }
        return try withUnsafePointer(to: expression) { try type.lowered(at: UnsafeRawPointer($0), &self) }
    }

    func binding(of variable: PredicateExpressions.VariableID) throws -> QueryExpression {
        switch bindings[variable] {
        case .variable(let index): return .variable(index)
        case .expression(let expression): return expression
        case nil: throw NotLowerable(reason: "a variable is not bound")
        }
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID) -> Int {
        let index = nextVariable
        nextVariable += 1
        bindings[variable] = .variable(index)
        return index
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to expression: QueryExpression) {
        bindings[variable] = .expression(expression)
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
    /// How many captured values were replaced by placeholders; nil if values are lowered.
    private(set) var placeholders: Int?

    init(_ predicate: Predicate<Model>?) {
        guard let predicate else { return }
        take(predicate.expression, predicate.variable)
    }

    private mutating func take<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let known = PredicateShapes.lowered(expression, variable) {
            conjuncts = known
            return
        }
        split(expression, variable)
        if code.isEmpty { PredicateShapes.remember(expression, variable, as: conjuncts) }
    }

    /// Lowers a predicate for which no cached form applies.
    init<Expression: PredicateExpression>(
        anew expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        split(expression, variable)
    }

    /// Lowers a predicate to a template, with placeholders for its captured values.
    init<Expression: PredicateExpression>(
        templateOf expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        placeholders = 0
        split(expression, variable)
    }

    mutating func split<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let type = LowerableTypes.of(Expression.self),
            withUnsafePointer(to: expression, { type.split(at: UnsafeRawPointer($0), variable, into: &self) })
        {
            return
        }
        var lowering = Lowering(root: variable.key, placeholders: placeholders)
        defer { placeholders = lowering.placeholders }
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
