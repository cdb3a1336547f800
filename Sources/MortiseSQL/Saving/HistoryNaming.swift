import Foundation
import MortiseCore

/// Gives the numbers in a history their names, as the schema of an open store has them.
package struct HistoryNaming {
    private let mapping: TableMapping
    private let identifier: String

    /// - Parameters:
    ///   - mapping: the schema of the store.
    ///   - identifier: the identifier of the store.
    package init(_ mapping: TableMapping, store identifier: String) {
        self.mapping = mapping
        self.identifier = identifier
    }

    private func record(_ number: Int64, _ entity: Int) -> PersistentIdentifier? {
        mapping.byNumber[entity].map {
            .numbered(UInt64(clamping: number), storeIdentifier: identifier, entityName: $0.name)
        }
    }

    /// The slots of properties that an entity has now.
    private func slots(_ properties: [Int], of entity: TableMapping.Entity) -> [Int] {
        properties.compactMap { number in entity.slots.firstIndex { $0.number == number } }
    }

    /// The changes of a transaction as everybody who follows gets them. What the schema lacks is left out.
    /// With owners, it names records of which only derived lists have changed.
    package func changeSet(
        of history: HistoryChanges, _ number: Int64, at date: Date, author: String?, process: String, bundle: String,
        mark: UInt64? = nil, withOwners: Bool
    ) -> ChangeSet {
        var changes = ChangeSet(author: author)
        changes.isErasure = history.isErasure
        changes.commit = ChangeSet.Commit(
            number: UInt64(clamping: number), timestamp: date, process: process, bundle: bundle, mark: mark)
        var inserted: [PersistentIdentifier] = []
        for run in history.inserted {
            for place in 0..<run.count {
                if let record = record(run.first + place, run.entity) { inserted.append(record) }
            }
        }
        changes.inserted = ChangeSet.Insertions(records: inserted)
        for update in history.updated + (withOwners ? history.owners : []) {
            guard let entity = mapping.byNumber[update.entity], let record = record(update.number, update.entity) else {
                continue
            }
            changes.updated.append(
                ChangeSet.Update(
                    record: record, layout: entity.layout, slots: SlotSet(slots(update.properties, of: entity))))
        }
        if withOwners { changes.mergeUpdates() }
        for deletion in history.deleted {
            guard let entity = mapping.byNumber[deletion.entity], let record = record(deletion.number, deletion.entity)
            else { continue }
            var values = ContiguousArray(repeating: StoredValue.null, count: entity.slots.count)
            var preserved = SlotSet()
            for (place, value) in self.preserved(deletion, entity) {
                values[place] = value
                preserved.insert(place)
            }
            changes.deleted.append(
                ChangeSet.Deletion(
                    record: record, layout: entity.layout, values: preserved.isEmpty ? [] : values, preserved: preserved
                ))
        }
        return changes
    }

    private func preserved(
        _ deletion: HistoryChanges.Deletion, _ entity: TableMapping.Entity
    ) -> [(place: Int, value: StoredValue)] {
        deletion.preserved.compactMap { property, text in
            guard let place = entity.slots.firstIndex(where: { $0.number == property }),
                let kind = entity.slots[place].slot.property.attribute?.kind,
                let value = StoredValue(text: text, as: kind)
            else { return nil }
            return (place, value)
        }
    }
}
