import MortiseCore

extension CurrentNames {
    /// The changes under the entities and properties that the program has now. What it has no more is left out; references to records
    /// of entities that it has no more are null.
    package func translated(_ changes: ChangeSet, to schema: StoredSchema) -> ChangeSet {
        if isIdentity { return changes }
        let layouts = schema.recordLayouts()
        var found = changes
        if changes.inserted.hasValues {
            found.inserted = ChangeSet.Insertions(
                changes.inserted.values.compactMap { snapshot in
                    guard let (record, layout) = place(of: snapshot.persistentIdentifier, layouts) else { return nil }
                    let slots = slots(snapshot.layout, layout)
                    return DefaultSnapshot(
                        persistentIdentifier: record, layout: layout, values: values(snapshot.values, slots, layout))
                })
        } else {
            found.inserted = ChangeSet.Insertions(records: changes.inserted.records.compactMap(record))
        }
        found.updated = changes.updated.compactMap { update in
            guard let (record, layout) = place(of: update.record, layouts) else { return nil }
            let slots = slots(update.layout, layout)
            return ChangeSet.Update(
                record: record, layout: layout, slots: moved(update.slots, slots),
                values: values(update.values, slots, layout), oldValues: values(update.oldValues, slots, layout))
        }
        found.deleted = changes.deleted.compactMap { deletion in
            guard let (record, layout) = place(of: deletion.record, layouts) else { return nil }
            let slots = slots(deletion.layout, layout)
            return ChangeSet.Deletion(
                record: record, layout: layout, values: values(deletion.values, slots, layout),
                preserved: moved(deletion.preserved, slots))
        }
        return found
    }

    private func place(
        of identifier: PersistentIdentifier, _ layouts: [String: RecordLayout]
    ) -> (record: PersistentIdentifier, layout: RecordLayout)? {
        guard let record = record(identifier), let layout = layouts[record.entityName] else { return nil }
        return (record, layout)
    }

    /// By slot of the earlier layout, that of the program's.
    private func slots(_ earlier: RecordLayout, _ current: RecordLayout) -> [Int?] {
        earlier.slots.indices.map { name(earlier, $0).flatMap { current.slot(named: $0) } }
    }

    private func moved(_ slots: SlotSet, _ places: [Int?]) -> SlotSet {
        SlotSet(slots.slots.compactMap { places.indices.contains($0) ? places[$0] : nil })
    }

    private func values(
        _ values: ContiguousArray<StoredValue>, _ slots: [Int?], _ layout: RecordLayout
    ) -> ContiguousArray<StoredValue> {
        if values.isEmpty { return [] }
        var found = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
        for (slot, value) in zip(slots, values) {
            guard let slot else { continue }
            switch value {
            case .identifier(let target): found[slot] = record(target).map { .identifier($0) } ?? .null
            case .identifiers(let targets): found[slot] = .identifiers(targets.compactMap(record))
            default: found[slot] = value
            }
        }
        return found
    }
}

extension ChangeSet {
    /// Takes in later changes of the same transaction.
    package mutating func append(_ later: ChangeSet) {
        if inserted.isEmpty {
            inserted = later.inserted
        } else if inserted.hasValues, later.inserted.hasValues {
            inserted = Insertions(Array(inserted.values) + Array(later.inserted.values))
        } else if !later.inserted.isEmpty {
            inserted = Insertions(records: inserted.records + later.inserted.records)
        }
        updated += later.updated
        deleted += later.deleted
        isErasure = isErasure || later.isErasure
        isIncomplete = isIncomplete || later.isIncomplete
    }
}
