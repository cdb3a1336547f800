// The change set of a save.

extension ChangeTracker {
    /// What a save writes to one store.
    func pendingChanges(for session: StoreSession, author: String?) -> ModelChanges {
        let isVersioned = session.version != nil
        var pending = ModelChanges(
            changes: ChangeSet(baseVersion: session.version?.number, author: author))
        for model in changed {
            guard let table = model._table, table.session === session else { continue }
            pending.changes.updated.append(update(of: model, in: table, onlyChanged: isVersioned))
            pending.updated.append(model)
        }
        for model in deleted {
            guard let table = model._table, table.session === session else { continue }
            let last = update(of: model, in: table, onlyChanged: isVersioned)
            pending.changes.deleted.append(.init(record: last.record, layout: last.layout, values: last.values))
            pending.deleted.append(model)
        }
        var inserted: [DefaultSnapshot] = []
        inserted.reserveCapacity(self.inserted.count)
        pending.inserted.reserveCapacity(self.inserted.count)
        for model in self.inserted {
            guard let table = model._table, table.session === session else { continue }
            inserted.append(insertion(of: model, in: table, isVersioned))
            pending.inserted.append(model)
        }
        pending.changes.inserted = ChangeSet.Insertions(inserted)
        return pending
    }

    private func insertion(of model: any PersistentModel, in table: ModelTable, _ isVersioned: Bool) -> DefaultSnapshot
    {
        let layout = table.layout
        if layout.record.ephemeralSlots.isEmpty, let draft = model._draft, let identifier = draft.identifier,
            let values = insertedValues(draft, layout, isVersioned)
        {
            return DefaultSnapshot(persistentIdentifier: identifier, layout: layout.record, values: values)
        }
        let record = update(of: model, in: table, onlyChanged: isVersioned)
        return DefaultSnapshot(persistentIdentifier: record.record, layout: record.layout, values: record.values)
    }

    /// The values of most new models, which have at most one relationship that is written: without going through them.
    private func insertedValues(
        _ draft: Draft, _ layout: ModelLayout, _ isVersioned: Bool
    ) -> ContiguousArray<StoredValue>? {
        let slots = layout.record.slots
        guard draft.hasOthers else { return isVersioned ? draft.record(of: slots.count) : nil }
        guard let only = draft.onlyOther, isVersioned else { return nil }
        switch (only.value, slots[only.slot].role) {
        case (.model(let target), .toOne):
            var value = StoredValue.null
            // A deleted target counts as nil, as in the getter.
            if let target,
                !slots[only.slot].property.isOptional || !target._flags.contains(.isDeleted)
            {
                value = .identifier(target.persistentModelID)
            }
            return draft.record(of: slots.count, (only.slot, value))
        case (.models, .toManyDerived): return draft.record(of: slots.count, (only.slot, .null))
        default: return nil
        }
    }

    /// The values of a model that a save writes, with the slots that changed.
    private func update(
        of model: any PersistentModel, in table: ModelTable, onlyChanged: Bool
    ) -> ChangeSet.Update {
        let layout = table.layout
        let draft = model._draft
        let isNew = model._row < 0
        let changed = draft?.changed ?? SlotSet()
        let slots = layout.record.slots
        var values = ContiguousArray<StoredValue>(repeating: .null, count: slots.count)
        let hasEphemeral = !layout.record.ephemeralSlots.isEmpty
        let row = model._row
        let rows = isNew || onlyChanged ? nil : table.source as? SessionRows
        for slot in slots.indices where isNew || !onlyChanged || changed.contains(slot) {
            if isNew, !hasEphemeral, let value = draft?.plainValue(at: slot) {
                values[slot] = value
                continue
            }
            let role = slots[slot].role
            if onlyChanged, role == .toManyDerived { continue }
            // What the store has left out stays as it is there, and a derived side follows from the other one.
            if let rows, rows.isUnread(row: row, slot: slot), role == .toManyDerived || !changed.contains(slot) {
                continue
            }
            values[slot] = model._pendingValue(at: slot, role: role, in: layout)
        }
        return ChangeSet.Update(
            record: model.persistentModelID, layout: layout.record, slots: changed, values: values)
    }
}

extension PersistentModel {
    /// The value that a save writes; relationships as identifiers.
    func _pendingValue(at slot: Int, role: RecordLayout.Role, in layout: ModelLayout) -> StoredValue {
        switch role {
        case .attribute:
            if layout.record.slots[slot].property.attribute?.options.contains(.ephemeral) == true { return .null }
            if case .transformable(let value)? = _draft?[slot] {
                return layout.transformed(value, at: slot) ?? .null
            }
            return _storedValue(at: slot)
        case .toOne:
            if case .unset = _draft?[slot] ?? .unset { return _storedValue(at: slot) }
            return RelationshipEditor(self).target(at: slot).map { .identifier($0.persistentModelID) } ?? .null
        case .toManyStored, .toManyDerived:
            if let identifiers = identifiersWithAdded(at: slot) { return .identifiers(identifiers) }
            let members = RelationshipEditor(self).members(at: slot)
            // What cannot be shown was not taken out.
            let identifiers =
                members.map(\.persistentModelID) + RelationshipEditor(self).unreadable(at: slot).map(\.identifier)
            // A model that was merged away has the identifier of the one that may be a member already.
            guard members.contains(where: { $0._survivor != nil }) else { return .identifiers(identifiers) }
            var seen = Set<PersistentIdentifier>()
            return .identifiers(identifiers.filter { seen.insert($0).inserted })
        }
    }

    /// The identifiers of a stored model's members, to which only new models were added: without making a model of each stored one.
    /// - Returns: nil where members have to be looked at, because some may be left out.
    private func identifiersWithAdded(at slot: Int) -> [PersistentIdentifier]? {
        guard _row >= 0, case .models(let changes)? = _draft?[slot], !changes.hasRemovals, let table = _table,
            table.session.version != nil, table.state.deleted.isEmpty, !Going.isActive,
            !_flags.contains(.isDeleted)
        else { return nil }
        let added = changes.added
        guard added.allSatisfy({ $0._row < 0 && $0._table != nil && !$0._flags.contains(.isDeleted) }) else {
            return nil
        }
        var identifiers = table.source.identifiers(row: _row, slot: slot)
        identifiers.reserveCapacity(identifiers.count + added.count)
        for member in added { identifiers.append(member.persistentModelID) }
        return identifiers
    }
}
