import Foundation

/// Calculates one function for any number of groups, value by value. The framework uses it for every store; a store can
/// use it to aggregate itself.
public final class AggregateState {
    private let function: AggregateFunction
    private let kind: StorageKind?
    // By group; each function and kind uses some of them.
    private var counts: [Int] = []
    private var wholes: [Int128] = []
    private var doubles: [Double] = []
    private var floats: [Float] = []
    private var decimals: [Decimal] = []
    /// The sums of decimals as long as whole numbers hold them exactly, which are added many times faster.
    private var scaled: [ScaledSum] = []
    private var best: [StoredValue] = []

    /// Makes the state of a function, without groups.
    public init(_ function: AggregateFunction) {
        self.function = function
        kind =
            switch function {
            case .sum(_, let kind), .average(_, let kind): kind
            default: nil
            }
    }

    /// Makes room for that many groups.
    public func reserve(groups: Int) {
        guard groups > counts.count else { return }
        let more = groups - counts.count
        counts += repeatElement(0, count: more)
        switch (function, kind) {
        case (.count, _): break
        case (.minimum, _), (.maximum, _): best += repeatElement(.null, count: more)
        case (_, .decimal?):
            decimals += repeatElement(0, count: more)
            scaled += repeatElement(ScaledSum(), count: more)
        case (.sum, .float?): floats += repeatElement(0, count: more)
        case (_, .float?), (_, .double?): doubles += repeatElement(0, count: more)
        default: wholes += repeatElement(0, count: more)
        }
    }

    // MARK: Taking values in

    /// Adds records to a group, for `count`.
    public func add(count: Int, group: Int) { counts[group] += count }

    /// Adds one record to each of the groups, for `count`.
    public func add(oneTo groups: UnsafeBufferPointer<Int>) {
        for group in groups { counts[group] += 1 }
    }

    /// Adds a value to a group for which `reserve(groups:)` made room.
    /// - Throws: `QueryEvaluationError.unfit` for a value of another kind than that of the function.
    public func add(_ value: StoredValue, group: Int) throws {
        if case .count = function {
            counts[group] += 1
            return
        }
        if value.isNull { return }
        switch function {
        case .count: break
        case .minimum: consider(value, group, .orderedAscending)
        case .maximum: consider(value, group, .orderedDescending)
        case .sum(let expression, _), .average(let expression, _):
            switch (value, kind) {
            case (.integer(let number), _) where !wholes.isEmpty: wholes[group] += Int128(number)
            case (.unsigned(let number), .uint64?): wholes[group] += Int128(number)
            case (.double(let number), .double?): doubles[group] += number
            case (.float(let number), .float?):
                if floats.isEmpty { doubles[group] += Double(number) } else { floats[group] += number }
            case (.decimal(let number), .decimal?):
                endScaling(group)
                decimals[group] += number
            default: throw QueryEvaluationError.unfit(expression: "\(expression)")
            }
        }
        counts[group] += 1
    }

    /// Adds doubles that are not null to a sum or an average of doubles, in order.
    public func add(_ numbers: UnsafeBufferPointer<Double>, groups: UnsafeBufferPointer<Int>) {
        for (number, group) in zip(numbers, groups) {
            doubles[group] += number
            counts[group] += 1
        }
    }

    /// Adds integers that are not null to a sum or an average, in order.
    public func add(_ numbers: UnsafeBufferPointer<Int64>, groups: UnsafeBufferPointer<Int>) {
        for (number, group) in zip(numbers, groups) {
            wholes[group] += Int128(number)
            counts[group] += 1
        }
    }

    /// Adds decimals that are not null to a sum or an average of decimals, in order. The results are those of adding them as
    /// decimals.
    public func add(_ numbers: UnsafeBufferPointer<ScaledInteger>, groups: UnsafeBufferPointer<Int>) {
        for (number, group) in zip(numbers, groups) {
            counts[group] += 1
            if scaled[group].add(number) { continue }
            // As far as the sum was exact, decimals would have come to it as well.
            endScaling(group)
            decimals[group] += number.decimal
        }
    }

    private func endScaling(_ group: Int) {
        if scaled[group].hasEnded { return }
        decimals[group] = scaled[group].total.decimal
        scaled[group].hasEnded = true
    }

    private func decimal(_ group: Int) -> Decimal {
        scaled[group].hasEnded ? decimals[group] : scaled[group].total.decimal
    }

    private func consider(_ value: StoredValue, _ group: Int, _ wanted: ComparisonResult) {
        if best[group].isNull || best[group].isNotANumber {
            // The first value, or the first that is a number.
            if best[group].isNull || !value.isNotANumber { best[group] = value }
        } else if !value.isNotANumber, ValueSemantics.sortOrder(value, best[group]) == wanted {
            best[group] = value
        }
    }

    // MARK: Results

    /// The function's result for a group.
    /// - Throws: `QueryEvaluationError.arithmeticOverflow` for a sum of integers that its type cannot hold.
    public func result(group: Int) throws -> StoredValue {
        switch function {
        case .count: return .integer(Int64(counts[group]))
        case .minimum, .maximum: return best[group]
        case .sum(let expression, let kind):
            switch kind {
            case .double: return .double(doubles[group])
            case .float: return .float(floats[group])
            case .decimal: return .decimal(decimal(group))
            case .uint64:
                if let sum = UInt64(exactly: wholes[group]) { return .unsigned(sum) }
            default:
                if let sum = Int64(exactly: wholes[group]), kind.integerRange?.contains(sum) == true {
                    return .integer(sum)
                }
            }
            throw QueryEvaluationError.arithmeticOverflow(expression: "sum of \(expression)")
        case .average(_, let kind):
            let count = counts[group]
            if count == 0 { return .null }
            switch kind {
            case .double, .float: return .double(doubles[group] / Double(count))
            case .decimal: return .decimal(decimal(group) / Decimal(count))
            default: return .double(Double(wholes[group]) / Double(count))
            }
        }
    }
}

/// Assigns numbers to groups by their keys: values that are equal in a predicate are one group, null is a group, and so
/// is NaN.
public struct AggregateGroups {
    private var numbers: [[StoredValue]: Int] = [:]
    /// The keys of each group, as the first record of it has them.
    private var keys: [[StoredValue]] = []

    /// Makes an empty set of groups.
    public init() {}

    /// The number of groups so far.
    public var count: Int { keys.count }

    /// The number of a group, from 0; a new one if these keys are new.
    public mutating func number(of values: [StoredValue]) -> Int {
        let normal = values.map(\.normalKey)
        if let known = numbers[normal] { return known }
        numbers[normal] = keys.count
        keys.append(values)
        return keys.count - 1
    }

    /// The groups in ascending order of their keys, null first.
    /// - Throws: `QueryEvaluationError.arithmeticOverflow`.
    public func results(_ states: [AggregateState]) throws -> [AggregateGroup] {
        let order = keys.indices.sorted { a, b in
            for (left, right) in zip(keys[a], keys[b]) {
                switch ValueSemantics.sortOrder(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a < b
        }
        return try order.map { group in
            AggregateGroup(keys: keys[group], values: try states.map { try $0.result(group: group) })
        }
    }
}

extension StoredValue {
    /// Whether the value is NaN, even of a kind whose NaN equals itself.
    package var isNotANumber: Bool {
        switch self {
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }

    /// The same for all values that are one group.
    fileprivate var normalKey: StoredValue {
        switch self {
        case .double(let value): .double(value.isNaN ? .nan : value == 0 ? 0 : value)
        case .float(let value): .float(value.isNaN ? .nan : value == 0 ? 0 : value)
        case .date(let value):
            .date(
                Date(
                    timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate.isNaN
                        ? .nan : value.timeIntervalSinceReferenceDate + 0))
        default: self
        }
    }
}
