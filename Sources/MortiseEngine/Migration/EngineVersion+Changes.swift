import MortiseCore

extension EngineVersion {
    /// What has changed in a later version under the same schema, without values: net changes, however many transactions led there.
    ///
    /// Compares the records alone, and lets go of what it reads for that. Neither version is written to: a version has one that
    /// follows it at most, because both share what they are made of.
    /// - Parameter later: a version that transactions have led to from this one, or from one with the same tables.
    /// - Returns: the changes.
    /// - Throws: why a record of one of them cannot be read.
    func netChanges(to later: EngineVersion) throws -> ChangeSet {
        var changes = ChangeSet()
        var inserted: [PersistentIdentifier] = []
        do {
            for name in catalog.schema.entities.map(\.name) {
                let (old, new) = (tables[name], later.tables[name])
                if old === new { continue }
                if let old { try old.noteDeletions(of: new, in: &changes) }
                try new?.noteChanges(since: old, in: &changes, &inserted)
            }
        } catch let fault as PackedFault {
            throw packed?.explained(fault) ?? fault
        }
        try check()
        try later.check()
        changes.inserted = .init(records: inserted.sorted())
        return changes
    }
}

extension TableVersion {
    /// The rows of a chunk as a table; nil behind the last one.
    private func chunkPart(_ index: Int) throws -> TableVersion? {
        let first = index << Chunk.shift
        guard first < endRow else { return nil }
        let cell = groups[index >> ChunkGroup.shift].cells[index & ChunkGroup.mask]
        let rows = min(Chunk.capacity, endRow - first)
        return TableVersion(
            plan: plan, groups: [ChunkGroup([.chunk(try cell.read())])], endRow: rows, count: rows,
            dictionaries: dictionaries, links: links, indexes: [], verified: verifiedLayout)
    }

    private var chunkCount: Int { (endRow + Chunk.mask) >> Chunk.shift }

    /// Whether a chunk has the same rows in both tables as far as its cells tell.
    private func hasSameChunk(_ index: Int, as other: TableVersion) -> Bool {
        guard index < chunkCount, index < other.chunkCount,
            min(Chunk.capacity, endRow - index << Chunk.shift)
                == min(Chunk.capacity, other.endRow - index << Chunk.shift)
        else { return false }
        let (group, place) = (index >> ChunkGroup.shift, index & ChunkGroup.mask)
        switch (groups[group].cells[place], other.groups[group].cells[place]) {
        // What was written to is a chunk.
        case (.mapped, .mapped), (.packed, .packed): return true
        case (let one, let two): return one.identity == two.identity
        }
    }

    fileprivate func noteDeletions(of later: TableVersion?, in changes: inout ChangeSet) throws {
        for index in 0..<chunkCount {
            if let later, hasSameChunk(index, as: later) { continue }
            guard let part = try chunkPart(index) else { continue }
            let other = try later?.chunkPart(index)
            for row in 0..<part.endRow where part.contains(row: row) {
                let sequence = part.sequence(ofRow: row)
                if let other, other.contains(row: row), other.sequence(ofRow: row) == sequence { continue }
                let record = part.identifier(ofRow: row)
                if later?.row(of: record) == nil { changes.deleted.append(.init(record: record, layout: layout)) }
            }
        }
    }

    /// Links are not in chunks: a table that has some is compared by them as well.
    fileprivate func noteChanges(
        since older: TableVersion?, in changes: inout ChangeSet, _ inserted: inout [PersistentIdentifier]
    ) throws {
        let slots = layout.slots.indices.filter { layout.slots[$0].role != .toManyDerived }
        let linked = slots.filter { layout.slots[$0].role.isToMany }
        for index in 0..<chunkCount {
            let isSame = older.map { hasSameChunk(index, as: $0) } ?? false
            if isSame, linked.isEmpty { continue }
            guard let part = try chunkPart(index) else { continue }
            let other = try older?.chunkPart(index)
            for row in 0..<part.endRow where part.contains(row: row) {
                let sequence = part.sequence(ofRow: row)
                let record = part.identifier(ofRow: row)
                var found: (table: TableVersion, row: Int)?
                if let other, other.contains(row: row), other.sequence(ofRow: row) == sequence {
                    found = (other, row)
                } else if let older, let place = older.row(of: record) {
                    found = (older, place)
                }
                guard let found else {
                    inserted.append(record)
                    continue
                }
                let differing = (isSame ? linked : slots).filter { slot in
                    !part.storedForm(row: row, slot: slot)
                        .isIdentical(to: found.table.storedForm(row: found.row, slot: slot))
                }
                if differing.isEmpty { continue }
                changes.updated.append(
                    .init(record: record, layout: found.table.layout, slots: SlotSet(differing)))
            }
        }
    }
}
