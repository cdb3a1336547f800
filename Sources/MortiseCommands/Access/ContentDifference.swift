import MortiseCore

/// What happened to a store between two looks at it, by the identifiers of its records.
struct ContentDifference {
    private(set) var inserted: [PersistentIdentifier] = []
    private(set) var updated: [StoredTransaction.Update] = []
    private(set) var deleted: [PersistentIdentifier] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Finds what differs between two states of one store. `older` is what the store held before, with the schema of
    /// that time.
    /// - Throws: what `StoreVersion.check()` of either throws.
    init(_ older: StoreState, _ newer: StoreState) throws {
        let (before, after) = (older.version, newer.version)
        for entity in newer.schema.entities {
            guard let rows = after.rows(ofEntity: entity.name) else { continue }
            let others = before.rows(ofEntity: entity.name)
            let slots = newer.layouts[entity.name]?.slots ?? []
            let places = slots.map { older.layouts[entity.name]?.slot(named: $0.name) }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let record = rows.identifier(ofRow: row)
                guard let others, let other = others.row(of: record) else {
                    inserted.append(record)
                    continue
                }
                let changed = slots.indices.filter { slot in
                    guard slots[slot].role != .toManyDerived else { return false }
                    let old = places[slot].map { others.value(row: other, slot: $0) } ?? .null
                    return !rows.value(row: row, slot: slot).isIdentical(to: old)
                }
                if !changed.isEmpty {
                    updated.append(.init(record: record, properties: changed.map { slots[$0].name }))
                }
            }
        }
        for entity in older.schema.entities {
            guard let rows = before.rows(ofEntity: entity.name) else { continue }
            let others = after.rows(ofEntity: entity.name)
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let record = rows.identifier(ofRow: row)
                if others?.row(of: record) == nil { deleted.append(record) }
            }
        }
        try before.check()
        try after.check()
        inserted.sort()
        deleted.sort()
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
