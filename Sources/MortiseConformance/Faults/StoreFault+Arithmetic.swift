import MortiseCore

/// What an engine with other integers makes of arithmetic.
private enum OtherArithmetic: Sendable {
    /// What does not fit becomes a fraction.
    case fractions
    /// What does not fit begins again at the other end.
    case wrapping
    /// What does not fit stays at the end.
    case saturating
    /// What does not fit is null, and null is in no order.
    case null
    /// Small integers are calculated with as integers of 64 bits.
    case wide

    private struct NotOurs: Error {}

    private enum Number {
        case whole(Int64), unsigned(UInt64), fraction(Double), null

        var double: Double {
            switch self {
            case .whole(let value): Double(value)
            case .unsigned(let value): Double(value)
            case .fraction(let value): value
            case .null: .nan
            }
        }
    }

    /// How a condition is tested in which integers are calculated with; nil for another condition.
    func judge(_ condition: QueryExpression) -> (@Sendable ((QueryProperty) -> StoredValue) throws -> Bool)? {
        switch condition {
        case .not(let inner):
            guard let test = judge(inner) else { return nil }
            return { try !test($0) }
        case .compare(let comparison, let left, let right):
            guard calculates(left) || calculates(right), isKnown(left), isKnown(right) else { return nil }
            return { value in
                let (a, b) = (try evaluate(left, value), try evaluate(right, value))
                if case .null = a { return false }
                if case .null = b { return false }
                if case .whole(let x) = a, case .whole(let y) = b {
                    return ValueSemantics.holds(comparison, .integer(x), .integer(y))
                }
                if case .unsigned(let x) = a, case .unsigned(let y) = b {
                    return ValueSemantics.holds(comparison, .unsigned(x), .unsigned(y))
                }
                return ValueSemantics.holds(comparison, .double(a.double), .double(b.double))
            }
        default: return nil
        }
    }

    private func calculates(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .arithmetic(_, _, _, let kind), .negate(_, let kind): kind.integerRange != nil || kind == .uint64
        default: false
        }
    }

    private func isKnown(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .property(.variable(0), _), .constant(.integer), .constant(.unsigned): true
        case .arithmetic(let operation, let a, let b, _):
            operation != .remainder && isKnown(a) && isKnown(b) && !isZero(b)
        case .negate(let a, _): isKnown(a)
        default: false
        }
    }

    private func isZero(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .constant(.integer(let value)): value == 0
        case .constant(.unsigned(let value)): value == 0
        case .constant: false
        default: true
        }
    }

    private func evaluate(_ expression: QueryExpression, _ value: (QueryProperty) -> StoredValue) throws -> Number {
        switch expression {
        case .property(_, let property): return try number(value(property))
        case .constant(let constant): return try number(constant)
        case .negate(let a, let kind): return try apply(.subtract, .whole(0), evaluate(a, value), kind)
        case .arithmetic(let operation, let a, let b, let kind):
            return try apply(operation, evaluate(a, value), evaluate(b, value), kind)
        default: throw NotOurs()
        }
    }

    private func number(_ value: StoredValue) throws -> Number {
        switch value {
        case .integer(let value): .whole(value)
        case .unsigned(let value): .unsigned(value)
        case .null: .null
        default: throw NotOurs()
        }
    }

    private func apply(
        _ operation: QueryExpression.Arithmetic, _ a: Number, _ b: Number, _ kind: StorageKind
    ) throws -> Number {
        switch (a, b) {
        case (.null, _), (_, .null): return .null
        case (.whole(let x), .whole(let y)):
            let bounds = self == .wide ? Int64.min...Int64.max : kind.integerRange ?? Int64.min...Int64.max
            let (result, isOver) = calculate(operation, x, y)
            if !isOver, bounds.contains(result) { return .whole(result) }
            let exact = fraction(operation, a.double, b.double)
            switch self {
            case .fractions, .wide: return .fraction(exact)
            case .wrapping:
                let bits = kind.integerRange.map { $0.upperBound &- $0.lowerBound &+ 1 } ?? 0
                if bits == 0 { return .whole(result) }
                let offset = (result &- bounds.lowerBound) % bits
                return .whole(bounds.lowerBound &+ (offset < 0 ? offset + bits : offset))
            case .saturating: return .whole(exact < 0 ? bounds.lowerBound : bounds.upperBound)
            case .null: return .null
            }
        case (.unsigned(let x), .unsigned(let y)):
            let (result, isOver) = calculate(operation, x, y)
            if !isOver { return .unsigned(result) }
            switch self {
            case .fractions, .wide: return .fraction(fraction(operation, a.double, b.double))
            case .wrapping: return .unsigned(result)
            case .saturating: return .unsigned(operation == .subtract ? 0 : .max)
            case .null: return .null
            }
        default: return .fraction(fraction(operation, a.double, b.double))
        }
    }

    private func calculate<T: FixedWidthInteger>(_ operation: QueryExpression.Arithmetic, _ x: T, _ y: T) -> (T, Bool) {
        switch operation {
        case .add: x.addingReportingOverflow(y)
        case .subtract: x.subtractingReportingOverflow(y)
        case .multiply: x.multipliedReportingOverflow(by: y)
        case .divide: x.dividedReportingOverflow(by: y)
        case .remainder: x.remainderReportingOverflow(dividingBy: y)
        }
    }

    private func fraction(_ operation: QueryExpression.Arithmetic, _ x: Double, _ y: Double) -> Double {
        switch operation {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        case .remainder: x.truncatingRemainder(dividingBy: y)
        }
    }
}

extension StoreFault {
    private static func calculating(_ id: String, _ summary: String, _ arithmetic: OtherArithmetic) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.judge = { arithmetic.judge($0) } }
    }

    private static func double(_ value: StoredValue) -> Double? {
        switch value {
        case .double(let number): number
        case .float(let number): Double(number)
        default: nil
        }
    }

    private static func summing(
        _ id: String, _ summary: String,
        _ total: @escaping @Sendable ([Int64], StorageKind) throws -> StoredValue
    ) -> StoreFault {
        StoreFault(id, summary, in: .shared) { steps in
            steps.total = { values, kind in
                try total(values.compactMap { if case .integer(let number) = $0 { number } else { nil } }, kind)
            }
        }
    }

    private static func sum(
        _ whole: [Int64], within bounds: ClosedRange<Int64>, _ kind: StorageKind
    ) throws -> StoredValue {
        var sum: Int64 = 0
        for number in whole {
            let (next, isOver) = sum.addingReportingOverflow(number)
            if isOver || !bounds.contains(next) {
                throw QueryEvaluationError.arithmeticOverflow(expression: "sum of \(kind)")
            }
            sum = next
        }
        return .integer(sum)
    }

    static let arithmeticFaults: [StoreFault] = [
        calculating("overflows-into-fractions", "makes a fraction of an integer that is too large", .fractions),
        calculating("wraps-around", "begins at the least integer again after the greatest", .wrapping),
        calculating("saturates", "takes the greatest integer for what is larger", .saturating),
        calculating("overflows-into-null", "has null for an integer that is too large", .null),
        StoreFault("infinities-are-null", "has null for a fraction that is too large", in: .planning) { steps in
            steps.judge = { condition in
                guard
                    case .compare(let comparison, .arithmetic(let operation, let a, let b, let kind), let c) = condition,
                    kind == .double || kind == .float, case .property(.variable(0), let property) = a,
                    case .constant(let operand) = b, case .constant(let bound) = c
                else { return nil }
                return { value in
                    guard let x = double(value(property)), let y = double(operand), let limit = double(bound) else {
                        return false
                    }
                    let result =
                        operation == .multiply
                        ? x * y : operation == .divide ? x / y : operation == .add ? x + y : x - y
                    let isTooLarge = result.isInfinite || kind == .float && Float(result).isInfinite
                    return !isTooLarge && ValueSemantics.holds(comparison, .double(result), .double(limit))
                }
            }
        },
        calculating("calculates-in-64-bits", "calculates with small integers as if they were of 64 bits", .wide),
        StoreFault(
            "overflow-before-its-guard", "calculates before it looks at the condition that guards it", in: .planning
        ) {
            steps in
            steps.conditions = { conditions, _ in
                conditions.filter(\.mayThrow) + conditions.filter { !$0.mayThrow }
            }
        },
        summing("totals-in-fractions", "sums integers as fractions") { whole, kind in
            let sum = whole.reduce(0) { $0 + Double($1) }
            return .integer(Int64(exactly: sum) ?? (sum < 0 ? .min : .max))
        },
        summing("totals-wrap-around", "lets totals begin again at the least integer") { whole, _ in
            .integer(whole.reduce(0, &+))
        },
        summing("totals-in-64-bits", "sums small integers into 64 bits") { whole, kind in
            try sum(whole, within: .min...(.max), kind)
        },
        summing("totals-step-by-step", "refuses a total that did not fit before all was added") { whole, kind in
            try sum(whole.sorted(by: >), within: kind.integerRange ?? .min...(.max), kind)
        },
    ]
}
