public import Foundation

/// What a descriptor asks of one store's history.
///
/// Each token in the descriptor's predicate is narrowed to the store: it stands for the number that it has for the store,
/// and for 0, the beginning, if it does not name the store. Conditions on number, token and time that all transactions have to
/// meet become bounds, for a store that can seek.
public struct HistoryQuery {
    /// Where a range of transactions begins that a token names.
    public struct Origin: Hashable, Sendable {
        /// The token's number in the store's history; 0 for the beginning.
        public let number: Int64
        /// The token's mark; nil if it has none.
        public let mark: UInt64?
        /// Whether the transaction of that number is asked for too.
        public let isIncluded: Bool
    }

    /// The store whose history is asked.
    public let store: String
    /// The numbers that a transaction may have to match; nil if none can.
    public private(set) var numbers: ClosedRange<Int64>? = 1...Int64.max
    /// Where the range begins, if a token says so: whoever asks has seen everything up to there, and nothing after it may be
    /// missing from the answer.
    public private(set) var origin: Origin?
    /// Transactions before this time cannot match; nil if any may.
    public private(set) var earliest: Date?
    /// Whether a transaction has to be made with its changes to see whether it matches.
    public var readsChanges: Bool { !residual.isEmpty }

    private let variable: PredicateExpressions.Variable<DefaultHistoryTransaction>?
    /// What needs no changes, and the rest.
    private var ofHeaders: [any PredicateExpression<Bool>] = []
    private var residual: [any PredicateExpression<Bool>] = []

    /// Reads a descriptor's predicate.
    /// - Parameters:
    ///   - predicate: what transactions have to match; nil for all.
    ///   - store: the identifier of the store.
    public init(_ predicate: Predicate<DefaultHistoryTransaction>?, store: String) {
        self.store = store
        variable = predicate?.variable
        if let predicate { take(predicate.expression) }
    }

    private mutating func take<E: PredicateExpression<Bool>>(_ expression: E) {
        if let sides = (expression as? any HistoryConjunction)?.sides {
            for side in sides {
                if let side = side as? any PredicateExpression<Bool> { take(side) }
            }
            return
        }
        guard let known = expression as? any HistoryExpression else { return residual.append(expression) }
        let narrowed = known.narrowed(to: store, nil) as? E ?? expression
        if known.readsHeaderAlone { ofHeaders.append(narrowed) } else { residual.append(narrowed) }
        if let bound = (narrowed as? any HistoryComparison)?.bound { take(bound) }
    }

    private mutating func take(_ bound: Bound) {
        switch bound.property {
        case .token(let token):
            let number = token.tokenValue?[store] ?? 0
            limit(to: number, bound.relation)
            guard bound.relation == .greater || bound.relation == .greaterOrEqual else { return }
            if let origin, origin.number >= number { return }
            origin = Origin(number: number, mark: token.marks[store], isIncluded: bound.relation == .greaterOrEqual)
        case .number(let number): limit(to: number, bound.relation)
        case .time(let date):
            guard bound.relation != .less, bound.relation != .lessOrEqual else { return }
            earliest = max(earliest ?? date, date)
        }
    }

    private mutating func limit(to number: Int64, _ relation: Relation) {
        guard let numbers else { return }
        var (first, last) = (numbers.lowerBound, numbers.upperBound)
        switch relation {
        case .less: last = min(last, number == .min ? .min : number - 1)
        case .lessOrEqual: last = min(last, number)
        case .equal: (first, last) = (max(first, number), min(last, number))
        case .greaterOrEqual: first = max(first, number)
        case .greater:
            guard number < .max else { return self.numbers = nil }
            first = max(first, number + 1)
        }
        self.numbers = first <= last ? first...last : nil
    }

    /// Whether a transaction may match, as far as can be told without its changes. Only the others of its properties have to be
    /// right.
    /// - Throws: what evaluating the predicate throws.
    public func mayMatch(_ header: DefaultHistoryTransaction) throws -> Bool { try hold(ofHeaders, for: header) }

    /// Whether a transaction matches, of which `mayMatch` has returned true.
    /// - Throws: what evaluating the predicate throws.
    public func matches(_ transaction: DefaultHistoryTransaction) throws -> Bool {
        try hold(residual, for: transaction)
    }

    private func hold(
        _ conditions: [any PredicateExpression<Bool>], for transaction: DefaultHistoryTransaction
    ) throws -> Bool {
        guard let variable, !conditions.isEmpty else { return true }
        let bindings = PredicateBindings((variable, transaction))
        return try conditions.allSatisfy { try $0.evaluate(bindings) }
    }
}

extension HistoryQuery {
    enum Relation {
        case less, lessOrEqual, equal, greaterOrEqual, greater

        /// For operands that have changed sides.
        var mirrored: Relation {
            switch self {
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .equal: .equal
            case .greaterOrEqual: .lessOrEqual
            case .greater: .less
            }
        }

        /// What holds where this one does not.
        var opposite: Relation {
            switch self {
            case .less: .greaterOrEqual
            case .lessOrEqual: .greater
            case .equal: .equal
            case .greaterOrEqual: .less
            case .greater: .lessOrEqual
            }
        }
    }

    /// A condition that transactions meet in one range alone.
    struct Bound {
        enum Property {
            case token(DefaultHistoryToken)
            case number(Int64)
            case time(Date)
        }
        let property: Property
        var relation: Relation

        init?(_ lhs: any PredicateExpression, _ relation: Relation, _ rhs: any PredicateExpression) {
            if let path = (lhs as? any HistoryPath)?.path, let value = (rhs as? any HistoryConstant)?.constant {
                self.init(path, relation, value)
            } else if let path = (rhs as? any HistoryPath)?.path, let value = (lhs as? any HistoryConstant)?.constant {
                self.init(path, relation.mirrored, value)
            } else {
                return nil
            }
        }

        private init?(_ path: AnyKeyPath, _ relation: Relation, _ value: Any) {
            self.relation = relation
            if path == \DefaultHistoryTransaction.token, let token = value as? DefaultHistoryToken {
                property = .token(token)
            } else if Self.numberPaths.contains(path), let number = value as? Int64 {
                property = .number(number)
            } else if path == \DefaultHistoryTransaction.timestamp, let date = value as? Date {
                property = .time(date)
            } else {
                return nil
            }
        }

        private static var numberPaths: Set<AnyKeyPath> {
            [\DefaultHistoryTransaction.transactionIdentifier, \DefaultHistoryTransaction.id]
        }
    }

    /// What is known of a transaction without its changes.
    static var headerPaths: Set<AnyKeyPath> {
        [
            \DefaultHistoryTransaction.token, \DefaultHistoryTransaction.transactionIdentifier,
            \DefaultHistoryTransaction.id, \DefaultHistoryTransaction.timestamp, \DefaultHistoryTransaction.author,
            \DefaultHistoryTransaction.storeIdentifier, \DefaultHistoryTransaction.processIdentifier,
            \DefaultHistoryTransaction.bundleIdentifier,
        ]
    }
}

extension HistoryDescriptor where TransactionType == DefaultHistoryTransaction {
    /// The same with each token in the predicate narrowed to one store, for a store that evaluates predicates itself. A predicate
    /// with parts that are not understood stays as it is.
    func narrowed(to store: String) -> HistoryDescriptor {
        guard let predicate, let narrowed = Self.narrow(predicate.expression, to: store) else { return self }
        var descriptor = self
        descriptor.predicate = narrowed
        return descriptor
    }

    private static func narrow<E: StandardPredicateExpression<Bool>>(
        _ expression: E, to store: String
    ) -> Predicate<DefaultHistoryTransaction>? {
        guard let known = expression as? any HistoryExpression else { return nil }
        var isKnown = true
        let predicate = Predicate<DefaultHistoryTransaction> { variable in
            guard let narrowed = known.narrowed(to: store, variable) as? E else {
                isKnown = false
                return expression
            }
            return narrowed
        }
        return isKnown ? predicate : nil
    }
}
