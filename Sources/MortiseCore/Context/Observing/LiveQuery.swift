import Foundation

/// A query whose result follows the context: rows in their order, of which only changed ones are looked at, or a list that is
/// fetched again after each change that may concern it.
final class LiveQuery<Model: PersistentModel> {
    /// The result as it is told.
    enum Shown {
        case rows(LiveRows)
        case list([Model], [PersistentIdentifier])

        var count: Int {
            switch self {
            case .rows(let rows): rows.count
            case .list(let models, _): models.count
            }
        }
    }

    let state: ContextState
    private(set) var descriptor: FetchDescriptor<Model>
    let section: LiveSection<Model>?
    /// What else is read of the rows, only to be told when it changes.
    private let observed: [PartialKeyPath<Model>]
    /// What that was when a list was fetched, by record.
    private var seen: [PersistentIdentifier: [StoredValue]] = [:]
    private(set) var shown = Shown.list([], [])
    private(set) var runs: SectionRuns?
    private(set) var explanation = LiveExplanation()
    private(set) var reads: LiveReads
    /// Nil for a list.
    var order: LiveOrder?
    /// The query of the first rows, for a result in order.
    private var prepared: PreparedQuery<Model>
    let family: [String]
    private let sectionExpression: QueryExpression?
    var pending = LivePending()
    /// Whether the last change could not be taken in.
    private var isBroken = false

    init(
        _ descriptor: FetchDescriptor<Model>, section: LiveSection<Model>?, observed: [PartialKeyPath<Model>] = [],
        in state: ContextState
    ) throws {
        self.state = state
        self.descriptor = descriptor
        self.section = section
        self.observed = observed
        family = try state.tables(under: Model.self).map(\.layout.entityName)
        let schema = state.container.schema
        sectionExpression = section?.expression(under: schema)
        (prepared, reads) = Self.prepare(descriptor, section, sectionExpression, observed, schema)
        try begin()
        try load()
    }

    /// Moves to what is stored now, as a fetch does.
    func begin() throws {
        try state.prepare()
        guard let session else { return }
        state.live?.follow(session)
        try state.refresh(session)
    }

    private static func prepare(
        _ descriptor: FetchDescriptor<Model>, _ section: LiveSection<Model>?, _ title: QueryExpression?,
        _ observed: [PartialKeyPath<Model>], _ schema: Schema
    ) -> (PreparedQuery<Model>, LiveReads) {
        var sorted = descriptor
        if let section { sorted.sortBy = section.order(descriptor.sortBy) }
        let prepared = PreparedQuery(sorted, under: schema)
        var expressions = prepared.query.conjuncts.map(\.expression) + prepared.query.order.map(\.expression)
        if let title { expressions.append(title) }
        for keyPath in observed {
            let lowered = try? KeyPathLowering.lower(keyPath, without: nil, of: Model.self, on: .variable(0))
            expressions.append(lowered ?? .onModels(id: 0, text: KeyPathText.named(keyPath)))
        }
        return (prepared, LiveReads(expressions, root: prepared.query.entity, schema: schema))
    }

    // MARK: Fetching

    /// Replaces filter, order and window, after `begin()`. Nothing changes if this throws.
    func replace(_ descriptor: FetchDescriptor<Model>) throws {
        let before = (self.descriptor, prepared, reads)
        self.descriptor = descriptor
        (prepared, reads) = Self.prepare(
            descriptor, section, sectionExpression, observed, state.container.schema)
        do {
            try load()
        } catch {
            (self.descriptor, prepared, reads) = before
            throw error
        }
    }

    private var session: StoreSession? { state.tables[family.first ?? ""]?.session }

    /// Fetches the result.
    func load() throws {
        if let session { state.live?.follow(session) }
        var obstacle = reads.obstacle
        session?.pin()
        if session?.version == nil { obstacle = .storeWithoutVersions }
        if obstacle == nil {
            let needed = LiveOrder.needed(
                offset: prepared.query.offset, limit: prepared.query.limit)
            let run = try fetch(limit: needed)
            var pending = LivePending()
            let numbers = numbers(in: run.reader)
            var handles: [UInt32] = []
            handles.reserveCapacity(run.records.count)
            for record in run.records {
                guard let handle = handle(of: record, run.reader, numbers, &pending) else { break }
                handles.append(handle)
            }
            if handles.count == run.records.count {
                let order = LiveOrder(
                    handles, isComplete: needed.map { handles.count < $0 } ?? true, offset: prepared.query.offset,
                    limit: prepared.query.limit)
                if sectionExpression != nil {
                    runs = SectionRuns(
                        try run.records[order.visible].map { try title(of: $0, QueryEvaluator(reader: run.reader)) })
                }
                self.pending = pending
                self.order = order
                seen = [:]
                explanation.obstacle = nil
                show()
                isBroken = false
                return
            }
            obstacle = .tooManyRows
        }
        let (models, titles, seen) = try fetchedList()
        explanation.obstacle = obstacle
        order = nil
        pending = LivePending()
        runs = titles.map { SectionRuns($0) }
        self.seen = seen
        shown = .list(models, models.map(\.persistentModelID))
        isBroken = false
    }

    /// Runs the query on the versions that the context has.
    private func fetch(limit: Int?) throws -> QueryRun<Model> {
        var first = prepared.descriptor
        first.fetchOffset = nil
        first.fetchLimit = limit
        return try reading { try QueryRun(PreparedQuery(first, under: state.container.schema), in: state) }
    }

    /// The models of the result, with the titles of their sections and with what else is read of them.
    private func fetchedList() throws -> (
        models: [Model], titles: [String]?, seen: [PersistentIdentifier: [StoredValue]]
    ) {
        let observed = observed.compactMap {
            try? KeyPathLowering.lower($0, without: nil, of: Model.self, on: .variable(0))
        }
        if section == nil, observed.isEmpty { return (try reading { try state.fetch(prepared.descriptor) }, nil, [:]) }
        return try reading {
            let run = try QueryRun(prepared, in: state)
            try state.prefetch(run)
            let models = try run.models()
            let evaluator = QueryEvaluator(reader: run.reader)
            var seen: [PersistentIdentifier: [StoredValue]] = [:]
            if !observed.isEmpty {
                for record in run.records {
                    seen[run.reader.identifier(record)] = try observed.map { try evaluator.sortKey($0, record) }
                }
            }
            // Code sees models, and these show unsaved values.
            if case .onModels? = sectionExpression { return (models, section.map { models.map($0.title) }, seen) }
            return (models, try section.map { _ in try run.records.map { try title(of: $0, evaluator) } }, seen)
        }
    }

    /// Runs a body that fetches. An error that was kept for the next call of the program stays kept.
    private func reading<R>(_ body: () throws -> R) throws -> R {
        let stays = state.staysAtVersion
        state.staysAtVersion = session?.version != nil
        defer { state.staysAtVersion = stays }
        return try state.resolving { Result { try body() } }.get()
    }

    /// The first rows as they are now.
    func refill(_ needed: Int?) throws -> LiveOrder.Refill {
        let run = try fetch(limit: needed)
        let numbers = numbers(in: run.reader)
        let rows = run.records.compactMap { handle(of: $0, run.reader, numbers, &pending) }
        guard rows.count == run.records.count else { throw LiveRowsOverflow() }
        return LiveOrder.Refill(rows: rows, isComplete: needed.map { rows.count < $0 } ?? true)
    }

    // MARK: Changes

    /// Takes in what has changed.
    /// - Returns: the difference; nil if nothing differs.
    /// - Throws: what a fetch throws. The result then stays as it was, and is fetched again at the next change.
    func take(_ batch: LiveBatch) throws -> ResultsChange? {
        explanation.steps += 1
        do {
            if isBroken { return try reload(batch, .error) }
            guard let order else { return try takeList(batch) }
            let limit = max(1000, order.order.count / 8)
            guard batch.touches.count <= limit, let items = try items(batch, atMost: limit) else {
                return try reload(batch, .manyChanges)
            }
            return items.isEmpty ? nil : try take(items, batch)
        } catch is LiveRowsOverflow {
            return try reload(batch, .tooManyRows)
        } catch {
            isBroken = true
            throw error
        }
    }

    private func takeList(_ batch: LiveBatch) throws -> ResultsChange? {
        let isConcerned =
            batch.hasSaved || batch.isUnknown || reads.obstacle == .code
            || batch.touches.contains { reads.concern($0) || family.contains($0.entity) }
        return isConcerned ? try reload(batch, explanation.obstacle ?? .request) : nil
    }

    /// Fetches the result again, because the program asks for it.
    func refresh(_ batch: LiveBatch) throws -> ResultsChange? { try reload(batch, .request) }

    private func reload(_ batch: LiveBatch, _ cause: LiveExplanation.Rerun) throws -> ResultsChange? {
        explanation.reruns[cause, default: 0] += 1
        let (old, oldRuns, names, before) = (shown, runs, renamed(), seen)
        do { try load() } catch {
            isBroken = true
            throw error
        }
        let change = difference(from: old, oldRuns, names, batch, seen: before)
        return change.isEmpty ? nil : change
    }

    /// The difference from what was shown before. `before` is what else was read of a list then.
    func difference(
        from old: Shown, _ oldRuns: SectionRuns?, _ names: [ResultsChange.Renaming], _ batch: LiveBatch,
        seen before: [PersistentIdentifier: [StoredValue]] = [:]
    ) -> ResultsChange {
        var sections = SectionDifference()
        if let runs, let oldRuns { sections = runs.difference(from: oldRuns) }
        if shown.count == 0, old.count > 1000 {
            return ResultsChange(
                sections: sections, contents: contents, oldCount: old.count, newCount: 0, versions: batch.versions)
        }
        var touched: [PersistentIdentifier: [String]] = [:]
        for touch in batch.touches where family.contains(touch.entity) && tells(touch) {
            touched[touch.identifier] = properties(of: touch)
        }
        // Values of before are not kept: any row may have others now.
        if let session, batch.unnamed.contains(ObjectIdentifier(session)) {
            for identifier in Self.identifiers(of: old) where touched[identifier] == nil { touched[identifier] = [] }
        }
        for (identifier, values) in before {
            guard let now = seen[identifier], touched[identifier] == nil,
                !zip(values, now).allSatisfy({ $0.isIdentical(to: $1) })
            else { continue }
            touched[identifier] = []
        }
        return ResultsChange(
            from: Self.identifiers(of: old), to: Self.identifiers(of: shown), touched: touched, renamed: names,
            sections: sections, versions: batch.versions)
    }

    /// Which of the unsaved rows that are shown were saved since.
    private func renamed() -> [ResultsChange.Renaming] {
        switch shown {
        case .rows: return pending.renamed()
        case .list(let models, let identifiers):
            return zip(models, identifiers).compactMap { model, identifier in
                guard model._table != nil else { return nil }
                let permanent = model.persistentModelID
                if permanent.isTemporary || permanent == identifier { return nil }
                return .init(temporary: identifier, permanent: permanent)
            }
        }
    }

    private static func identifiers(of shown: Shown) -> [PersistentIdentifier] {
        switch shown {
        case .rows(let rows): rows.visible.map { rows.identifier(of: rows.snapshot[$0]) }
        case .list(_, let identifiers): identifiers
        }
    }

    /// All identifiers of the result as it is shown.
    var contents: ResultsContents {
        switch shown {
        case .rows(let rows): rows.contents
        case .list(_, let identifiers): ResultsContents(count: identifiers.count) { identifiers[$0] }
        }
    }

    /// Whether a change of a record is told where the row stays.
    func tells(_ touch: LiveTouch) -> Bool {
        descriptor.includePendingChanges
            ? touch.isUnsaved || (touch.isStored && touch.isOfOthers) : touch.isStored
    }

    func properties(of touch: LiveTouch) -> [String] {
        guard let layout = state.container.schema.recordLayouts[touch.entity], !touch.comesOrGoes else { return [] }
        return touch.slots.slots.compactMap { $0 < layout.slots.count ? layout.slots[$0].name : nil }.sorted()
    }

    var observesOthers: Bool { !observed.isEmpty }
    var query: StoreQuery { prepared.query }

    func title(of record: RecordReference, _ evaluator: QueryEvaluator) throws -> String {
        guard let sectionExpression, case .string(let title) = try evaluator.sortKey(sectionExpression, record) else {
            return ""
        }
        return title
    }

    // MARK: Rows

    func note(tests: Int, refills: Int) {
        explanation.tests += tests
        explanation.refills = refills
    }

    func takeSections(leaving: [Int], entering: [(index: Int, title: String)]) -> SectionDifference {
        runs?.take(leaving: leaving, entering: entering) ?? SectionDifference()
    }

    /// Shows the order as it is now.
    func show() {
        guard let order else { return }
        let tables = family.map { state.table(named: $0) }
        shown = .rows(
            LiveRows(
                snapshot: order.order.snapshot, visible: order.visible,
                sources: tables.map { $0?.source ?? RowSource() }, names: pending.identifiers))
    }

    /// The numbers of the family's tables in a reader.
    func numbers(in reader: RecordReader) -> [Int] { family.map { reader.table(named: $0) ?? 0 } }

    func handle(
        of record: RecordReference, _ reader: ContextReader, _ numbers: [Int], _ pending: inout LivePending
    ) -> UInt32? {
        if record.row < 0 { return reader.model(record).map { pending.handle(of: $0) } }
        guard let place = numbers.firstIndex(of: record.table) else { return nil }
        return LiveRows.handle(table: place, row: record.row, of: family.count)
    }

    func record(of handle: UInt32, _ numbers: [Int]) -> RecordReference {
        if let model = pending.model(of: handle), let name = model._table?.layout.entityName {
            let table = family.firstIndex(of: name).map { numbers[$0] } ?? 0
            return RecordReference(table: table, row: -Int(model._place))
        }
        let (table, row) = LiveRows.place(of: handle, of: family.count)
        return RecordReference(table: numbers[table], row: row)
    }
}

/// A row has a number that does not fit into a handle.
struct LiveRowsOverflow: Error {}
