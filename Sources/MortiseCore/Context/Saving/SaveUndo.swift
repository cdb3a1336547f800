/// A context's unsaved changes as they were before a save settled conflicts and unique values, so that a save that fails
/// can put them back.
///
/// It is made when there is something to settle, which few saves have. What a newer version of a store brings is not put
/// back: the context stays at that version.
final class SaveUndo {
    private struct Entry {
        let model: any PersistentModel
        let table: ModelTable?
        let flags: ModelState.Flags
        let isStored: Bool
        let draft: Draft?
        let content: Draft.Content?
    }

    private var entries: [Entry] = []
    /// The models of the entries, which keep them alive.
    private var known = ObjectSet()
    private let inserted: ModelList
    private let changed: ModelList
    private let deleted: ModelList
    private let cascades: Cascades
    private let refusals: Refusals
    private let deletedElsewhere: [PersistentIdentifier]
    private let hasStaleDeletions: Bool
    private let notifications: Int

    init(_ tracker: ChangeTracker, _ state: ContextState) {
        inserted = tracker.inserted
        changed = tracker.changed
        deleted = tracker.deleted
        cascades = tracker.cascades
        refusals = tracker.refusals
        deletedElsewhere = tracker.deletedElsewhere
        hasStaleDeletions = tracker.hasStaleDeletions
        notifications = state.notifications.count
        for list in [inserted, changed, deleted] {
            for model in list { note(model) }
        }
    }

    /// Remembers a model that is about to change for the first time.
    func note(_ model: any PersistentModel) {
        if known.contains(model) { return }
        var pending = [model]
        while let model = pending.popLast() {
            guard known.insert(model) else { continue }
            let draft = model._draft
            let content = draft?.content
            entries.append(
                Entry(
                    model: model, table: model._table, flags: model._flags,
                    isStored: model._row >= 0, draft: draft, content: content))
            // Nothing announces a change to a model without a context. It is reached through those that hold it.
            for other in content?.others ?? [] {
                switch other.value {
                case .model(let target?) where target._table == nil: pending.append(target)
                case .models(let members): pending += members.added.filter { $0._table == nil }
                default: break
                }
            }
        }
    }

    /// Puts everything back, except in the stores that have already saved.
    func restore(_ state: ContextState, except saved: [StoreSession]) {
        func isSaved(_ model: any PersistentModel, _ table: ModelTable?) -> Bool {
            guard !saved.isEmpty, let table = table ?? state.table(for: type(of: model)) else { return false }
            return saved.contains { $0 === table.session }
        }
        var gone = ObjectSet()
        var goneElsewhere: [PersistentIdentifier] = []
        for entry in entries {
            let model = entry.model
            if isSaved(model, entry.table) {
                _ = gone.insert(model)
            } else if entry.isStored, model._row < 0 {
                // The store turned out not to have the record any more.
                _ = gone.insert(model)
                if entry.flags.contains(.isChanged) { goneElsewhere.append(model.persistentModelID) }
            } else {
                model._modelState.table = entry.table
                model._modelState.flags = entry.flags
                model._modelState.draft = entry.draft
                if let content = entry.content { entry.draft?.restore(content) }
            }
        }
        func remaining(_ list: ModelList, _ now: ModelList) -> ModelList {
            var remaining = ModelList()
            // What a store has saved is in no list any more, unless taking that over has failed.
            let failed = saved.isEmpty ? [] : now.filter { isSaved($0, $0._table) }
            for model in list.filter({ !gone.contains($0) }) + failed {
                // Its place may be one in another list, or in this one as it was.
                model._modelState.place = 0
                remaining.append(model)
            }
            return remaining
        }
        state.notifications.drop(after: notifications)
        guard let tracker = state.tracker else { return }
        tracker.deletedElsewhere = deletedElsewhere + goneElsewhere.filter { !deletedElsewhere.contains($0) }
        tracker.hasStaleDeletions = hasStaleDeletions
        tracker.restore(
            inserted: remaining(inserted, tracker.inserted), changed: remaining(changed, tracker.changed),
            deleted: remaining(deleted, tracker.deleted), cascades, refusals)
    }
}

extension ContextState {
    /// Called before a save changes models on its own account; once or more often.
    func beginSettling() {
        guard let tracker, tracker.saveUndo == nil else { return }
        tracker.saveUndo = SaveUndo(tracker, self)
    }

    /// Puts back what a save has changed on its own account, except in the stores that have already saved.
    func undoSettling(except saved: [StoreSession]) {
        let undo = tracker?.saveUndo
        tracker?.saveUndo = nil
        tracker?.journal?.endSave(isDone: false)
        undo?.restore(self, except: saved)
    }
}
