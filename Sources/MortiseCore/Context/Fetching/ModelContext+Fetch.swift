extension ModelContext {
    /// The matching models, in the requested order.
    ///
    /// Models with equal sort keys are in order of insertion; unsaved new models come last.
    /// - Throws: what the predicate throws; the store's errors; `ModelContextError` for an unknown model type, a closed
    ///   container, or stored values that the models' types do not know; an error that an earlier call could not throw.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        try state.fetch(descriptor)
    }

    /// The number of models that `fetch(_:)` would return.
    /// - Throws: what `fetch(_:)` throws.
    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try state.fetchCount(descriptor)
    }

    /// The identifiers of the models that `fetch(_:)` would return, in the same order. Those of new models are
    /// temporary.
    /// - Throws: what `fetch(_:)` throws.
    public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
    {
        try QueryRun(descriptor, purpose: .identifiers, in: state, needsValues: false).identifiers()
    }

    /// Runs a fetch and reports how: which conditions and keys the store evaluated, what was left to the framework or
    /// to code, and how many rows were looked at.
    /// - Throws: what `fetch(_:)` throws.
    public func explain<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
        try QueryRun(descriptor, in: state).explanation
    }

    /// Calls the block with each matching model, in order. No more than one batch of models stays in memory, unless the
    /// block changes or retains them.
    ///
    /// Changed models stay in memory until they are saved. Unless `allowEscapingMutations` is true, the enumeration
    /// therefore throws if there are unsaved changes at its start or at the end of a batch: save in the block from time
    /// to time.
    /// - Parameters:
    ///   - fetch: which models, and in which order.
    ///   - batchSize: the number of models between two checks for unsaved changes; at least 1.
    ///   - allowEscapingMutations: whether to continue in spite of unsaved changes, including those made before the
    ///     start.
    ///   - block: called with each model. Records that an earlier call deleted and saved are skipped.
    /// - Throws: `ModelContextError.unsavedChanges`; what `fetch(_:)` throws; what the block throws, which ends the
    ///   enumeration. Changes that the block made before stay in the context.
    public func enumerate<T: PersistentModel>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
        block: (_ model: T) throws -> Void
    ) throws {
        if !allowEscapingMutations, hasChanges { throw ModelContextError.unsavedChanges }
        let size = max(batchSize, 1)
        var place = 0
        func visit(_ record: RecordReference, _ reader: ContextReader) throws {
            if place > 0, place % size == 0, !allowEscapingMutations, hasChanges {
                throw ModelContextError.unsavedChanges
            }
            place += 1
            // Records that the block has deleted and saved are gone.
            guard let model = try state.present(record, reader) as? T else { return }
            try block(model)
        }
        let prepared = PreparedQuery(fetch, under: container.schema)
        // A row stays as long as its model, so that the models of a portion are made before the block can do anything.
        let isStreamed = try QueryRun.stream(prepared, in: state, atMost: min(size, 512)) { records, reader in
            let models = try state.portion(records, reader, prefetching: prepared.query.prefetch, of: T.self)
            try withExtendedLifetime(models) { for record in records { try visit(record, reader) } }
        }
        if isStreamed { return }
        let run = try QueryRun(prepared, in: state)
        try state.prefetch(run)
        for record in run.records { try visit(record, run.reader) }
    }
}

extension ContextState {
    func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let prepared = PreparedQuery(descriptor, under: container.schema)
        if let found = try lookUp(prepared, window: prepared.query.window) {
            return found.models(prepared.query.window(of: found.count), as: T.self)
        }
        let run = try QueryRun(prepared, in: self)
        try prefetch(run)
        return try run.models()
    }

    /// What a query finds that asks for the value of one attribute and no more; nil for another one.
    private func lookUp<T: PersistentModel>(
        _ prepared: PreparedQuery<T>, window: (Int) -> Range<Int>
    ) throws -> LookedUp? {
        guard let lookup = KeyLookup(prepared.query, ModelLayout.of(T.self).record) else { return nil }
        return try lookUp(
            lookup, of: T.self, includingPendingChanges: prepared.descriptor.includePendingChanges, window: window)
    }

    /// Reads the targets of relationships to be prefetched, with one request for each entity, unless they are in
    /// memory; stores of snapshots need that.
    func prefetch<T: PersistentModel>(_ run: QueryRun<T>) throws {
        try prefetch(run.prefetchedRelationships, of: run.records, run.reader, T.self)
    }

    /// The model of a record that was found before; nil if the record is gone. A batch discards the rows of a store without
    /// versions, so that a record may have to be read again.
    fileprivate func present(_ record: RecordReference, _ reader: ContextReader) throws -> (any PersistentModel)? {
        if reader.isThere(record) { return reader.model(record) }
        guard let table = table(named: reader.tables[record.table].entityName), table.session.version == nil else {
            return nil
        }
        let identifier = reader.identifier(record)
        guard try table.session.load([identifier], as: table.layout.type).contains(identifier) else { return nil }
        return table.source.row(of: identifier).map { table.model(row: $0) }
    }

    /// The models of a portion of records, with the targets of some relationships read.
    fileprivate func portion<T: PersistentModel>(
        _ records: [RecordReference], _ reader: ContextReader, prefetching names: [String], of type: T.Type
    ) throws -> [(any PersistentModel)?] {
        let models = records.map(reader.model)
        try prefetch(names, of: records, reader, type)
        return models
    }

    func prefetch<T: PersistentModel>(
        _ names: [String], of records: [RecordReference], _ reader: ContextReader, _ type: T.Type
    ) throws {
        guard !names.isEmpty, let session = try tables(under: type).first?.session, session.version == nil else {
            return
        }
        if session.defersRelationships { try readDeferred(names, of: records, reader) }
        var missing: [String: Set<PersistentIdentifier>] = [:]
        for record in records {
            let layout = reader.tables[record.table].layout
            for slot in names.compactMap(layout.slot(named:)) {
                for target in reader.value(record, slot: slot).targets where !target.isTemporary {
                    guard let table = table(of: target), table.source.row(of: target) == nil else { continue }
                    missing[table.layout.entityName, default: []].insert(target)
                }
            }
        }
        for (name, identifiers) in missing {
            guard let table = table(named: name) else { continue }
            try session.load(Array(identifiers), as: table.layout.type)
        }
    }

    /// Reads relationships of some records that their store has left out: of all records at once.
    private func readDeferred(_ names: [String], of records: [RecordReference], _ reader: ContextReader) throws {
        for (number, records) in Dictionary(grouping: records, by: \.table) {
            guard let rows = reader.tables[number].rows as? SessionRows else { continue }
            for slot in names.compactMap(reader.tables[number].layout.slot(named:)) {
                try rows.readDeferred(
                    records.map(\.row).filter { $0 >= 0 && rows.isUnread(row: $0, slot: slot) }, slot: slot)
            }
        }
    }

    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        try prepare()
        let tables = try tables(under: T.self)
        if let session = tables.first?.session, !(descriptor.includePendingChanges && hasChanges) {
            if !staysAtVersion { try refresh(session) }
            if session.version != nil, descriptor.predicate == nil {
                return descriptor.window(of: tables.reduce(0) { $0 + $1.source.count }).count
            }
            if !session.plansQueries, !container.verifiesPushDown {
                do {
                    return try session.fetchCount(descriptor)
                } catch DataStoreError.preferInMemoryFilter {
                } catch DataStoreError.preferInMemorySort {
                }
            }
        }
        var unsorted = descriptor
        unsorted.sortBy = []
        let prepared = PreparedQuery(unsorted, purpose: .count, under: container.schema)
        if let found = try lookUp(prepared, window: { _ in 0..<0 }) {
            return prepared.query.window(of: found.count).count
        }
        return try QueryRun(prepared, in: self).count
    }
}

extension ContextState {
    /// Read-only models that show records as stored, apart from the registered ones.
    func storedModels(for identifiers: [PersistentIdentifier]) -> [any PersistentModel] {
        identifiers.compactMap { identifier in
            guard let table = table(named: identifier.entityName),
                !Going.contains(identifier, in: ObjectIdentifier(self))
            else {
                return nil
            }
            if table.session.version == nil, table.source.row(of: identifier) == nil {
                do { try table.session.load([identifier], as: table.layout.type) } catch { latch(error) }
            }
            guard let row = table.source.row(of: identifier), isKnown(row, in: table) else { return nil }
            return table.storedModel(row: row, ignoresPendingChanges: true)
        }
    }
}

extension ModelTable {
    /// A read-only model that shows the row as stored and is not registered. With `ignoresPendingChanges`, the models
    /// that its relationships return are of this kind too.
    func storedModel(row: Int, of source: RowSource? = nil, ignoresPendingChanges: Bool = false) -> any PersistentModel
    {
        let frozen = FrozenRow(
            table: self, source: source ?? self.source, row: row, ignoresPendingChanges: ignoresPendingChanges)
        func make<T: PersistentModel>(_ type: T.Type) -> T {
            Materializing.make(type, ModelState(readingOnly: frozen))
        }
        return make(layout.type)
    }
}
