public import Foundation

/// The working set of models: fetch them, change them, insert and delete, and save all changes at once.
///
/// A context is used from one isolation domain (an actor, the main actor, or one task at a time); it is not `Sendable`,
/// and neither are its models. It reads one version of each store, and moves to a newer one only at the start of a fetch,
/// at its own save, at `refresh()` and at `rollback()`.
///
/// What has no way to throw (inserting a model of an unknown type, say) is remembered, and the next fetch or save throws it.
public final class ModelContext: Equatable, SendableMetatype {
    let state: ContextState

    /// Goes into the history of every save.
    public var author: String? {
        get { editingState.author }
        set { editingState.author = newValue }
    }
    public var editingState: EditingState
    public var undoManager: UndoManager?
    public var container: ModelContainer { state.container }

    /// Whether changes are saved without being asked to, soon after they are made. Only the main context does so; what
    /// goes wrong is thrown by the next fetch or save.
    public var autosaveEnabled: Bool = false

    /// What a save does about records that other saves have changed since this context read them.
    public var mergePolicy: MergePolicy = .propertyWise

    /// What to do about fetches that look at every record; nil leaves it to the container.
    public var fullScanPolicy: FullScanPolicy?

    /// A context without models, over all stores of a container. Nothing is read yet: each store's version is pinned where
    /// the first of its entities is used. A container that was closed makes the first fetch or save throw.
    public init(_ container: ModelContainer) {
        state = ContextState(container: container)
        editingState = EditingState()
        state.context = self
        for store in container.stores { store.begin(editingState) }
    }

    deinit {
        state.contextWillGo()
        for store in state.container.stores { store.end(editingState) }
    }

    public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

    /// Whether there are unsaved insertions, changes or deletions.
    public var hasChanges: Bool {
        state.propagateDeletes()
        return state.hasChanges
    }

    /// The models inserted since the last save, in that order.
    public var insertedModelsArray: [any PersistentModel] {
        state.propagateDeletes()
        return Array(state.inserted)
    }
    /// The saved models that have been changed since.
    public var changedModelsArray: [any PersistentModel] {
        state.propagateDeletes()
        return Array(state.changed)
    }
    /// The saved models that the next save deletes, those deleted by a delete rule included.
    public var deletedModelsArray: [any PersistentModel] {
        state.propagateDeletes()
        return Array(state.deleted)
    }

    /// Makes a model, and every model without context that it reaches, part of this context; saving stores them.
    ///
    /// Inserting a model that is already here does nothing, except that a deletion that is not saved is taken back.
    public func insert<T: PersistentModel>(_ model: T) { state.insert(model) }

    /// Deletes a model at the next save. Its relationships' delete rules are followed before the next fetch or save.
    public func delete<T: PersistentModel>(_ model: T) { state.delete(model) }

    /// Follows the delete rules of what has been deleted. Fetches and saves do this themselves.
    public func processPendingChanges() { state.propagateDeletes() }

    /// The model with that identifier if this context has it in memory.
    public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
        if persistentModelID.isTemporary { return state.model(for: persistentModelID) as? T }
        guard let table = state.tables[persistentModelID.entityName],
            let row = table.source.row(of: persistentModelID)
        else { return nil }
        return table.registered(row: row) as? T
    }

    /// The model with that identifier. Where there is none the result is a stand-in that belongs to no model class and
    /// whose `isDeleted` is true, so that a cast to the class wanted gives nil.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        do {
            if let model: any PersistentModel = try state.find(persistentModelID) { return model }
        } catch {
            state.latch(error)
        }
        return MissingModel(persistentModelID)
    }

    /// The model with that identifier.
    /// - Throws: `ModelContextError.noSuchModel` where there is none of that type; what a fetch throws.
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
        for binding in state.bindings { try state.refresh(binding) }
    }

    /// Drops all unsaved changes and moves to the latest version of every store. Inserted models belong to no context
    /// afterwards and keep their values.
    public func rollback() { state.rollback() }

    /// Runs a block and saves. Where the block throws nothing is saved, and its changes stay unsaved in the context.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// Posted before a save, on the saving thread, with the context as object.
    public static let willSave = Notification.Name("ModelContext.willSave")
    /// Posted after a save, on the saving thread, with the context as object and the identifiers of what was saved.
    public static let didSave = Notification.Name("ModelContext.didSave")

    /// The keys of `didSave`'s user info, by raw value. The identifiers are arrays of `PersistentIdentifier`.
    public enum NotificationKey: String, Sendable {
        /// The number of the store's version after the save, by store identifier.
        case queryGeneration
        /// True where a store deleted records without saying which; the identifiers are not complete then.
        case invalidatedAllIdentifiers
        case insertedIdentifiers
        case updatedIdentifiers
        case deletedIdentifiers
        /// The places of the save in the histories of the stores that keep one.
        case historyTokens
    }

    /// The saves of the stores that keep a history of that type, as the descriptor asks.
    /// - Throws: `DataStoreError.unsupportedFeature` where no store of the container does.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        try state.prepare()
        let histories = try container.stores.compactMap { try $0.history(descriptor) }
        if histories.isEmpty { throw DataStoreError.unsupportedFeature }
        return histories.flatMap { $0 }
    }

    /// Forgets the transactions that the descriptor matches.
    /// - Throws: `DataStoreError.unsupportedFeature` where no store of the container keeps such a history.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        try state.prepare()
        var found = false
        for store in container.stores where try store.deleteHistory(descriptor) { found = true }
        if !found { throw DataStoreError.unsupportedFeature }
    }
}

@available(*, unavailable, message: "A context is used where it was made; pass the container or identifiers instead.")
extension ModelContext: Sendable {}

extension ContextState {
    /// Who this context is to its stores.
    var editingState: EditingState { context?.editingState ?? EditingState() }

    /// What every call that may throw does first.
    func prepare() throws {
        try container.checkOpen()
        try throwLatched()
        propagateDeletes()
        try throwLatched()
    }

    func find(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
        try container.checkOpen()
        if let known = model(for: identifier) { return known }
        guard let table = table(named: identifier.entityName) else { return nil }
        try refresh(table.binding)
        return model(for: identifier)
    }

    func rollback() {
        propagateDeletes()
        var drops: [ValueChange] = []
        for model in inserted {
            model._modelState.flags = []
            model._modelState.table = nil
        }
        let touched = Array(changed) + Array(deleted)
        for model in touched {
            guard let table = model._modelState.table else { continue }
            if let drop = ValueChange(droppingDraftOf: model, layout: table.layout) { drops.append(drop) }
        }
        for drop in drops { drop.willSet() }
        for model in touched where model._modelState.table != nil {
            model._modelState.flags = []
            model._modelState.draft = nil
        }
        clearChanges()
        for drop in drops { drop.didSet() }
        do {
            for binding in bindings { try refresh(binding) }
        } catch {
            latch(error)
        }
    }
}

/// What `model(for:)` returns where there is no model.
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
