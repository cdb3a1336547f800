import Synchronization

/// The models that a context has not saved, and the relationships that they have got.
///
/// The context alone holds this, and everything else refers to it weakly: when the context goes, on whatever thread, the
/// unsaved models that nobody else holds go with it, and no model that is in use elsewhere is looked at.
final class UnsavedModels {
    /// What drafts hold of it: one object for all, because a weak reference in each would cost more than the draft.
    final class Reference {
        fileprivate(set) weak var models: UnsavedModels?
    }
    let reference = Reference()

    // Unchecked, because nothing else runs while they change.
    @exclusivity(unchecked) var inserted = ModelList()
    @exclusivity(unchecked) var changed = ModelList()
    @exclusivity(unchecked) var deleted = ModelList()
    /// Deleted models whose delete rules have not been followed yet.
    var unpropagated: [any PersistentModel] = []
    @exclusivity(unchecked) var cascades = Cascades()
    /// Requests that were refused; what they asked for would be missing from a save.
    var refusals = Refusals()

    private struct Kept {
        var relations: [DraftRelations?] = []
        var free: [Int] = []
    }
    // Behind a lock, because the last release of a model gives back what it has lent.
    private let lock = Mutex(())
    private var kept = Kept()

    init() { reference.models = self }

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

    /// Forgets that a model was deleted, because its deletion was undone or is final.
    func endDeletion(of model: any PersistentModel) {
        cascades.forget(model)
        cascades.forgetFollowers(of: model)
    }

    /// Forgets which values the models have; they are looked at again when somebody asks.
    func forgetValues() {
        inserted.forgetValues()
        changed.forgetValues()
    }

    /// Forgets all changes, because they were saved or dropped.
    func clear() {
        inserted = ModelList()
        changed = ModelList()
        deleted = ModelList()
        unpropagated = []
        cascades = Cascades()
        refusals = Refusals()
    }
}

/// Deleted models that come back together.
struct ReturningModels {
    private(set) var all: [any PersistentModel] = []
    private var known: Set<ObjectIdentifier> = []

    mutating func add(_ model: any PersistentModel) {
        if known.insert(ObjectIdentifier(model)).inserted { all.append(model) }
    }

    func contains(_ model: any PersistentModel) -> Bool { known.contains(ObjectIdentifier(model)) }
}
