// What other contexts have saved meanwhile.

extension RelationshipEditor {
    /// If other contexts have given this model another partner than was set here, the partner set here wins, on both
    /// sides.
    func settlePartners(in layout: ModelLayout) {
        guard let changed = model._draft?.changed, let state = model._table?.state else { return }
        for slot in layout.record.slots.indices where changed.contains(slot) {
            let isShared = !layout.sharingSlots[slot].isEmpty
            if isShared { settleShared(at: slot, of: layout) }
            guard layout.record.slots[slot].role == .toOne else {
                settleRemovals(at: slot, of: layout)
                continue
            }
            guard case .identifier(let identifier) = model._rowValue(at: slot),
                let stored = state.model(for: identifier), stored !== heldTarget(at: slot),
                !stored._flags.contains(.isDeleted)
            else { continue }
            guard let inverse = layout.inverse(of: slot, towards: stored) else {
                RelationshipEditor(stored).releaseFromSharers(model, of: slot, in: layout)
                continue
            }
            guard stored._refers(to: model, at: inverse) else { continue }
            // The other one may have been set to lead here without any of those that share the inverse.
            if isShared, stored._draft?.changed.contains(inverse) == true { continue }
            // Nobody has set what a delete rule has cleared, nor what is required and was taken by another partner, which has it
            // no more in either case.
            if wasReleased(at: slot, in: state) || wasTaken(at: slot, from: stored) {
                apply(.forget, at: slot)
                continue
            }
            RelationshipEditor(stored).unlink(model, throughInverseOf: slot, of: layout)
            if case .model(nil)? = stored._draft?[inverse] {
                stored._draft?.settled.insert(inverse)
            }
        }
        forgetStoredReleases()
        state.tracker?.noteUnchanged(model)
    }

    /// Forgets what a version from before made of this model's relationships, which the latest may not.
    func forgetSettled() {
        guard let draft = model._draft, !draft.settled.isEmpty else { return }
        for slot in draft.settled.slots {
            if case .model(nil) = draft[slot] { apply(.forget, at: slot) }
        }
        draft.settled = SlotSet()
        model._table?.state.tracker?.noteUnchanged(model)
    }

    /// Makes what was set here by a relationship that shares its inverse lead back, if other contexts have changed that.
    /// Both sides are stored, and the other one was not changed here if it led to this model already.
    private func settleShared(at slot: Int, of layout: ModelLayout) {
        if model._flags.contains(.isDeleted) { return }
        let related: [any PersistentModel] =
            switch model._draft?[slot] {
            case .models(let changes)?: changes.added
            case .model(let target?)?: [target]
            default: []
            }
        for other in related where !other._flags.contains(.isDeleted) {
            guard let inverse = layout.inverse(of: slot, towards: other), !other._refers(to: model, at: inverse) else {
                continue
            }
            RelationshipEditor(other).link(model, throughInverseOf: slot, of: layout)
        }
    }

    /// Keeps members that were taken out here if other contexts have made them lead here by another of the relationships
    /// that share this one as their inverse.
    private func settleRemovals(at slot: Int, of layout: ModelLayout) {
        guard case .models(let changes)? = model._draft?[slot], changes.hasRemovals else { return }
        let sharers = layout.sharers(of: slot)
        if sharers.isEmpty { return }
        for member in changes.removed where !member._flags.contains(.isDeleted) {
            let theirs = ModelLayout.of(type(of: member))
            guard let destination = layout.destinations[slot] else { continue }
            let leadsHere = sharers.contains { place in
                destination.shares(place, with: theirs) && member._refers(to: model, at: place)
            }
            if leadsHere { addMember(member, at: slot, layout) }
        }
    }

    /// Whether a required relationship was emptied here because its partner took another one, which was not `stored`.
    private func wasTaken(at slot: Int, from stored: any PersistentModel) -> Bool {
        guard case .requiredButCleared(last: let last)? = model._draft?[slot] else { return false }
        return last !== stored
    }

    /// Whether a to-one relationship is empty because the model that it led to is deleted here.
    private func wasReleased(at slot: Int, in state: ContextState) -> Bool {
        switch model._draft?[slot] {
        case .model(nil)?, .requiredButCleared?: break
        default: return false
        }
        if model._draft?.released.contains(slot) == true { return true }
        guard case .identifier(let before)? = try? model._draft?.base?.value(slot) else { return false }
        if state.tracker?.deletedByBoth.contains(before) == true { return true }
        return state.model(for: before)?._flags.contains(.isDeleted) == true
    }

    /// Forgets what the deletion of related models changed here if other saves have stored the same.
    private func forgetStoredReleases() {
        guard let draft = model._draft, let table = model._table, !draft.released.isEmpty else {
            return
        }
        for slot in draft.released.slots {
            if case .models(let changes) = draft[slot] {
                changes.forgetRemovals { $0._table == nil }
                if changes.isEmpty { forgetRelease(at: slot) }
            } else if model._rowValue(at: slot).isNull {
                forgetRelease(at: slot)
            }
        }
        table.state.tracker?.noteUnchanged(model)
    }
}

// MARK: - What has come to nothing

extension RelationshipEditor {
    /// Forgets what was set in a relationship of a stored model if that is what is stored.
    func forgetUnchanged(at slot: Int) {
        guard model._row >= 0, let table = model._table, let draft = model._draft, draft.changed.contains(slot) else {
            return
        }
        switch draft[slot] {
        case .models(let changes):
            if changes.hasRemovals { return }
            guard changes.added.allSatisfy({ $0._row >= 0 && model._hasStored($0, at: slot) }) else { return }
        case .model(let target):
            guard target.map({ model._hasStored($0, at: slot) }) ?? model._rowValue(at: slot).isNull else { return }
        default: return
        }
        apply(.forget, at: slot)
        table.state.tracker?.noteUnchanged(model)
    }
}
