import Foundation

/// One page, fetched.
struct PageRun<Model: PersistentModel> {
    private(set) var page = Page<Model>(models: [], next: nil, previous: nil)
    private(set) var explanations: [FetchExplanation] = []

    /// Models, and where the record of each is read: what names its place is read of the first and the last one only.
    private struct Found {
        var models: [Model] = []
        var places: [PagePlace] = []
        var count: Int { models.count }

        mutating func removeLast() {
            models.removeLast()
            places.removeLast()
        }

        mutating func reverse() {
            models.reverse()
            places.reverse()
        }

        mutating func append(_ other: Found, atMost count: Int) {
            models += other.models.prefix(count)
            places += other.places.prefix(count)
        }
    }

    private let prepared: PreparedQuery<Model>
    private var query: StoreQuery { prepared.query }
    private let state: ContextState
    private let isBackward: Bool
    private let explains: Bool

    /// With `explains`, `explanations` are made.
    /// - Throws: as `ModelContext.page(_:after:size:)`.
    init(
        _ descriptor: FetchDescriptor<Model>, _ cursor: PageCursor?, isBackward: Bool, size: Int,
        in state: ContextState, explains: Bool = false
    ) throws {
        var descriptor = descriptor
        (descriptor.fetchLimit, descriptor.fetchOffset) = (nil, nil)
        prepared = PreparedQuery(descriptor, under: state.container.schema)
        self.isBackward = isBackward
        self.state = state
        self.explains = explains
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
        var found = Found()
        var explanations: [FetchExplanation] = []
        if let cursor {
            let record = try Self.check(cursor, query, session, state)
            let place = (keys: cursor.keys, record: record)
            let canSay = zip(query.order, cursor.keys).allSatisfy { PageSteps.canSay($0, $1) }
            if canSay, session.plansQueries {
                try walk(place, size + 1, session, &found, &explanations)
            } else {
                try cut(at: place, size + 1, &found, &explanations)
            }
        } else {
            let run = try run(Query(order: query.order, limit: size + 1), &explanations)
            found = try placed(run)
        }
        let hasMore = found.count > size
        if hasMore { found.removeLast() }
        if isBackward { found.reverse() }
        let stored = session.identifier
        let digests = (query.conditionsDigest, query.orderDigest)
        func made(_ place: PagePlace?) throws -> PageCursor? {
            try place.map {
                PageCursor(
                    entity: entity, store: stored, conditions: digests.0, order: digests.1,
                    keys: try keys(of: $0.record, $0.reader), record: $0.identifier)
            }
        }
        let next = isBackward || hasMore ? try made(found.places.last) : nil
        let previous =
            isBackward
            ? (hasMore ? try made(found.places.first) : nil) : cursor == nil ? nil : try made(found.places.first)
        page = Page(models: found.models, next: next, previous: previous)
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
        let record: PersistentIdentifier
        if let known = cursor.identifier {
            record = known
        } else {
            guard let text = cursor.record else { throw PageError.unsavedPlace(entity: entity) }
            guard let read = try? PersistentIdentifier(string: text) else {
                throw PageError.invalidCursor("the identifier in it cannot be read")
            }
            record = read
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

    private func run(_ part: Query, _ explanations: inout [FetchExplanation]) throws -> QueryRun<Model> {
        let run = try QueryRun(
            PreparedQuery(prepared, adding: part.conditions, order: part.order, limit: part.limit), in: state)
        try state.prefetch(run)
        if explains { explanations.append(run.explanation) }
        return run
    }

    private func placed(_ run: QueryRun<Model>, _ records: [RecordReference]? = nil) throws -> Found {
        var found = Found()
        if records == nil {
            found.models = try run.models()
            if found.models.count == run.records.count {
                found.places = PagePlace.all(run.records, run.reader)
                return found
            }
            found.models = []
        }
        for record in records ?? run.records {
            guard let model = run.reader.model(record) as? Model else { continue }
            found.models.append(model)
            found.places.append(PagePlace(record: record, reader: run.reader))
        }
        return found
    }

    private func keys(of record: RecordReference, _ reader: ContextReader) throws -> [StoredValue] {
        let evaluator = QueryEvaluator(reader: reader)
        return try query.order.map { try evaluator.sortKey($0.expression, record) }
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
        _ place: (keys: [StoredValue], record: PersistentIdentifier), _ limit: Int, _ session: StoreSession,
        _ found: inout Found, _ explanations: inout [FetchExplanation]
    ) throws {
        let hasVersions = session.version != nil
        let layout = ModelLayout.of(Model.self)
        let steps = PageSteps(order, behind: place.keys, place.record, isBackward: isBackward) { expression in
            guard case .property(.variable(0), let property) = expression, property.slot < layout.properties.count
            else { return true }
            return layout.record.slots[property.slot].property.isOptional
        }
        let isAlone = try isAlone(place, session)
        for (number, step) in steps.steps.enumerated() {
            if found.count >= limit { return }
            // The first step is for records that are equal in all keys.
            if number == 0, isAlone { continue }
            // What moves between two answers may be in both: then there have to be as many others.
            let wanted = limit - found.count
            let run = try run(
                Query(conditions: step.conditions, order: step.order, limit: hasVersions ? wanted : limit),
                &explanations)
            var placed = try placed(run)
            if !hasVersions, found.count > 0 {
                let known = Set(found.places.map(\.identifier))
                for place in placed.places.indices.reversed() where known.contains(placed.places[place].identifier) {
                    placed.models.remove(at: place)
                    placed.places.remove(at: place)
                }
            }
            found.append(placed, atMost: wanted)
        }
    }

    /// Whether no other record can be equal in all keys: one of them is unique, and the record beside the place has it still.
    private func isAlone(
        _ place: (keys: [StoredValue], record: PersistentIdentifier), _ session: StoreSession
    ) throws -> Bool {
        guard session.version != nil, session.capabilities.contains(.uniqueness), !state.hasChanges else {
            return false
        }
        let constraints = ModelLayout.of(Model.self).record.uniqueConstraints
        let hasUnique = zip(query.order, place.keys).contains { key, value in
            guard !value.isNull, !value.isNotANumber, case .property(.variable(0), let property) = key.expression else {
                return false
            }
            return constraints.contains([property.slot])
        }
        guard hasUnique else { return false }
        let reader = ContextReader(state: state, seesChanges: false)
        guard let record = reader.record(place.record) else { return false }
        return try zip(keys(of: record, reader), place.keys).allSatisfy { $0.isIdentical(to: $1) }
    }

    /// Sorts all that matches, and takes what is behind a place.
    private func cut(
        at place: (keys: [StoredValue], record: PersistentIdentifier), _ limit: Int, _ found: inout Found,
        _ explanations: inout [FetchExplanation]
    ) throws {
        let run = try run(Query(order: query.order), &explanations)
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

/// Where a record is read.
private struct PagePlace {
    let record: RecordReference
    let reader: ContextReader
    var identifier: PersistentIdentifier { reader.identifier(record) }

    // Not generic, as what calls it is.
    static func all(_ records: [RecordReference], _ reader: ContextReader) -> [PagePlace] {
        records.map { PagePlace(record: $0, reader: reader) }
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
