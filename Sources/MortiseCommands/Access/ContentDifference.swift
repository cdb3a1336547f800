#if Tool
import MortiseCore

extension ChangeSet {
    /// What differs between two states of one store, with the newer values. `older` is what the store held before, with the
    /// schema of that time.
    /// - Throws: what `StoreVersion.check()` of either throws.
    init(from older: StoreState, to newer: StoreState) throws {
        self.init()
        let (before, after) = (older.version, newer.version)
        var new: [DefaultSnapshot] = []
        for entity in newer.schema.entities {
            guard let rows = after.rows(ofEntity: entity.name), let layout = newer.layouts[entity.name] else {
                continue
            }
            let others = before.rows(ofEntity: entity.name)
            let places = layout.slots.map { older.layouts[entity.name]?.slot(named: $0.name) }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let record = rows.identifier(ofRow: row)
                func values() -> ContiguousArray<StoredValue> {
                    ContiguousArray(layout.slots.indices.map { rows.value(row: row, slot: $0) })
                }
                guard let others, let other = others.row(of: record) else {
                    new.append(
                        DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values()))
                    continue
                }
                let changed = layout.slots.indices.filter { slot in
                    guard layout.slots[slot].role != .toManyDerived else { return false }
                    let old = places[slot].map { others.value(row: other, slot: $0) } ?? .null
                    return !rows.value(row: row, slot: slot).isIdentical(to: old)
                }
                if changed.isEmpty { continue }
                updated.append(
                    .init(record: record, layout: layout, slots: SlotSet(changed), values: values()))
            }
        }
        for entity in older.schema.entities {
            guard let rows = before.rows(ofEntity: entity.name), let layout = older.layouts[entity.name] else {
                continue
            }
            let others = after.rows(ofEntity: entity.name)
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let record = rows.identifier(ofRow: row)
                if others?.row(of: record) == nil { deleted.append(.init(record: record, layout: layout)) }
            }
        }
        try before.check()
        try after.check()
        inserted = Insertions(new.sorted { $0.persistentIdentifier < $1.persistentIdentifier })
        deleted.sort { $0.record < $1.record }
    }
}

/// What a store held at one moment; outlives the store that was open then.
struct StoreState {
    let version: any StoreVersion
    let schema: StoredSchema
    let layouts: [String: RecordLayout]

    init(_ store: OpenStore) throws {
        version = try store.version()
        schema = store.schema
        layouts = store.layouts
    }
}
#endif
