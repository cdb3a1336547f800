import Foundation

/// Which groups of models are wanted, by what is calculated of each: the comparison of an aggregate with a value, and `&&`, `||`
/// and `!` of such.
///
///     let large = try context.groups(
///         expenses, by: \.account, computing: .count, having: .sum(\.amount) > 100 && .maximum(\.date) < today)
///
/// The aggregates need not be among those that are computed. An aggregate that is nil is equal to nil, and neither less nor greater
/// than anything.
public struct GroupCondition<Model: PersistentModel> {
    indirect enum Test {
        case compare(QueryExpression.Comparison, () throws -> AggregateFunction, StoredValue)
        case and(Test, Test)
        case or(Test, Test)
        case not(Test)
    }

    let test: Test

    /// Whether both hold.
    public static func && (a: GroupCondition, b: GroupCondition) -> GroupCondition {
        GroupCondition(test: .and(a.test, b.test))
    }

    /// Whether one of the two holds.
    public static func || (a: GroupCondition, b: GroupCondition) -> GroupCondition {
        GroupCondition(test: .or(a.test, b.test))
    }

    /// Whether the condition does not hold.
    public static prefix func ! (condition: GroupCondition) -> GroupCondition {
        GroupCondition(test: .not(condition.test))
    }
}

extension Aggregate where Value: PersistentScalar {
    /// Whether the aggregate has that value.
    public static func == (a: Aggregate, b: Value) -> GroupCondition<Model> { a.compared(.equal, b.storedValue) }
    /// Whether the aggregate has another value.
    public static func != (a: Aggregate, b: Value) -> GroupCondition<Model> { a.compared(.notEqual, b.storedValue) }
    /// Whether the aggregate is less than the value.
    public static func < (a: Aggregate, b: Value) -> GroupCondition<Model> { a.compared(.less, b.storedValue) }
    /// Whether the aggregate is less than the value or equal to it.
    public static func <= (a: Aggregate, b: Value) -> GroupCondition<Model> { a.compared(.lessOrEqual, b.storedValue) }
    /// Whether the aggregate is greater than the value.
    public static func > (a: Aggregate, b: Value) -> GroupCondition<Model> { a.compared(.greater, b.storedValue) }
    /// Whether the aggregate is greater than the value or equal to it.
    public static func >= (a: Aggregate, b: Value) -> GroupCondition<Model> {
        a.compared(.greaterOrEqual, b.storedValue)
    }
}

extension Aggregate {
    /// Whether the aggregate has that value; nil where no model of the group has one.
    public static func == <V: PersistentScalar>(a: Aggregate, b: V?) -> GroupCondition<Model> where Value == V? {
        a.compared(.equal, b?.storedValue ?? .null)
    }
    /// Whether the aggregate has another value.
    public static func != <V: PersistentScalar>(a: Aggregate, b: V?) -> GroupCondition<Model> where Value == V? {
        a.compared(.notEqual, b?.storedValue ?? .null)
    }
    /// Whether the aggregate is less than the value.
    public static func < <V: PersistentScalar>(a: Aggregate, b: V) -> GroupCondition<Model> where Value == V? {
        a.compared(.less, b.storedValue)
    }
    /// Whether the aggregate is less than the value or equal to it.
    public static func <= <V: PersistentScalar>(a: Aggregate, b: V) -> GroupCondition<Model> where Value == V? {
        a.compared(.lessOrEqual, b.storedValue)
    }
    /// Whether the aggregate is greater than the value.
    public static func > <V: PersistentScalar>(a: Aggregate, b: V) -> GroupCondition<Model> where Value == V? {
        a.compared(.greater, b.storedValue)
    }
    /// Whether the aggregate is greater than the value or equal to it.
    public static func >= <V: PersistentScalar>(a: Aggregate, b: V) -> GroupCondition<Model> where Value == V? {
        a.compared(.greaterOrEqual, b.storedValue)
    }

    private func compared(_ comparison: QueryExpression.Comparison, _ value: StoredValue) -> GroupCondition<Model> {
        GroupCondition(test: .compare(comparison, lowered, value))
    }
}

/// An order of groups by an aggregate, which need not be among those that are computed.
public struct GroupOrder<Model: PersistentModel> {
    let lowered: () throws -> AggregateFunction
    let isDescending: Bool

    /// From the least to the greatest value; nil first.
    public static func ascending<Value>(_ aggregate: Aggregate<Model, Value>) -> GroupOrder {
        GroupOrder(lowered: aggregate.lowered, isDescending: false)
    }

    /// From the greatest to the least value; nil last.
    public static func descending<Value>(_ aggregate: Aggregate<Model, Value>) -> GroupOrder {
        GroupOrder(lowered: aggregate.lowered, isDescending: true)
    }
}

/// Which groups of an aggregation remain, and in which order.
struct GroupSelection {
    private indirect enum Test {
        case compare(QueryExpression.Comparison, Int, StoredValue)
        case and(Test, Test)
        case or(Test, Test)
        case not(Test)

        func holds(_ values: [StoredValue]) -> Bool {
            switch self {
            case .compare(let comparison, let place, let value):
                ValueSemantics.holds(comparison, values[place], value)
            case .and(let a, let b): a.holds(values) && b.holds(values)
            case .or(let a, let b): a.holds(values) || b.holds(values)
            case .not(let test): !test.holds(values)
            }
        }
    }

    /// All that the store is asked for: what the result shows comes first.
    private(set) var functions: [AggregateFunction]
    private var test: Test?
    private var order: [(place: Int, isDescending: Bool)] = []
    private let limit: Int?

    /// - Throws: `AggregateError`.
    init<T: PersistentModel>(
        _ functions: [AggregateFunction], having condition: GroupCondition<T>?, sortedBy order: [GroupOrder<T>],
        limit: Int?
    ) throws {
        self.functions = functions
        self.limit = limit
        test = try condition.map { try placed($0.test) }
        for key in order { self.order.append((place(of: try key.lowered()), key.isDescending)) }
    }

    private mutating func placed<T: PersistentModel>(_ test: GroupCondition<T>.Test) throws -> Test {
        switch test {
        case .compare(let comparison, let lowered, let value):
            .compare(comparison, place(of: try lowered()), value)
        case .and(let a, let b): .and(try placed(a), try placed(b))
        case .or(let a, let b): .or(try placed(a), try placed(b))
        case .not(let test): .not(try placed(test))
        }
    }

    private mutating func place(of function: AggregateFunction) -> Int {
        if let known = functions.firstIndex(of: function) { return known }
        functions.append(function)
        return functions.count - 1
    }

    /// Groups with equal values keep the order in which they come.
    /// - Throws: `QueryEvaluationError.unfit` if a store left out a result.
    func callAsFunction(_ groups: [AggregateGroup]) throws -> ArraySlice<AggregateGroup> {
        if let short = groups.first(where: { $0.values.count < functions.count }) {
            throw QueryEvaluationError.unfit(
                expression: "a group with \(short.values.count) results of \(functions.count)")
        }
        var groups = test.map { test in groups.filter { test.holds($0.values) } } ?? groups
        if !order.isEmpty {
            // The array's sort keeps equal elements in order.
            groups.sort { a, b in
                for (place, isDescending) in order {
                    switch ValueSemantics.sortOrder(a.values[place], b.values[place]) {
                    case .orderedSame: continue
                    case .orderedAscending: return !isDescending
                    case .orderedDescending: return isDescending
                    }
                }
                return false
            }
        }
        return groups.prefix(max(limit ?? groups.count, 0))
    }
}
