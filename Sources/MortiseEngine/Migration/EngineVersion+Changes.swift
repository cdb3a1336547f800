import MortiseCore

extension EngineVersion {
    /// What has changed in a later version under the same schema, without values: net changes, however many transactions led there.
    ///
    /// Compares the records alone. Neither version is written to: a version has one that follows it at most, because both share what
    /// they are made of.
    /// - Throws: why a record of one of them cannot be read.
    func netChanges(to later: EngineVersion) throws -> ChangeSet {
        var changes = ChangeSet()
        var inserted: [PersistentIdentifier] = []
        for name in catalog.schema.entities.map(\.name) {
            let (old, new) = (tables[name], later.tables[name])
            if old === new { continue }
            if let old {
                for row in 0..<old.endRow where old.contains(row: row) {
                    let record = old.identifier(ofRow: row)
                    if new?.row(of: record) == nil {
                        changes.deleted.append(.init(record: record, layout: old.layout))
                    }
                }
            }
            guard let new else { continue }
            let slots = new.layout.slots.indices.filter { new.layout.slots[$0].role != .toManyDerived }
            for row in 0..<new.endRow where new.contains(row: row) {
                let record = new.identifier(ofRow: row)
                guard let old, let place = old.row(of: record) else {
                    inserted.append(record)
                    continue
                }
                let differing = slots.filter { slot in
                    !new.storedForm(row: row, slot: slot).isIdentical(to: old.storedForm(row: place, slot: slot))
                }
                if differing.isEmpty { continue }
                changes.updated.append(.init(record: record, layout: old.layout, slots: SlotSet(differing)))
            }
        }
        try check()
        try later.check()
        changes.inserted = .init(records: inserted.sorted())
        return changes
    }
}
