import Foundation

/// Arithmetic on stored numbers, in the type in which the predicate does it. What would end the process there is thrown.
struct Calculation {
    let expression: QueryExpression

    init(_ expression: QueryExpression) { self.expression = expression }

    private var overflow: QueryEvaluationError { .arithmeticOverflow(expression: "\(expression)") }
    private var byZero: QueryEvaluationError { .divisionByZero(expression: "\(expression)") }
    var unfit: QueryEvaluationError { .unfit(expression: "\(expression)") }

    func apply(
        _ operation: QueryExpression.Arithmetic, _ a: StoredValue, _ b: StoredValue, _ kind: StorageKind
    ) throws -> StoredValue {
        switch (a, b) {
        case (.integer(let x), .integer(let y)):
            return .integer(try apply(operation, x, y, kind.integerRange))
        case (.unsigned(let x), .unsigned(let y)): return .unsigned(try integer(operation, x, y))
        case (.double(let x), .double(let y)): return .double(try floating(operation, x, y))
        case (.float(let x), .float(let y)): return .float(try floating(operation, x, y))
        case (.decimal(let x), .decimal(let y)):
            switch operation {
            case .add: return .decimal(x + y)
            case .subtract: return .decimal(x - y)
            case .multiply: return .decimal(x * y)
            case .divide: return .decimal(x / y)
            case .remainder: throw unfit
            }
        default: throw unfit
        }
    }

    /// The result of an operation on integers. `range` is what the type of the result can hold; nil means 64 bits.
    /// Throws `arithmeticOverflow` outside the range, `divisionByZero`.
    func apply(
        _ operation: QueryExpression.Arithmetic, _ x: Int64, _ y: Int64, _ range: ClosedRange<Int64>?
    ) throws -> Int64 {
        // The remainder is 0, but the quotient on the way to it does not fit, and Swift's operator ends the process.
        if operation == .remainder, y == -1, x == range?.lowerBound { throw overflow }
        let result = try integer(operation, x, y)
        guard range?.contains(result) ?? true else { throw overflow }
        return result
    }

    private func integer<T: FixedWidthInteger>(_ operation: QueryExpression.Arithmetic, _ x: T, _ y: T) throws -> T {
        if operation == .divide || operation == .remainder, y == 0 { throw byZero }
        let (result, overflows) =
            switch operation {
            case .add: x.addingReportingOverflow(y)
            case .subtract: x.subtractingReportingOverflow(y)
            case .multiply: x.multipliedReportingOverflow(by: y)
            case .divide: x.dividedReportingOverflow(by: y)
            case .remainder: x.remainderReportingOverflow(dividingBy: y)
            }
        if overflows { throw overflow }
        return result
    }

    func floating<T: BinaryFloatingPoint>(_ operation: QueryExpression.Arithmetic, _ x: T, _ y: T) throws -> T {
        switch operation {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        case .remainder: throw unfit
        }
    }

    /// The number with its sign changed. `range` is what the type of the result can hold; nil means 64 bits. Throws
    /// `arithmeticOverflow` outside the range.
    func negate(_ x: Int64, _ range: ClosedRange<Int64>?) throws -> Int64 {
        let (result, overflows) = Int64(0).subtractingReportingOverflow(x)
        guard !overflows, range?.contains(result) ?? true else { throw overflow }
        return result
    }

    func negate(_ value: StoredValue, _ kind: StorageKind) throws -> StoredValue {
        switch value {
        case .integer(let x):
            return .integer(try negate(x, kind.integerRange))
        case .double(let x): return .double(-x)
        case .float(let x): return .float(-x)
        case .decimal(let x): return .decimal(-x)
        default: throw unfit
        }
    }
}

extension StorageKind {
    /// Whether values of the kind are integers, whose arithmetic may overflow.
    var isInteger: Bool { self == .uint64 || integerRange != nil }
}
