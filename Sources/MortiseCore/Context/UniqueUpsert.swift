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
        let constrained = state.tables.values.filter { !$0.layout.record.uniqueConstraints.isEmpty }
        if constrained.isEmpty { return [] }
        // Where a constraint covers a relationship, a merge changes what other models claim.
        let mayRepeat = constrained.contains { table in
            let record = table.layout.record
            return record.uniqueConstraints.contains { $0.contains { record.slots[$0].role.isRelationship } }
        }
        var merged: [Merged] = []
        var stored: [String: [UniqueClaim: PersistentIdentifier]] = [:]
        while true {
            let count = merged.count
            // What a later merge may settle is no collision yet.
            let collision = try resolve(&merged, &stored)
            if merged.count > count, mayRepeat || collision != nil { continue }
            if let collision { throw collision }
            return merged
        }
    }

    /// Goes through the models once.
    /// - Returns: the first collision that cannot be settled as things are now.
    private func resolve(
        _ merged: inout [Merged], _ stored: inout [String: [UniqueClaim: PersistentIdentifier]]
    ) throws -> ModelContextError? {
        var collision: ModelContextError?
        var claims: [UniqueClaim: any PersistentModel] = [:]
        models: for model in Array(state.changed) + Array(state.inserted) {
            guard let table = model._modelState.table, !table.layout.record.uniqueConstraints.isEmpty else { continue }
            let layout = table.layout
            let isNew = model._modelState.row < 0
            var survivor: (any PersistentModel)?
            for (index, slots) in layout.record.uniqueConstraints.enumerated() {
                if !isNew, !slots.contains(where: { model._modelState.draft?.changed.contains($0) == true }) {
                    continue
                }
                guard let claim = UniqueClaim(model, slots, layout),
                    let other = try pendingOwner(of: claim, slots, claims)
                        ?? storedOwner(of: claim, index, slots, table, &stored),
                    other !== model, other !== survivor
                else { continue }
                guard isNew, survivor == nil, ModelLayout.of(type(of: other)).isSame(as: layout) else {
                    collision =
                        collision
                        ?? .notUnique(
                            entity: layout.entityName, properties: slots.map { layout.properties[$0].name },
                            model: (survivor ?? model).persistentModelID, other: other.persistentModelID)
                    continue models
                }
                survivor = other
            }
            if let survivor {
                state.beginSettling()
                let identifier = model._modelState.draft?.identifier
                merge(model, into: survivor, layout)
                merged.append((model, identifier))
            }
            let holder = survivor ?? model
            for slots in layout.record.uniqueConstraints {
                if let claim = UniqueClaim(holder, slots, layout) { claims[claim] = holder }
            }
        }
        return collision
    }

    /// The model with unsaved changes that has these values, unless it took over others since it claimed them.
    private func pendingOwner(
        of claim: UniqueClaim, _ slots: [Int], _ claims: [UniqueClaim: any PersistentModel]
    ) -> (any PersistentModel)? {
        guard let owner = claims[claim], UniqueClaim(owner, slots, ModelLayout.of(type(of: owner))) == claim else {
            return nil
        }
        return owner
    }

    /// The record in the store that has these values, as a model, unless this save deletes it or gives it others.
    private func storedOwner(
        of claim: UniqueClaim, _ constraint: Int, _ slots: [Int], _ table: ModelTable,
        _ stored: inout [String: [UniqueClaim: PersistentIdentifier]]
    ) throws -> (any PersistentModel)? {
        let identifier: PersistentIdentifier?
        if let version = table.binding.version {
            identifier = version.identifier(
                ofEntity: table.layout.entityName, constraint: constraint, values: claim.values)
        } else {
            let key = "\(claim.entity)/\(slots)"
            if stored[key] == nil { stored[key] = try scan(table, slots) }
            identifier = stored[key]?[claim]
        }
        guard let identifier, let owner = state.model(for: identifier) else { return nil }
        if owner._modelState.flags.contains(.isDeleted) { return nil }
        guard let layout = owner._modelState.table?.layout, UniqueClaim(owner, slots, layout) == claim else {
            return nil
        }
        return owner
    }

    /// Reads all of the entity that declares a constraint, those that inherit from it included, from a store that has no
    /// versions; once for each constraint and save.
    private func scan(_ table: ModelTable, _ slots: [Int]) throws -> [UniqueClaim: PersistentIdentifier] {
        let declaring = table.layout.constraintOwner(slots)
        func load<T: PersistentModel>(_ type: T.Type) throws -> FetchedRows {
            try table.binding.store.fetch(FetchDescriptor<T>(), into: state)
        }
        var owners: [UniqueClaim: PersistentIdentifier] = [:]
        for reference in try load(declaring.type).rows {
            let values = slots.map { reference.table.source.value(row: reference.row, slot: $0) }
            if values.contains(where: \.isNull) { continue }
            let claim = UniqueClaim(entity: declaring.entityName, slots: slots, values: values)
            owners[claim] = reference.table.source.identifier(ofRow: reference.row)
        }
        return owners
    }

    private func merge(
        _ loser: any PersistentModel, into survivor: any PersistentModel, _ layout: ModelLayout
    ) {
        for (slot, description) in layout.record.slots.enumerated() {
            switch description.role {
            case .attribute:
                guard let draft = loser._modelState.draft else { continue }
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
                let target = loser._target(at: slot).map { standing(for: $0, loser, survivor) }
                let isCleared =
                    loser._modelState.draft.map { $0.tellsDefaults && !$0.defaults.contains(slot) } ?? false
                loser._setTarget(nil, at: slot)
                if target != nil || isCleared {
                    let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
                    change?.willSet()
                    survivor._setTarget(target, at: slot)
                    change?.didSet()
                }
                loser._modelState.draft?[slot] = .model(target)
            case .toManyStored, .toManyDerived:
                let members = loser._members(at: slot).map { standing(for: $0, loser, survivor) }
                loser._setMembers([], at: slot)
                let present = survivor._members(at: slot)
                var known = Set(present.map { ObjectIdentifier($0) })
                let new = members.filter { known.insert(ObjectIdentifier($0)).inserted }
                if !new.isEmpty {
                    let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
                    change?.willSet()
                    survivor._setMembers(present + new, at: slot)
                    change?.didSet()
                }
                let kept = MemberChanges()
                for member in members { kept.add(member) }
                loser._modelState.draft?[slot] = .models(kept)
            }
        }
        state.removeInserted(loser)
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
        guard let draft = _modelState.draft else { return }
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

/// The values that a uniqueness constraint covers, in one model. The entity is the one that declares the constraint, so
/// that a subclass's models are compared with its superclass's.
struct UniqueClaim: Hashable {
    let entity: String
    let slots: [Int]
    let values: [StoredValue]

    init(entity: String, slots: [Int], values: [StoredValue]) {
        self.entity = entity
        self.slots = slots
        self.values = values
    }

    /// Nil if one of the values is null, which is never unique.
    init?(_ model: any PersistentModel, _ slots: [Int], _ layout: ModelLayout) {
        var values: [StoredValue] = []
        for slot in slots {
            let value = model._pendingValue(at: slot, role: layout.record.slots[slot].role, in: layout)
            if value.isNull { return nil }
            values.append(value)
        }
        self.init(entity: layout.constraintOwner(slots).entityName, slots: slots, values: values)
    }

    /// The same for values that are not yet in a model.
    init?(_ record: ContiguousArray<StoredValue>, _ slots: [Int], _ layout: ModelLayout) {
        let values = slots.map { record[$0] }
        if values.contains(where: \.isNull) { return nil }
        self.init(entity: layout.constraintOwner(slots).entityName, slots: slots, values: values)
    }
}

extension ModelLayout {
    /// The layout that declares a constraint over the slots: this one or one that it inherits from.
    fileprivate func constraintOwner(_ slots: [Int]) -> ModelLayout {
        var owner = self
        while let parent = owner.superlayout, slots.allSatisfy({ $0 < owner.ownSlots.lowerBound }) { owner = parent }
        return owner
    }
}
