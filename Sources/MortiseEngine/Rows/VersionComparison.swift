import MortiseCore

extension EngineVersion {
    /// The version after this one that has the records of another, which were read from elsewhere under the same schema. Those
    /// that both have keep their rows, so that models of them stay models of them.
    /// - Parameters:
    ///   - content: the records, under the identifiers that they have here.
    ///   - commit: how the change came about; its number is set.
    ///   - namesChanges: whether anyone wants to know which records differ.
    ///   - tellsValues: whether their values are wanted too.
    /// - Returns: the version and what has changed; nil if nothing differs.
    /// - Throws: `EngineError.unfitValue` for a new record whose number is lower than that of another one that is or was there;
    ///   why a record cannot be read.
    package func next(
        withContentOf content: EngineVersion, commit: ChangeSet.Commit, namesChanges: Bool, tellsValues: Bool
    ) throws -> FollowedVersion? {
        let replay = EngineReplay(self)
        var changes = ChangeSet()
        changes.commit = commit
        changes.commit?.number = number + 1
        var isChanged = false
        var inserted: [(table: TableVersion, row: Int)] = []
        let entities = catalog.schema.entities.map(\.name)
        for (entity, name) in entities.enumerated() {
            guard let old = tables[name] else { continue }
            let new = content.tables[name]
            for row in 0..<old.endRow where old.contains(row: row) {
                let record = old.identifier(ofRow: row)
                if new?.row(of: record) != nil { continue }
                isChanged = true
                try replay.delete(entity: entity, sequence: old.sequence(ofRow: row))
                if namesChanges { changes.deleted.append(.init(record: record, layout: old.layout)) }
            }
        }
        for (entity, name) in entities.enumerated() {
            guard let new = content.tables[name] else { continue }
            let old = tables[name]
            let slots = new.layout.slots.indices.filter { new.layout.slots[$0].role != .toManyDerived }
            for row in 0..<new.endRow where new.contains(row: row) {
                let record = new.identifier(ofRow: row)
                guard let old, let place = old.row(of: record) else {
                    inserted.append((new, row))
                    continue
                }
                let differing = slots.filter { slot in
                    !new.storedForm(row: row, slot: slot).isIdentical(to: old.storedForm(row: place, slot: slot))
                }
                if differing.isEmpty { continue }
                isChanged = true
                try replay.update(
                    entity: entity, sequence: new.sequence(ofRow: row),
                    differing.map { ($0, new.storedForm(row: row, slot: $0)) })
                if namesChanges {
                    changes.updated.append(.init(record: record, layout: old.layout, slots: SlotSet(differing)))
                }
            }
        }
        for (table, row) in inserted {
            guard let entity = entities.firstIndex(of: table.layout.entityName) else { continue }
            isChanged = true
            let values = table.layout.slots.indices.map { slot in
                table.layout.slots[slot].role == .toManyDerived ? .null : table.storedForm(row: row, slot: slot)
            }
            try replay.insert(
                entity: entity, sequence: table.sequence(ofRow: row), ContiguousArray(values))
        }
        try check()
        try content.check()
        guard isChanged else { return nil }
        try replay.endTransaction()
        let next = try replay.finish(
            number: number + 1, nextSequence: max(nextSequence, content.nextSequence))
        guard namesChanges else { return FollowedVersion(next) }
        let records = inserted.map { $0.table.identifier(ofRow: $0.row) }.sorted()
        changes.inserted =
            tellsValues ? .init(try records.compactMap { try next.storedValues(of: $0) }) : .init(records: records)
        return FollowedVersion(next, changes: [tellsValues ? changes.withValues(from: self, to: next) : changes])
    }
}

extension EngineVersion {
    /// The values that are stored in a record.
    fileprivate func storedValues(of record: PersistentIdentifier) throws -> DefaultSnapshot? {
        guard let table = tables[record.entityName], let row = table.row(of: record) else { return nil }
        let values = try table.layout.slots.indices.map { slot in
            table.layout.slots[slot].role == .toManyDerived ? .null : try table.readValue(row: row, slot: slot)
        }
        return DefaultSnapshot(
            persistentIdentifier: record, layout: table.layout, values: ContiguousArray(values))
    }
}
