#if Inspector
import MortiseCore

/// What led from one state of a store to another.
package struct InspectedDifference: Sendable {
    /// What each record went through, as one change.
    package var changes = ChangeSet()
    /// How many transactions that were.
    package var transactions = 0
    /// The number of the last transaction that the store no longer has; 0 if it has all that are needed.
    package var horizon: UInt64 = 0
}

extension InspectedStore {
    /// How many changed records get their values from the states before and after.
    private static let mostWithValues = 500

    /// What led from the state after one transaction to the state after another.
    /// - Parameters:
    ///   - first: the number of the earlier transaction, which is not part of it; 0 for the beginning.
    ///   - last: the number of the later one, which is.
    ///   - entity: only changes of its records, and of those that inherit from it; nil for all.
    ///   - key: only changes of the record of the entity with this key.
    /// - Returns: nil for a store that keeps no history.
    /// - Throws: `UnknownEntity`; what reading throws.
    package func difference(
        from first: UInt64, to last: UInt64, entity: String?, key: String?
    ) throws -> InspectedDifference? {
        try readApart { reading in
            if let entity { try reading.text.check(entity) }
            let store = reading.store.store
            let kinds = entity.map(reading.store.schema.family(of:))
            var found = InspectedDifference()
            var net = NetChanges()
            let isKept = try store.readStoredTransactions(after: first, withValues: true) { transaction in
                guard let number = transaction.commit?.number else { return true }
                if number > last { return false }
                let part =
                    kinds == nil
                    ? transaction
                    : transaction.part { record in
                        kinds?.contains(record.entityName) ?? true && key.map { ValueText.key(record) == $0 } ?? true
                    }
                if let part {
                    net.take(part)
                    found.transactions += 1
                }
                return number < last
            }
            guard isKept else { return nil }
            let horizon = try HistoryReach(store).horizon
            found.horizon = first < horizon ? horizon : 0
            found.changes = reading.filled(net.changes, reading.past(first), reading.past(last), Self.mostWithValues)
            return found
        }
    }
}

extension InspectedStore.Reading {
    /// The changes with the values of the two states, where these are known; without properties that are as they were.
    fileprivate func filled(
        _ changes: ChangeSet, _ before: RecordReader?, _ after: RecordReader?, _ most: Int
    ) -> ChangeSet {
        var changes = changes
        if let before, let after {
            changes.updated = changes.updated.enumerated().compactMap { place, update in
                guard place < most, let layout = store.layouts[update.record.entityName] else { return update }
                let none = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                var filled = ChangeSet.Update(
                    record: update.record, layout: layout, slots: SlotSet(), values: none, oldValues: none)
                for (slot, property) in layout.slots.enumerated() where property.role != .toManyDerived {
                    guard let old = Self.value(of: update.record, property.name, before),
                        let new = Self.value(of: update.record, property.name, after)
                    else { return update }
                    if old.isIdentical(to: new) { continue }
                    filled.slots.insert(slot)
                    (filled.oldValues[slot], filled.values[slot]) = (old, new)
                }
                return filled.slots.slots.isEmpty ? nil : filled
            }
        }
        if let after, changes.inserted.count <= most {
            let snapshots = changes.inserted.records.compactMap { record -> DefaultSnapshot? in
                guard let layout = store.layouts[record.entityName], after.record(record) != nil else { return nil }
                return DefaultSnapshot(
                    persistentIdentifier: record, layout: layout,
                    values: ContiguousArray(layout.slots.map { Self.value(of: record, $0.name, after) ?? .null }))
            }
            if snapshots.count == changes.inserted.count, !snapshots.isEmpty {
                changes.inserted = ChangeSet.Insertions(snapshots)
            }
        }
        return changes
    }
}
#endif
