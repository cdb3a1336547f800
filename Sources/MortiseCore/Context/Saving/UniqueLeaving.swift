/// Leaves the older one of two models with the same unique values as it is, and drops what the newcomer alone has brought along.
///
/// What is dropped was never stored, and leaves what it was related to first: a cascade reaches nothing that stays.
struct UniqueLeaving {
    let survivor: any PersistentModel
    let state: ContextState
    private var dropped = ObjectSet()
    private var dropping: [any PersistentModel] = []

    init(survivor: any PersistentModel, state: ContextState) {
        self.survivor = survivor
        self.state = state
    }

    /// A relationship that a model was taken out of.
    private struct Left {
        let owner: any PersistentModel
        let layout: ModelLayout
        let slot: Int
        let others: [any PersistentModel]
        /// Those that were given the owner themselves.
        let pointing: ObjectSet
    }

    /// Takes the newcomer out of all relationships. It shows them on.
    mutating func leave(_ loser: any PersistentModel, _ layout: ModelLayout, _ round: inout UpsertRound) {
        let relationships = leaveAll(loser, layout)
        for left in relationships {
            round.noteTouched(survivor, at: left.slot)
            letGo(of: left, &round)
        }
        for left in relationships {
            loser._draft?[left.slot] =
                layout.record.slots[left.slot].role.isToMany
                ? .models(MemberChanges(adding: left.others)) : .model(left.others.first)
        }
        // In turn and not by recursion: what is new may be a chain of any length.
        while let child = dropping.popLast() {
            guard let layout = child._table?.layout else { continue }
            for left in leaveAll(child, layout) {
                letGo(of: left, &round)
                if !layout.record.slots[left.slot].role.isToMany, let last = left.others.first,
                    RelationshipEditor(child).isRequired(left.slot)
                {
                    child._draft?[left.slot] = .requiredButCleared(last: last)
                }
            }
            state.tracker?.delete(child)
        }
    }

    private func leaveAll(_ owner: any PersistentModel, _ layout: ModelLayout) -> [Left] {
        let editor = RelationshipEditor(owner)
        return layout.record.slots.indices.compactMap { slot in
            let role = layout.record.slots[slot].role
            guard role.isRelationship else { return nil }
            let others: [any PersistentModel] =
                (role.isToMany ? editor.members(at: slot) : editor.target(at: slot).map { [$0] } ?? []).map {
                    // A newcomer that leads to itself means the survivor.
                    $0 === owner && !dropped.contains(owner) ? survivor : $0._survivor ?? $0
                }
            let pointing = pointing(at: owner, others, slot, layout)
            if role.isToMany { editor.setMembers([], at: slot) } else { editor.setTarget(nil, at: slot) }
            return Left(owner: owner, layout: layout, slot: slot, others: others, pointing: pointing)
        }
    }

    private func pointing(
        at owner: any PersistentModel, _ others: [any PersistentModel], _ slot: Int, _ layout: ModelLayout
    ) -> ObjectSet {
        var found = ObjectSet()
        for other in others where other !== survivor && other !== owner {
            if let inverse = layout.inverse(of: slot, towards: other),
                other._draft?.assigned.contains(inverse) == true
            {
                _ = found.insert(other)
            }
        }
        return found
    }

    /// Settles what becomes of those that a model was related to.
    private mutating func letGo(of left: Left, _ round: inout UpsertRound) {
        let cascades = left.layout.record.slots[left.slot].property.relationship?.deleteRule.deletesRelated == true
        let isNewcomer = !dropped.contains(left.owner)
        for other in left.others where other !== survivor && other !== left.owner {
            guard let theirs = other._table?.layout, !other._flags.contains(.isDeleted), !dropped.contains(other),
                // Where nothing leads back, anything may refer to it.
                let inverse = left.layout.inverse(of: left.slot, towards: other)
            else { continue }
            round.noteTouched(other, at: inverse)
            if isNewcomer, left.pointing.contains(other) {
                lead(other, at: inverse, theirs)
                continue
            }
            let isToOne = theirs.record.slots[inverse].role == .toOne
            if other._row >= 0 {
                if isToOne { putBack(other, at: inverse, theirs, &round) }
                continue
            }
            let requires = isToOne && RelationshipEditor(other).isRequired(inverse)
            guard cascades || requires, hasNobody(other, at: inverse, isToOne) else { continue }
            if staysByItself(other, round) || isHeld(other, theirs, round) {
                // It cannot be saved without.
                if isNewcomer, requires { lead(other, at: inverse, theirs) }
            } else {
                _ = dropped.insert(other)
                dropping.append(other)
            }
        }
    }

    private func hasNobody(_ new: any PersistentModel, at slot: Int, _ isToOne: Bool) -> Bool {
        if isToOne { return RelationshipEditor(new).target(at: slot) == nil }
        guard case .models(let changes)? = new._draft?[slot] else { return true }
        return changes.isEmpty
    }

    /// Whether the program has inserted a new model by name, or another newcomer became this one.
    private func staysByItself(_ new: any PersistentModel, _ round: UpsertRound) -> Bool {
        new._draft?.isNamed == true || round.isSurvivor(new)
    }

    /// Whether a model that stays was given this new one, or requires it.
    private func isHeld(_ new: any PersistentModel, _ layout: ModelLayout, _ round: UpsertRound) -> Bool {
        let editor = RelationshipEditor(new)
        return layout.record.slots.indices.contains { slot in
            let role = layout.record.slots[slot].role
            guard role.isRelationship else { return false }
            let others = role.isToMany ? editor.members(at: slot) : editor.target(at: slot).map { [$0] } ?? []
            return others.contains { other in
                guard other !== new, let table = other._table, !dropped.contains(other),
                    other._row >= 0 || staysByItself(other, round),
                    let inverse = layout.inverse(of: slot, towards: other)
                else { return false }
                if other._draft?.assigned.contains(inverse) == true { return true }
                return table.layout.record.slots[inverse].role == .toOne && other._row < 0
                    && RelationshipEditor(other).isRequired(inverse)
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

    /// Gives a stored model back to the one that it is stored with, if neither has found anybody else.
    private func putBack(
        _ other: any PersistentModel, at inverse: Int, _ theirs: ModelLayout, _ round: inout UpsertRound
    ) {
        guard RelationshipEditor(other).target(at: inverse) == nil,
            case .identifier(let identifier) = other._rowValue(at: inverse),
            let owner = state.model(for: identifier), !owner._flags.contains(.isDeleted)
        else { return }
        if let slot = theirs.inverse(of: inverse, towards: owner) {
            round.noteTouched(owner, at: slot)
            if ModelLayout.of(type(of: owner)).record.slots[slot].role == .toOne,
                RelationshipEditor(owner).target(at: slot) != nil
            {
                return
            }
        }
        let change = ValueChange(settingSlot: inverse, of: other, layout: theirs)
        change?.willSet()
        RelationshipEditor(other).setTarget(owner, at: inverse)
        change?.didSet()
    }
}
