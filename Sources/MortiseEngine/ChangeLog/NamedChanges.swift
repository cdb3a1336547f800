import MortiseCore

/// The changes of one transaction, under a program's names.
package struct NamedChanges {
    package var inserted: [PersistentIdentifier] = []
    package var updated: [(record: PersistentIdentifier, properties: [String])] = []
    package var deleted: [(record: PersistentIdentifier, preserved: [(name: String, value: StoredValue)])] = []

    package init() {}

    /// The changes of a set, as far as the program's schema knows their entities and properties.
    package init(_ changes: ChangeSet, _ names: CurrentNames) {
        inserted = changes.inserted.records.compactMap(names.record)
        for update in changes.updated {
            guard let record = names.record(update.record) else { continue }
            updated.append((record, update.slots.slots.compactMap { names.name(update.layout, $0) }))
        }
        for deletion in changes.deleted {
            guard let record = names.record(deletion.record) else { continue }
            let slots = deletion.preserved.slots.filter { slot in
                deletion.layout.slots[slot].property.attribute?.options.contains(.preserveValueOnDeletion) == true
            }
            deleted.append(
                (
                    record,
                    slots.compactMap { slot in
                        names.name(deletion.layout, slot).map { (name: $0, value: deletion.values[slot]) }
                    }
                ))
        }
    }

    /// Takes in later changes of the same transaction, under a later schema. Each record stays in one list, once.
    package mutating func take(_ later: NamedChanges) {
        if inserted.isEmpty, updated.isEmpty, deleted.isEmpty { return self = later }
        let created = Set(inserted)
        let gone = Set(later.deleted.map(\.record))
        inserted = inserted.filter { !gone.contains($0) } + later.inserted
        deleted += later.deleted.filter { !created.contains($0.record) }
        var merged = updated.filter { !gone.contains($0.record) }
        let places = Dictionary(merged.indices.map { (merged[$0].record, $0) }, uniquingKeysWith: { first, _ in first })
        for update in later.updated where !created.contains(update.record) {
            if let place = places[update.record] {
                merged[place].properties += update.properties.filter { !merged[place].properties.contains($0) }
            } else {
                merged.append(update)
            }
        }
        updated = merged
    }

    /// The changes in the order of a history: insertions, updates and deletions, each in identity order.
    package func made(_ schema: Schema, transaction: Int64) -> [HistoryChange] {
        var made: [HistoryChange] = []
        made.reserveCapacity(inserted.count + updated.count + deleted.count)
        func append(_ change: HistoryChange?) { if let change { made.append(change) } }
        var next: Int64 { Int64(made.count) + 1 }
        for record in inserted.sorted() {
            append(schema.insertion(of: record, change: next, transaction: transaction))
        }
        for update in updated.sorted(by: { $0.record < $1.record }) {
            append(
                schema.update(
                    of: update.record, properties: update.properties, change: next, transaction: transaction))
        }
        for deletion in deleted.sorted(by: { $0.record < $1.record }) {
            append(
                schema.deletion(
                    of: deletion.record, preserved: deletion.preserved, change: next, transaction: transaction))
        }
        return made
    }
}
