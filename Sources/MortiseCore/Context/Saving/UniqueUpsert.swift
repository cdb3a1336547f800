/// Settles, before a save, what claims the same unique values: new models among themselves, then new models and stored
/// records. The one that was there first survives and takes the other's values.
struct UniqueUpsert {
    let state: ContextState

    /// A new model that was merged away, with the temporary identifier that it had.
    typealias Merged = (alias: any PersistentModel, identifier: PersistentIdentifier?)

    /// - Returns: the new models that were merged away.
    /// - Throws: `ModelContextError.notUnique` if two stored records would get the same values, if a new one equals two
    ///   others, or if the older one is not of the new one's class and so cannot take all its values.
    func resolve() throws -> [Merged] {
        if state.tables.values.allSatisfy({ $0.layout.record.uniqueConstraints.isEmpty }) { return [] }
        var round = UpsertRound(Array(state.changed) + Array(state.inserted))
        while true {
            let count = round.merged.count
            while let model = round.next() { try resolve(model, &round) }
            // What a later merge may settle is no collision yet.
            if round.merged.count > count, round.repeatCollisions() { continue }
            if let collision = round.collision { throw collision }
            return round.merged
        }
    }

    /// Looks at one model.
    private func resolve(_ model: any PersistentModel, _ round: inout UpsertRound) throws {
        guard let table = model._table, !table.layout.record.uniqueConstraints.isEmpty else { return }
        let layout = table.layout
        let isNew = model._row < 0
        var survivor: (any PersistentModel)?
        for (index, slots) in layout.record.uniqueConstraints.enumerated() {
            if !isNew, !slots.contains(where: { model._draft?.changed.contains($0) == true }) { continue }
            guard let claim = UniqueClaim(model, slots, layout) else { continue }
            round.note(claim, of: model)
            let pending = pendingOwner(of: claim, model, slots, &round)
            guard let other = try pending ?? storedOwner(of: claim, index, slots, table, &round.stored),
                other !== model, other !== survivor
            else { continue }
            if pending == nil, isNew, let start = state.repeatable,
                !start.knew(
                    other.persistentModelID, claim.values, index, ofEntity: layout.entityName, in: table.session)
            {
                throw ModelContextError.notUnique(
                    entity: layout.entityName, properties: slots.map { layout.properties[$0].name },
                    model: model.persistentModelID, other: other.persistentModelID)
            }
            guard isNew, survivor == nil, ModelLayout.of(type(of: other)).isSame(as: layout) else {
                round.collide(
                    model,
                    .notUnique(
                        entity: layout.entityName, properties: slots.map { layout.properties[$0].name },
                        model: (survivor ?? model).persistentModelID, other: other.persistentModelID))
                return
            }
            survivor = other
        }
        if let survivor {
            state.beginSettling()
            let identifier = model._draft?.identifier
            merge(model, into: survivor, layout, &round)
            round.noteMerge(of: model, identifier, into: survivor)
        }
        let holder = survivor ?? model
        for slots in layout.record.uniqueConstraints {
            if let claim = UniqueClaim(holder, slots, layout) { round.register(claim, of: holder) }
        }
    }

    /// The model with unsaved changes that has these values, unless it took over others since it claimed them. One that
    /// came after the given model is looked at again when that has claimed them.
    private func pendingOwner(
        of claim: UniqueClaim, _ model: any PersistentModel, _ slots: [Int], _ round: inout UpsertRound
    ) -> (any PersistentModel)? {
        guard let owner = round.claims[claim], owner._table != nil,
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

    private func merge(
        _ loser: any PersistentModel, into survivor: any PersistentModel, _ layout: ModelLayout,
        _ round: inout UpsertRound
    ) {
        for (slot, description) in layout.record.slots.enumerated() {
            switch description.role {
            case .attribute:
                guard let draft = loser._draft else { continue }
                let value = draft[slot]
                if case .unset = value { continue }
                // A default that nobody has replaced.
                if draft.defaults.contains(slot), case .value(let stored) = value,
                    stored.isIdentical(to: description.property.attribute?.defaultValue ?? .null)
                {
                    continue
                }
                survivor._replace(value, at: slot, layout)
            case .toOne:
                let target = RelationshipEditor(loser).target(at: slot).map { standing(for: $0, loser, survivor) }
                let isCleared =
                    loser._draft.map { $0.tellsDefaults && !$0.defaults.contains(slot) } ?? false
                RelationshipEditor(loser).setTarget(nil, at: slot)
                if target != nil || isCleared {
                    let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
                    change?.willSet()
                    RelationshipEditor(survivor).setTarget(target, at: slot)
                    change?.didSet()
                }
                loser._draft?[slot] = .model(target)
            case .toManyStored, .toManyDerived:
                let members = RelationshipEditor(loser).members(at: slot).map { standing(for: $0, loser, survivor) }
                RelationshipEditor(loser).setMembers([], at: slot)
                let new = round.newMembers(among: members, of: survivor, at: slot)
                if !new.isEmpty {
                    let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
                    change?.willSet()
                    RelationshipEditor(survivor).addMembers(new, at: slot)
                    change?.didSet()
                }
                let kept = MemberChanges()
                for member in members { kept.add(member) }
                loser._draft?[slot] = .models(kept)
            }
        }
        state.tracker?.inserted.remove(loser)
        let draft = loser._modelState.ensureDraft()
        draft.survivor = survivor
        draft.takeBack()
        loser._modelState.flags = []
        loser._modelState.table = nil
    }

    /// The model that a relationship of the loser leads to from now on: the survivor where the loser is meant, and where
    /// a model is meant that was merged away before, the one that took its place.
    private func standing(
        for model: any PersistentModel, _ loser: any PersistentModel, _ survivor: any PersistentModel
    ) -> any PersistentModel {
        model === loser ? survivor : model._survivor ?? model
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
