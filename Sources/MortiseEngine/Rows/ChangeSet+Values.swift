import MortiseCore

extension ChangeSet {
    /// The changes of a transaction for those who need the records alone, each named once.
    var withoutValues: ChangeSet {
        var named = self
        named.mergeUpdates()
        named.dropValues()
        return named
    }

    /// The changes of a transaction with the values before and after: all of the slots that changed, and of deleted records
    /// those that lead to others and those that the schema preserves, or all that a history keeps. A value that cannot be read is
    /// null. Without the version before, only new values are told.
    func withValues(
        from before: EngineVersion?, to after: EngineVersion, keepingDeleted: Bool = false
    ) -> ChangeSet {
        if count > ChangeFeed.valueLimit { return withoutValues }
        var told = self
        told.mergeUpdates()
        for index in told.updated.indices {
            let update = told.updated[index]
            told.updated[index].values = after.values(of: update.record, update.slots, update.layout)
            guard let before else { continue }
            told.updated[index].oldValues = before.values(of: update.record, update.slots, update.layout)
        }
        guard let before else { return told }
        for index in told.deleted.indices {
            let deletion = told.deleted[index]
            let slots =
                keepingDeleted
                ? SlotSet(deletion.layout.keptSlots)
                : SlotSet(deletion.layout.slots.indices.filter { deletion.layout.slots[$0].outlivesItsRecord })
            if slots.isEmpty { continue }
            told.deleted[index].values = before.values(of: deletion.record, slots, deletion.layout)
            told.deleted[index].preserved = slots
        }
        return told
    }

    /// The changes with the data themselves in place of references to external files, as far as a later version still has
    /// them; null for data that were replaced or deleted since.
    package func resolvingExternalValues(in version: EngineVersion) -> ChangeSet {
        var resolved = self
        for index in updated.indices {
            let update = updated[index]
            for slot in update.layout.externalSlots(among: update.values) {
                resolved.updated[index].values[slot] = version.data(
                    of: update.record, slot, update.layout, referredTo: update.values[slot])
            }
        }
        if inserted.values.contains(where: { !$0.layout.externalSlots(among: $0.values).isEmpty }) {
            resolved.inserted = Insertions(
                inserted.values.map { snapshot in
                    let slots = snapshot.layout.externalSlots(among: snapshot.values)
                    var values = snapshot.values
                    for slot in slots {
                        values[slot] = version.data(
                            of: snapshot.persistentIdentifier, slot, snapshot.layout, referredTo: values[slot])
                    }
                    return DefaultSnapshot(
                        persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
                })
        }
        return resolved
    }
}

extension RecordLayout {
    /// The slots whose data are in a file of their own.
    fileprivate func externalSlots(among values: ContiguousArray<StoredValue>) -> [Int] {
        slots.indices.filter { slot in
            guard slot < values.count, slots[slot].property.attribute?.kind == .data else { return false }
            return ExternalReference(storedForm: values[slot]) != nil
        }
    }
}

extension EngineVersion {
    /// The values of some slots of a record, by slot; empty if there is no such record.
    fileprivate func values(
        of record: PersistentIdentifier, _ slots: SlotSet, _ layout: RecordLayout
    ) -> ContiguousArray<StoredValue> {
        guard let table = tables[layout.entityName], let row = table.row(of: record) else { return [] }
        var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
        for slot in slots.slots { values[slot] = (try? table.readValue(row: row, slot: slot)) ?? .null }
        return values
    }

    /// The data that a reference leads to, if the record still has it; otherwise null.
    fileprivate func data(
        of record: PersistentIdentifier, _ slot: Int, _ layout: RecordLayout, referredTo reference: StoredValue
    ) -> StoredValue {
        guard let table = tables[layout.entityName], let row = table.row(of: record),
            table.storedForm(row: row, slot: slot).isIdentical(to: reference)
        else { return .null }
        return (try? table.readValue(row: row, slot: slot)) ?? .null
    }
}

extension RecordLayout.Slot {
    /// Whether those who follow changes need the slot's value once the record is gone.
    fileprivate var outlivesItsRecord: Bool {
        role == .toOne || role == .toManyStored
            || property.attribute?.options.contains(.preserveValueOnDeletion) == true
    }
}
