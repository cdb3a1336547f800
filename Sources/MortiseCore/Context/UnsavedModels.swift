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
    var refusals: [Refusal] = []

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

    /// Forgets all changes, because they were saved or dropped.
    func clear() {
        inserted = ModelList()
        changed = ModelList()
        deleted = ModelList()
        unpropagated = []
        cascades = Cascades()
        refusals = []
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

/// Something that a context was asked for where nothing can be thrown, and could not do.
struct Refusal {
    /// The model whose insertion was refused; deleting it undoes the request.
    var inserted: (any PersistentModel)?
    let error: any Error
    /// Whether nothing has taken the request back since.
    let holds: () -> Bool
}

/// Which models cascades have deleted, and with which ones, so that undoing a deletion undoes what followed from it.
///
/// Several deletions may have taken one model. It comes back when the last of them is undone.
struct Cascades {
    private struct Taken {
        /// The model whose deletion took the others. It may have been freed and its address reused: the context does not
        /// retain a deleted model that was never saved.
        let leader: WeakModel
        /// Also those that have been forgotten since: `leaders` decides.
        var followers: [any PersistentModel] = []
    }
    private var taken: [ObjectIdentifier: Taken] = [:]
    private var leaders: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]

    /// Whether only cascades have deleted a model.
    func hasTaken(_ model: any PersistentModel) -> Bool {
        !leaders.isEmpty && leaders[ObjectIdentifier(model)] != nil
    }

    /// The deleted models that only cascades have taken, and that none of these would take now, as `takes` tells of each.
    func released(
        from deleted: ModelList, where takes: (_ leader: any PersistentModel, _ follower: any PersistentModel) -> Bool
    ) -> [any PersistentModel] {
        if leaders.isEmpty { return [] }
        return deleted.filter { follower in
            guard let known = leaders[ObjectIdentifier(follower)], !known.isEmpty else { return false }
            return known.allSatisfy { key in taken[key]?.leader.model.map { !takes($0, follower) } ?? false }
        }
    }

    /// Keeps `follower`, which was deleted because `leader` was, until the deletion is saved, discarded or undone.
    mutating func note(_ follower: any PersistentModel, deletedWith leader: any PersistentModel) {
        purge(leader)
        guard leaders[ObjectIdentifier(follower), default: []].insert(ObjectIdentifier(leader)).inserted else { return }
        taken[ObjectIdentifier(leader), default: Taken(leader: WeakModel(leader))].followers.append(follower)
    }

    /// Makes the deletion of a model independent of others, or forgets it.
    mutating func forget(_ follower: any PersistentModel) {
        if !leaders.isEmpty { leaders[ObjectIdentifier(follower)] = nil }
    }

    /// Forgets what the deletion of a model took, because the deletion was saved or undone.
    mutating func forgetFollowers(of leader: any PersistentModel) {
        if !taken.isEmpty { dropFollowers(of: ObjectIdentifier(leader)) }
    }

    /// The models that come back when the deletion of one is undone: what its cascade took, directly or indirectly, except
    /// for what another deletion took as well.
    mutating func returning(with leader: any PersistentModel) -> [any PersistentModel] {
        if taken.isEmpty { return [] }
        purge(leader)
        var found: [any PersistentModel] = []
        var known: Set = [ObjectIdentifier(leader)]
        var pending = [ObjectIdentifier(leader)]
        while let next = pending.popLast() {
            for follower in taken[next]?.followers ?? []
            where leaders[ObjectIdentifier(follower)]?.contains(next) == true
                && known.insert(ObjectIdentifier(follower)).inserted
            {
                found.append(follower)
                pending.append(ObjectIdentifier(follower))
            }
        }
        // What another deletion took as well stays deleted, and so does what only that would bring back.
        pending = found.map { ObjectIdentifier($0) }
        while let next = pending.popLast() {
            guard next != ObjectIdentifier(leader), known.contains(next),
                !(leaders[next] ?? []).isSubset(of: known)
            else { continue }
            known.remove(next)
            pending += (taken[next]?.followers ?? []).map { ObjectIdentifier($0) }
        }
        return found.filter { known.contains(ObjectIdentifier($0)) }
    }

    /// Forgets what was taken by a freed object that had the model's address.
    private mutating func purge(_ model: any PersistentModel) {
        if let known = taken[ObjectIdentifier(model)], known.leader.model !== model {
            dropFollowers(of: ObjectIdentifier(model))
        }
    }

    private mutating func dropFollowers(of leader: ObjectIdentifier) {
        for follower in taken.removeValue(forKey: leader)?.followers ?? [] {
            leaders[ObjectIdentifier(follower)]?.remove(leader)
            if leaders[ObjectIdentifier(follower)]?.isEmpty == true { leaders[ObjectIdentifier(follower)] = nil }
        }
    }
}
