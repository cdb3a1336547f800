extension ModelContext {
    /// The matching models, as a collection that creates them in batches when they are accessed.
    ///
    /// Of a store without versions that finds records by their identifiers, the fetch keeps no more than those; a batch is read
    /// when it is accessed, unless the context has read its records before. A record that is gone by then has a model whose
    /// `isDeleted` is true, with the values that the context has known last, or else the default or empty values of its
    /// properties. So has one that cannot be read, and the next call that can throw throws why. Where a property has no empty
    /// value, the fetch reads all records at once.
    /// - Throws: `SwiftDataError.includePendingChangesWithBatchSize` if the context has unsaved changes and the
    ///   descriptor includes them; what `fetch(_:)` throws.
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        let stored = try state.storedOnly(descriptor)
        if let later = try state.laterReads(stored) {
            let hold = ContextHold(state)
            return FetchResultsCollection(count: later.records.count, batchSize: batchSize) { range in
                withExtendedLifetime(hold) { later.models(in: range) }
            }
        }
        let references = try state.references(stored)
        let hold = ContextHold(state, rowsOf: references.first?.table.session)
        return FetchResultsCollection(count: references.count, batchSize: batchSize) { range in
            withExtendedLifetime(hold) { references[range].compactMap { $0.model as? T } }
        }
    }

    /// The identifiers of the matching models, as a collection that reads them in batches; those of a store without versions
    /// are read at once.
    /// - Throws: as `fetch(_:batchSize:)`.
    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let stored = try state.storedOnly(descriptor)
        if try !state.hasVersions(T.self) {
            let records = try state.identifiers(stored)
            return FetchResultsCollection(count: records.count, batchSize: batchSize) { Array(records[$0]) }
        }
        let references = try state.references(stored)
        let hold = ContextHold(state)
        return FetchResultsCollection(count: references.count, batchSize: batchSize) { range in
            withExtendedLifetime(hold) { references[range].map { $0.source.identifier(ofRow: $0.row) } }
        }
    }
}

/// Keeps what a context reads from as long as something may still ask for its models.
final class ContextHold {
    private let state: ContextState
    private let rows: RowHold?

    /// With `rowsOf` a session, the rows of its records keep their numbers too.
    init(_ state: ContextState, rowsOf session: StoreSession? = nil) {
        self.state = state
        rows = session.map(RowHold.init)
        state.hold()
    }

    deinit { state.letGo() }
}

/// A stored record that a fetch found.
struct RowReference {
    let table: ModelTable
    /// The rows as they were when the record was found.
    let source: RowSource
    let row: Int

    init(table: ModelTable, row: Int) {
        self.table = table
        self.source = table.source
        self.row = row
    }

    var isThere: Bool { table.source.contains(row: row) }

    /// The record's model; if the record is gone, a model that shows its last values.
    var model: any PersistentModel {
        isThere ? table.model(row: row) : table.storedModel(row: row, of: source)
    }
}

/// Records whose values are read when they are needed.
private struct LaterReads<Model: PersistentModel> {
    let records: [PersistentIdentifier]
    let state: ContextState
    /// The relationships whose targets are read along with a batch.
    let prefetched: [String]

    /// The models of some of the records. What prevents reading any is kept for the next call that can throw.
    func models(in range: Range<Int>) -> [Model] {
        let records = Array(records[range])
        // Observers of what is read may fetch.
        let session = state.table(named: Schema.entityName(for: Model.self))?.session
        session?.sweep()
        let hold = session.map(RowHold.init)
        return withExtendedLifetime(hold) {
            state.loadWhatCanBe(records)
            if !prefetched.isEmpty {
                let reader = ContextReader(state: state, seesChanges: false)
                do {
                    try state.prefetch(
                        prefetched, of: records.filter(state.hasRow).compactMap(reader.record), reader, Model.self)
                } catch {
                    state.latch(error)
                }
            }
            return records.compactMap { state.shown($0) as? Model }
        }
    }
}

extension ContextState {
    /// The descriptor without unsaved changes.
    /// - Throws: `SwiftDataError.includePendingChangesWithBatchSize`.
    fileprivate func storedOnly<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchDescriptor<T> {
        try prepare()
        if descriptor.includePendingChanges, hasChanges {
            throw SwiftDataError(
                .includePendingChangesWithBatchSize,
                "A fetch in batches cannot include unsaved changes. Save first, or set includePendingChanges to false.")
        }
        var stored = descriptor
        stored.includePendingChanges = false
        return stored
    }

    fileprivate func hasVersions<T: PersistentModel>(_ type: T.Type) throws -> Bool {
        try tables(under: type).first?.session.latest != nil
    }

    /// The matching records of a store without versions that finds records by their identifiers; nil for another, and if a
    /// model could show no value of a property once its record is gone.
    fileprivate func laterReads<T: PersistentModel>(_ stored: FetchDescriptor<T>) throws -> LaterReads<T>? {
        let tables = try tables(under: T.self)
        guard let session = tables.first?.session, session.latest == nil, !container.verifiesPushDown,
            tables.allSatisfy({ $0.layout.canBeEmpty }),
            session.selectsByIdentifier(ofEntity: tables[0].layout.entityName)
        else { return nil }
        let prefetched = tables[0].layout.names(of: stored.relationshipKeyPathsForPrefetching)
        return LaterReads(records: try identifiers(stored), state: self, prefetched: prefetched)
    }

    /// The identifiers of the matching stored records; no values are kept, if the store can do without.
    fileprivate func identifiers<T: PersistentModel>(_ stored: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
        var named = stored
        named.relationshipKeyPathsForPrefetching = []
        let prepared = PreparedQuery(named, purpose: .identifiers, under: container.schema)
        var found: [PersistentIdentifier] = []
        if let session = try tables(under: T.self).first?.session,
            try session.plan(prepared.query)?.leavesNothing == false,
            try QueryRun.stream(
                PreparedQuery(named, under: container.schema), in: self, atMost: 512, { found += $0.map($1.identifier) }
            )
        {
            return found
        }
        return try QueryRun(prepared, in: self, needsValues: false).identifiers()
    }

    /// The matching stored records, ignoring unsaved changes.
    fileprivate func references<T: PersistentModel>(_ stored: FetchDescriptor<T>) throws -> [RowReference] {
        let run = try QueryRun(stored, in: self)
        try prefetch(run)
        return run.references()
    }

    fileprivate func hasRow(_ record: PersistentIdentifier) -> Bool {
        table(named: record.entityName)?.source.row(of: record) != nil
    }

    /// Reads records; where one has values that its properties' types do not know, all others.
    fileprivate func loadWhatCanBe(_ records: [PersistentIdentifier]) {
        load(records)
        guard latchedError is ModelContextError else { return }
        for record in records where !hasRow(record) { load([record]) }
    }

    /// The model of a record of a store without versions; if the record is gone or cannot be read, one that shows what is known.
    fileprivate func shown(_ record: PersistentIdentifier) -> (any PersistentModel)? {
        guard let table = table(named: record.entityName) else { return nil }
        if let row = table.source.row(of: record), isKnown(row, in: table) { return table.model(row: row) }
        if let model = detachedModels[record] { return model }
        let last = table.session.lastRow(of: record)
        if let model = last.flatMap({ table.registered(row: $0) }) { return model }
        let frozen = FrozenRow(table: table, source: last == nil ? EmptyRow(record) : table.source, row: last ?? 0)
        return detachedModels.add(table.makeDetached(frozen), record)
    }
}

extension ModelLayout {
    /// Whether a model without any stored value has one to show for each property.
    fileprivate var canBeEmpty: Bool {
        zip(record.slots, checks).allSatisfy { slot, check in
            slot.role == .toOne ? slot.property.isOptional : check?(.null) ?? true
        }
    }
}

/// A record of which no value is known.
private final class EmptyRow: RowSource, @unchecked Sendable {
    // @unchecked: immutable.
    private let record: PersistentIdentifier

    init(_ record: PersistentIdentifier) { self.record = record }

    override var endRow: Int { 1 }
    override var count: Int { 1 }
    override func contains(row: Int) -> Bool { row == 0 }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { record }
    override func row(of identifier: PersistentIdentifier) -> Int? { identifier == record ? 0 : nil }
    override func value(row: Int, slot: Int) -> StoredValue { .null }
}
