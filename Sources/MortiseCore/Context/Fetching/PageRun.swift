import Foundation

/// One page, fetched.
struct PageRun<Model: PersistentModel> {
    private(set) var page = Page<Model>(models: [], next: nil, previous: nil)
    private(set) var explanations: [FetchExplanation] = []

    /// A model with what names its place.
    private struct Placed {
        let model: Model
        let keys: [StoredValue]
        let identifier: PersistentIdentifier
    }

    private let descriptor: FetchDescriptor<Model>
    private let query: StoreQuery
    private let state: ContextState
    private let isBackward: Bool

    /// - Throws: as `ModelContext.page(_:after:size:)`.
    init(
        _ descriptor: FetchDescriptor<Model>, _ cursor: PageCursor?, isBackward: Bool, size: Int, in state: ContextState
    ) throws {
        var descriptor = descriptor
        (descriptor.fetchLimit, descriptor.fetchOffset) = (nil, nil)
        self.descriptor = descriptor
        self.isBackward = isBackward
        self.state = state
        query = PreparedQuery(descriptor, under: state.container.schema).query
        let entity = query.entity
        if let key = query.order.first(where: { $0.expression.needsModels }) {
            throw PageError.unsupportedOrder(entity: entity, key: "\(key.expression)")
        }
        try state.prepare()
        guard let session = try state.tables(under: Model.self).first?.session else {
            throw ModelContextError.unknownModel(type: "\(Model.self)")
        }
        // All parts of the page are of one version, where the store has versions.
        try state.refresh(session)
        let outer = state.staysAtVersion
        state.staysAtVersion = true
        defer { state.staysAtVersion = outer }
        let size = min(max(size, 1), Int.max - 1)
        var found: [Placed] = []
        var explanations: [FetchExplanation] = []
        if let cursor {
            let record = try Self.check(cursor, query, session, state)
            let place = (keys: cursor.keys, record: record)
            let canSay = zip(query.order, cursor.keys).allSatisfy { PageSteps.canSay($0, $1) }
            if canSay, session.plansQueries {
                try walk(place, size + 1, hasVersions: session.version != nil, &found, &explanations)
            } else {
                try cut(at: place, size + 1, &found, &explanations)
            }
        } else {
            let run = try run(Query(order: query.order, limit: size + 1))
            explanations.append(run.explanation)
            found = try placed(run)
        }
        let hasMore = found.count > size
        if hasMore { found.removeLast() }
        if isBackward { found.reverse() }
        let stored = session.identifier
        let digests = (query.conditionsDigest, query.orderDigest)
        func made(_ place: Placed?) -> PageCursor? {
            place.map {
                PageCursor(
                    entity: entity, store: stored, conditions: digests.0, order: digests.1, keys: $0.keys,
                    record: $0.identifier)
            }
        }
        page = Page(
            models: found.map(\.model), next: isBackward || hasMore ? made(found.last) : nil,
            previous: isBackward ? (hasMore ? made(found.first) : nil) : cursor == nil ? nil : made(found.first))
        self.explanations = explanations
    }

    /// - Returns: the record beside the place.
    /// - Throws: `PageError`.
    private static func check(
        _ cursor: PageCursor, _ query: StoreQuery, _ session: StoreSession, _ state: ContextState
    ) throws -> PersistentIdentifier {
        let entity = query.entity
        if cursor.entity != entity { throw PageError.otherEntity(expected: entity, found: cursor.entity) }
        if cursor.store != session.identifier { throw PageError.otherStore(entity: entity) }
        if cursor.conditions != query.conditionsDigest { throw PageError.otherPredicate(entity: entity) }
        if cursor.order != query.orderDigest { throw PageError.otherOrder(entity: entity) }
        guard cursor.keys.count == query.order.count else {
            throw PageError.invalidCursor("it has not one value for each sort key")
        }
        for (key, value) in zip(query.order, cursor.keys) where !state.mayHave(value, key.expression) {
            throw PageError.invalidCursor("one of its values is of another type than \(key.expression)")
        }
        if let temporary = cursor.temporary {
            if let permanent = state.settled.permanent(of: temporary) { return permanent }
            if state.model(for: temporary) == nil { throw PageError.unsavedPlace(entity: entity) }
            return temporary
        }
        guard let text = cursor.record else { throw PageError.unsavedPlace(entity: entity) }
        guard let record = try? PersistentIdentifier(string: text) else {
            throw PageError.invalidCursor("the identifier in it cannot be read")
        }
        let family = state.container.schema.stored.subtree(of: entity)
        guard record.storeIdentifier == session.identifier, family.contains(record.entityName) else {
            throw PageError.invalidCursor("the identifier in it is of another store or entity")
        }
        return record
    }

    private struct Query {
        var conditions: [QueryExpression] = []
        var order: [StoreQuery.Order]
        var limit: Int?
    }

    private func run(_ part: Query) throws -> QueryRun<Model> {
        let run = try QueryRun(
            PreparedQuery(
                descriptor, adding: part.conditions, order: part.order, limit: part.limit, under: state.container.schema
            ),
            in: state)
        try state.prefetch(run)
        return run
    }

    private func placed(_ run: QueryRun<Model>, _ records: [RecordReference]? = nil) throws -> [Placed] {
        let evaluator = QueryEvaluator(reader: run.reader)
        return try (records ?? run.records).compactMap { record in
            guard let model = run.reader.model(record) as? Model else { return nil }
            return Placed(
                model: model, keys: try query.order.map { try evaluator.sortKey($0.expression, record) },
                identifier: run.reader.identifier(record))
        }
    }

    /// The keys in the direction of the walk.
    private var order: [StoreQuery.Order] {
        guard isBackward else { return query.order }
        return query.order.map {
            StoreQuery.Order($0.expression, isAscending: !$0.isAscending, stringOrder: $0.stringOrder)
        }
    }

    /// Goes through the parts of the order behind a place until there are enough.
    private func walk(
        _ place: (keys: [StoredValue], record: PersistentIdentifier), _ limit: Int, hasVersions: Bool,
        _ found: inout [Placed], _ explanations: inout [FetchExplanation]
    ) throws {
        let layout = ModelLayout.of(Model.self)
        let steps = PageSteps(order, behind: place.keys, place.record, isBackward: isBackward) { expression in
            guard case .property(.variable(0), let property) = expression, property.slot < layout.properties.count
            else { return true }
            return layout.record.slots[property.slot].property.isOptional
        }
        for step in steps.steps {
            if found.count >= limit { return }
            // What moves between two answers may be in both: then there have to be as many others.
            let wanted = limit - found.count
            let run = try run(
                Query(conditions: step.conditions, order: step.order, limit: hasVersions ? wanted : limit))
            explanations.append(run.explanation)
            var placed = try placed(run)
            if !hasVersions, !found.isEmpty {
                let known = Set(found.map(\.identifier))
                placed.removeAll { known.contains($0.identifier) }
            }
            found += placed.prefix(wanted)
        }
    }

    /// Sorts all that matches, and takes what is behind a place.
    private func cut(
        at place: (keys: [StoredValue], record: PersistentIdentifier), _ limit: Int, _ found: inout [Placed],
        _ explanations: inout [FetchExplanation]
    ) throws {
        let run = try run(Query(order: query.order))
        explanations.append(run.explanation)
        let evaluator = QueryEvaluator(reader: run.reader)
        func comparison(_ record: RecordReference) throws -> ComparisonResult {
            for (key, value) in zip(query.order, place.keys) {
                let result = key.compare(try evaluator.sortKey(key.expression, record), value)
                if result != .orderedSame { return result }
            }
            let identifier = run.reader.identifier(record)
            let anchor = place.record
            return identifier == anchor ? .orderedSame : identifier < anchor ? .orderedAscending : .orderedDescending
        }
        var (low, high) = (0, run.records.count)
        while low < high {
            let middle = (low + high) / 2
            let result = try comparison(run.records[middle])
            if result == .orderedAscending || (result == .orderedSame && !isBackward) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        let part = isBackward ? run.records[..<low].suffix(limit).reversed() : Array(run.records[low...].prefix(limit))
        found = try placed(run, part)
    }
}

extension ContextState {
    /// Whether a key can have a value: its kind is the property's. What is reached through relationships is not looked at.
    fileprivate func mayHave(_ value: StoredValue, _ key: QueryExpression) -> Bool {
        guard !value.isNull, case .property(.variable(0), let property) = key,
            let layout = container.schema.layouts[property.entity], property.slot < layout.record.slots.count,
            let kind = layout.record.slots[property.slot].property.attribute?.kind
        else { return true }
        return switch (value, kind) {
        case (.bool, .bool), (.float, .float), (.double, .double), (.decimal, .decimal), (.string, .string),
            (.date, .date), (.uuid, .uuid), (.unsigned, .uint64):
            true
        case (.integer(let value), _): kind.integerRange?.contains(value) ?? false
        default: false
        }
    }
}
