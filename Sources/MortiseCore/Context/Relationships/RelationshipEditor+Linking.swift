// The other side of what was set.

extension RelationshipEditor {
    /// Adds the owner to the inverse of its relationship, on this side.
    func link(_ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverse(of: slot, towards: model) else {
            if layout.isProvisional { LayoutGathering.postponeLinks(of: owner) { owner._linkInitialValues() } }
            return
        }
        // Else what an initializer set would take the place of what is set here.
        if model._table == nil { model._adoptInitialValues() }
        let mine = model._table?.layout ?? ModelLayout.of(type(of: model))
        if mine.record.slots[inverse].role.isToMany {
            if layout.sharingSlots[slot].isEmpty || !hasStoredMember(owner, at: inverse) {
                noteLinked(at: inverse)
                addMember(owner, at: inverse, mine)
            }
            return
        }
        let previous = heldTarget(at: inverse)
        if let previous, previous === owner {
            if case .inferred? = model._draft?[inverse] { set(.model(owner), at: inverse) }
            return
        }
        // First, because the property may be its own inverse and the previous one this model itself.
        if let previous {
            // By which of several relationships the other one held this model cannot be told from their one inverse.
            let isShared = !layout.sharingSlots[slot].isEmpty
            for place in [slot] + layout.sharingSlots[slot] where !isShared || previous._refers(to: model, at: place) {
                RelationshipEditor(previous).release(model, at: place, layout)
            }
        }
        noteLinked(at: inverse)
        setNotifying(.model(owner), at: inverse, mine)
    }

    /// Whether a model is a member already, by another relationship that has the same inverse, and not by this draft.
    private func hasStoredMember(_ other: any PersistentModel, at slot: Int) -> Bool {
        if case .models(let changes)? = model._draft?[slot], changes.isAdded(other) { return false }
        return model._refers(to: other, at: slot)
    }

    /// Ends a relationship to a model that has found another partner.
    func release(_ other: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        // It may be of a superclass that the other one may also belong to, and that lacks the property.
        guard layout.shares(slot, with: model._table?.layout ?? ModelLayout.of(type(of: model))) else {
            return
        }
        if layout.record.slots[slot].role.isToMany {
            removeMember(other, at: slot, layout)
        } else {
            clearTarget(previous: other, at: slot, layout)
        }
    }

    /// Takes the owner out of the inverse of its relationship, on this side. With `isSet`, the owner was set to refer to this
    /// model no more, and relationships that share the owner's as their inverse let go of it too. Where the owner is deleted,
    /// the delete rules of each say what follows.
    func unlink(
        _ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout, isSet: Bool = false
    ) {
        guard let inverse = layout.inverse(of: slot, towards: model) else {
            if isSet { releaseFromSharers(owner, of: slot, in: layout) }
            return
        }
        // One of the others that share the inverse may hold this model still.
        if !owner._flags.contains(.isDeleted),
            layout.sharingSlots[slot].contains(where: { owner._refers(to: model, at: $0) })
        {
            return
        }
        if model._table == nil { model._adoptInitialValues() }
        let mine = ModelLayout.of(type(of: model))
        if mine.record.slots[inverse].role.isToMany {
            removeMember(owner, at: inverse, mine)
        } else if model._refers(to: owner, at: inverse) {
            clearTarget(previous: owner, at: inverse, mine)
        }
    }

    /// Lets go of a model, whose relationship leads here no more, in all relationships that share it as their inverse.
    func releaseFromSharers(_ other: any PersistentModel, of slot: Int, in layout: ModelLayout) {
        let sharers = layout.sharers(of: slot)
        if sharers.isEmpty { return }
        if model._table == nil { model._adoptInitialValues() }
        let mine = model._table?.layout ?? ModelLayout.of(type(of: model))
        for place in sharers where model._refers(to: other, at: place) { release(other, at: place, mine) }
    }

    func clearTarget(previous: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        noteLinked(at: slot)
        setNotifying(isRequired(slot) ? .requiredButCleared(last: previous) : .model(nil), at: slot, layout)
    }
}

// MARK: - One side

extension RelationshipEditor {
    func apply(_ mutation: consuming Mutation, at slot: Int) { ChangeTracker.apply(mutation, to: model, at: slot) }

    func holdWeaklyAfterContext() { ChangeTracker.holdWeaklyAfterContext(model) }

    func set(_ value: Draft.Value, at slot: Int) {
        apply(.set(value), at: slot)
        holdWeaklyAfterContext()
    }

    /// Sets the side of a relationship that nobody set: its observers have not been told by an accessor.
    func setNotifying(_ value: Draft.Value, at slot: Int, _ layout: ModelLayout) {
        notifying(slot, layout) { set(value, at: slot) }
    }

    @inline(__always)
    private func notifying(_ slot: Int, _ layout: ModelLayout, _ body: () -> Void) {
        // Few models are observed.
        if !model._isObserved { return body() }
        let change = ValueChange(settingSlot: slot, of: model, layout: layout)
        change?.willSet()
        body()
        change?.didSet()
    }

    /// Adds a member on this side alone.
    func addMember(_ other: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        notifying(slot, layout) {
            apply(.add(other), at: slot)
            holdWeaklyAfterContext()
        }
    }

    /// Takes a member out on this side alone.
    func removeMember(_ other: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        notifying(slot, layout) {
            apply(.remove(other), at: slot)
            holdWeaklyAfterContext()
        }
    }
}
