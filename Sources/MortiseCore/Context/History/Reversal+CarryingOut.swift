extension Reversal {
    /// Makes unsaved changes of what was decided: records come back, values are set, and records that were inserted go.
    func carryOut(in context: ModelContext) -> RevertReport {
        var report = RevertReport()
        report.conflicts = conflicts
        var made: [PersistentIdentifier: any PersistentModel] = [:]
        for (record, entry) in returns.sorted(by: { $0.key < $1.key }) {
            guard let table = state.table(named: entry.layout.entityName) else { continue }
            made[record] = context.tracker.bringBack(record, entry.values, in: table)
            report.inserted.append(record)
        }
        let places = updates.keys.sorted { ($0.record, $0.slot) < ($1.record, $1.slot) }
        var changed = Set<PersistentIdentifier>()
        // Relationships last: what they lead to has its values then.
        for isRelationship in [false, true] {
            for place in places {
                guard let update = updates[place] else { continue }
                guard update.layout.record.slots[place.slot].role.isRelationship == isRelationship else { continue }
                set(update.old, at: place.slot, of: update.model, update.layout, place.record, made, &report)
                if changed.insert(place.record).inserted { report.updated.append(place.record) }
            }
        }
        report.updated.sort()
        for (record, entry) in returns.sorted(by: { $0.key < $1.key }) {
            guard let model = made[record] else { continue }
            for slot in entry.layout.record.slots.indices where entry.layout.record.slots[slot].role.isRelationship {
                guard let value = entry.values[slot], !value.isNull else { continue }
                set(value, at: slot, of: model, entry.layout, record, made, &report)
            }
        }
        for (record, removal) in removals.sorted(by: { $0.key < $1.key }) {
            context.delete(removal.model)
            report.deleted.append(record)
        }
        context.tracker.propagateDeletes()
        context.tracker.forgetValues()
        context.tracker.onChange?()
        return report
    }

    private func set(
        _ value: StoredValue, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout,
        _ record: PersistentIdentifier, _ made: [PersistentIdentifier: any PersistentModel],
        _ report: inout RevertReport
    ) {
        let role = layout.record.slots[slot].role
        if role == .attribute { return setAttribute(value, at: slot, of: model, layout) }
        let targets = value.targets
        let found = targets.compactMap { target in made[target] ?? self.model(target) }
        if found.count < targets.count {
            report.cleared.append(.init(record: record, property: layout.record.slots[slot].name))
        }
        if role == .toOne, found.isEmpty, RelationshipEditor(model).isRequired(slot) { return }
        let change = ValueChange(settingSlot: slot, of: model, layout: layout)
        change?.willSet()
        if role == .toOne {
            RelationshipEditor(model).setTarget(found.first, at: slot)
        } else {
            RelationshipEditor(model).setMembers(found, at: slot)
        }
        RelationshipEditor(model).forgetUnchanged(at: slot)
        change?.didSet()
    }

    private func setAttribute(
        _ value: StoredValue, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout
    ) {
        let change = ValueChange(settingSlot: slot, of: model, layout: layout)
        change?.willSet()
        if model._row >= 0, model._rowValue(at: slot).isIdentical(to: value) {
            ChangeTracker.apply(.forget, to: model, at: slot)
            state.tracker?.noteUnchanged(model)
        } else {
            ChangeTracker.apply(.set(.value(value)), to: model, at: slot)
        }
        change?.didSet()
    }
}

extension ChangeTracker {
    /// Makes a model of a record that was deleted, as a new one: under the same identifier where the store can. Its relationships are
    /// not set.
    fileprivate func bringBack(
        _ record: PersistentIdentifier, _ values: [Int: StoredValue], in table: ModelTable
    ) -> any PersistentModel {
        func make<M: PersistentModel>(_ type: M.Type) -> any PersistentModel {
            let draft = Draft()
            for slot in table.layout.record.slots.indices
            where table.layout.record.slots[slot].role == .attribute {
                draft[slot] = .value(values[slot] ?? .null)
                draft.changed.insert(slot)
            }
            if table.session.capabilities.contains(.restoresIdentifiers) {
                draft.identifier = record
            } else {
                let identifier = PersistentIdentifier.temporary(namespace: table.temporaryNamespace)
                draft.identifier = identifier
                state?.successors[record] = identifier
            }
            // It was there before: it takes no other one's place.
            draft.conflictPolicy = .fail
            draft.isNamed = true
            return Materializing.make(type, ModelState(draft))
        }
        let model = make(table.layout.type)
        model._modelState.enter(table)
        model._draft?.lend(to: reference, required: table.layout.record.requiredTargets)
        inserted.append(model)
        state?.follower?.watch(model, comesOrGoes: true)
        journal?.noteEntered(model)
        return model
    }
}
