// What a program sets.

extension RelationshipEditor {
    func setTarget(_ target: (any PersistentModel)?, at slot: Int) {
        if model._flags.contains(.isGoing) { return model._modelState.set(.model(target), at: slot) }
        defer { noteAssigned(at: slot) }
        let old = heldTarget(at: slot)
        if let old, let target, old === target {
            // What is set here is kept here.
            if case .inferred? = model._draft?[slot] { set(.model(target), at: slot) }
            return
        }
        if old == nil, target == nil, holdsNothing(at: slot) { return }
        set(.model(target), at: slot)
        guard let layout = model._table?.layout else {
            let layout = ModelLayout.of(type(of: model))
            if let old, isNew, RelationshipEditor(old).isNew {
                RelationshipEditor(old).unlink(model, throughInverseOf: slot, of: layout, isSet: true)
            }
            if let target { linkDetached(target, at: slot, of: layout) }
            return
        }
        if let old { RelationshipEditor(old).unlink(model, throughInverseOf: slot, of: layout, isSet: true) }
        if let target {
            if target._table == nil { model._table?.state.tracker?.insert(target) }
            guard belongTogether(target, at: slot) else { return }
            RelationshipEditor(target).link(model, throughInverseOf: slot, of: layout)
        }
    }

    /// Remembers that the program has set a relationship on this model. To-one relationships of its new members that lead back no
    /// longer count as set there.
    private func noteAssigned(at slot: Int, _ members: ArraySlice<any PersistentModel> = []) {
        guard let draft = model._draft, !isSettling else { return }
        draft.assigned.insert(slot)
        if members.isEmpty || model._row >= 0 { return }
        let layout = model._table?.layout ?? ModelLayout.of(type(of: model))
        for member in members {
            guard let draft = member._draft, !draft.assigned.isEmpty,
                let inverse = layout.inverse(of: slot, towards: member),
                ModelLayout.of(type(of: member)).record.slots[inverse].role == .toOne
            else { continue }
            draft.assigned.remove(inverse)
        }
    }

    /// Whether a save is about to settle conflicts and unique values: what it sets, nobody has set.
    private var isSettling: Bool { model._table?.state.tracker?.saveUndo != nil }

    /// Forgets that a relationship was set on this model: another one has taken it over, or joined a list that was left empty.
    func noteLinked(at slot: Int) {
        guard let draft = model._draft, draft.assigned.contains(slot), !isSettling else { return }
        if case .models(let changes) = draft[slot], !changes.isEmpty { return }
        draft.assigned.remove(slot)
    }

    /// Whether a to-one relationship without target was left so, or is stored so.
    private func holdsNothing(at slot: Int) -> Bool {
        switch model._draft?[slot] {
        case .model(nil)?: true
        case nil, .unset?: model._row >= 0 && model._rowValue(at: slot).isNull
        default: false
        }
    }

    func setMembers(_ models: [any PersistentModel], at slot: Int) {
        if model._flags.contains(.isGoing) { return setMembersOfGoing(models, at: slot) }
        let held = members(at: slot, hidingDeleted: false)
        // Appending does not set those that were there.
        let isAppended = models.count > held.count && zip(held, models).allSatisfy { $0 === $1 }
        defer { noteAssigned(at: slot, isAppended ? models[held.count...] : models[...]) }
        if isAppended, appendMembers(models[held.count...], at: slot) { return }
        let hides = hidesDeleted
        let wanted = Set(models.map { ObjectIdentifier($0) })
        let layout = ModelLayout.of(type(of: model))
        var present = Set<ObjectIdentifier>()
        var leaving: [any PersistentModel] = []
        for other in held {
            let isHidden = hides && other._flags.contains(.isDeleted)
            let isWanted = wanted.contains(ObjectIdentifier(other))
            if isWanted || !isHidden { present.insert(ObjectIdentifier(other)) }
            // What was deleted for good is in nobody's way, unless it belonged to another context, which refuses it.
            let isGone = other._table == nil
            if !isWanted, !isHidden || isGone || RelationshipEditor(other).isBound(by: slot, of: layout) {
                leaving.append(other)
            }
        }
        // Setting what is there, in whatever order, changes nothing.
        if model._row >= 0, leaving.isEmpty, wanted.isSubset(of: present) { return }
        if case .models? = model._draft?[slot] {
        } else {
            apply(.set(.models(MemberChanges())), at: slot)
        }
        for other in leaving {
            apply(.remove(other), at: slot)
            if model._table != nil || (isNew && RelationshipEditor(other).isNew) {
                RelationshipEditor(other).unlink(model, throughInverseOf: slot, of: layout, isSet: true)
            }
        }
        // What is set here is kept here.
        apply(.keepMembers, at: slot)
        for other in models where present.insert(ObjectIdentifier(other)).inserted {
            addLinked(other, at: slot, layout)
        }
        holdWeaklyAfterContext()
    }

    /// Shows other members in what is left of `deinit`. Nothing follows from that elsewhere.
    private func setMembersOfGoing(_ models: [any PersistentModel], at slot: Int) {
        let changes = MemberChanges()
        for other in members(at: slot, hidingDeleted: false) { changes.remove(other, isStored: true) }
        for other in models { changes.add(other) }
        changes.imply()
        model._modelState.set(.models(changes), at: slot)
    }

    /// Adds new members after those that there are, where nothing else is set: what `append` comes to, once for each
    /// member.
    /// - Returns: false where that is not what is set.
    private func appendMembers(_ models: ArraySlice<any PersistentModel>, at slot: Int) -> Bool {
        guard case .models(let changes)? = model._draft?[slot], models.allSatisfy({ !$0._mayBeStored }) else {
            return false
        }
        let layout = ModelLayout.of(type(of: model))
        changes.keepImplied()
        for other in models where !changes.isAdded(other) { addLinked(other, at: slot, layout) }
        holdWeaklyAfterContext()
        return true
    }

    /// Adds to the members that there are.
    func addMembers(_ models: [any PersistentModel], at slot: Int) {
        let layout = ModelLayout.of(type(of: model))
        apply(.keepMembers, at: slot)
        for other in models { addLinked(other, at: slot, layout) }
    }

    /// Adds one of several members. What follows from a context that has gone is left to the caller, once for all.
    private func addLinked(_ other: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        apply(.add(other), at: slot)
        // Each time, because one member's context may have taken this model in.
        guard model._table != nil else { return linkDetached(other, at: slot, of: layout) }
        if other._table == nil { model._table?.state.tracker?.insert(other) }
        if belongTogether(other, at: slot) { RelationshipEditor(other).link(model, throughInverseOf: slot, of: layout) }
    }

    /// Does what follows from this model, which has no context, holding another: the other's context takes it in, or the
    /// other holds it as well.
    private func linkDetached(_ other: any PersistentModel, at slot: Int, of layout: ModelLayout) {
        if let state = other._table?.state {
            if !model._flags.contains(.isDeleted) { state.tracker?.insert(model) }
        } else if isNew, RelationshipEditor(other).isNew {
            RelationshipEditor(other).link(model, throughInverseOf: slot, of: layout)
        }
    }

    /// Whether what follows from this model's deletion depends on who refers to it through the inverse of `slot`: then
    /// setting that relationship takes it out although the getter no longer shows it.
    private func isBound(by slot: Int, of layout: ModelLayout) -> Bool {
        guard let inverse = layout.inverse(of: slot, towards: model),
            let relationship = ModelLayout.of(type(of: model)).record.slots[inverse].property.relationship
        else { return false }
        return !relationship.deleteRule.onlyClearsReferences
    }

    func belongTogether(_ other: any PersistentModel, at slot: Int) -> Bool {
        guard let mine = model._table?.state, let others = other._table?.state, mine !== others
        else {
            return true
        }
        mine.tracker?.refuse(ModelContextError.registeredElsewhere(model: other.persistentModelID)) {
            [model, unowned mine] in
            // Also if the other one has left its context meanwhile: it is not stored here all the same.
            model._table?.state === mine && !model._flags.contains(.isDeleted)
                && other._table?.state !== mine && model._refers(to: other, at: slot)
        }
        return false
    }

    /// Links what a model was given before it was initialized.
    fileprivate func linkInitialValues() {
        guard model._table == nil, let draft = model._draft, draft.hasOthers else { return }
        let layout = ModelLayout.of(type(of: model))
        for other in draft.others {
            switch other.value {
            case .model(let target?): linkDetached(target, at: other.slot, of: layout)
            case .models(let changes):
                for member in changes.added { linkDetached(member, at: other.slot, of: layout) }
            default: break
            }
            // The context that has taken this model in has linked the rest.
            if model._table != nil { return }
        }
    }
}

extension PersistentModel {
    /// Used by macro expansions: links the models that an initializer gave to properties, as setting the properties
    /// afterwards would.
    public func _linkInitialValues() {
        _adoptInitialValues()
        RelationshipEditor(self).linkInitialValues()
    }
}
