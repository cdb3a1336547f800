import Foundation

/// The working set of models: fetch them, change them, insert and delete, and save all changes at once.
///
/// A context is used from one isolation domain (an actor, the main actor, or one task at a time); it is not `Sendable`,
/// and neither are its models. It reads one version of each store, and moves to a newer one only at the start of a
/// fetch, at its own save, at `refresh()` and at `rollback()`.
///
/// A store without versions is read record by record. There, at the same moments, the context reads the records of its models again
/// that others have changed since, as far as the store's feed names them: those that other contexts of the container save and,
/// for a store that posts to a feed of its own, all that this feed has. Models of deleted records leave the context, and unsaved
/// changes stay.
///
/// The last release of a context or a model may happen on any thread. A released context drops its unsaved changes;
/// models that are still retained keep their values, but of unsaved relationships only the required ones.
///
/// An error in a call that cannot throw is kept, and the next fetch or save throws it. If it kept the context from
/// doing something (inserting a model of an unknown type, relating one of another context), every save throws it until
/// the request is undone: by setting the relationship again, by deleting the model that was not inserted, or by
/// `rollback()`.
public final class ModelContext: Equatable, SendableMetatype {
    let state: ContextState
    /// Held here alone.
    let tracker = ChangeTracker()

    /// The author that the history records for this context's changes; nil records no author.
    public var author: String? {
        get { editingState.author }
        set { editingState.author = newValue }
    }
    /// What stores and history learn of this context: its identity and the author of its changes. After a new `id` is
    /// set, stores discard their state for the context and begin again.
    public var editingState: EditingState {
        get { currentEditing }
        set {
            let previous = currentEditing
            currentEditing = newValue
            guard previous.id != newValue.id else { return }
            for store in state.stores {
                store.end(previous)
                store.begin(newValue)
            }
        }
    }
    // Not observed properties, these: in a convenience initializer of an extension, no observers run.
    private var currentEditing = EditingState()
    private var savesAutomatically = false
    /// How changes are recorded; see `undoManager` and `undoPolicy`.
    var undoSettings = UndoSettings()
    /// The container that the context reads from and saves to.
    public var container: ModelContainer { state.container }

    /// Whether the context saves changes automatically: true by default for the main context, false for others.
    ///
    /// One save covers all changes of a stretch of synchronous code, after that code has suspended or returned to the
    /// run loop, and never in the middle of it. The context stays alive until then. This works for changes made on the
    /// main actor (or on the program's main thread, if its run loop or main queue runs) and in a model actor. On other
    /// threads and tasks the end of such code cannot be detected: there the context does not save automatically and
    /// logs a warning; call `save()`.
    ///
    /// An error is logged and thrown by the next fetch; the save is retried after 1, 2, 4 and so on up to 64 seconds,
    /// and after the next change. A process that ends before the save loses the changes, as it does with SwiftData:
    /// call `save()` or `ModelContainer.close()` at the end of a script.
    public var autosaveEnabled: Bool {
        get { savesAutomatically }
        set {
            guard newValue != savesAutomatically else { return }
            savesAutomatically = newValue
            tracker.onChange = newValue ? { [autosave] in autosave.schedule() } : nil
            if newValue, tracker.hasChanges { autosave.schedule() }
        }
    }
    let autosave = Autosave()

    /// How a save treats records that other saves have changed since this context read them. At first it is the container's.
    public var mergePolicy: MergePolicy

    /// What a save does with new models whose unique values another one has, unless `insert(_:onConflict:)` has said it for them.
    /// At first it is the container's.
    public var uniqueConflictPolicy: UniqueConflictPolicy

    /// What to do about fetches that scan every record; nil uses the container's policy.
    public var fullScanPolicy: FullScanPolicy?

    /// Creates a context without models, over all stores of a container. Nothing is read yet: the version of each store
    /// is pinned when one of its entities is first used. If the container was closed, the first fetch or save throws.
    public convenience init(_ container: ModelContainer) { self.init(container, isMain: false) }

    /// The container's main context, which the container keeps.
    convenience init(mainOf container: ModelContainer) { self.init(container, isMain: true) }

    /// Creates a context that reads stores as they were, where they are given by their places in the container.
    init(_ container: ModelContainer, isMain: Bool, past: [PastVersion?]? = nil) {
        state = ContextState(container: container, isKept: isMain, tracker: tracker, past: past)
        mergePolicy = container.mergePolicy
        uniqueConflictPolicy = container.uniqueConflictPolicy
        state.hold()
        state.context = self
        autosave.attach(to: self)
        for store in container.stores { store.begin(editingState) }
    }

    deinit {
        for session in state.sessions { session.following.end() }
        for store in state.stores { store.end(editingState) }
        state.letGo()
    }

    /// Two contexts are equal if they are the same object.
    public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

    /// Whether there are unsaved insertions, changes or deletions. Also true while a save would throw because a changed
    /// model's record was deleted by others; `rollback()` drops that change.
    public var hasChanges: Bool {
        tracker.propagateDeletes()
        return tracker.hasChanges
    }

    /// The models inserted since the last save, in order of insertion.
    public var insertedModelsArray: [any PersistentModel] {
        tracker.propagateDeletes()
        return Array(tracker.inserted)
    }
    /// The saved models that have unsaved changes.
    public var changedModelsArray: [any PersistentModel] {
        tracker.propagateDeletes()
        return Array(tracker.changed)
    }
    /// The saved models that the next save deletes, including those deleted by delete rules.
    public var deletedModelsArray: [any PersistentModel] {
        tracker.propagateDeletes()
        return Array(tracker.deleted)
    }

    /// Adds a model to this context, with every model without a context that it reaches; the next save stores them.
    ///
    /// Inserting a model of this context does nothing, except that it undoes an unsaved deletion, including the
    /// deletions by its delete rules. A model of another context is not inserted, and the next fetch or save throws.
    public func insert<T: PersistentModel>(_ model: T) {
        if state.readsPast { return tracker.refuse(ModelContextError.readsPast, inserting: model) }
        tracker.insert(model, isRequested: true)
    }

    /// Adds a model to this context like `insert(_:)`, and says what the next save does if another one has its unique values.
    ///
    ///     context.insert(account, onConflict: .fail)
    ///
    /// The policy is for the models that this call takes in: the model, and those without a context that it reaches. Models that
    /// come in later follow the context's `uniqueConflictPolicy`. For a model of this context that was never saved it replaces the
    /// policy that it was inserted with, also in the unsaved models that it reaches and that came in without a policy or with that
    /// one; those that were inserted by name keep theirs. So relating the model to a stored one first, which inserts it, makes no
    /// difference. For a model that is stored it does nothing.
    public func insert<T: PersistentModel>(_ model: T, onConflict policy: UniqueConflictPolicy) {
        if state.readsPast { return tracker.refuse(ModelContextError.readsPast, inserting: model) }
        tracker.insert(model, isRequested: true, onConflict: policy)
    }

    /// Deletes a model at the next save. The delete rules of its relationships are followed before the next fetch or
    /// save; they do not apply to models that are removed from the relationship before then.
    ///
    /// For a model that was merged into another with the same unique values, that other one is deleted. Deleting a model
    /// whose insertion was refused undoes the request.
    public func delete<T: PersistentModel>(_ model: T) { tracker.deleteNamed(model) }

    /// Follows the delete rules of deleted models, and delivers unsaved changes to live results. Fetches and saves do this
    /// themselves.
    public func processPendingChanges() {
        tracker.propagateDeletes()
        state.follower?.deliver()
    }

    /// The model with that identifier, if this context has it in memory; nil otherwise. As everywhere, an identifier may have the name
    /// that its entity had in the version before; see `PersistentModel.originalEntityName`.
    public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
        if persistentModelID.isTemporary { return state.model(for: persistentModelID) as? T }
        return container.schema.resolve(persistentModelID) { record in
            guard let table = state.tables[record.entityName] else { return nil }
            guard let row = table.source.row(of: record) else { return tracker.inserted.first(record) as? T }
            return table.registered(row: row) as? T
        }
    }

    /// The model with that identifier; also one that was temporary before this context's last save, which leads to the
    /// record that the save made or updated for it. If there is no such model, the result is a placeholder that belongs to no model class and whose `isDeleted` is true, so that a cast
    /// to the expected class gives nil.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        do {
            if let model: any PersistentModel = try state.find(persistentModelID) { return model }
        } catch {
            state.latch(error)
        }
        return MissingModel(persistentModelID)
    }

    /// The model with that identifier.
    /// - Throws: `ModelContextError.noSuchModel` if no model of that type has the identifier; what a fetch throws.
    public func existingModel<T: PersistentModel>(
        for persistentModelID: PersistentIdentifier, as type: T.Type = T.self
    ) throws -> T {
        guard let model = try state.find(persistentModelID) as? T else {
            throw ModelContextError.noSuchModel(persistentModelID)
        }
        return model
    }

    /// Moves to the latest version of every store; unsaved changes stay.
    /// - Throws: what a fetch throws.
    public func refresh() throws {
        try state.prepare()
        for session in state.sessions { try state.refresh(session) }
    }

    /// Drops all unsaved changes and moves to the latest version of every store. Inserted models then belong to no
    /// context and keep their values. They refer weakly to related models, except through required to-one
    /// relationships, and find stored ones again. Inserting them again also inserts the related models that still exist,
    /// except for those that have another partner by now. What the context could undo and redo is forgotten.
    public func rollback() {
        autosave.begin()
        defer { autosave.end() }
        tracker.journal?.clear()
        state.unrecorded { state.rollback() }
    }

    /// Runs a block and saves. If the block throws, nothing is saved, and its changes stay unsaved in the context: call
    /// `rollback()` to drop them, before the code comes to an end if the context saves by itself.
    /// - Throws: what the block throws; what `save()` throws.
    public func transaction(block: () throws -> Void) throws {
        autosave.begin()
        defer { autosave.end() }
        try block()
        try save()
    }

    /// The saves of the stores that keep a history of that type, as the descriptor asks. Sort order and limit apply to
    /// all such stores together; without a sort order, saves are in order of time.
    ///
    /// In the predicate, a token stands in each store for the number that it has for that store; it is the beginning of the history of a
    /// store that it does not name. Where all transactions after a token are asked for, all of them are told, or none: a history of which
    /// some are gone, or which goes on from another past than the token's, is an error.
    /// - Throws: `SwiftDataError.historyTokenExpired`, with the store and the oldest number in its description;
    ///   `DataStoreError.unsupportedFeature` if no store of the container keeps such a history; the stores' errors.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        try state.prepare()
        let histories = try container.stores.compactMap { try $0.history(descriptor) }
        if histories.isEmpty { throw DataStoreError.unsupportedFeature }
        return histories.count == 1 ? histories[0] : descriptor.merged(histories)
    }

    /// Deletes the transactions that the descriptor matches from the history. Sort order and limit apply to all stores together, as in
    /// `fetchHistory(_:)`.
    /// - Throws: `HistoryHeld` where a holder needs some of them; `DataStoreError.unsupportedFeature` if no store of the container keeps such a history; the stores'
    ///   errors.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        try state.prepare()
        var found = false
        for (store, share) in zip(container.stores, try container.historyShares(of: descriptor)) {
            if try share.map(store.deleteHistory) ?? true { found = true }
        }
        if !found { throw DataStoreError.unsupportedFeature }
    }
}

@available(*, unavailable, message: "A context is used where it was made; pass the container or identifiers instead.")
extension ModelContext: Sendable {}

extension ContextState {
    /// This context's identity towards its stores.
    var editingState: EditingState { context?.editingState ?? EditingState() }
    var contextIdentifier: UUID? { context?.editingState.id }

    func find(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
        try container.checkOpen()
        return try container.schema.resolve(identifier) { identifier in
            if let known = model(for: identifier) { return known }
            guard let table = table(named: identifier.entityName) else { return nil }
            try refresh(table.session)
            return model(for: identifier)
        }
    }

    func rollback() {
        propagateDeletes()
        follower?.noteRollback()
        defer { forgetAutosave() }
        var drops: [ValueChange] = []
        for model in inserted {
            model._modelState.flags = []
            model._modelState.table = nil
            model._draft?.takeBackWeakly()
        }
        let touched = Array(changed) + Array(deleted)
        for model in touched {
            guard let table = model._table else { continue }
            if let drop = ValueChange(droppingDraftOf: model, layout: table.layout) { drops.append(drop) }
        }
        for drop in drops { drop.willSet() }
        for model in touched where model._table != nil {
            model._modelState.flags = []
            model._modelState.draft = nil
        }
        tracker?.clear()
        restore(touched)
        for drop in drops { drop.didSet() }
        do {
            for session in sessions { try refresh(session) }
        } catch {
            latch(error)
        }
        follower?.deliver()
    }
}

extension ContextState {
    /// Lets stores without versions say what they last knew of records whose changes were dropped.
    private func restore(_ models: [any PersistentModel]) {
        for session in sessions where session.version == nil {
            let records = models.filter { $0._table?.session === session }.map(\.persistentModelID)
            if records.isEmpty { continue }
            do { try session.restore(records) } catch { latch(error) }
        }
    }
}

/// What `model(for:)` returns if there is no such model.
final class MissingModel: PersistentModel {
    var persistentBackingData: any BackingData<MissingModel>
    static var schemaMetadata: [Schema.PropertyMetadata] { [] }

    init(backingData: any BackingData<MissingModel>) { persistentBackingData = backingData }

    init(_ identifier: PersistentIdentifier) {
        let backing = DefaultBackingData<MissingModel>(for: MissingModel.self)
        backing.persistentModelID = identifier
        persistentBackingData = backing
        _modelState.flags = .isDeleted
    }
}
