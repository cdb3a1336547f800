/// Models that have their keys in common, and what was calculated of them.
public struct ModelGroup<Key, Values> {
    /// The key; a tuple of several.
    public let key: Key
    /// The results; a tuple of several.
    public let values: Values
}

extension ModelGroup: Sendable where Key: Sendable, Values: Sendable {}

extension ModelContext {
    /// Calculates for each group of models with the same keys.
    ///
    ///     let months = try context.groups(expenses, by: \.account, \.category?.name, computing: .count, .sum(\.amount))
    ///     for group in months { print(group.key.1 ?? "-", group.values.1) }
    ///
    /// Groups are in ascending order of their keys, the first key first and nil before all others. Values that are equal in a
    /// predicate form one group, and all NaN form one. The descriptor's predicate, offset, limit and unsaved changes count as they
    /// do in a fetch.
    /// - Parameters:
    ///   - descriptor: which models.
    ///   - keys: properties as in `GroupKey.property(_:)`. The other variant takes dates by periods and expressions.
    ///   - aggregates: what to calculate of each group.
    ///   - isWanted: whether a group is part of the result; nil for all.
    ///   - precedes: the order of the groups; nil for that of their keys.
    ///   - limit: the most groups of the result, the first ones; nil for all.
    /// - Returns: the groups.
    /// - Throws: `AggregateError`; `QueryEvaluationError.arithmeticOverflow` for a sum that does not fit the property's type; what
    ///   `fetch(_:)` and the closures throw.
    public func groups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat KeyPath<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>,
        having isWanted: ((ModelGroup<(repeat each Key), (repeat each Value)>) throws -> Bool)? = nil,
        sortedBy precedes: (
            (ModelGroup<(repeat each Key), (repeat each Value)>, ModelGroup<(repeat each Key), (repeat each Value)>)
                throws
                -> Bool
        )? = nil,
        limit: Int? = nil
    ) throws -> [ModelGroup<(repeat each Key), (repeat each Value)>] {
        try groups(
            descriptor, by: repeat GroupKey<T, each Key>.property(each keys), computing: repeat each aggregates,
            having: isWanted, sortedBy: precedes, limit: limit)
    }

    /// Calculates for each group of models with the same keys, which may be periods of a calendar and expressions.
    ///
    ///     let months = try context.groups(
    ///         expenses, by: .start(of: .month, \.date), .property(\.category?.name), computing: .sum(\.amount),
    ///         having: { $0.values > 100 }, sortedBy: { $0.values > $1.values }, limit: 10)
    ///
    /// - Parameters:
    ///   - descriptor: which models.
    ///   - keys: what the models of a group have in common.
    ///   - aggregates: what to calculate of each group.
    ///   - isWanted: whether a group is part of the result; nil for all.
    ///   - precedes: the order of the groups; nil for that of their keys.
    ///   - limit: the most groups of the result, the first ones; nil for all.
    /// - Returns: the groups.
    /// - Throws: as the variant for properties.
    public func groups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat GroupKey<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>,
        having isWanted: ((ModelGroup<(repeat each Key), (repeat each Value)>) throws -> Bool)? = nil,
        sortedBy precedes: (
            (ModelGroup<(repeat each Key), (repeat each Value)>, ModelGroup<(repeat each Key), (repeat each Value)>)
                throws
                -> Bool
        )? = nil,
        limit: Int? = nil
    ) throws -> [ModelGroup<(repeat each Key), (repeat each Value)>] {
        let values = (repeat try (each keys).value())
        let functions = try AggregateList(T.self, repeat each aggregates)
        let found = try state.aggregate(descriptor, by: try Self.lowered(repeat each keys), functions.lowered)
        var groups: [ModelGroup<(repeat each Key), (repeat each Value)>] = []
        for group in found {
            var stored = StoredKeys(group.keys, state)
            var results = AggregateValues(group.values)
            let made = ModelGroup(
                key: (repeat try stored.next(each values)), values: (repeat try results.next(each aggregates)))
            if try isWanted?(made) ?? true { groups.append(made) }
        }
        if let precedes { try groups.sort(by: precedes) }
        return limit.map { Array(groups.prefix(max($0, 0))) } ?? groups
    }

    /// Calculates, and reports how: whether the store did it, and how many rows it looked at.
    /// - Throws: what `groups` throws.
    public func explainGroups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat GroupKey<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>
    ) throws -> FetchExplanation {
        repeat _ = try (each keys).value()
        return try state.explain(
            descriptor, by: try Self.lowered(repeat each keys),
            try AggregateList(T.self, repeat each aggregates).lowered)
    }

    private static func lowered<T: PersistentModel, each Key>(
        _ keys: repeat GroupKey<T, each Key>
    ) throws -> [QueryExpression] {
        var lowered: [QueryExpression] = []
        for key in repeat each keys { lowered.append(try key.lowered()) }
        return lowered
    }
}

/// The keys of a group, taken one after the other.
private struct StoredKeys {
    private let keys: [StoredValue]
    private let models: any ModelFinding
    private var place = 0

    init(_ keys: [StoredValue], _ models: any ModelFinding) {
        self.keys = keys
        self.models = models
    }

    mutating func next<Value>(_ value: GroupValue<Value>) throws -> Value {
        guard place < keys.count, let made = value(keys[place], models) else {
            throw QueryEvaluationError.unfit(expression: "key \(place + 1) of a group")
        }
        place += 1
        return made
    }
}
