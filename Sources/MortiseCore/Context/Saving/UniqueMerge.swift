/// Makes a new model the alias of another one that has its unique values, and gives that what the new one's policy says.
struct UniqueMerge {
    let loser: any PersistentModel
    let survivor: any PersistentModel
    /// The loser's.
    let layout: ModelLayout
    let state: ContextState
    let policy: UniqueConflictPolicy

    func run(_ round: inout UpsertRound) {
        for (slot, description) in layout.record.slots.enumerated() {
            switch description.role {
            case .attribute: if policy != .keep { takeAttribute(at: slot, description) }
            case .toOne:
                if policy == .keep { leaveTarget(at: slot) } else { takeTarget(at: slot, description, &round) }
            case .toManyStored, .toManyDerived:
                if policy == .keep { leaveMembers(at: slot) } else { takeMembers(at: slot, description, &round) }
            }
        }
        state.tracker?.inserted.remove(loser)
        let draft = loser._modelState.ensureDraft()
        draft.survivor = survivor
        draft.takeBack()
        loser._modelState.flags = []
        loser._modelState.table = nil
        if policy == .keep { state.propagateDeletes() }
    }

    // MARK: Taking values over

    private func takeAttribute(at slot: Int, _ description: RecordLayout.Slot) {
        guard let draft = loser._draft else { return }
        let value = draft[slot]
        if case .unset = value { return }
        // A default that nobody has replaced.
        if draft.defaults.contains(slot), case .value(let stored) = value,
            stored.isIdentical(to: description.property.attribute?.defaultValue ?? .null)
        {
            return
        }
        survivor._replace(value, at: slot, layout)
    }

    private func takeTarget(at slot: Int, _ description: RecordLayout.Slot, _ round: inout UpsertRound) {
        let target = RelationshipEditor(loser).target(at: slot).map(standing(for:))
        let isCleared = loser._draft.map { $0.tellsDefaults && !$0.defaults.contains(slot) } ?? false
        RelationshipEditor(loser).setTarget(nil, at: slot)
        let replaces = replaces(at: slot, description)
        if target != nil || isCleared || replaces {
            let before = replaces ? RelationshipEditor(survivor).target(at: slot) : nil
            let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
            change?.willSet()
            RelationshipEditor(survivor).setTarget(target, at: slot)
            change?.didSet()
            if let before, before !== target { letFall(before, at: slot, description, &round) }
        }
        noteAssigned(at: slot)
        loser._draft?[slot] = .model(target)
    }

    private func takeMembers(at slot: Int, _ description: RecordLayout.Slot, _ round: inout UpsertRound) {
        let members = RelationshipEditor(loser).members(at: slot).map(standing(for:))
        RelationshipEditor(loser).setMembers([], at: slot)
        if replaces(at: slot, description) {
            let before = RelationshipEditor(survivor).members(at: slot)
            let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
            change?.willSet()
            RelationshipEditor(survivor).setMembers(members, at: slot)
            change?.didSet()
            round.forgetMembers(of: survivor, at: slot)
            let wanted = Set(members.map { ObjectIdentifier($0) })
            for member in before where !wanted.contains(ObjectIdentifier(member)) {
                letFall(member, at: slot, description, &round)
            }
        } else {
            let new = round.newMembers(among: members, of: survivor, at: slot)
            if !new.isEmpty {
                let change = ValueChange(settingSlot: slot, of: survivor, layout: layout)
                change?.willSet()
                RelationshipEditor(survivor).addMembers(new, at: slot)
                change?.didSet()
            }
        }
        noteAssigned(at: slot)
        show(members, at: slot)
    }

    /// Whether the newcomer's relationship takes the place of the survivor's.
    private func replaces(at slot: Int, _ description: RecordLayout.Slot) -> Bool {
        guard policy == .replace, let draft = loser._draft, draft.assigned.contains(slot) else {
            return false
        }
        if description.role.isToMany || description.property.isOptional { return true }
        return RelationshipEditor(loser).target(at: slot) != nil
    }

    private func letFall(
        _ model: any PersistentModel, at slot: Int, _ description: RecordLayout.Slot, _ round: inout UpsertRound
    ) {
        guard description.property.relationship?.deleteRule == .cascade, model !== survivor else { return }
        round.noteFallen(model, from: survivor, at: slot)
    }

    /// What was set in the newcomer counts as set in the survivor, if that is merged into another one.
    private func noteAssigned(at slot: Int) {
        guard loser._draft?.assigned.contains(slot) == true else { return }
        survivor._draft?.assigned.insert(slot)
    }

    // MARK: Leaving the survivor as it is

    private func leaveTarget(at slot: Int) {
        let target = RelationshipEditor(loser).target(at: slot).map(standing(for:))
        let pointing = pointing(target.map { [$0] } ?? [], at: slot)
        RelationshipEditor(loser).setTarget(nil, at: slot)
        if let target { letGo(of: [target], at: slot, pointing) }
        loser._draft?[slot] = .model(target)
    }

    private func leaveMembers(at slot: Int) {
        let members = RelationshipEditor(loser).members(at: slot).map(standing(for:))
        let pointing = pointing(members, at: slot)
        RelationshipEditor(loser).setMembers([], at: slot)
        letGo(of: members, at: slot, pointing)
        show(members, at: slot)
    }

    /// Those that were given the newcomer themselves.
    private func pointing(_ others: [any PersistentModel], at slot: Int) -> ObjectSet {
        var found = ObjectSet()
        for other in others where other !== survivor {
            if let inverse = layout.inverse(of: slot, towards: other),
                other._draft?.assigned.contains(inverse) == true
            {
                _ = found.insert(other)
            }
        }
        return found
    }

    /// Settles what becomes of those that the newcomer was related to.
    private func letGo(of others: [any PersistentModel], at slot: Int, _ pointing: ObjectSet) {
        let cascades = layout.record.slots[slot].property.relationship?.deleteRule == .cascade
        for other in others where other !== survivor {
            guard let table = other._table, !other._flags.contains(.isDeleted) else { continue }
            let inverse = layout.inverse(of: slot, towards: other)
            if let inverse, pointing.contains(other) {
                lead(other, at: inverse, table.layout)
                continue
            }
            let role = inverse.map { table.layout.record.slots[$0].role }
            let isFree =
                switch role {
                case nil: true
                case .toOne?: inverse.map { RelationshipEditor(other).target(at: $0) == nil } ?? true
                default: inverse.map { RelationshipEditor(other).members(at: $0).isEmpty } ?? true
                }
            guard isFree else { continue }
            if other._row < 0 {
                let requires = role == .toOne && inverse.map { RelationshipEditor(other).isRequired($0) } == true
                if cascades || requires { state.tracker?.delete(other) }
            } else if role == .toOne, let inverse {
                putBack(other, at: inverse, table.layout)
            }
        }
    }

    /// Makes a relationship of another one lead to the survivor, where it led to the newcomer.
    private func lead(_ other: any PersistentModel, at inverse: Int, _ theirs: ModelLayout) {
        if other._refers(to: survivor, at: inverse) { return }
        let change = ValueChange(settingSlot: inverse, of: other, layout: theirs)
        change?.willSet()
        if theirs.record.slots[inverse].role.isToMany {
            RelationshipEditor(other).addMembers([survivor], at: inverse)
        } else {
            RelationshipEditor(other).setTarget(survivor, at: inverse)
        }
        change?.didSet()
    }

    /// Gives a stored model back to the one that it is stored with, if that has found nobody else.
    private func putBack(_ other: any PersistentModel, at inverse: Int, _ theirs: ModelLayout) {
        guard case .identifier(let identifier) = other._rowValue(at: inverse),
            let owner = state.model(for: identifier), !owner._flags.contains(.isDeleted)
        else { return }
        if let slot = theirs.inverse(of: inverse, towards: owner),
            ModelLayout.of(type(of: owner)).record.slots[slot].role == .toOne,
            RelationshipEditor(owner).target(at: slot) != nil
        {
            return
        }
        let change = ValueChange(settingSlot: inverse, of: other, layout: theirs)
        change?.willSet()
        RelationshipEditor(other).setTarget(owner, at: inverse)
        change?.didSet()
    }

    // MARK: The alias

    /// The model that a relationship of the loser leads to from now on: the survivor where the loser is meant, and where
    /// a model is meant that was merged away before, the one that took its place.
    private func standing(for model: any PersistentModel) -> any PersistentModel {
        model === loser ? survivor : model._survivor ?? model
    }

    private func show(_ members: [any PersistentModel], at slot: Int) {
        let kept = MemberChanges()
        for member in members { kept.add(member) }
        loser._draft?[slot] = .models(kept)
    }
}
