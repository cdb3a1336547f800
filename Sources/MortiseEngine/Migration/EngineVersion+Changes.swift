import MortiseCore

extension EngineVersion {
    /// What has changed in a later version under the same schema: net changes, however many transactions led there.
    ///
    /// Compares the records alone, and lets go of what it reads for that. Neither version is written to: a version has one that
    /// follows it at most, because both share what they are made of.
    /// - Parameters:
    ///   - later: a version that transactions have led to from this one, or from one with the same tables.
    ///   - isUnchanged: whether it is known to have the same records.
    ///   - number: the number that the later version gets; nil for its own.
    ///   - commit: how they are committed.
    ///   - author: who makes them.
    /// - Returns: the changes.
    /// - Throws: why a record of one of them cannot be read.
    func netChanges(
        to later: EngineVersion, isUnchanged: Bool = false, asNumber number: UInt64? = nil,
        _ commit: ChangeSet.Commit? = nil, author: String? = nil
    ) throws -> NetChanges {
        try NetChanges(
            from: self, to: number.map { later.numbered($0, nextSequence: later.nextSequence) } ?? later,
            isUnchanged: isUnchanged, commit, author: author)
    }
}

/// How the records of one version differ from those of a later one under the same schema.
///
/// The changes themselves are not kept: they are found anew each time, chunk by chunk, so that any number of them takes no memory.
public struct NetChanges {
    /// The records before.
    public let before: EngineVersion
    /// The records after.
    public let after: EngineVersion
    /// How the changes are committed.
    package let commit: ChangeSet.Commit?
    /// Who makes them.
    package let author: String?
    /// By entity, how many records are deleted, changed and new.
    private(set) var counts: [String: (deleted: Int, updated: Int, inserted: Int)] = [:]

    fileprivate init(
        from before: EngineVersion, to after: EngineVersion, isUnchanged: Bool, _ commit: ChangeSet.Commit?,
        author: String?
    ) throws {
        (self.before, self.after, self.commit, self.author) = (before, after, commit, author)
        if isUnchanged { return }
        for name in before.catalog.schema.entities.map(\.name) where before.tables[name] !== after.tables[name] {
            var count = (deleted: 0, updated: 0, inserted: 0)
            try forEachDeletion(of: name) { _, _ in count.deleted += 1 }
            try forEachChange(
                of: name, updated: { _, _, _ in count.updated += 1 }, inserted: { _, _ in count.inserted += 1 })
            if count != (0, 0, 0) { counts[name] = count }
        }
    }

    /// Whether nothing changes.
    package var isEmpty: Bool { counts.isEmpty }

    /// How many records of exactly that entity are deleted.
    package func deletions(of entity: String) -> Int { counts[entity]?.deleted ?? 0 }
    /// How many records of exactly that entity have other values.
    package func updates(of entity: String) -> Int { counts[entity]?.updated ?? 0 }
    /// How many records of exactly that entity are new.
    package func insertions(of entity: String) -> Int { counts[entity]?.inserted ?? 0 }

    /// Calls the body with each record of exactly that entity that is deleted: the rows of a part of the table before, and the row there.
    /// - Throws: why a record cannot be read; what the body throws.
    package func forEachDeletion(
        of entity: String, _ body: (_ rows: TableVersion, _ row: Int) throws -> Void
    ) throws {
        try reading { try before.tables[entity]?.forEachDeletion(of: after.tables[entity], body) }
    }

    /// Calls the body with each record of exactly that entity that has other values: the rows of a part of the table after, the row
    /// there, and the slots.
    /// - Throws: as `forEachDeletion(of:_:)`.
    package func forEachUpdate(
        of entity: String, _ body: (_ rows: TableVersion, _ row: Int, _ slots: SlotSet) throws -> Void
    ) throws {
        try forEachChange(of: entity, updated: body, inserted: { _, _ in })
    }

    /// Calls the body with each record of exactly that entity that is new: the rows of a part of the table after, and the row there.
    /// - Throws: as `forEachDeletion(of:_:)`.
    package func forEachInsertion(
        of entity: String, _ body: (_ rows: TableVersion, _ row: Int) throws -> Void
    ) throws {
        try forEachChange(of: entity, updated: { _, _, _ in }, inserted: body)
    }

    private func forEachChange(
        of entity: String, updated: (TableVersion, Int, SlotSet) throws -> Void,
        inserted: (TableVersion, Int) throws -> Void
    ) throws {
        try reading {
            try after.tables[entity]?.forEachChange(since: before.tables[entity], updated: updated, inserted: inserted)
        }
    }

    private func reading(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let fault as PackedFault {
            throw before.packed?.explained(fault) ?? after.packed?.explained(fault) ?? fault
        }
        try before.check()
        try after.check()
    }

    /// The changes without values, all at once.
    /// - Throws: why a record cannot be read.
    package func changeSet() throws -> ChangeSet {
        var changes = ChangeSet()
        changes.author = author
        changes.commit = commit
        var new: [PersistentIdentifier] = []
        for name in before.catalog.schema.entities.map(\.name) where counts[name] != nil {
            if let layout = before.tables[name]?.layout {
                try forEachDeletion(of: name) { rows, row in
                    changes.deleted.append(.init(record: rows.identifier(ofRow: row), layout: layout))
                }
            }
            try forEachChange(
                of: name,
                updated: { rows, row, slots in
                    changes.updated.append(
                        .init(
                            record: rows.identifier(ofRow: row),
                            layout: before.tables[name]?.layout ?? rows.layout, slots: slots))
                }, inserted: { new.append($0.identifier(ofRow: $1)) })
        }
        changes.inserted = .init(records: new.sorted())
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

    var chunkCount: Int { (endRow + Chunk.mask) >> Chunk.shift }

    /// Whether a chunk has the same rows in both tables as far as its cells tell.
    private func hasSameChunk(_ index: Int, as other: TableVersion) -> Bool {
        guard index < chunkCount, index < other.chunkCount,
            min(Chunk.capacity, endRow - index << Chunk.shift)
                == min(Chunk.capacity, other.endRow - index << Chunk.shift)
        else { return false }
        let (group, place) = (index >> ChunkGroup.shift, index & ChunkGroup.mask)
        switch (groups[group].cells[place], other.groups[group].cells[place]) {
        // What was written to is a chunk, and is packed by itself later.
        case (.mapped, .mapped): return true
        case (.packed(let one), .packed(let two)): return one.isSame(as: two)
        case (.overlaid(let one), .overlaid(let two)): return one.isSame(as: two)
        case (let one, let two): return one.identity == two.identity
        }
    }

    fileprivate func forEachDeletion(
        of later: TableVersion?, _ body: (TableVersion, Int) throws -> Void
    ) throws {
        for index in 0..<chunkCount {
            if let later, hasSameChunk(index, as: later) { continue }
            guard let part = try chunkPart(index) else { continue }
            let other = try later?.chunkPart(index)
            for row in 0..<part.endRow where part.contains(row: row) {
                let sequence = part.sequence(ofRow: row)
                if let other, row < other.endRow, other.sequence(ofRow: row) == sequence {
                    // Looking for the record would keep the chunk in memory.
                    if !other.contains(row: row) { try body(part, row) }
                    continue
                }
                if later?.row(of: part.identifier(ofRow: row)) == nil { try body(part, row) }
            }
        }
    }

    /// Links are not in chunks: a table that has some is compared by them as well.
    fileprivate func forEachChange(
        since older: TableVersion?, updated: (TableVersion, Int, SlotSet) throws -> Void,
        inserted: (TableVersion, Int) throws -> Void
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
                    try inserted(part, row)
                    continue
                }
                let differing = (isSame ? linked : slots).filter { slot in
                    !part.storedForm(row: row, slot: slot)
                        .isIdentical(to: found.table.storedForm(row: found.row, slot: slot))
                }
                if !differing.isEmpty { try updated(part, row, SlotSet(differing)) }
            }
        }
    }
}
