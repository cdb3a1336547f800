// What a step comes to: the first old value of each property, and nothing that ends as it began.

extension UndoJournal {
    private struct Place: Hashable {
        let model: ObjectIdentifier
        let slot: Int
    }
    private struct Membership: Hashable {
        let list: Place
        let member: ObjectIdentifier
    }

    /// The entries of a step without those that came to nothing, with the values that the models have now. `start` is
    /// where those begin that have come to a step that was closed before: what they do not touch stays as it was then.
    func mergedEntries(of record: UndoRecord, from start: Int = 0) -> [UndoEntry] {
        var (passing, staying, gone) = lives(in: record)
        if start > 0 { (passing, staying) = ([], []) }
        var first: Set<Place> = []
        var touched: Set<Place> = []
        if start > 0 {
            for entry in record.entries[start...] {
                if let slot = entry.slot { touched.insert(Place(model: ObjectIdentifier(entry.model), slot: slot)) }
            }
        }
        // For each member the entry that says what it was before; nil if it is that again.
        var memberships: [Membership: (entry: Int, isAdded: Bool)] = [:]
        var kept: Set<Int> = []
        for (place, entry) in record.entries.enumerated() {
            guard let (list, member, isAdded) = membership(in: entry) else { continue }
            if gone.contains(list.model) {
                kept.insert(place)
                continue
            }
            let key = Membership(list: list, member: ObjectIdentifier(member))
            if let known = memberships[key], known.isAdded != isAdded {
                memberships[key] = nil
            } else if memberships[key] == nil {
                memberships[key] = (place, isAdded)
            }
        }
        kept.formUnion(memberships.values.map(\.entry))
        // To these lists members come back, each to its place.
        let shrunk = Set(memberships.lazy.filter { !$0.value.isAdded }.map(\.key.list))
        var merged: [UndoEntry] = []
        merged.reserveCapacity(record.entries.count)
        for (place, entry) in record.entries.enumerated() {
            if passing.contains(ObjectIdentifier(entry.model)) { continue }
            switch entry.change {
            case .value(let slot, let old, _):
                let value = Place(model: ObjectIdentifier(entry.model), slot: slot)
                guard first.insert(value).inserted else { continue }
                if place < start, !touched.contains(value) {
                    merged.append(entry)
                    continue
                }
                let new = entry.model._shownValue(at: slot, in: entry.model._layoutForUndo)
                // A model comes back as it was when it left, which may be neither.
                if !new.shows(old) || gone.contains(value.model) {
                    merged.append(UndoEntry(model: entry.model, change: .value(slot: slot, old: old, new: new)))
                }
            case .added, .removed:
                if kept.contains(place) { merged.append(entry) }
            case .order(let slot, let members):
                // A step that is still open may take members out later.
                let list = Place(model: ObjectIdentifier(entry.model), slot: slot)
                if record === current || shrunk.contains(list) || gone.contains(list.model)
                    || !isOrdered(entry.model, at: slot, as: members)
                {
                    merged.append(entry)
                }
            case .entered, .left:
                if !staying.contains(ObjectIdentifier(entry.model)) { merged.append(entry) }
            }
        }
        return merged
    }

    private func membership(in entry: UndoEntry) -> (Place, any PersistentModel, Bool)? {
        switch entry.change {
        case .added(let slot, let member): (Place(model: ObjectIdentifier(entry.model), slot: slot), member, true)
        case .removed(let slot, let member): (Place(model: ObjectIdentifier(entry.model), slot: slot), member, false)
        default: nil
        }
    }

    /// Whether the members that a list had then and has now are in the same order.
    private func isOrdered(_ model: any PersistentModel, at slot: Int, as members: [any PersistentModel]) -> Bool {
        guard case .models(let changes)? = model._draft?[slot] else { return true }
        let now = changes.added
        var (before, after) = (ObjectSet(), ObjectSet())
        for member in members { _ = before.insert(member) }
        for member in now { _ = after.insert(member) }
        let (one, other) = (members.filter { after.contains($0) }, now.filter { before.contains($0) })
        return one.count == other.count && zip(one, other).allSatisfy { $0 === $1 }
    }

    /// The models that came and went within the step, those that were deleted and came back as they were, and those that were there
    /// before and are gone.
    private func lives(
        in record: UndoRecord
    ) -> (passing: Set<ObjectIdentifier>, staying: Set<ObjectIdentifier>, gone: Set<ObjectIdentifier>) {
        var lives: [ObjectIdentifier: (model: any PersistentModel, began: Bool, isIn: Bool)] = [:]
        for entry in record.entries {
            let key = ObjectIdentifier(entry.model)
            switch entry.change {
            case .entered: lives[key] = (entry.model, lives[key]?.began ?? false, true)
            case .left: lives[key] = (entry.model, lives[key]?.began ?? true, false)
            default: break
            }
        }
        var (passing, staying): (Set<ObjectIdentifier>, Set<ObjectIdentifier>) = ([], [])
        var gone: Set<ObjectIdentifier> = []
        for (key, life) in lives {
            if life.began {
                if !life.isIn { gone.insert(key) }
                if life.isIn, life.model._row >= 0, !life.model._flags.contains(.isDeleted) { staying.insert(key) }
            } else if !life.isIn || life.model._table == nil && life.model._survivor == nil {
                // A rollback may have taken it out. One that was saved in between is deleted all the same.
                passing.insert(key)
            }
        }
        return (passing, staying, gone)
    }
}

extension PersistentModel {
    var _layoutForUndo: ModelLayout { _table?.layout ?? ModelLayout.of(Swift.type(of: self)) }
}
