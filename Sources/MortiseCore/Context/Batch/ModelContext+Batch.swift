public import Foundation

extension ModelContext {
    /// Changes every model that matches, in the store and in one transaction, without making models of them.
    ///
    ///     try context.update(Trip.self, where: #Predicate { $0.isOver }) {
    ///         $0.set(\.note, to: "over")
    ///         $0.increment(\.visits, by: 1)
    ///     }
    ///
    /// In a context without unsaved changes all of it is saved when this returns, or none of it and an error is thrown.
    /// Models that are in memory show the new values, here at once and in other contexts when they move to the new
    /// version; setters and `didSet` are not called. In a context with unsaved changes those count for what matches, and
    /// the update is one more of them: models are made, and the next save stores it.
    ///
    /// A store that is a `BatchChangingDataStore` does the work itself; for others the framework reads the records and
    /// saves them.
    /// - Parameter fullScanPolicy: what to do if every record has to be looked at for those that match; nil leaves it to the
    ///   context.
    /// - Returns: how many models matched.
    /// - Throws: `BatchError` for a property that cannot be set in this way; what `fetch(_:)` and `save()` throw;
    ///   `QueryEvaluationError` where a calculation has no result.
    @discardableResult
    public func update<T: PersistentModel>(
        _ model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true,
        fullScanPolicy: FullScanPolicy? = nil, _ changes: (inout BatchUpdate<T>) throws -> Void
    ) throws -> Int {
        var update = BatchUpdate<T>()
        try changes(&update)
        try state.prepare()
        if let failure = update.failure { throw failure }
        let run = try BatchRun(
            model, where: predicate, includesSubclasses: includeSubclasses, fullScanPolicy: fullScanPolicy, in: state)
        return try run.update(update)
    }

    /// Inserts a record for every element, in one transaction, without making models of them.
    ///
    ///     try context.insert(Trip.self, from: rows) { trip, row in
    ///         try trip.set(\.name, to: row.name)
    ///         try trip.set(\.price, to: row.price)
    ///     }
    ///
    /// In a context without unsaved changes all of them are saved when this returns, or none and an error is thrown; with
    /// unsaved changes they are some more of them, as models, and wait for the next save. A record with the unique values
    /// of another updates that one with what was set.
    /// - Returns: the identifiers of the records, one for each element and in that order. Those of records that wait for
    ///   the next save are temporary.
    /// - Throws: `BatchError`; `ModelValidationError.missingValue` where a required property was not set and has no
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

    /// Deletes every model that matches and saves that at once; in a context with unsaved changes the deletion is one more
    /// of them and waits for the next save. Delete rules are followed.
    ///
    /// A store that is a `BatchChangingDataStore` or a `DataStoreBatching` does the work itself as far as it can; otherwise
    /// models are made of what is deleted.
    public func delete<T: PersistentModel>(
        model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
    ) throws {
        try delete(model, where: predicate, includeSubclasses, nil)
    }

    /// As `delete(model:where:includeSubclasses:)`, with a policy of its own.
    /// - Parameter fullScanPolicy: what to do if every record has to be looked at for those that match; nil leaves it to the
    ///   context. A `DataStoreBatching` store that takes the predicate is believed to have no need of that.
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
    /// Does what changes a store without models, with the notifications of a save around it and the store locked.
    func changing<R>(_ binding: StoreBinding, _ body: (inout SaveReport) throws -> R) throws -> R {
        if let context { NotificationCenter.default.post(name: ModelContext.willSave, object: context) }
        var report = SaveReport()
        let result = try holdingObservers { try binding.store.saveLock.withLock { try body(&report) } }
        tell(report)
        return result
    }

    /// Takes over what a store changed without telling the values.
    func takeOverChanges(of binding: StoreBinding) throws {
        if binding.version != nil { return try refresh(binding) }
        for table in tables.values where table.binding === binding { try reread(table) }
    }

    /// Reads the registered models of a table of snapshots again, and forgets what else it has read.
    private func reread(_ table: ModelTable) throws {
        guard let rows = table.source as? SnapshotRows else { return }
        let known = table.registeredModels().map { (rows.identifier(ofRow: $0.row), $0.model) }
        rows.removeAll()
        if known.isEmpty { return }
        try table.binding.store.load(known.map(\.0), into: self, of: table)
        for (identifier, model) in known where rows.row(of: identifier) == nil { leave(model, table: table) }
    }
}
