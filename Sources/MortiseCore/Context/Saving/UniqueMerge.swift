/// Makes a new model the alias of another one that has its unique values, and gives that what the new one's policy says.
struct UniqueMerge {
    let loser: any PersistentModel
    let survivor: any PersistentModel
    /// The loser's.
    let layout: ModelLayout
    let state: ContextState
    let policy: UniqueConflictPolicy

    func run(_ round: inout UpsertRound) {
        if policy == .keep {
            var leaving = UniqueLeaving(survivor: survivor, state: state)
            leaving.leave(loser, layout, &round)
        } else {
            for (slot, description) in layout.record.slots.enumerated() {
                switch description.role {
                case .attribute: takeAttribute(at: slot, description)
                case .toOne: takeTarget(at: slot, description, &round)
                case .toManyStored, .toManyDerived: takeMembers(at: slot, description, &round)
                }
            }
        }
        state.tracker?.inserted.remove(loser)
        let draft = loser._modelState.ensureDraft()
        draft.survivor = survivor
        draft.takeBack()
        state.follower?.watch(loser, comesOrGoes: true)
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
        // Before it is emptied: one that is required replaces only if it leads somewhere.
        let replaces = replaces(at: slot, description)
        RelationshipEditor(loser).setTarget(nil, at: slot)
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
        guard description.property.relationship?.deleteRule.deletesRelated == true, model !== survivor else { return }
        round.noteFallen(model, from: survivor, at: slot)
    }

    /// What was set in the newcomer counts as set in the survivor, if that is merged into another one.
    private func noteAssigned(at slot: Int) {
        guard loser._draft?.assigned.contains(slot) == true else { return }
        survivor._draft?.assigned.insert(slot)
    }

    // MARK: The alias

    /// The model that a relationship of the loser leads to from now on: the survivor where the loser is meant, and where
    /// a model is meant that was merged away before, the one that took its place.
    private func standing(for model: any PersistentModel) -> any PersistentModel {
        model === loser ? survivor : model._survivor ?? model
    }

    private func show(_ members: [any PersistentModel], at slot: Int) {
        loser._draft?[slot] = .models(MemberChanges(adding: members))
    }
}
