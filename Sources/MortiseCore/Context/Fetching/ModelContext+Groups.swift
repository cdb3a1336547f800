extension ModelContext {
    /// Calculates for each group of models with the same key.
    ///
    ///     let sums = try context.groups(
    ///         expenses, by: \.category?.name, computing: .sum(\.amount), having: .sum(\.amount) > 100,
    ///         sortedBy: [.descending(.sum(\.amount))], limit: 10)
    ///     for group in sums { print(group.key ?? "-", group.values) }
    ///
    /// The other variants take several keys, several aggregates, and periods of dates and expressions as keys:
    ///
    ///     let months = try context.groups(
    ///         expenses, by: .start(of: .month, \.date), .property(\.category?.name), computing: .count, .sum(\.amount))
    ///     for group in months { print(group.key.0, group.key.1 ?? "-", group.values.1) }
    ///
    /// Groups that the order leaves equal are in ascending order of their keys, the first key first and nil before all others.
    /// Values that are equal in a predicate form one group, and all NaN form one. The descriptor's predicate, offset, limit and
    /// unsaved changes count as they do in a fetch. The store calculates where it can; what it finds is then chosen and ordered.
    /// - Parameters:
    ///   - descriptor: which models.
    ///   - key: a property as in `GroupKey.property(_:)`.
    ///   - aggregate: what to calculate of each group.
    ///   - condition: which groups are part of the result; nil for all.
    ///   - order: the order of the groups; empty for that of their keys.
    ///   - limit: the most groups of the result, the first ones; nil for all.
    /// - Returns: the groups.
    /// - Throws: `AggregateError`; `QueryEvaluationError.arithmeticOverflow` for a sum that does not fit the property's type; what
    ///   `fetch(_:)` throws.
    public func groups<T: PersistentModel, Key, Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key>, computing aggregate: Aggregate<T, Value>,
        having condition: GroupCondition<T>? = nil, sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<Key, Value> {
        try groups(
            descriptor, by: GroupKey.property(key), computing: aggregate, having: condition, sortedBy: order,
            limit: limit)
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key>,
        computing aggregates: repeat Aggregate<T, each Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<Key, (repeat each Value)> {
        try groups(
            descriptor, by: GroupKey.property(key), computing: repeat each aggregates, having: condition,
            sortedBy: order, limit: limit)
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, each Key, Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat KeyPath<T, each Key>,
        computing aggregate: Aggregate<T, Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<(repeat each Key), Value> {
        try groups(
            descriptor, by: repeat GroupKey<T, each Key>.property(each keys), computing: aggregate, having: condition,
            sortedBy: order, limit: limit)
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat KeyPath<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<(repeat each Key), (repeat each Value)> {
        try groups(
            descriptor, by: repeat GroupKey<T, each Key>.property(each keys), computing: repeat each aggregates,
            having: condition, sortedBy: order, limit: limit)
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, Key, Value>(
        _ descriptor: FetchDescriptor<T>, by key: GroupKey<T, Key>, computing aggregate: Aggregate<T, Value>,
        having condition: GroupCondition<T>? = nil, sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<Key, Value> {
        let value = try key.value()
        return try groups(
            descriptor, try lowered(key), try AggregateList(T.self, aggregate), condition, order, limit
        ) { stored, results in
            ModelGroup(key: try stored.next(key, value), values: try results.next(aggregate))
        }
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: GroupKey<T, Key>,
        computing aggregates: repeat Aggregate<T, each Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<Key, (repeat each Value)> {
        let value = try key.value()
        return try groups(
            descriptor, try lowered(key), try AggregateList(T.self, repeat each aggregates), condition, order, limit
        ) { stored, results in
            ModelGroup(key: try stored.next(key, value), values: (repeat try results.next(each aggregates)))
        }
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, each Key, Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat GroupKey<T, each Key>,
        computing aggregate: Aggregate<T, Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<(repeat each Key), Value> {
        let values = (repeat try (each keys).value())
        return try groups(
            descriptor, try lowered(repeat each keys), try AggregateList(T.self, aggregate), condition, order, limit
        ) { stored, results in
            ModelGroup(key: (repeat try stored.next(each keys, each values)), values: try results.next(aggregate))
        }
    }

    /// See `groups(_:by:computing:having:sortedBy:limit:)`.
    public func groups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat GroupKey<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>, having condition: GroupCondition<T>? = nil,
        sortedBy order: [GroupOrder<T>] = [], limit: Int? = nil
    ) throws -> ModelGroups<(repeat each Key), (repeat each Value)> {
        let values = (repeat try (each keys).value())
        return try groups(
            descriptor, try lowered(repeat each keys), try AggregateList(T.self, repeat each aggregates), condition,
            order, limit
        ) { stored, results in
            ModelGroup(
                key: (repeat try stored.next(each keys, each values)),
                values: (repeat try results.next(each aggregates)))
        }
    }

    private func groups<T: PersistentModel, Key, Values>(
        _ descriptor: FetchDescriptor<T>, _ keys: [QueryExpression], _ functions: AggregateList,
        _ condition: GroupCondition<T>?, _ order: [GroupOrder<T>], _ limit: Int?,
        _ made: (inout StoredKeys, inout AggregateValues) throws -> ModelGroup<Key, Values>
    ) throws -> ModelGroups<Key, Values> {
        let selection = try GroupSelection(functions.lowered, having: condition, sortedBy: order, limit: limit)
        let found = try selection(state.aggregate(descriptor, by: keys, selection.functions))
        // All at once, where the store has to be asked for each.
        try state.resolving {
            state.load(
                found.flatMap(\.keys).compactMap {
                    if case .identifier(let identifier) = $0 { identifier } else { nil }
                })
        }
        return ModelGroups(
            try found.map { group in
                var stored = StoredKeys(group.keys, state)
                var results = AggregateValues(group.values)
                return try made(&stored, &results)
            })
    }

    /// Calculates, and reports how: whether the store did it, and how many rows it looked at.
    /// - Throws: what `groups` throws.
    public func explainGroups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat KeyPath<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>
    ) throws -> FetchExplanation {
        try explainGroups(
            descriptor, by: repeat GroupKey<T, each Key>.property(each keys), computing: repeat each aggregates)
    }

    /// See the variant for properties.
    public func explainGroups<T: PersistentModel, each Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keys: repeat GroupKey<T, each Key>,
        computing aggregates: repeat Aggregate<T, each Value>
    ) throws -> FetchExplanation {
        repeat _ = try (each keys).value()
        return try state.explain(
            descriptor, by: try lowered(repeat each keys), try AggregateList(T.self, repeat each aggregates).lowered)
    }

    private func lowered<T: PersistentModel, each Key>(_ keys: repeat GroupKey<T, each Key>) throws -> [QueryExpression]
    {
        var lowered: [QueryExpression] = []
        for key in repeat each keys { lowered.append(try key.lowered()) }
        return lowered
    }
}

/// The keys of a group, taken one after the other.
private struct StoredKeys {
    private let keys: [StoredValue]
    private let state: ContextState
    private var place = 0

    init(_ keys: [StoredValue], _ state: ContextState) {
        self.keys = keys
        self.state = state
    }

    /// - Throws: `AggregateError.unusableKey`; why a related model cannot be read.
    mutating func next<T, Value>(_ key: GroupKey<T, Value>, _ value: GroupValue<Value>) throws -> Value {
        guard place < keys.count else { throw key.unusable("the store returned a group without it") }
        let stored = keys[place]
        place += 1
        // A damaged record is an error of this call, not of the next one.
        guard let made = try state.resolving({ value(stored, state) }) else {
            throw key.unusable("\(stored) is no value of \(Value.self)")
        }
        return made
    }
}
