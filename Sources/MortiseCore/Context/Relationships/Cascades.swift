/// Which models cascades have deleted, and with which ones, so that undoing a deletion undoes what followed from it.
///
/// Several deletions may have taken one model. It comes back when the last of them is undone.
struct Cascades {
    private struct Taken {
        /// The model whose deletion took the others. It may have been freed and its address reused: the context does not
        /// retain a deleted model that was never saved.
        let leader: WeakModel
        /// The same model where nothing else may retain it.
        var kept: (any PersistentModel)?
        /// Also those that have been forgotten since: `leaders` decides.
        var followers: [any PersistentModel] = []
        /// Those of them whose deletion was undone while the leader's was not.
        var returned: Set<ObjectIdentifier> = []
    }
    private var taken: [ObjectIdentifier: Taken] = [:]
    /// By follower and leader: the leader's record when it took the follower; nil if it had none.
    private var leaders: [ObjectIdentifier: [ObjectIdentifier: LedRecord?]] = [:]

    /// Whether only cascades have deleted a model.
    func hasTaken(_ model: any PersistentModel) -> Bool {
        !leaders.isEmpty && leaders[ObjectIdentifier(model)] != nil
    }

    /// The deleted models that only cascades have taken, and that other saves have moved away from all that took them.
    /// What this context has not saved itself does not count: it was there when the rules were followed, or came too late.
    func released(from deleted: ModelList) -> [any PersistentModel] {
        if leaders.isEmpty { return [] }
        let round = LedRecord.Round()
        return deleted.filter { follower in
            guard let known = leaders[ObjectIdentifier(follower)], !known.isEmpty else { return false }
            let identifier = follower.persistentModelID
            return known.values.allSatisfy { $0?.hasLost(identifier, in: round) ?? false }
        }
    }

    /// Keeps `follower`, which was deleted because `leader` was, until the deletion is saved, discarded or undone. `record`
    /// is the leader's as it is now; nil if it has none.
    mutating func note(
        _ follower: any PersistentModel, deletedWith leader: any PersistentModel, _ record: LedRecord? = nil
    ) {
        purge(leader)
        let isKnown = leaders[ObjectIdentifier(follower)]?[ObjectIdentifier(leader)] != nil
        if isKnown { return }
        leaders[ObjectIdentifier(follower), default: [:]][ObjectIdentifier(leader)] = .some(record)
        taken[ObjectIdentifier(leader), default: Taken(leader: WeakModel(leader))].followers.append(follower)
    }

    /// Notes that the deletion of a model is undone: those that took it and stay deleted take it no more.
    mutating func noteReturn(of follower: any PersistentModel) {
        for leader in leaders.isEmpty ? [] : leaders[ObjectIdentifier(follower)]?.keys.map({ $0 }) ?? [] {
            taken[leader]?.returned.insert(ObjectIdentifier(follower))
        }
        forget(follower)
    }

    /// Whether a model has come back alone from the deletion of another one.
    func hasReturned(_ follower: any PersistentModel, from leader: any PersistentModel) -> Bool {
        guard !taken.isEmpty, let known = taken[ObjectIdentifier(leader)], known.leader.model === leader else {
            return false
        }
        return known.returned.contains(ObjectIdentifier(follower))
    }

    /// Makes the deletion of a model independent of others, or forgets it.
    mutating func forget(_ follower: any PersistentModel) {
        if !leaders.isEmpty { leaders[ObjectIdentifier(follower)] = nil }
    }

    /// Notes that others have deleted a model too: what its deletion took here may still be there.
    mutating func noteGone(_ leader: any PersistentModel) {
        forget(leader)
        purge(leader)
        if !taken.isEmpty { taken[ObjectIdentifier(leader)]?.kept = leader }
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
            where leaders[ObjectIdentifier(follower)]?[next] != nil
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
                leaders[next]?.keys.allSatisfy(known.contains) == false
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
            leaders[ObjectIdentifier(follower)]?[leader] = nil
            if leaders[ObjectIdentifier(follower)]?.isEmpty == true { leaders[ObjectIdentifier(follower)] = nil }
        }
    }
}

/// A model's record when the model's deletion took others: which of these it had, and which it has lost since.
final class LedRecord {
    private let table: ModelTable
    private let identifier: PersistentIdentifier
    private let base: BaseRow
    private let slots: [Int]
    private lazy var before = members { slot in (try? base.value(slot)) ?? .null }
    /// While it is there, no rows change.
    final class Round {}
    /// The members that the record had when it was asked last.
    private var now: (round: Round, members: Set<PersistentIdentifier>)?

    /// Nil if the model has no record.
    init?(_ model: any PersistentModel) {
        guard let table = model._table, model._row >= 0 else { return nil }
        self.table = table
        identifier = model.persistentModelID
        base = table.baseRow(model._row)
        slots = table.layout.record.slots.indices.filter {
            table.layout.record.slots[$0].property.relationship?.deleteRule.deletesRelated == true
        }
    }

    /// The records that the cascade led to when this was made.
    var members: Set<PersistentIdentifier> { before }

    /// Whether a record was led to by a cascade when this was made, and is no more.
    func hasLost(_ member: PersistentIdentifier, in round: Round) -> Bool {
        before.contains(member) && !current(in: round).contains(member)
    }

    private func current(in round: Round) -> Set<PersistentIdentifier> {
        if let now, now.round === round { return now.members }
        let (source, row) = (table.source, table.source.row(of: identifier))
        let members = members { slot in row.map { source.value(row: $0, slot: slot) } ?? .null }
        now = (round, members)
        return members
    }

    private func members(_ value: (Int) -> StoredValue) -> Set<PersistentIdentifier> {
        var found = Set<PersistentIdentifier>()
        for slot in slots {
            switch value(slot) {
            case .identifier(let identifier): found.insert(identifier)
            case .identifiers(let identifiers): found.formUnion(identifiers)
            default: break
            }
        }
        return found
    }
}
