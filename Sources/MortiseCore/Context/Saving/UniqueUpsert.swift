/// Settles, before a save, what claims the same unique values: new models among themselves, then new models and stored
/// records. The one that was there first survives, and the other's policy says what it takes of its values.
struct UniqueUpsert {
    let state: ContextState

    /// A new model that was merged away, with the temporary identifier that it had.
    typealias Merged = (alias: any PersistentModel, identifier: PersistentIdentifier?)

    /// - Returns: the new models that were merged away.
    /// - Throws: `ModelContextError.notUnique` if two stored records would get the same values, if a new one equals two
    ///   others, if the older one is not of the new one's class and so cannot take all its values, or if the new one's policy
    ///   asks for it; why what falls out of a replaced relationship cannot be deleted.
    func resolve() throws -> [Merged] {
        if state.tables.values.allSatisfy({ $0.layout.record.uniqueConstraints.isEmpty }) { return [] }
        var round = UpsertRound(Array(state.changed) + Array(state.inserted))
        while true {
            let count = round.merged.count
            while let model = round.next() { try resolve(model, &round) }
            // What a later merge may settle is no collision yet.
            if round.merged.count > count, round.repeatCollisions() { continue }
            do {
                // Its values are free then.
                if try deleteFallen(&round), round.repeatCollisions() { continue }
            } catch {
                throw round.news ?? error
            }
            if let error = round.news ?? round.collision { throw error }
            round.forgetUnchanged()
            return round.merged
        }
    }

    /// Looks at one model.
    private func resolve(_ model: any PersistentModel, _ round: inout UpsertRound) throws {
        guard let table = model._table, !table.layout.record.uniqueConstraints.isEmpty,
            !model._flags.contains(.isDeleted)
        else { return }
        let layout = table.layout
        let isNew = model._row < 0
        let policy = model._draft?.conflictPolicy ?? state.context?.uniqueConflictPolicy ?? .update
        var survivor: (any PersistentModel)?
        for (index, slots) in layout.record.uniqueConstraints.enumerated() {
            if !isNew, !slots.contains(where: { model._draft?.changed.contains($0) == true }) { continue }
            guard let claim = UniqueClaim(model, slots, layout) else { continue }
            round.note(claim, of: model)
            let pending = pendingOwner(of: claim, model, slots, &round)
            guard let other = try pending ?? storedOwner(of: claim, index, slots, table, &round.stored),
                other !== model, other !== survivor
            else { continue }
            // What stays as it is may have come at any time.
            if pending == nil, !isNew || policy != .keep, let start = state.repeatable,
                !start.knew(
                    other.persistentModelID, claim.values, index, ofEntity: layout.entityName, in: table.session),
                isNew
            {
                // Goes on as if it had: whatever else is met is known to the next attempt then.
                round.noteNews(notUnique(claim, layout, model, other))
            }
            guard isNew, policy != .fail, survivor == nil, ModelLayout.of(type(of: other)).isSame(as: layout) else {
                round.collide(model, notUnique(claim, layout, survivor ?? model, other))
                return
            }
            survivor = other
        }
        if let survivor {
            state.beginSettling()
            let identifier = model._draft?.identifier
            let merge = UniqueMerge(loser: model, survivor: survivor, layout: layout, state: state, policy: policy)
            if let journal = state.tracker?.journal {
                // It becomes part of the step that has inserted the new one.
                journal.late(.insertion(model)) { merge.run(&round) }
            } else {
                merge.run(&round)
            }
            round.noteMerge(of: model, identifier, into: survivor)
        }
        let holder = survivor ?? model
        for slots in layout.record.uniqueConstraints {
            if let claim = UniqueClaim(holder, slots, layout) { round.register(claim, of: holder) }
        }
    }

    private func notUnique(
        _ claim: UniqueClaim, _ layout: ModelLayout, _ model: any PersistentModel, _ other: any PersistentModel
    ) -> ModelContextError {
        .notUnique(
            entity: layout.entityName, properties: claim.slots.map { layout.properties[$0].name }, values: claim.values,
            model: model.persistentModelID, other: other.persistentModelID)
    }

    /// Deletes what has fallen out of relationships that newcomers have replaced.
    /// - Returns: whether there was something to delete.
    private func deleteFallen(_ round: inout UpsertRound) throws -> Bool {
        guard let tracker = state.tracker else { return false }
        let fallen = round.takeFallen()
        if fallen.isEmpty { return false }
        for fallen in fallen { tracker.delete(fallen) }
        tracker.propagateDeletes()
        try state.throwLatched()
        try tracker.throwRefused()
        return true
    }

    /// The model with unsaved changes that has these values, unless it took over others since it claimed them. One that
    /// came after the given model is looked at again when that has claimed them.
    private func pendingOwner(
        of claim: UniqueClaim, _ model: any PersistentModel, _ slots: [Int], _ round: inout UpsertRound
    ) -> (any PersistentModel)? {
        guard let owner = round.claims[claim], owner._table != nil,
            !owner._flags.contains(.isDeleted),
            UniqueClaim(owner, slots, ModelLayout.of(type(of: owner))) == claim
        else { return nil }
        return owner !== model && round.isYounger(owner, than: model) ? nil : owner
    }

    /// The record in the store that has these values, as a model, unless this save deletes it or gives it others.
    private func storedOwner(
        of claim: UniqueClaim, _ constraint: Int, _ slots: [Int], _ table: ModelTable,
        _ stored: inout StoredClaims
    ) throws -> (any PersistentModel)? {
        let identifier: PersistentIdentifier?
        if let version = table.session.version {
            identifier = version.identifier(
                ofEntity: table.layout.entityName, constraint: constraint, values: claim.values)
        } else {
            identifier = try stored.owner(of: claim, slots, table)
        }
        guard let identifier, let owner = state.model(for: identifier) else { return nil }
        if owner._flags.contains(.isDeleted) { return nil }
        guard let layout = owner._table?.layout, UniqueClaim(owner, slots, layout) == claim else {
            return nil
        }
        return owner
    }
}

extension PersistentModel {
    /// Lets the relationships of a model that was merged away lead to models that are still there. Two such models would
    /// retain each other for ever.
    func _followSurvivors() {
        guard let draft = _draft else { return }
        for other in draft.others {
            switch other.value {
            case .model(let target?): if let survivor = target._survivor { draft[other.slot] = .model(survivor) }
            case .models(let changes) where changes.added.contains(where: { $0._survivor != nil }):
                let kept = MemberChanges()
                for member in changes.added { kept.add(member._survivor ?? member) }
                draft[other.slot] = .models(kept)
            default: break
            }
        }
    }

    /// Sets an attribute's draft value as a setter would, observers included.
    func _replace(_ value: Draft.Value, at slot: Int, _ layout: ModelLayout) {
        let change = ValueChange(settingSlot: slot, of: self, layout: layout)
        change?.willSet()
        _write(value, at: slot)
        change?.didSet()
    }
}
