public import Foundation

extension Predicate {
    /// A predicate that holds where this one and another do. The other is not asked where this one does not hold.
    public func and(_ other: Predicate<repeat each Input>) -> Predicate<repeat each Input> {
        joined(.and, other)
    }

    /// A predicate that holds where this one or another does. The other is not asked where this one holds.
    public func or(_ other: Predicate<repeat each Input>) -> Predicate<repeat each Input> {
        joined(.or, other)
    }

    /// A predicate that holds where this one does not.
    public func not() -> Predicate<repeat each Input> { joined(.not, self) }

    private func joined(
        _ operation: JoinedPredicate.Operation, _ other: Predicate<repeat each Input>
    ) -> Predicate<repeat each Input> {
        Predicate<repeat each Input> { (variables: repeat PredicateExpressions.Variable<each Input>) in
            JoinedPredicate(
                operation, part(variables: repeat each variables), other.part(variables: repeat each variables))
        }
    }

    /// This predicate as part of another, whose variables stand for its own.
    private func part(variables: repeat PredicateExpressions.Variable<each Input>) -> JoinedPredicate.Part {
        var own: [any Sendable] = []
        for variable in repeat each self.variable { own.append(variable) }
        return JoinedPredicate.Part(
            expression: expression, variable: own.count == 1 ? own[0] : nil, text: { "\(self.expression)" }
        ) { bindings in
            try self.evaluate(repeat (each variables).evaluate(bindings))
        } lower: { lowering in
            for (inner, outer) in repeat (each self.variable, each variables) {
                lowering.bind(inner.key, to: try lowering.binding(of: outer.key))
            }
            return try lowering.lower(self.expression)
        }
    }
}

/// Two predicates joined: what `Predicate.and(_:)` and its kin make.
///
/// The parts are kept as closures: a type that stores a parameter pack of variables cannot be made at run time by the
/// toolchains of today.
public struct JoinedPredicate: StandardPredicateExpression {
    public typealias Output = Bool

    enum Operation: Sendable { case and, or, not }

    struct Part: Sendable {
        let expression: any StandardPredicateExpression<Bool>
        /// The part's own variable, where it has only one.
        let variable: (any Sendable)?
        let text: @Sendable () -> String
        let evaluate: @Sendable (PredicateBindings) throws -> Bool
        let lower: @Sendable (inout Lowering) throws -> QueryExpression
    }

    private let operation: Operation
    private let first: Part
    private let second: Part

    init(_ operation: Operation, _ first: Part, _ second: Part) {
        self.operation = operation
        self.first = first
        self.second = second
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        switch operation {
        case .and: try first.evaluate(bindings) && second.evaluate(bindings)
        case .or: try first.evaluate(bindings) || second.evaluate(bindings)
        case .not: try !first.evaluate(bindings)
        }
    }

    /// - Throws: `SwiftDataError.unsupportedPredicate`: joined predicates are not decoded; decode the parts and join them.
    public init(from decoder: any Decoder) throws {
        throw SwiftDataError(
            .unsupportedPredicate, "Joined predicates cannot be decoded. Decode the parts and join them.")
    }

    /// - Throws: `SwiftDataError.unsupportedPredicate`.
    public func encode(to encoder: any Encoder) throws {
        throw SwiftDataError(.unsupportedPredicate, "Joined predicates cannot be encoded. Encode the parts.")
    }
}

extension JoinedPredicate: CustomStringConvertible {
    public var description: String {
        switch operation {
        case .and: "(\(first.text())) && (\(second.text()))"
        case .or: "(\(first.text())) || (\(second.text()))"
        case .not: "!(\(first.text()))"
        }
    }
}

extension JoinedPredicate: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        switch operation {
        case .and: .and(try parts(&lowering) { if case .and(let parts) = $0 { parts } else { nil } })
        case .or: .or(try parts(&lowering) { if case .or(let parts) = $0 { parts } else { nil } })
        case .not: .not(try first.lower(&lowering))
        }
    }

    private func parts(
        _ lowering: inout Lowering, _ same: (QueryExpression) -> [QueryExpression]?
    ) throws -> [QueryExpression] {
        try [first.lower(&lowering), second.lower(&lowering)].flatMap { same($0) ?? [$0] }
    }

    /// Each part keeps its own variable, to which the record is bound as it is to the whole's.
    static func split<Model: PersistentModel>(
        at expression: UnsafeRawPointer, _ variable: PredicateExpressions.Variable<Model>,
        into predicate: inout LoweredPredicate<Model>
    ) -> Bool {
        let joined = expression.assumingMemoryBound(to: Self.self).pointee
        guard joined.operation == .and,
            let first = joined.first.variable as? PredicateExpressions.Variable<Model>,
            let second = joined.second.variable as? PredicateExpressions.Variable<Model>
        else { return false }
        predicate.split(joined.first.expression, first)
        predicate.split(joined.second.expression, second)
        return true
    }
}
