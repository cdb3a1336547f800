import Foundation
import Logging

/// One fetch, carried out: lowered, planned by the store, checked, run, and finished by the framework.
final class QueryRun<Model: PersistentModel> {
    /// The records that match, in order.
    @exclusivity(unchecked) private(set) var records: [RecordReference] = []
    /// How many records match, where the store has only counted them.
    @exclusivity(unchecked) private var counted: Int?
    /// The identifiers of the records that match, where the store has read nothing else of them.
    @exclusivity(unchecked) private(set) var named: [PersistentIdentifier]?
    var count: Int { counted ?? named?.count ?? records.count }
    let reader: ContextReader
    let state: ContextState
    let prepared: PreparedQuery<Model>
    var query: StoreQuery { prepared.query }
    /// Whether there are unsaved changes that may make a difference.
    let mergesChanges: Bool
    let hasChanges: Bool
    /// Nil until the store has answered.
    @exclusivity(unchecked) private var answered: FetchPlan?
    var plan: FetchPlan {
        get { answered ?? .scanAll(query) }
        set { answered = newValue }
    }
    /// What the store was asked.
    @exclusivity(unchecked) private(set) var asked: StoreQuery
    @exclusivity(unchecked) var scanned = 0
    /// Nil if no store holds the model.
    let session: StoreSession?
    let readsStoredValues: Bool

    /// Runs a fetch; see `init(_:in:isUnaided:needsValues:)`.
    /// - Throws: what `ModelContext.fetch(_:)` throws.
    convenience init(
        _ descriptor: FetchDescriptor<Model>, purpose: StoreQuery.Purpose = .rows, in state: ContextState,
        isUnaided: Bool = false, needsValues: Bool = true
    ) throws {
        try self.init(
            PreparedQuery(descriptor, purpose: purpose, under: state.container.schema), in: state, isUnaided: isUnaided,
            needsValues: needsValues)
    }

    /// Runs a query. With `isUnaided`, the store only hands out all records, and the framework does the rest. With
    /// `needsValues` false, nothing but the identifiers of the records is asked for afterwards.
    /// - Throws: what `ModelContext.fetch(_:)` throws.
    convenience init(
        _ prepared: PreparedQuery<Model>, in state: ContextState, isUnaided: Bool = false, needsValues: Bool = true
    ) throws {
        let start = state.fetchStart
        try self.init(beginning: prepared, in: state, needsValues: needsValues)
        guard let session else { return }
        if isUnaided {
            asked = query
            let found = try Self.everything(of: &asked, session, state)
            let scan = FetchPlan.scanAll(asked)
            try finish(reader.references(found), scan)
            answered = scan
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
    init(beginning prepared: PreparedQuery<Model>, in state: ContextState, needsValues: Bool) throws {
        try state.prepare()
        let session = try state.tables(under: Model.self).first?.session
        if let session, !state.staysAtVersion { try state.refresh(session) }
        self.state = state
        self.prepared = prepared
        self.session = session
        let includesChanges = prepared.descriptor.includePendingChanges
        hasChanges = includesChanges && state.hasChanges
        readsStoredValues = !includesChanges && state.hasChanges
        reader = ContextReader(state: state, seesChanges: hasChanges)
        mergesChanges = hasChanges && reader.concern(prepared.reads)
        if session != nil { try prepared.query.checkDepth() }
        asked = mergesChanges ? Self.mergeable(prepared.query, reader, state) : prepared.query
        guard let session else { return }
        if session.version == nil { reader.hold = RowHold(session) }
        if !asked.prefetch.isEmpty { asked.prefetch = session.withoutInverse(asked.prefetch, ofEntity: asked.entity) }
        if asked.purpose == .identifiers, needsValues, session.version == nil { asked.purpose = .rows }
        asked.avoidsFullScan = state.refusesFullScans(prepared.descriptor.fullScanPolicy)
    }

    /// Has the store answer, and does the rest.
    private func ask(_ session: StoreSession) throws {
        let policy = prepared.descriptor.fullScanPolicy
        let answer = try session.answer(asked) { try state.checkPolicy($0, query, policy) }
        if let (found, plan) = answer {
            try take(found, plan, of: session)
        } else {
            let (found, plan) = try Self.ask(
                session, prepared.descriptor, query, asked, mergesChanges: mergesChanges, state)
            try take(found, plan, of: session)
        }
    }

    private func take(_ found: FoundRows, _ plan: consuming FetchPlan, of session: StoreSession) throws {
        scanned = found.report.scanned
        try state.warn(plan, query, scanned: scanned, prepared.descriptor.fullScanPolicy)
        if let count = found.count, asked.purpose == .count {
            if plan.isExact {
                counted = plan.appliesLimit ? count : query.window(of: count).count
            } else if count != found.rows.count {
                throw ModelContextError.storeContract(
                    store: session.location,
                    fault:
                        "It counted \(count) rows of \(query.entity) and returned \(found.rows.count), with conditions left "
                        + "to the framework. Return the rows, or claim every condition as exact.")
            }
        }
        if found.identifiers == nil { try finish(reader.references(found), plan) } else { named = found.identifiers }
        answered = plan
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

    private func finish(_ found: [RecordReference], _ plan: borrowing FetchPlan) throws {
        let isSorted = plan.order == .total && !mergesChanges
        let isCut = plan.appliesLimit && !mergesChanges
        // As a rule the store has done everything.
        if !mergesChanges, isSorted || query.purpose == .count, isCut || !query.isLimited, isPushed(by: plan) {
            records = found
            return
        }
        var pushed: Set<Int> = []
        for conjunct in asked.conjuncts where plan.claim(of: conjunct) == .exact { pushed.insert(conjunct.id) }
        records = try finished(
            found, query, without: pushed, isSorted: isSorted, isCut: isCut, mergesChanges: mergesChanges,
            looksUp: true)
    }

    /// Whether the store was asked all conditions and took them exactly.
    func isPushed(by plan: borrowing FetchPlan) -> Bool {
        if asked.conjuncts.count != query.conjuncts.count { return false }
        for conjunct in query.conjuncts where plan.claim(of: conjunct) != .exact { return false }
        return true
    }

    /// All records of a query's entity and its subentities. Removes conditions, order, offset and limit from the query.
    static func everything(
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
