extension ChangeTracker {
    /// Inserts a model, and every model without a context that it reaches. Inserting a deleted model also brings back what
    /// its deletion took.
    /// `isRequested` says that the program asked for this model by name, and not only for relating it to another. `policy` is for all
    /// models that come in, and for those that came in before by being related to this one; nil is what the context does.
    func insert(
        _ first: any PersistentModel, isRequested: Bool = false, onConflict policy: UniqueConflictPolicy? = nil
    ) {
        guard let state else { return }
        let outer = returning
        returning = ReturningModels()
        defer { returning = outer }
        var pending: [any PersistentModel] = []
        if isRequested, let draft = first._draft, isNew(first) {
            saveUndo?.note(first)
            if let policy { extend(policy, from: first) }
            draft.isNamed = true
        }
        insert(first, &pending, state, isRequested, policy)
        while let model = pending.popLast() { insert(model, &pending, state, false, policy) }
        // Now that all are back, also what they were to each other is.
        for model in returning.all {
            if let table = model._table, table.state === state {
                RelationshipEditor(model).relink(in: table.layout)
            }
        }
        onChange?()
    }

    /// Whether a model of this context was never saved.
    private func isNew(_ model: any PersistentModel) -> Bool {
        guard let state else { return false }
        return model._row < 0 && model._table?.state === state
    }

    /// Gives a policy to a new model that the context has already, and to those that came in with it: they follow no other policy and
    /// were not inserted by name.
    private func extend(_ policy: UniqueConflictPolicy, from first: any PersistentModel) {
        let before = first._draft?.conflictPolicy
        var known = ObjectSet()
        _ = known.insert(first)
        var pending = [first]
        while let model = pending.popLast() {
            saveUndo?.note(model)
            guard let draft = model._draft else { continue }
            draft.conflictPolicy = policy
            for other in draft.others {
                let related: [any PersistentModel] =
                    switch other.value {
                    case .model(let target?): [target]
                    case .models(let changes): changes.added
                    default: []
                    }
                for related in related where isNew(related) {
                    guard let theirs = related._draft, !theirs.isNamed,
                        theirs.conflictPolicy == nil || theirs.conflictPolicy == before && before != policy,
                        known.insert(related)
                    else { continue }
                    pending.append(related)
                }
            }
        }
    }

    private func insert(
        _ model: any PersistentModel, _ pending: inout [any PersistentModel], _ state: ContextState,
        _ isRequested: Bool, _ policy: UniqueConflictPolicy?
    ) {
        model._adoptInitialValues()
        saveUndo?.note(model)
        var followers: [any PersistentModel] = []
        // What comes back with a model that comes back is among those that come back already.
        if model._flags.contains(.isDeleted), !returning.contains(model) {
            followers = cascades.returning(with: model)
            returning.add(model)
            for follower in followers { returning.add(follower) }
        }
        defer { if !followers.isEmpty { pending += followers.reversed() } }
        if let table = model._table {
            if table.state === state {
                undelete(model)
            } else {
                refuse(ModelContextError.registeredElsewhere(model: model.persistentModelID), inserting: model)
            }
            return
        }
        guard let table = state.table(for: type(of: model)) else {
            let type = type(of: model)
            refuse(
                ModelDescription.fault(of: type) ?? ModelContextError.unknownModel(type: "\(type)"), inserting: model,
                while: isRequested ? { true } : relations(of: model, state))
            return
        }
        let draft = model._modelState.ensureDraft()
        if model._flags.contains(.isDeleted) || draft.survivor != nil || draft.isLetGo {
            RelationshipEditor(model).thaw(in: table, with: returning)
            draft.isLetGo = false
        }
        if draft.identifier == nil, draft.survivor == nil {
            draft.identifier = .temporary(namespace: table.temporaryNamespace)
        } else if draft.identifier?.isTemporary == false || draft.survivor != nil {
            // A deleted model that is inserted again is a new record: its old identity is gone with the old one.
            // So is one that another model took the place of.
            draft.identifier = .temporary(entityName: table.layout.entityName)
            draft.survivor = nil
        }
        draft.conflictPolicy = policy
        draft.isNamed = isRequested
        model._modelState.enter(table)
        draft.lend(to: reference, required: table.layout.record.requiredTargets)
        inserted.append(model)
        state.follower?.watch(model, comesOrGoes: true)
        endDeletion(of: model)
        journal?.noteEntered(model)
        let reached = RelationshipEditor(model).connectInserted(in: table.layout)
        if !reached.isEmpty { pending += reached.reversed() }
    }

    private func undelete(_ model: any PersistentModel) {
        guard let table = model._table, model._flags.contains(.isDeleted) else { return }
        journal?.noteEntered(model)
        RelationshipEditor(model).relink(in: table.layout)
        model._modelState.flags.subtract([.isDeleted, .awaitsRules])
        deleted.remove(model)
        endDeletion(of: model)
        if model._row < 0 {
            model._modelState.flags.insert(.isInserted)
            inserted.append(model)
        } else if model._draft?.changed.isEmpty == false {
            model._modelState.flags.insert(.isChanged)
            changed.append(model)
        } else {
            model._modelState.dropSavedDraft(table.layout.record)
        }
        state?.follower?.watch(model, comesOrGoes: true)
        RelationshipEditor(model).leaveDeleted(in: table.layout, except: returning)
    }

    /// What keeps a model with the context that could not take it in: that a model of the context and this one refer to
    /// each other.
    private func relations(of model: any PersistentModel, _ state: ContextState) -> () -> Bool {
        typealias Relation = (owner: any PersistentModel, slot: Int, target: any PersistentModel)
        func relations(of owner: any PersistentModel, where isTarget: (any PersistentModel) -> Bool) -> [Relation] {
            (owner._draft?.others ?? []).flatMap { other -> [Relation] in
                let targets: [any PersistentModel] =
                    switch other.value {
                    case .model(let target?): [target]
                    case .models(let changes): changes.added
                    default: []
                    }
                return targets.filter(isTarget).map { (owner, other.slot, $0) }
            }
        }
        var found = relations(of: model) { $0._table?.state === state }
        if found.isEmpty {
            for list in [inserted, changed] {
                for owner in list { found += relations(of: owner) { $0 === model } }
            }
        }
        return { [found, unowned state] in
            found.contains { owner, slot, target in
                let ours = owner === model ? target : owner
                return ours._table?.state === state && !ours._flags.contains(.isDeleted)
                    && owner._refers(to: target, at: slot)
            }
        }
    }
}
