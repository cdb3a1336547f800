// Undoing a step. Nothing follows from what is put back but that it is put back: no delete rules, no other sides, no
// setters.

extension UndoJournal {
    /// Whether a step may be undone under the policy `refuse`; the error is kept if not.
    func mayReplay(_ record: UndoRecord) -> Bool {
        guard policy.onForeignChange == .refuse, let state else { return true }
        follow(state)
        let conflicts = UndoConflicts(record, self, state)
        if conflicts.told.isEmpty { return true }
        let error = UndoError.changedByOthers(conflicts.told)
        if isAskedByContext { refusal = error } else { state.latch(error) }
        return false
    }

    /// Looks at what others have saved, which may not be overwritten unseen.
    private func follow(_ state: ContextState) {
        suspended {
            do {
                for session in state.sessions { try state.refresh(session) }
            } catch {
                state.latch(error)
            }
        }
    }

    /// Undoes, or redoes, a step. What that changes is recorded as a step of its own.
    func replay(_ record: UndoRecord) {
        guard let state, let tracker, !isReplaying else { return }
        close()
        tracker.propagateDeletes()
        follow(state)
        forget(record)
        let conflicts = UndoConflicts(record, self, state)
        var run = UndoRun(journal: self, state: state, tracker: tracker)
        run.report.skipped = conflicts.told
        isReplaying = true
        for (place, entry) in record.entries.enumerated().reversed() where !conflicts.skipped.contains(place) {
            run.takeBack(entry)
        }
        for place in conflicts.overruled.reversed() { run.relate(record.entries[place]) }
        run.settleReturned()
        isReplaying = false
        tracker.forgetValues()
        // A group may have several steps of this context.
        lastUndo = run.report.following(lastUndo)
        tracker.onChange?()
    }
}

/// One undo or redo of a step.
private struct UndoRun {
    let journal: UndoJournal
    let state: ContextState
    let tracker: ChangeTracker
    var report: UndoReport
    private var restored = ObjectSet()
    /// Models whose records are made anew.
    private var returned: [any PersistentModel] = []

    init(journal: UndoJournal, state: ContextState, tracker: ChangeTracker) {
        self.journal = journal
        self.state = state
        self.tracker = tracker
        report = UndoReport(isRedo: journal.manager.isRedoing, restored: [], skipped: [])
    }

    private mutating func note(_ model: any PersistentModel) {
        if restored.insert(model) { report.restored.append(model.persistentModelID) }
    }

    mutating func takeBack(_ entry: UndoEntry) {
        switch entry.change {
        case .entered: return takeOut(entry.model)
        case .left(let last): return bringBack(entry.model, last)
        default: break
        }
        // What is not here will come back as it was when it left, or not at all.
        guard let table = entry.model._table, table.state === state else { return }
        let layout = table.layout
        switch entry.change {
        case .value(let slot, let old, _):
            if layout.record.slots[slot].role == .toOne {
                setTarget(old, at: slot, of: entry.model, layout)
            } else {
                setAttribute(old, at: slot, of: entry.model, layout)
            }
        case .added(let slot, let member): removeMember(member, at: slot, of: entry.model, layout)
        case .removed(let slot, let member): addMember(member, at: slot, of: entry.model, layout)
        case .order(let slot, let members):
            guard case .models(let changes)? = entry.model._draft?[slot] else { return }
            notifying(entry.model, slot, layout) {
                journal.willReorder(changes, of: entry.model, at: slot)
                changes.order(as: members)
            }
        case .entered, .left: break
        }
    }

    private func notifying(_ model: any PersistentModel, _ slot: Int, _ layout: ModelLayout, _ body: () -> Void) {
        let change = ValueChange(settingSlot: slot, of: model, layout: layout)
        change?.willSet()
        body()
        change?.didSet()
    }

    // MARK: Values

    private mutating func setAttribute(
        _ old: Draft.Value, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout
    ) {
        if model._shownValue(at: slot, in: layout).shows(old) { return }
        note(model)
        notifying(model, slot, layout) {
            let isStored =
                model._row >= 0 && !layout.record.ephemeralSlots.contains(slot)
                && old.shows(.value(model._rowValue(at: slot)))
            if case .unset = old, model._row < 0 {
                ChangeTracker.apply(.forget, to: model, at: slot)
            } else if isStored {
                ChangeTracker.apply(.forget, to: model, at: slot)
                tracker.noteUnchanged(model)
            } else if case .unset = old {
                ChangeTracker.apply(.set(.value(.null)), to: model, at: slot)
            } else {
                ChangeTracker.apply(.set(old), to: model, at: slot)
            }
        }
    }

    private mutating func setTarget(
        _ old: Draft.Value, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout
    ) {
        var old = old
        if case .model(let target?) = old {
            if let survivor = target._survivor { old = .model(survivor) }
            if target._table == nil, target._survivor == nil, !journal.departed.contains(target) {
                old = .model(nil)
                report.skipped.append(
                    UndoReport.Skipped(
                        model: model.persistentModelID, property: layout.record.slots[slot].name, reason: .targetGone))
            }
        }
        if model._shownValue(at: slot, in: layout).shows(old) { return }
        note(model)
        notifying(model, slot, layout) {
            if case .unset = old {
                ChangeTracker.apply(model._row < 0 ? .forget : .set(.model(nil)), to: model, at: slot)
            } else {
                ChangeTracker.apply(.set(old), to: model, at: slot)
            }
            RelationshipEditor(model).forgetUnchanged(at: slot)
        }
    }

    private mutating func removeMember(
        _ member: any PersistentModel, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout
    ) {
        guard model._refers(to: member, at: slot) else { return }
        note(model)
        notifying(model, slot, layout) {
            ChangeTracker.apply(.remove(member), to: model, at: slot)
            // What was added is not taken out as well.
            if model._row >= 0, case .models(let changes)? = model._draft?[slot], !model._hasStored(member, at: slot) {
                changes.forgetRemoval(of: member)
            }
            RelationshipEditor(model).forgetUnchanged(at: slot)
        }
    }

    private mutating func addMember(
        _ member: any PersistentModel, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout
    ) {
        guard !model._refers(to: member, at: slot), member._table != nil || journal.departed.contains(member),
            member._survivor == nil
        else { return }
        note(model)
        notifying(model, slot, layout) {
            if case .models(let changes)? = model._draft?[slot], changes.isRemoved(member),
                model._hasStored(member, at: slot)
            {
                ChangeTracker.apply(.restore(member), to: model, at: slot)
            } else {
                ChangeTracker.apply(.add(member), to: model, at: slot)
            }
            RelationshipEditor(model).forgetUnchanged(at: slot)
        }
    }

    /// Sets a relationship back that others have changed since, on both sides.
    mutating func relate(_ entry: UndoEntry) {
        guard case .value(let slot, let old, _) = entry.change, let table = entry.model._table, table.state === state
        else { return }
        let target: (any PersistentModel)? =
            if case .model(let target) = old { target?._survivor ?? target } else { nil }
        if let target, target._table?.state !== state { return }
        if target == nil, RelationshipEditor(entry.model).isRequired(slot) { return }
        note(entry.model)
        notifying(entry.model, slot, table.layout) {
            RelationshipEditor(entry.model).setTarget(target, at: slot)
            RelationshipEditor(entry.model).forgetUnchanged(at: slot)
        }
    }

    // MARK: Lives

    /// Takes a model out that had come in: a stored one is deleted by the next save, and no delete rule is followed.
    private mutating func takeOut(_ model: any PersistentModel) {
        guard let table = model._table, table.state === state, !model._flags.contains(.isDeleted) else { return }
        note(model)
        journal.willLeave(model)
        if model._row >= 0 {
            tracker.takeOut(model)
            return
        }
        tracker.inserted.remove(model)
        state.follower?.watch(model, comesOrGoes: true)
        model._modelState.flags = []
        model._modelState.table = nil
        model._draft?.takeBackWeakly()
    }

    private mutating func bringBack(_ model: any PersistentModel, _ last: LeftModel) {
        if let table = model._table {
            guard table.state === state, model._flags.contains(.isDeleted) else { return }
            journal.noteEntered(model)
            tracker.bringBack(model)
            note(model)
            return
        }
        guard last.table.state === state, model._survivor == nil else { return }
        if let (draft, content) = last.unsaved {
            model._modelState.draft = draft
            draft.restore(content)
        } else {
            model._modelState.draft = remade(last)
        }
        model._modelState.row = -1
        model._modelState.flags = []
        model._modelState.enter(last.table)
        tracker.bringIn(model)
        journal.noteEntered(model)
        returned.append(model)
        note(model)
    }

    /// The values of a record that was deleted, as those of a new one: under the same identifier where the store can.
    private func remade(_ last: LeftModel) -> Draft {
        let draft = Draft()
        for (slot, value) in last.values {
            draft[slot] = value
            draft.changed.insert(slot)
        }
        if last.table.session.capabilities.contains(.restoresIdentifiers), !last.identifier.isTemporary {
            draft.identifier = last.identifier
        } else {
            let identifier = PersistentIdentifier.temporary(namespace: last.table.temporaryNamespace)
            draft.identifier = identifier
            state.successors[last.identifier] = identifier
        }
        // It was there before: it takes no other one's place.
        draft.conflictPolicy = .fail
        draft.isNamed = true
        draft.lend(to: tracker.reference, required: last.table.layout.record.requiredTargets)
        return draft
    }

    /// Makes the relationships of records that are made anew agree with what the models at their other ends say by now.
    mutating func settleReturned() {
        for model in returned {
            guard let table = model._table, table.state === state, let draft = model._draft else { continue }
            let layout = table.layout
            for other in draft.others {
                switch other.value {
                case .model(let target?):
                    if isThere(target), leadsBack(target, to: model, at: other.slot, layout) { continue }
                    draft[other.slot] =
                        RelationshipEditor(model).isRequired(other.slot)
                        ? .requiredButCleared(last: target) : .model(nil)
                case .models(let changes):
                    for member in changes.added
                    where !isThere(member) || !refers(member, to: model, at: other.slot, layout) {
                        changes.remove(member, isStored: false)
                    }
                default: break
                }
            }
        }
    }

    private func isThere(_ model: any PersistentModel) -> Bool {
        model._table?.state === state && !model._flags.contains(.isDeleted)
    }

    private func refers(
        _ other: any PersistentModel, to model: any PersistentModel, at slot: Int, _ layout: ModelLayout
    ) -> Bool { layout.inverse(of: slot, towards: other).map { other._refers(to: model, at: $0) } ?? true }

    /// Whether a target leads back, or can be made to: it has a list, or leads nowhere.
    private func leadsBack(
        _ target: any PersistentModel, to model: any PersistentModel, at slot: Int, _ layout: ModelLayout
    ) -> Bool {
        if refers(target, to: model, at: slot, layout) { return true }
        guard let inverse = layout.inverse(of: slot, towards: target) else { return true }
        let theirs = ModelLayout.of(type(of: target))
        if !theirs.record.slots[inverse].role.isToMany, RelationshipEditor(target).heldTarget(at: inverse) != nil {
            return false
        }
        RelationshipEditor(target).link(model, throughInverseOf: slot, of: layout)
        return true
    }
}

// MARK: - What the tracker does for that

extension ChangeTracker {
    /// Deletes a stored model at the next save, and nothing follows from that.
    fileprivate func takeOut(_ model: any PersistentModel) {
        changed.remove(model)
        keepBase(of: model)
        deleted.append(model)
        model._modelState.flags = .isDeleted
        state?.follower?.watch(model, comesOrGoes: true)
    }

    /// Takes a deletion that was not saved back, and nothing follows from that.
    fileprivate func bringBack(_ model: any PersistentModel) {
        guard let table = model._table else { return }
        deleted.remove(model)
        endDeletion(of: model)
        model._modelState.flags = []
        if model._row < 0 {
            model._modelState.flags = .isInserted
            inserted.append(model)
        } else if model._draft?.changed.isEmpty == false {
            model._modelState.flags = .isChanged
            changed.append(model)
        } else {
            model._modelState.dropSavedDraft(table.layout.record)
        }
        state?.follower?.watch(model, comesOrGoes: true)
    }

    /// Adds a model that has come back to the new ones.
    fileprivate func bringIn(_ model: any PersistentModel) {
        // Its place may be one in another list.
        model._modelState.place = 0
        inserted.append(model)
        endDeletion(of: model)
        state?.follower?.watch(model, comesOrGoes: true)
    }
}
