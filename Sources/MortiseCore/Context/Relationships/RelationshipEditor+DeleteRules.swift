// What the deletion of a model does to those that are related to it, and how that is undone.

extension RelationshipEditor {
    /// What the delete rules of this deleted model delete with it.
    /// - Parameter storedOnly: whether to leave out what is not stored as related to it, and what has another partner here.
    /// - Returns: also models that are deleted already.
    func cascaded(storedOnly: Bool = false) -> [any PersistentModel] {
        let layout = ModelLayout.of(type(of: model))
        var cascaded: [any PersistentModel] = []
        for slot in layout.properties.indices
        where layout.record.slots[slot].property.relationship?.deleteRule.deletesRelated == true {
            cascaded += ruled(at: slot, layout, storedOnly: storedOnly)
            refuseCascade(at: slot)
        }
        return cascaded
    }

    /// Takes this deleted model from those that stay and are related to it, as far as its delete rules let it go.
    /// - Parameter storedOnly: as in `cascaded`.
    func releaseRelated(storedOnly: Bool = false) {
        let layout = ModelLayout.of(type(of: model))
        for slot in layout.properties.indices {
            guard let rule = layout.record.slots[slot].property.relationship?.deleteRule, !rule.deletesRelated,
                // Nothing refers to what was never stored, so nothing keeps it from being deleted.
                !(rule.keepsReferences && model._mayBeStored)
            else { continue }
            for other in ruled(at: slot, layout, storedOnly: storedOnly) where !other._flags.contains(.isDeleted) {
                RelationshipEditor(other).release(deleted: model, throughInverseOf: slot, of: layout)
            }
        }
    }

    /// The models that a delete rule is about.
    private func ruled(at slot: Int, _ layout: ModelLayout, storedOnly: Bool) -> [any PersistentModel] {
        var related: [any PersistentModel] =
            layout.record.slots[slot].property.relationship?.isToMany == true
            ? members(at: slot) : target(at: slot).map { [$0] } ?? []
        related.removeAll(where: isForeign)
        if storedOnly, !related.isEmpty {
            let stored = storedRelated(at: slot)
            related.removeAll { !stored.contains($0.persistentModelID) }
        }
        // Another owner's child may still be named here: both sides of what shares its inverse are stored.
        if storedOnly || !layout.sharingSlots[slot].isEmpty {
            related.removeAll { !isMutual(with: $0, at: slot, layout) }
        }
        return related
    }

    /// The records that this model's record is related to, whatever is set here.
    private func storedRelated(at slot: Int) -> Set<PersistentIdentifier> {
        switch model._rowValue(at: slot) {
        case .identifier(let identifier): [identifier]
        case .identifiers(let identifiers): Set(identifiers)
        default: []
        }
    }

    /// Refuses this model's deletion while it would leave behind a record that a cascade cannot reach.
    private func refuseCascade(at slot: Int) {
        guard let state = model._table?.state, let error = unreadable(at: slot).first?.error else { return }
        state.tracker?.refuse(error) { [model, unowned state] in
            model._table?.state === state && model._flags.contains(.isDeleted)
                && !unreadable(at: slot).isEmpty
        }
    }
}

// MARK: - The nullify rule on the other side

extension RelationshipEditor {
    /// Applies the nullify rule to this model, which is related to a deleted one.
    func release(deleted owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverse(of: slot, towards: model) else { return }
        let draft = model._draft
        let wasSet = draft?.changed.contains(inverse) == true && draft?.released.contains(inverse) != true
        let wasAdded = if case .models(let changes)? = draft?[inverse] { changes.isAdded(owner) } else { false }
        unlink(owner, throughInverseOf: slot, of: layout)
        guard let draft = model._draft, draft.changed.contains(inverse) else { return }
        if !wasSet { draft.released.insert(inverse) }
        guard case .models(let changes) = draft[inverse] else { return }
        if changes.isEmpty, !owner._mayBeStored, model._row >= 0 {
            // It was added and never saved: the list is as it was.
            apply(.forget, at: inverse)
            model._table?.state.tracker?.noteUnchanged(model)
        } else if wasAdded {
            changes.noteReleased(owner)
        }
    }

    /// Forgets a change that only the deletion of a related model has made.
    func forgetRelease(at slot: Int) {
        if model._draft?.released.contains(slot) == true { apply(.forget, at: slot) }
    }
}

// MARK: - Undoing a deletion

extension RelationshipEditor {
    /// Undoes, for this model whose deletion is undone, what the nullify rule did to related models. Models that have
    /// got another partner since keep it.
    func relink(in layout: ModelLayout) {
        for slot in layout.properties.indices {
            guard let relationship = layout.record.slots[slot].property.relationship else { continue }
            let related: [any PersistentModel] =
                relationship.isToMany ? members(at: slot) : target(at: slot).map { [$0] } ?? []
            for other in related where !isForeign(other) {
                guard let inverse = layout.inverse(of: slot, towards: other) else { continue }
                // Also what is deleted by now: it keeps its values, and may come back itself.
                if RelationshipEditor(other).hasReleased(model, at: inverse) {
                    RelationshipEditor(other).takeBackRelease(of: model, throughInverseOf: slot, of: layout)
                } else if !other._flags.contains(.isDeleted), !other._refers(to: model, at: inverse) {
                    if relationship.isToMany {
                        removeMember(other, at: slot, layout)
                    } else {
                        clearTarget(previous: other, at: slot, layout)
                    }
                }
            }
        }
    }

    /// Undoes what the nullify rule did to this model, so that nothing of it remains to be saved.
    func takeBackRelease(
        of owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout
    ) {
        guard let inverse = layout.inverse(of: slot, towards: model), let draft = model._draft,
            let table = model._table
        else { return link(owner, throughInverseOf: slot, of: layout) }
        let change = ValueChange(settingSlot: inverse, of: model, layout: table.layout)
        if case .models(let changes) = draft[inverse] {
            change?.willSet()
            apply(.restore(owner), at: inverse)
            if changes.isEmpty { forgetRelease(at: inverse) }
            change?.didSet()
        } else if draft.released.contains(inverse),
            case .identifier(let stored) = model._rowValue(at: inverse), stored == owner.persistentModelID
        {
            change?.willSet()
            forgetRelease(at: inverse)
            change?.didSet()
        } else {
            link(owner, throughInverseOf: slot, of: layout)
        }
        table.state.tracker?.noteUnchanged(model)
    }

    private func hasReleased(_ owner: any PersistentModel, at slot: Int) -> Bool {
        switch model._draft?[slot] {
        case .model(nil)?: true
        case .requiredButCleared(last: let last)?: last === owner
        // Nothing but the rule takes a deleted model out of a list on one side alone.
        case .models?: !model._refers(to: owner, at: slot)
        default: false
        }
    }

    /// Removes this model, whose deletion is undone, from deleted models that would not otherwise have kept it.
    func leaveDeleted(in layout: ModelLayout, except returning: ReturningModels) {
        for slot in layout.properties.indices {
            guard layout.record.slots[slot].role.isRelationship else { continue }
            let related =
                layout.record.slots[slot].role.isToMany
                ? members(at: slot, hidingDeleted: false) : heldTarget(at: slot).map { [$0] } ?? []
            for other in related where other !== model && other._flags.contains(.isDeleted) {
                if returning.contains(other) { continue }
                let theirs = ModelLayout.of(type(of: other))
                guard let inverse = layout.inverse(of: slot, towards: other),
                    let relationship = theirs.record.slots[inverse].property.relationship,
                    !relationship.deleteRule.keepsReferences
                else { continue }
                if relationship.deleteRule.onlyClearsReferences {
                    // It lets go of this model when its rules are followed, and is back with it if it returns before that.
                    if other._flags.contains(.awaitsRules) { continue }
                    release(deleted: other, throughInverseOf: inverse, of: theirs)
                } else {
                    unlink(other, throughInverseOf: inverse, of: theirs)
                    // It would take this model with it again.
                    RelationshipEditor(other).unlink(model, throughInverseOf: slot, of: layout)
                }
            }
        }
    }
}
