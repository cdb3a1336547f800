public import Foundation

extension ModelContext {
    /// Changes every matching model in the store, in one transaction, without creating model objects.
    ///
    ///     try context.update(Trip.self, where: #Predicate { $0.isOver }) {
    ///         $0.set(\.note, to: "over")
    ///         $0.increment(\.visits, by: 1)
    ///     }
    ///
    /// In a context without unsaved changes, either the whole update is saved when this returns, or nothing is and an
    /// error is thrown. Models in memory show the new values: those of this context at once, those of other contexts
    /// when they move to the new version. Setters and `didSet` are not called. In a context with unsaved changes, those
    /// changes take part in the matching and the update joins them: the context creates models for the matches, and the
    /// next save stores the result.
    ///
    /// A store that claims `batchUpdate` does the work itself; for others the framework reads the records and saves
    /// them.
    /// - Parameters:
    ///   - model: the type whose models are changed.
    ///   - predicate: the models to change; nil changes all.
    ///   - includeSubclasses: whether to change models of subclasses too.
    ///   - fullScanPolicy: what to do if no index can answer the predicate; nil uses the context's policy.
    ///   - changes: describes the changes; called once, before anything is read.
    /// - Returns: the number of models that matched.
    /// - Throws: `BatchError` for a property that cannot be set in this way; what `fetch(_:)` and `save()` throw;
    ///   `QueryEvaluationError` where a calculation has no result; what `changes` throws.
    @discardableResult
    public func update<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true,
        fullScanPolicy: FullScanPolicy? = nil, _ changes: (inout BatchUpdate<T>) throws -> Void
    ) throws -> Int {
        var update = BatchUpdate<T>(state.container.schema)
        try changes(&update)
        try state.prepare()
        if let failure = update.failure { throw failure }
        let run = try BatchRun(
            model, where: predicate, includesSubclasses: includeSubclasses, fullScanPolicy: fullScanPolicy, in: state)
        return try run.update(update)
    }

    /// Inserts a record for every element, in one transaction, without creating model objects.
    ///
    ///     try context.insert(Trip.self, from: rows) { trip, row in
    ///         try trip.set(\.name, to: row.name)
    ///         try trip.set(\.price, to: row.price)
    ///     }
    ///
    /// In a context without unsaved changes, either all records are saved when this returns, or none is and an error is
    /// thrown. In a context with unsaved changes they become inserted models, which the next save stores. A record with
    /// the unique values of another does what the context's `uniqueConflictPolicy` says: by default it updates that one with the
    /// values that were set.
    /// - Returns: the identifiers of the records, one for each element, in that order. They are temporary for records
    ///   that wait for the next save.
    /// - Throws: `BatchError`; `ModelValidationError.missingValue` if a required property was not set and has no
    ///   default; what `save()` throws; what the block and the sequence throw.
    @inlinable
    @discardableResult
    public func insert<T: PersistentModel, Elements: Sequence>(
        _ model: T.Type, from elements: Elements, _ fill: (inout BatchRecord<T>, Elements.Element) throws -> Void
    ) throws -> [PersistentIdentifier] {
        var filling = try BatchFilling(model, in: self, capacity: elements.underestimatedCount)
        for element in elements {
            try fill(&filling.record, element)
            filling.take()
        }
        return try filling.insert()
    }

    /// Inserts a record for every element like `insert(_:from:_:)`, and says what happens to one whose unique values another one
    /// has.
    ///
    ///     try context.insert(Trip.self, from: rows, onConflict: .keep) { trip, row in try trip.set(\.name, to: row.name) }
    ///
    /// Under `.update` and `.replace` the older record takes what was set by name; under `.keep` it stays as it is. In each of these
    /// cases the identifier that is returned for the element is the older record's.
    /// - Parameters:
    ///   - model: the type of the records.
    ///   - elements: one for each record.
    ///   - policy: what to do about unique values that another record has, of the store or of the batch.
    ///   - fill: sets the values of a record.
    /// - Returns: as `insert(_:from:_:)`.
    /// - Throws: as `insert(_:from:_:)`; under `.fail`, `ModelContextError.notUnique` for the first such record, and nothing of the
    ///   batch is stored. In a context with unsaved changes the save throws it.
    @inlinable
    @discardableResult
    public func insert<T: PersistentModel, Elements: Sequence>(
        _ model: T.Type, from elements: Elements, onConflict policy: UniqueConflictPolicy,
        _ fill: (inout BatchRecord<T>, Elements.Element) throws -> Void
    ) throws -> [PersistentIdentifier] {
        var filling = try BatchFilling(
            model, in: self, onConflict: policy, capacity: elements.underestimatedCount)
        for element in elements {
            try fill(&filling.record, element)
            filling.take()
        }
        return try filling.insert()
    }

    /// Deletes every matching model and saves that at once; in a context with unsaved changes the deletion joins them
    /// and waits for the next save. Delete rules are followed.
    ///
    /// A store that claims `batchUpdate` or `batchDelete` does the work itself as far as it can; otherwise the
    /// framework creates models for the matches.
    /// - Throws: what `fetch(_:)` and `save()` throw.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        try delete(model, where: predicate, includeSubclasses, nil)
    }

    /// Deletes every matching model, with its own policy for full scans; otherwise like
    /// `delete(model:where:includeSubclasses:)`.
    /// - Parameters:
    ///   - model: the type whose models are deleted.
    ///   - predicate: the models to delete; nil deletes all.
    ///   - includeSubclasses: whether to delete models of subclasses too.
    ///   - fullScanPolicy: what to do if no index can answer the predicate; nil uses the context's policy. It does not
    ///     apply where a `DataStoreBatching` store takes the predicate itself.
    /// - Throws: what `fetch(_:)` and `save()` throw.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true,
        fullScanPolicy: FullScanPolicy?
    ) throws {
        try delete(model, where: predicate, includeSubclasses, fullScanPolicy)
    }

    private func delete<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>?, _ includeSubclasses: Bool, _ fullScanPolicy: FullScanPolicy?
    ) throws {
        try state.prepare()
        try BatchRun(
            model, where: predicate, includesSubclasses: includeSubclasses, fullScanPolicy: fullScanPolicy, in: state
        ).delete()
    }
}

extension ContextState {
    /// Runs a body that changes a store without models, with the store locked and between the notifications of a save.
    func changing<R>(_ session: StoreSession, _ body: (inout SavedChanges) throws -> R) throws -> R {
        if let context { NotificationCenter.default.post(name: ModelContext.willSave, object: context) }
        var saved = SavedChanges()
        let result = try notifications.deferred { try session.saving { try body(&saved) } }
        // What changed nothing has no place in the history.
        if !saved.isEmpty, saved.historyTokens.isEmpty, let number = session.version?.number,
            let token = session.historyToken(ofVersion: number)
        {
            saved.note(token, of: session.identifier)
        }
        postDidSave(saved)
        return result
    }

    /// Takes over changes for which the store did not report the values.
    func takeOverChanges(of session: StoreSession) throws {
        if session.version != nil { return try refresh(session) }
        for table in tables.values where table.session === session { try reread(table) }
    }

    /// Reads the registered models of a table of snapshots again, and forgets what else it has read.
    private func reread(_ table: ModelTable) throws {
        let known = table.registeredModels().map { (table.source.identifier(ofRow: $0.row), $0.model) }
        table.session.forgetAll(ofEntity: table.layout.entityName)
        if known.isEmpty { return }
        try table.session.load(known.map(\.0), as: table.layout.type)
        for (identifier, model) in known where table.source.row(of: identifier) == nil { detach(model, table: table) }
    }
}
