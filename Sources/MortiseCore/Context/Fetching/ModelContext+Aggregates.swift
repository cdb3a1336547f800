extension ModelContext {
    /// Calculates from the models that a fetch would return, without creating them: on the store's columns if it
    /// supports that, otherwise on stored values.
    ///
    ///     let (count, total) = try context.aggregate(FetchDescriptor<Trip>(), .count, .sum(\.price))
    ///     let dearest = try context.aggregate(summer, .maximum(\.price))
    ///
    /// The descriptor's predicate, offset, limit and unsaved changes count as they do in a fetch.
    /// - Throws: `AggregateError.notStored` for a key path to a property that is not stored;
    ///   `QueryEvaluationError.arithmeticOverflow` for a sum that does not fit the property's type; what `fetch(_:)`
    ///   throws.
    public func aggregate<T: PersistentModel, each Value>(
        _ descriptor: FetchDescriptor<T>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> (repeat each Value) {
        let functions = try AggregateList(T.self, repeat each aggregates)
        let groups = try state.aggregate(descriptor, by: [], functions.lowered)
        var values = AggregateValues(groups.first?.values ?? [])
        return (repeat try values.next(each aggregates))
    }

    /// Calculates one aggregate of the models that a fetch would return; see the variant for several.
    public func aggregate<T: PersistentModel, Value>(
        _ descriptor: FetchDescriptor<T>, _ aggregate: Aggregate<T, Value>
    ) throws -> Value {
        var values = AggregateValues(
            try state.aggregate(descriptor, by: [], [try aggregate.lowered()]).first?.values ?? [])
        return try values.next(aggregate)
    }

    /// Calculates, and reports how: whether the store did it, and how many rows it looked at. Least and greatest values
    /// of an indexed property take no more than the ends of the index.
    /// - Throws: what `aggregate(_:_:)` throws.
    public func explain<T: PersistentModel, First, each Value>(
        _ descriptor: FetchDescriptor<T>, _ first: Aggregate<T, First>, _ others: repeat Aggregate<T, each Value>
    ) throws -> FetchExplanation {
        let functions = try [first.lowered()] + AggregateList(T.self, repeat each others).lowered
        return try state.explain(descriptor, by: [], functions)
    }

    /// Calculates for each group of models with equal values of a property. Groups are in ascending order of that
    /// property, nil first.
    ///
    ///     for (destination, (count, average)) in try context.aggregate(
    ///         trips, by: \.destination, .count, .average(\.price)) { … }
    ///
    /// Values that are equal in a predicate form one group, and all NaN form one. See `aggregate(_:_:)`.
    public func aggregate<T: PersistentModel, Key: PersistentScalar, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> [(key: Key, values: (repeat each Value))] {
        try groups(descriptor, by: key, Key.init(storedValue:), repeat each aggregates)
    }

    /// See `aggregate(_:by:_:)`.
    public func aggregate<T: PersistentModel, Key: PersistentScalar, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key?>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> [(key: Key?, values: (repeat each Value))] {
        try groups(
            descriptor, by: key, { $0.isNull ? .some(nil) : Key(storedValue: $0).map { .some($0) } },
            repeat each aggregates)
    }

    /// See `aggregate(_:by:_:)`; the order is that of the raw values.
    public func aggregate<T: PersistentModel, Key: RawRepresentable, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> [(key: Key, values: (repeat each Value))] where Key.RawValue: PersistentScalar {
        try groups(
            descriptor, by: key, { Key.RawValue(storedValue: $0).flatMap(Key.init(rawValue:)) }, repeat each aggregates)
    }

    /// See `aggregate(_:by:_:)`; the order is that of the raw values, nil first.
    public func aggregate<T: PersistentModel, Key: RawRepresentable, each Value>(
        _ descriptor: FetchDescriptor<T>, by key: KeyPath<T, Key?>, _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> [(key: Key?, values: (repeat each Value))] where Key.RawValue: PersistentScalar {
        try groups(
            descriptor, by: key,
            {
                if $0.isNull { return .some(nil) }
                return Key.RawValue(storedValue: $0).flatMap(Key.init(rawValue:)).map { .some($0) }
            }, repeat each aggregates)
    }

    private func groups<T: PersistentModel, Key, each Value>(
        _ descriptor: FetchDescriptor<T>, by keyPath: AnyKeyPath, _ decode: (StoredValue) -> Key?,
        _ aggregates: repeat Aggregate<T, each Value>
    ) throws -> [(key: Key, values: (repeat each Value))] {
        let functions = try AggregateList(T.self, repeat each aggregates)
        let expression = try AggregateError.lowering(keyPath, of: T.self)
        var result: [(key: Key, values: (repeat each Value))] = []
        for group in try state.aggregate(descriptor, by: [expression], functions.lowered) {
            guard let stored = group.keys.first, let key = decode(stored) else {
                throw QueryEvaluationError.unfit(expression: "\(expression)")
            }
            var values = AggregateValues(group.values)
            result.append((key, (repeat try values.next(each aggregates))))
        }
        return result
    }
}

/// The lowered form of any number of aggregates.
struct AggregateList {
    private(set) var lowered: [AggregateFunction] = []

    init<T: PersistentModel, each Value>(_ type: T.Type, _ aggregates: repeat Aggregate<T, each Value>) throws {
        for aggregate in repeat each aggregates { lowered.append(try aggregate.lowered()) }
    }
}

/// Results that are taken one after the other.
struct AggregateValues {
    private let values: [StoredValue]
    private var place = 0

    init(_ values: [StoredValue]) { self.values = values }

    mutating func next<T, Value>(_ aggregate: Aggregate<T, Value>) throws -> Value {
        guard place < values.count, let value = aggregate.decode(values[place]) else {
            throw QueryEvaluationError.unfit(expression: "\(aggregate.operation)")
        }
        place += 1
        return value
    }
}

extension ContextState {
    func aggregate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, by keys: [QueryExpression], _ functions: [AggregateFunction]
    ) throws -> [AggregateGroup] {
        let descriptor = unordered(descriptor)
        guard var pushed = try pushedAggregate(descriptor, by: keys, functions)?.groups else {
            return try residualAggregate(descriptor, by: keys, functions)
        }
        guard container.verifiesPushDown else { return pushed }
        let session = try tables(under: T.self).first?.session
        // Reading the rows takes in what other processes have saved meanwhile, which the store's answer does not
        // include. Beside a process that saves all the time, the two cannot be compared.
        for _ in 0..<16 {
            let version = session?.version?.number
            let expected = try residualAggregate(descriptor, by: keys, functions)
            if session?.version?.number == version {
                guard pushed != expected else { return pushed }
                throw AggregateError.falseResult(
                    adapter: session?.typeName ?? "", expected: "\(expected)", found: "\(pushed)")
            }
            guard let again = try pushedAggregate(descriptor, by: keys, functions)?.groups else { return expected }
            pushed = again
        }
        return pushed
    }

    func explain<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, by keys: [QueryExpression], _ functions: [AggregateFunction]
    ) throws -> FetchExplanation {
        let descriptor = unordered(descriptor)
        return try pushedAggregate(descriptor, by: keys, functions)?.explanation
            ?? QueryRun(descriptor, in: self).explanation
    }

    /// The order decides which models a window leaves, and nothing else.
    private func unordered<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> FetchDescriptor<T> {
        if isLimited(descriptor) { return descriptor }
        var descriptor = descriptor
        descriptor.sortBy = []
        return descriptor
    }

    private func isLimited<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> Bool {
        descriptor.fetchLimit != nil || descriptor.fetchOffset ?? 0 > 0
    }

    /// Nil if the store leaves it to the framework.
    private func pushedAggregate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, by keys: [QueryExpression], _ functions: [AggregateFunction]
    ) throws -> (groups: [AggregateGroup], explanation: FetchExplanation)? {
        if isLimited(descriptor) { return nil }
        try prepare()
        guard let session = try tables(under: T.self).first?.session,
            session.capabilities.contains(.aggregates),
            !(descriptor.includePendingChanges && hasChanges)
        else { return nil }
        try refresh(session)
        let lowered = PreparedQuery(descriptor, under: container.schema)
        var query = lowered.query
        query.avoidsFullScan = refusesFullScans(descriptor.fullScanPolicy)
        guard lowered.conjunctCode.isEmpty, var plan = try session.plan(query), plan.isExact else { return nil }
        try checkPolicy(plan, query, descriptor.fullScanPolicy)
        guard let answer = try session.aggregate(AggregateQuery(query, by: keys, functions)) else {
            return nil
        }
        plan.note(answer.report)
        try warn(plan, query, scanned: answer.report.scanned, descriptor.fullScanPolicy)
        let explanation = FetchExplanation(
            entity: query.entity, store: session.configurationName,
            conjuncts: query.conjuncts.map { .init(text: "\($0.expression)", status: .pushed) }, order: [],
            orderClaim: .total, offset: 0, limit: nil, windowIsPushed: true, mergesPendingChanges: false,
            isFullScan: plan.isFullScan, rowsScanned: answer.report.scanned, rowsReturned: answer.groups.count,
            detail: plan.detail)
        return (answer.groups, explanation)
    }

    private func residualAggregate<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, by keys: [QueryExpression], _ functions: [AggregateFunction]
    ) throws -> [AggregateGroup] {
        let states = functions.map(AggregateState.init)
        var groups = AggregateGroups()
        if keys.isEmpty { _ = groups.number(of: []) }
        for state in states { state.reserve(groups: groups.count) }
        func add(_ records: [RecordReference], _ reader: ContextReader) throws {
            let evaluator = QueryEvaluator(reader: reader)
            for record in records {
                var group = 0
                if !keys.isEmpty {
                    group = groups.number(of: try keys.map { try evaluator.sortKey($0, record) })
                    for state in states { state.reserve(groups: groups.count) }
                }
                for (state, function) in zip(states, functions) {
                    if let expression = function.expression {
                        try state.add(evaluator.sortKey(expression, record), group: group)
                    } else {
                        state.add(count: 1, group: group)
                    }
                }
            }
        }
        let prepared = PreparedQuery(descriptor, under: container.schema)
        if try !QueryRun.stream(prepared, in: self, atMost: 512, add) {
            let run = try QueryRun(prepared, in: self)
            try add(run.records, run.reader)
        }
        try checkVersions()
        try throwReadFailures()
        return try groups.results(states)
    }
}
