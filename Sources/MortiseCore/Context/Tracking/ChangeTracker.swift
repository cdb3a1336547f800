import Synchronization

/// What a program has changed in a context and has not saved: the one door for changes of models. `apply` changes a value
/// or one side of a relationship, `insert` and `delete` take models in and out.
///
/// The context alone holds this, and everything else refers to it weakly: when the context goes, on whatever thread, the
/// unsaved models that nobody else holds go with it, and no model that is in use elsewhere is looked at.
final class ChangeTracker {
    /// What drafts hold of it: one object for all, because a weak reference in each would cost more than the draft.
    final class Reference {
        fileprivate(set) weak var tracker: ChangeTracker?
    }
    let reference = Reference()
    /// The context's other half, which outlives this.
    private(set) unowned var state: ContextState?

    // Unchecked, because nothing else runs while they change.
    @exclusivity(unchecked) var inserted = ModelList()
    @exclusivity(unchecked) var changed = ModelList()
    @exclusivity(unchecked) var deleted = ModelList()
    /// Records that were changed here and deleted elsewhere.
    var deletedElsewhere: [PersistentIdentifier] = []
    /// The records that were deleted here, before the next save or rollback, and by others as well.
    private(set) var deletedByBoth: Set<PersistentIdentifier> = []
    /// Deleted models whose delete rules have not been followed yet.
    var unpropagated: [any PersistentModel] = []
    @exclusivity(unchecked) var cascades = Cascades()
    /// Whether other contexts have saved since delete rules were followed, so that these may apply to more records.
    var hasStaleDeletions = false
    /// While the deletion of a model is undone, that model and all models that were deleted with it.
    @exclusivity(unchecked) var returning = ReturningModels()
    /// Requests that were refused; what they asked for would be missing from a save.
    private(set) var refusals = Refusals()
    /// What a save has changed on its own account so far; nil while nothing is saved, and if nothing had to be settled.
    @exclusivity(unchecked) var saveUndo: SaveUndo?
    /// What is recorded so that changes can be undone; nil where nothing is.
    @exclusivity(unchecked) var journal: ChangeJournal?
    /// Called for every model that gets its first unsaved change since the last save.
    @exclusivity(unchecked) var onChange: (() -> Void)?

    private struct Kept {
        var relations: [DraftRelations?] = []
        var free: [Int] = []
    }
    // Behind a lock, because the last release of a model gives back what it has lent.
    private let lock = Mutex(())
    @exclusivity(unchecked) private var kept = Kept()

    init() { reference.tracker = self }

    /// Makes this the tracker of a context.
    func attach(to state: ContextState) { self.state = state }

    var hasChanges: Bool {
        !inserted.isEmpty || !changed.isEmpty || !deleted.isEmpty || !deletedElsewhere.isEmpty
    }
    var count: Int { inserted.count + changed.count + deleted.count }
    /// The entities of the models with unsaved changes, and maybe of others that had some.
    var entities: Set<String> { inserted.entities.union(changed.entities).union(deleted.entities) }

    // MARK: Changed models

    /// Notes the first change of a model that is stored.
    func noteChange(of model: any PersistentModel) {
        saveUndo?.note(model)
        model._modelState.flags.insert(.isChanged)
        keepBase(of: model)
        changed.append(model)
        state?.follower?.watch(model)
        onChange?()
    }

    /// Remembers a stored model's record as it is now, unless it already has unsaved changes.
    func keepBase(of model: any PersistentModel) {
        guard model._row >= 0, let table = model._table else { return }
        let draft = model._modelState.ensureDraft()
        if draft.base == nil { draft.base = table.baseRow(model._row) }
        draft.lend(to: reference, required: table.layout.record.requiredTargets)
    }

    /// Takes a model off the list of those to save if nothing is left to write.
    func noteUnchanged(_ model: any PersistentModel) {
        guard let table = model._table, model._flags.contains(.isChanged),
            model._draft?.changed.isEmpty ?? true
        else { return }
        changed.remove(model)
        model._modelState.flags.remove(.isChanged)
        model._modelState.dropSavedDraft(table.layout.record)
    }

    /// Notes that the record of a model with unsaved changes is gone.
    func noteDeletedElsewhere(_ model: any PersistentModel) {
        changed.remove(model)
        deletedElsewhere.append(model.persistentModelID)
    }

    /// Notes the values that a changed model shows of its row, which is another now.
    func noteRowValues(of model: any PersistentModel) {
        guard let table = model._table, model._flags.contains(.isChanged), !table.indexedSlots.isEmpty else { return }
        for slot in table.indexedSlots.slots {
            guard case .unset = model._draft?[slot] ?? .unset else { continue }
            changed.noteValue(model._rowValue(at: slot), at: slot, in: table, place: Int(model._place))
        }
    }

    /// Forgets which values the models have; they are looked at again when somebody asks.
    func forgetValues() {
        inserted.forgetValues()
        changed.forgetValues()
    }

    // MARK: After a save or a rollback

    /// Forgets the models that a save has inserted, and what others had deleted before it.
    func forgetInsertions(of models: [any PersistentModel]) {
        deletedByBoth = []
        if models.count == inserted.count, zip(models, inserted).allSatisfy({ $0 === $1 }) {
            inserted = ModelList()
        } else {
            for model in models { inserted.remove(model) }
        }
    }

    /// Forgets a deletion that a save has carried out.
    func forgetDeletion(of model: any PersistentModel) {
        deleted.remove(model)
        endDeletion(of: model)
    }

    /// Forgets that a model was deleted, because its deletion was undone or is final.
    func endDeletion(of model: any PersistentModel) {
        cascades.noteReturn(of: model)
        cascades.forgetFollowers(of: model)
    }

    /// Notes that others have deleted the record of a model that is deleted here.
    func noteGone(_ model: any PersistentModel) {
        if deleted.contains(model) { deletedByBoth.insert(model.persistentModelID) }
        deleted.remove(model)
        cascades.noteGone(model)
    }

    /// Forgets all changes, because they were dropped.
    func clear() {
        deletedByBoth = []
        inserted = ModelList()
        changed = ModelList()
        deleted = ModelList()
        deletedElsewhere = []
        unpropagated = []
        cascades = Cascades()
        refusals = Refusals()
    }

    /// Becomes what it was when a save began to settle conflicts.
    func restore(
        inserted: ModelList, changed: ModelList, deleted: ModelList, _ cascades: Cascades, _ refusals: Refusals
    ) {
        self.inserted = inserted
        self.changed = changed
        self.deleted = deleted
        self.cascades = cascades
        self.refusals = refusals
    }
}

// MARK: - Refused requests

extension ChangeTracker {
    /// Keeps a request that cannot be carried out: the next call that can throws the error, and every save does until
    /// the request is undone.
    func refuse(
        _ error: any Error, inserting model: (any PersistentModel)? = nil,
        while holds: @escaping () -> Bool = { true }
    ) {
        state?.latch(error)
        refusals.append(Refusal(inserted: model, error: error, holds: holds))
    }

    /// Undoes the refused insertions of a model.
    /// - Returns: whether there were any.
    func withdrawInsertions(of model: any PersistentModel) -> Bool { refusals.removeInsertions(of: model) }

    /// - Throws: the error of the first refused request that has not been undone.
    func throwRefused() throws {
        if let first = refusals.first { throw first.error }
    }

    /// Forgets the requests that were undone. Before a save nothing is forgotten: a deletion, say, may be taken back.
    func forgetUndoneRefusals() {
        if !refusals.isEmpty { refusals.removeUndone() }
    }
}

// MARK: - What drafts lend

extension ChangeTracker {
    /// Keeps the relationships of one of the context's models.
    func keep(_ relations: DraftRelations) {
        lock.withLock { _ in
            if let place = kept.free.popLast() {
                kept.relations[place] = relations
                relations.place = place + 1
            } else {
                kept.relations.append(relations)
                relations.place = kept.relations.count
            }
        }
    }

    /// - Parameter relations: retained by the caller, so that nothing is released under the lock.
    func giveBack(_ relations: DraftRelations) {
        lock.withLock { _ in
            let place = relations.place - 1
            guard place >= 0 else { return }
            relations.place = 0
            kept.relations[place] = nil
            if kept.free.count + 1 == kept.relations.count {
                kept = Kept()
            } else {
                kept.free.append(place)
            }
        }
    }
}
