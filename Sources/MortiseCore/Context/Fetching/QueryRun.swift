import Foundation
import Logging

/// One fetch, carried out: lowered, planned by the store, checked, run, and finished by the framework.
struct QueryRun<Model: PersistentModel> {
    /// The records that match, in order.
    private(set) var records: [RecordReference] = []
    /// How many records match, where the store has only counted them.
    private var counted: Int?
    /// The identifiers of the records that match, where the store has read nothing else of them.
    private var named: [PersistentIdentifier]?
    var count: Int { counted ?? named?.count ?? records.count }
    let reader: ContextReader
    private let state: ContextState
    private let prepared: PreparedQuery<Model>
    private var query: StoreQuery { prepared.query }
    /// Whether there are unsaved changes that may make a difference.
    private let mergesChanges: Bool
    private let hasChanges: Bool
    private var plan: FetchPlan
    /// What the store was asked.
    private var asked: StoreQuery
    private var scanned = 0
    /// Nil if no store holds the model.
    private let session: StoreSession?
    private let readsStoredValues: Bool

    /// Runs a fetch; see `init(_:in:isUnaided:needsValues:)`.
    /// - Throws: what `ModelContext.fetch(_:)` throws.
    init(
        _ descriptor: FetchDescriptor<Model>, purpose: StoreQuery.Purpose = .rows, in state: ContextState,
        isUnaided: Bool = false, needsValues: Bool = true
    ) throws {
        try self.init(
            PreparedQuery(descriptor, purpose: purpose), in: state, isUnaided: isUnaided, needsValues: needsValues)
    }

    /// Runs a query. With `isUnaided`, the store only hands out all records, and the framework does the rest. With
    /// `needsValues` false, nothing but the identifiers of the records is asked for afterwards.
    /// - Throws: what `ModelContext.fetch(_:)` throws.
    init(
        _ prepared: PreparedQuery<Model>, in state: ContextState, isUnaided: Bool = false, needsValues: Bool = true
    ) throws {
        let start = state.fetchStart
        try self.init(beginning: prepared, in: state, needsValues: needsValues)
        guard let session else { return }
        if isUnaided {
            asked = query
            let found = try Self.everything(of: &asked, session, state)
            plan = .scanAll(asked)
            try finish(reader.references(found), query)
        } else {
            try ask(session)
        }
        if query.purpose == .rows { try state.verify(records, in: reader) }
        // The store knew only of what it read itself; the rest of the query may have read other records.
        try state.checkVersions()
        try state.throwReadFailures()
        if isUnaided { return }
        if let start { state.emitFetch(query, plan, since: start, scanned: scanned, returned: count) }
        if state.container.verifiesPushDown { try verify(query, session) }
    }

    /// Moves the context to what is stored now, and decides what the store is asked.
    private init(beginning prepared: PreparedQuery<Model>, in state: ContextState, needsValues: Bool) throws {
        let descriptor = prepared.descriptor
        try state.prepare()
        self.state = state
        self.prepared = prepared
        session = try state.tables(under: Model.self).first?.session
        if let session { try state.refresh(session) }
        hasChanges = descriptor.includePendingChanges && state.hasChanges
        readsStoredValues = !descriptor.includePendingChanges && state.hasChanges
        reader = ContextReader(state: state, seesChanges: hasChanges)
        if let session, session.version == nil { reader.hold = RowHold(session) }
        plan = .scanAll(prepared.query)
        mergesChanges = hasChanges && reader.concern(prepared.reads)
        asked = prepared.query
        guard let session else { return }
        try query.checkDepth()
        if mergesChanges { asked = Self.mergeable(query, reader, state) }
        if !asked.prefetch.isEmpty { asked.prefetch = session.withoutInverse(asked.prefetch, ofEntity: asked.entity) }
        if asked.purpose == .identifiers, needsValues, session.version == nil { asked.purpose = .rows }
        asked.avoidsFullScan = state.refusesFullScans(descriptor.fullScanPolicy)
    }

    /// Takes over the store's plan, if it is legal and no policy forbids it.
    private mutating func take(_ planned: FetchPlan, of session: StoreSession) throws {
        try planned.validate(adapter: session.typeName, for: asked)
        plan = planned
        try state.checkPolicy(planned, query, prepared.descriptor.fullScanPolicy)
    }

    /// Has the store answer, and does the rest.
    private mutating func ask(_ session: StoreSession) throws {
        let policy = prepared.descriptor.fullScanPolicy
        var found: FoundRows
        if let planned = session.plan(asked) {
            try take(planned, of: session)
            found = try session.execute(planned)
            plan.note(found.report)
        } else {
            (found, plan) = try Self.ask(
                session, prepared.descriptor, query, asked, mergesChanges: mergesChanges, state)
        }
        scanned = found.report.scanned
        try state.warn(plan, query, scanned: scanned, policy)
        if let count = found.count, asked.purpose == .count {
            if plan.isExact {
                counted = plan.appliesLimit ? count : query.window(of: count).count
            } else if count != found.rows.count {
                throw ModelContextError.storeContract(
                    store: session.identifier,
                    fault:
                        "It counted \(count) rows of \(query.entity) and returned \(found.rows.count), with conditions left "
                        + "to the framework. Return the rows, or claim every condition as exact.")
            }
        }
        if found.identifiers == nil { try finish(reader.references(found), query) } else { named = found.identifiers }
    }

    /// Runs a query of a store without versions in portions, if nothing needs all records at once. Rows that no model has
    /// are let go after each portion.
    /// - Parameters:
    ///   - prepared: the query.
    ///   - state: the context that runs it.
    ///   - size: how many records the store is asked for at a time.
    ///   - body: takes the records of a portion, in order.
    /// - Returns: false if something needs all records; nothing was read then.
    /// - Throws: what `ModelContext.fetch(_:)` throws; what the body throws.
    static func stream(
        _ prepared: PreparedQuery<Model>, in state: ContextState, atMost size: Int,
        _ body: (_ records: [RecordReference], ContextReader) throws -> Void
    ) throws -> Bool {
        let start = state.fetchStart
        var run = try QueryRun(beginning: prepared, in: state, needsValues: true)
        // What is read and written since a cursor was made is told from what it hands out: for one at a time.
        guard let session = run.session, session.version == nil, !session.isStreaming, !run.mergesChanges,
            !state.container.verifiesPushDown,
            let planned = session.plan(run.asked), planned.order == .total
        else { return false }
        try run.take(planned, of: session)
        // Rows are let go between portions, when nothing refers to any.
        run.reader.hold = nil
        let next = try session.cursor(for: planned)
        let query = run.query
        var skipped = planned.appliesLimit ? 0 : max(query.offset, 0)
        var left = planned.appliesLimit ? Int.max : max(query.limit ?? .max, 0)
        var returned = 0
        try session.streaming { letGo in
            while left > 0 {
                try state.container.checkOpen()
                guard let found = try next(size) else { break }
                run.scanned += found.report.scanned
                var records = try run.finishedPortion(run.reader.references(found))
                try state.throwReadFailures()
                let first = min(skipped, records.count)
                skipped -= first
                records = Array(records[first..<(first + min(left, records.count - first))])
                left -= records.count
                returned += records.count
                try state.verify(records, in: run.reader)
                try body(records, run.reader)
                letGo()
            }
        }
        try state.warn(run.plan, query, scanned: run.scanned, prepared.descriptor.fullScanPolicy)
        if let start { state.emitFetch(query, run.plan, since: start, scanned: run.scanned, returned: returned) }
        return true
    }

    /// Those of a portion of records for which the conditions hold that the store has left to the framework.
    private func finishedPortion(_ found: [RecordReference]) throws -> [RecordReference] {
        if isPushed(query.conjuncts) { return found }
        let pushed = Set(asked.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.id))
        return try filter(found, by: query.conjuncts.filter { !pushed.contains($0.id) })
    }

    /// What a store can be asked of a query whose answer unsaved changes alter.
    private static func mergeable(_ query: StoreQuery, _ reader: ContextReader, _ state: ContextState) -> StoreQuery {
        var asked = query
        // What depends on other records may hold for more once changes elsewhere are seen, and what may throw must not be
        // evaluated on values that have changed.
        let hidesRecords = !state.deleted.isEmpty
        asked.conjuncts.removeAll { conjunct in
            conjunct.expression.mayThrow
                || reader.dependsOnOtherRecords(conjunct.expression, hidesRecords: hidesRecords)
        }
        // What is only counted or named cannot be merged.
        if asked.purpose == .count || asked.purpose == .identifiers { asked.purpose = .rows }
        asked.offset = 0
        asked.limit = nil
        asked.order = []
        // Where the store can tell which of the unchanged records come first, as many are enough as would be if all those
        // were among them that are changed or deleted.
        let isOrdered = query.order.allSatisfy {
            !$0.expression.mayThrow && !reader.dependsOnOtherRecords($0.expression, hidesRecords: hidesRecords)
        }
        guard let limit = query.limit, isOrdered, asked.conjuncts.count == query.conjuncts.count else { return asked }
        let family = Set(state.container.schema.stored.subtree(of: query.entity))
        let (end, overflows) = limit.addingReportingOverflow(query.offset)
        let (wider, overflowsToo) = end.addingReportingOverflow(reader.overlaidCount(in: family))
        if overflows || overflowsToo { return asked }
        asked.limit = wider
        asked.order = query.order
        return asked
    }

    /// Asks a store of Apple's shape with the descriptor itself.
    private static func ask(
        _ session: StoreSession, _ descriptor: FetchDescriptor<Model>, _ query: StoreQuery, _ asked: StoreQuery,
        mergesChanges: Bool, _ state: ContextState
    ) throws -> (FoundRows, FetchPlan) {
        var descriptor = descriptor
        let scan = FetchPlan(asked, detail: "all records", isFullScan: true)
        func refuse() throws { try state.checkPolicy(scan, query, descriptor.fullScanPolicy) }
        if mergesChanges {
            try refuse()
            descriptor.predicate = nil
            descriptor.sortBy = []
            descriptor.fetchLimit = nil
            descriptor.fetchOffset = nil
        }
        let answer = try session.fetch(descriptor, beforeScan: refuse)
        let isFiltered = answer.isFiltered && !mergesChanges
        var plan: FetchPlan
        if !isFiltered || (asked.conjuncts.isEmpty && asked.limit != nil && !answer.isLimited) {
            plan = scan
        } else {
            plan = FetchPlan(asked, detail: "the store's own fetch", isFullScan: false)
        }
        if isFiltered { for conjunct in asked.conjuncts { plan.claims[conjunct.id] = .exact } }
        if answer.isSorted, !mergesChanges, !asked.order.isEmpty { plan.order = .total }
        plan.appliesLimit = answer.isLimited && !mergesChanges
        return (answer.found, plan)
    }

    private mutating func finish(_ found: [RecordReference], _ query: StoreQuery) throws {
        let isSorted = plan.order == .total && !mergesChanges
        let isCut = plan.appliesLimit && !mergesChanges
        // As a rule the store has done everything.
        if !mergesChanges, isSorted || query.purpose == .count, isCut || !query.isLimited, isPushed(query.conjuncts) {
            records = found
            return
        }
        let pushed = Set(asked.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.id))
        records = try finished(
            found, query, without: pushed, isSorted: isSorted, isCut: isCut, mergesChanges: mergesChanges,
            looksUp: true)
    }

    /// Whether the store was asked all these and took them exactly.
    private func isPushed(_ conjuncts: [StoreQuery.Conjunct]) -> Bool {
        asked.conjuncts.count == conjuncts.count && conjuncts.allSatisfy { plan.claim(of: $0) == .exact }
    }

    private func status(of conjunct: StoreQuery.Conjunct) -> FetchExplanation.Status {
        let isAsked = asked.conjuncts.contains { $0.id == conjunct.id }
        switch plan.claim(of: conjunct) {
        case .exact where isAsked: return .pushed
        case _ where conjunct.expression.needsModels: return .onModels
        case .superset: return .rechecked
        default: return .residual
        }
    }

    /// Does what is left of a query: conditions, unsaved changes, order, window. `looksUp` says whether unsaved models
    /// may be found by their values, instead of going through all of them.
    private func finished(
        _ found: [RecordReference], _ query: StoreQuery, without pushed: Set<Int>, isSorted: Bool, isCut: Bool,
        mergesChanges: Bool, looksUp: Bool = false
    ) throws -> [RecordReference] {
        var matching = found
        if mergesChanges { matching.removeAll(where: reader.isOverlaid) }
        let left = query.conjuncts.filter { !pushed.contains($0.id) }
        if !left.isEmpty { matching = try filter(matching, by: left) }
        if mergesChanges {
            let family = Set(
                state.container.schema.stored.subtree(of: query.entity).compactMap { reader.table(named: $0) })
            let changed = reader.changedRecords(in: family, matching: looksUp ? query.conjuncts : [])
            matching += try filter(changed, by: query.conjuncts)
        }
        if query.purpose != .count, !isSorted { matching = try sort(matching, query, isCut: isCut) }
        return isCut || !query.isLimited ? matching : Array(matching[query.window(of: matching.count)])
    }

    private func filter(
        _ records: [RecordReference], by conjuncts: [StoreQuery.Conjunct]
    ) throws -> [RecordReference] {
        let onValues = conjuncts.map(\.expression).filter { !$0.needsModels }
        let onModels = conjuncts.compactMap { conjunct -> (@Sendable (Model) throws -> Bool)? in
            if case .onModels(let id, _) = conjunct.expression { prepared.conjunctCode[id] } else { nil }
        }
        let matching = try QueryExecutor(reader: reader).filter(records, by: onValues)
        if onModels.isEmpty { return matching }
        try state.verify(matching, in: reader)
        return try matching.filter { record in
            guard let model = evaluationModel(record) as? Model else { return false }
            for test in onModels where try !test(model) { return false }
            return true
        }
    }

    /// Sorts the records. `isCut` says that the store has already applied offset and limit.
    private func sort(_ records: [RecordReference], _ query: StoreQuery, isCut: Bool) throws -> [RecordReference] {
        let executor = QueryExecutor(reader: reader)
        guard query.order.contains(where: { $0.expression.needsModels }) else {
            let end = query.isLimited && !isCut ? query.window(of: records.count).upperBound : nil
            return try executor.sort(records, by: query.order, upTo: end)
        }
        try state.verify(records, in: reader)
        // Code compares models; what it leaves equal is in identity order, so that is where it starts from.
        let evaluator = QueryEvaluator(reader: reader)
        var keyed = try executor.sort(records, by: []).enumerated().map { place, record in
            (
                place: place, record: record, model: evaluationModel(record) as? Model,
                keys: try query.order.map {
                    $0.expression.needsModels ? .null : try evaluator.sortKey($0.expression, record)
                }
            )
        }
        keyed.sort { left, right in
            for (index, key) in query.order.enumerated() {
                var result = ComparisonResult.orderedSame
                if case .onModels(let id, _) = key.expression {
                    if let a = left.model, let b = right.model { result = prepared.orderCode[id].compare(a, b) }
                } else {
                    result = key.compare(left.keys[index], right.keys[index])
                }
                if result != .orderedSame { return result == .orderedAscending }
            }
            return left.place < right.place
        }
        return keyed.map(\.record)
    }

    /// The model that code looks at: as stored where unsaved changes are not to be seen.
    private func evaluationModel(_ record: RecordReference) -> (any PersistentModel)? {
        guard readsStoredValues, let table = state.table(named: reader.tables[record.table].entityName) else {
            return reader.model(record)
        }
        return table.storedModel(row: record.row, ignoresPendingChanges: true)
    }

    /// All records of a query's entity and its subentities. Removes conditions, order, offset and limit from the query.
    private static func everything(
        of query: inout StoreQuery, _ session: StoreSession, _ state: ContextState
    ) throws -> FoundRows {
        query.purpose = .rows
        query.conjuncts = []
        query.order = []
        query.offset = 0
        query.limit = nil
        if session.plansQueries {
            return try session.execute(.scanAll(query))
        }
        return try session.fetch(FetchDescriptor<Model>()).found
    }

    /// Does the whole query again without the store's help and compares.
    private func verify(_ query: StoreQuery, _ session: StoreSession) throws {
        var all = query
        let everything = try Self.everything(of: &all, session, state)
        let expected = try finished(
            reader.references(everything), query, without: [], isSorted: false, isCut: false, mergesChanges: hasChanges)
        let isSame =
            query.purpose == .count
            ? expected.count == count : named.map { $0 == expected.map(reader.identifier) } ?? (expected == records)
        guard !isSame else { return }
        func text(_ identifiers: [PersistentIdentifier], _ count: Int) -> String {
            "\(count) [" + identifiers.prefix(5).map { "\($0)" }.joined(separator: ", ") + "]"
        }
        let claims = query.conjuncts.map { "\(plan.claim(of: $0).rawValue) for \($0.expression)" }
        throw QueryPlanError.falseClaim(
            adapter: session.typeName,
            claim: (claims + ["order \(plan.order)", plan.appliesLimit ? "window" : ""]).filter { !$0.isEmpty }
                .joined(separator: ", "),
            expected: text(expected.map(reader.identifier), expected.count), found: text(identifiers(), count))
    }

    // MARK: Results

    func models() throws -> [Model] {
        var models: [Model] = []
        var first = 0
        // Records of one table mostly come together, and their models are made in one go.
        while first < records.count {
            let number = records[first].table
            var end = first + 1
            while end < records.count, records[end].table == number, records[end].row >= 0 { end += 1 }
            if records[first].row < 0 {
                if let model = reader.model(records[first]) as? Model { models.append(model) }
                end = first + 1
            } else if let table = state.table(named: reader.tables[number].entityName) {
                let made = table.models(records: records[first..<end], as: Model.self)
                if first == 0, end == records.count { return made }
                models += made
            }
            first = end
        }
        return models
    }

    /// The names of the relationships that will be followed.
    var prefetchedRelationships: [String] { query.prefetch }

    func identifiers() -> [PersistentIdentifier] { named ?? records.map(reader.identifier) }

    func references() -> [RowReference] {
        let tables = reader.tables.map { state.table(named: $0.entityName) }
        return records.compactMap { record in tables[record.table].map { RowReference(table: $0, row: record.row) } }
    }

    var explanation: FetchExplanation {
        FetchExplanation(
            entity: query.entity, store: session?.configurationName ?? "",
            conjuncts: query.conjuncts.map {
                .init(text: "\($0.expression)", status: status(of: $0))
            },
            order: query.order.map { "\($0.expression)" + ($0.isAscending ? "" : " descending") },
            orderClaim: asked.order == query.order ? plan.order : .none, offset: query.offset,
            limit: query.limit,
            windowIsPushed: plan.appliesLimit && (!mergesChanges || asked.limit != nil),
            mergesPendingChanges: mergesChanges, isFullScan: plan.isFullScan, rowsScanned: scanned,
            rowsReturned: count, detail: plan.detail)
    }
}

extension ContextReader {
    /// The rows as references, with this reader's own table numbers.
    func references(_ found: FoundRows) -> [RecordReference] {
        if found.entities.count == 1, self.table(named: found.entities[0]) == 0 { return found.rows }
        let numbers = found.entities.map { self.table(named: $0) ?? 0 }
        if numbers.elementsEqual(numbers.indices) { return found.rows }
        return found.rows.map { RecordReference(table: numbers[$0.table], row: $0.row) }
    }
}

extension ContextState {
    private func policy(_ request: FullScanPolicy?) -> FullScanPolicy {
        request ?? context?.fullScanPolicy ?? container.fullScanPolicy
    }

    func refusesFullScans(_ request: FullScanPolicy?) -> Bool { policy(request) == .refuse }

    func checkPolicy(_ plan: FetchPlan, _ query: StoreQuery, _ request: FullScanPolicy?) throws {
        guard refusesFullScans(request), plan.isFullScan, !query.conjuncts.isEmpty || query.limit != nil else {
            return
        }
        throw QueryPlanError.fullScanRefused(
            entity: query.entity, causes: FullScanCause.all(of: query, plan), suggestion: plan.suggestion)
    }

    func warn(_ plan: FetchPlan, _ query: StoreQuery, scanned: Int, _ request: FullScanPolicy?) throws {
        if plan.isFullScan { try checkPolicy(plan, query, request) }
        log(plan, query, scanned: scanned, request)
    }

    /// Logs a warning if the policy asks for one.
    func log(_ plan: FetchPlan, _ query: StoreQuery, scanned: Int, _ request: FullScanPolicy?) {
        guard case .warn(let limit) = policy(request), plan.isFullScan, scanned > limit else { return }
        container.logger.warning(
            "full scan",
            metadata: [
                "entity": "\(query.entity)", "scanned": "\(scanned)", "conjuncts": "\(query.conjuncts.count)",
                "plan": "\(plan.detail)", "suggestion": "\(plan.suggestion ?? "none")",
            ])
    }
}
