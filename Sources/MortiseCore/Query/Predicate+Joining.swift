public import Foundation

extension Predicate {
    /// A predicate that holds if both this one and another hold. The other is evaluated only if this one holds.
    ///
    /// Any number of predicates can be joined, in any order.
    public func and(_ other: Predicate<repeat each Input>) -> Predicate<repeat each Input> {
        joined(.and, other)
    }

    /// A predicate that holds if this one or another holds. The other is evaluated only if this one does not hold.
    ///
    /// Any number of predicates can be joined, in any order.
    public func or(_ other: Predicate<repeat each Input>) -> Predicate<repeat each Input> {
        joined(.or, other)
    }

    /// A predicate that holds if this one does not.
    public func not() -> Predicate<repeat each Input> { joined(.not, nil) }

    private func joined(
        _ operation: JoinedPredicate.Operation, _ other: Predicate<repeat each Input>?
    ) -> Predicate<repeat each Input> {
        Predicate<repeat each Input> { (variables: repeat PredicateExpressions.Variable<each Input>) in
            var inputs: [any Sendable] = []
            for variable in repeat each variables { inputs.append(variable) }
            return JoinedPredicate(JoinedPredicate.Join(operation, part, other?.part), inputs)
        }
    }

    /// This predicate as part of another. A joined predicate contributes its own join, so that joins nest as a tree and not
    /// as closures.
    private var part: JoinedPredicate.Part {
        if let joined = expression as? JoinedPredicate { return .join(joined.join) }
        var own: [any Sendable] = []
        for variable in repeat each self.variable { own.append(variable) }
        return .leaf(
            JoinedPredicate.Leaf(
                expression: expression, variable: own.count == 1 ? own[0] : nil
            ) { inputs, bindings in
                var inputs = JoinedPredicate.Inputs(inputs)
                return try self.evaluate(repeat try inputs.next((each Input).self).evaluate(bindings))
            } lower: { inputs, lowering in
                var inputs = JoinedPredicate.Inputs(inputs)
                for (inner, type) in repeat (each self.variable, (each Input).self) {
                    lowering.bind(inner.key, to: try lowering.binding(of: try inputs.next(type).key))
                }
                return try lowering.lower(self.expression)
            })
    }
}

/// Joined predicates: the result of `Predicate.and(_:)`, `or(_:)` and `not()`.
struct JoinedPredicate: StandardPredicateExpression {
    /// The predicate's result is a Boolean.
    typealias Output = Bool

    enum Operation: Sendable { case and, or, not }

    enum Part: Sendable {
        case leaf(Leaf)
        case join(Join)
    }

    /// A predicate that is not joined itself.
    ///
    /// It is kept as closures: current toolchains cannot construct a type that stores a parameter pack of variables at run
    /// time. The closures take the variables of the predicate that is evaluated or lowered.
    struct Leaf: Sendable {
        let expression: any StandardPredicateExpression<Bool>
        /// The predicate's own variable, where it has only one.
        let variable: (any Sendable)?
        let evaluate: @Sendable (_ inputs: [any Sendable], PredicateBindings) throws -> Bool
        let lower: @Sendable (_ inputs: [any Sendable], inout Lowering) throws -> QueryExpression
    }

    /// An operation and its parts. Joins may be nested to any depth, so nothing here goes through them by recursion.
    ///
    /// @unchecked Sendable: the parts change only in `deinit`, where nobody else has the join.
    final class Join: @unchecked Sendable {
        let operation: Operation
        private(set) var first: Part
        private(set) var second: Part?
        /// How many operations are nested in each other at most, where runs of one operation count once.
        let nesting: Int

        init(_ operation: Operation, _ first: Part, _ second: Part?) {
            self.operation = operation
            self.first = first
            self.second = second
            func nesting(_ part: Part?) -> Int {
                guard case .join(let join)? = part else { return 0 }
                return join.operation == operation && operation != .not ? join.nesting - 1 : join.nesting
            }
            self.nesting = max(nesting(first), nesting(second)) + 1
        }

        private static let nothing = Part.leaf(
            Leaf(expression: PredicateExpressions.Value(false), variable: nil) { _, _ in
                false
            } lower: { _, _ in
                .constant(.bool(false))
            })

        private func takeParts(_ pending: inout [Join]) {
            for case .join(let join)? in [first, second] { pending.append(join) }
            first = Self.nothing
            second = nil
        }

        deinit {
            var pending: [Join] = []
            takeParts(&pending)
            while var join = pending.popLast() {
                if isKnownUniquelyReferenced(&join) { join.takeParts(&pending) }
            }
        }
    }

    /// Hands out the variables of a predicate in their order.
    struct Inputs {
        private var rest: ArraySlice<any Sendable>

        init(_ inputs: [any Sendable]) { rest = inputs[...] }

        mutating func next<Input>(_ type: Input.Type) throws -> PredicateExpressions.Variable<Input> {
            guard let variable = rest.popFirst() as? PredicateExpressions.Variable<Input> else {
                throw NotLowerable(reason: "a variable is not bound")
            }
            return variable
        }
    }

    fileprivate let join: Join
    private let inputs: [any Sendable]

    /// `inputs` are the variables of the predicate whose expression this is.
    fileprivate init(_ join: Join, _ inputs: [any Sendable]) {
        self.join = join
        self.inputs = inputs
    }

    /// Evaluates the parts from left to right and stops when the result is known.
    /// - Throws: what a part throws.
    func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        var value = false
        // The operations whose value is wanted, outermost first, with those whose second part is still to be asked.
        var path: [(join: Join, hasSecond: Bool)] = []
        var next: Part? = .join(join)
        while let part = next {
            next = nil
            switch part {
            case .join(let join):
                path.append((join, join.second != nil))
                next = join.first
                continue
            case .leaf(let leaf): value = try leaf.evaluate(inputs, bindings)
            }
            while next == nil, let (join, hasSecond) = path.popLast() {
                switch join.operation {
                case .not: value.toggle()
                case .and where hasSecond && value, .or where hasSecond && !value:
                    path.append((join, false))
                    next = join.second
                case .and, .or: break
                }
            }
        }
        return value
    }

    /// Always throws: decode the parts and join them.
    /// - Throws: `SwiftDataError.unsupportedPredicate`.
    init(from decoder: any Decoder) throws {
        throw SwiftDataError(
            .unsupportedPredicate, "Joined predicates cannot be decoded. Decode the parts and join them.")
    }

    /// Always throws.
    /// - Throws: `SwiftDataError.unsupportedPredicate`.
    func encode(to encoder: any Encoder) throws {
        throw SwiftDataError(.unsupportedPredicate, "Joined predicates cannot be encoded. Encode the parts.")
    }
}

extension JoinedPredicate: CustomStringConvertible {
    /// The joined predicates as text.
    var description: String {
        enum Piece {
            case text(String)
            case part(Part)
        }
        var text = ""
        var pending = [Piece.part(.join(join))]
        while let piece = pending.popLast() {
            switch piece {
            case .text(let piece): text += piece
            case .part(.leaf(let leaf)): text += "\(leaf.expression)"
            case .part(.join(let join)):
                text += join.operation == .not ? "!(" : "("
                pending.append(.text(")"))
                if let second = join.second {
                    pending.append(.part(second))
                    pending.append(.text(join.operation == .and ? ") && (" : ") || ("))
                }
                pending.append(.part(join.first))
            }
        }
        return text
    }

    /// The predicates that are not joined themselves.
    var leaves: [any StandardPredicateExpression<Bool>] {
        var leaves: [any StandardPredicateExpression<Bool>] = []
        var pending = [Part.join(join)]
        while let part = pending.popLast() {
            switch part {
            case .leaf(let leaf): leaves.append(leaf.expression)
            case .join(let join):
                if let second = join.second { pending.append(second) }
                pending.append(join.first)
            }
        }
        return leaves
    }
}

extension JoinedPredicate: LowerableExpression {
    /// What is nested deeper is evaluated on models, which takes no recursion.
    private static let deepest = 32

    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        if join.nesting > Self.deepest {
            throw NotLowerable(reason: "more than \(Self.deepest) joined predicates are nested")
        }
        return try lowered(join, &lowering)
    }

    private func lowered(_ join: Join, _ lowering: inout Lowering) throws -> QueryExpression {
        var operands: [QueryExpression] = []
        for part in Self.operands(of: join) {
            let operand =
                switch part {
                case .leaf(let leaf): try leaf.lower(inputs, &lowering)
                case .join(let join): try lowered(join, &lowering)
                }
            switch (join.operation, operand) {
            case (.and, .and(let parts)), (.or, .or(let parts)): operands += parts
            default: operands.append(operand)
            }
        }
        return switch join.operation {
        case .and: .and(operands)
        case .or: .or(operands)
        case .not: .not(operands[0])
        }
    }

    /// The parts of an operation; those of the same operation by their own parts.
    private static func operands(of join: Join) -> [Part] {
        var operands: [Part] = []
        var pending = [join.second, join.first].compactMap(\.self)
        while let part = pending.popLast() {
            if case .join(let inner) = part, inner.operation == join.operation, join.operation != .not {
                if let second = inner.second { pending.append(second) }
                pending.append(inner.first)
            } else {
                operands.append(part)
            }
        }
        return operands
    }

    func conjuncts(_ variable: PredicateExpressions.VariableID, into conjuncts: inout [QueryExpression]) throws {
        throw NotLowerable(reason: "its parts are lowered one by one")
    }
}

extension JoinedPredicate: SplittableExpression {
    /// Each part keeps its own variable, which is bound to the same record as the whole's.
    func split<Model: PersistentModel>(
        _ variable: PredicateExpressions.Variable<Model>, into predicate: inout LoweredPredicate<Model>
    ) -> Bool {
        guard join.operation == .and else { return false }
        let operands = Self.operands(of: join)
        for case .leaf(let leaf) in operands {
            guard leaf.variable is PredicateExpressions.Variable<Model> else { return false }
        }
        for operand in operands {
            switch operand {
            case .leaf(let leaf):
                guard let own = leaf.variable as? PredicateExpressions.Variable<Model> else { continue }
                predicate.split(leaf.expression, own)
            case .join(let join): predicate.split(JoinedPredicate(join, inputs), variable)
            }
        }
        return true
    }
}
