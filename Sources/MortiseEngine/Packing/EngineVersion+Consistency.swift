import MortiseCore

extension EngineVersion {
    /// Whether deleted records take up more than a quarter of the rows.
    public var isSparse: Bool {
        let rows = tables.values.reduce(0) { $0 + $1.endRow }
        let live = tables.values.reduce(0) { $0 + $1.count }
        return rows - live > max(4 * Chunk.capacity, rows / 4)
    }

    /// Copies the version into tables whose rows have no gaps; records keep their numbers.
    /// - Parameter isCancelled: called every 4,096 rows; true ends the copy with a `CancellationError`.
    /// - Returns: the copy.
    /// - Throws: the error of what cannot be read.
    public func withoutGaps(isCancelled: () -> Bool = { false }) throws -> EngineVersion {
        let loader = EngineLoader(catalog)
        for plan in catalog.plans {
            guard let table = tables[plan.entityName] else { continue }
            for row in 0..<table.endRow {
                if row & 0xFFF == 0, isCancelled() { throw CancellationError() }
                guard table.contains(row: row) else { continue }
                let values = ContiguousArray(plan.columns.indices.map { table.storedForm(row: row, slot: $0) })
                do {
                    try loader.append(entity: plan.entityName, sequence: table.sequence(ofRow: row), values)
                } catch {
                    throw damage ?? error
                }
            }
        }
        try checkDamage()
        return try loader.finish(number: number, nextSequence: nextSequence)
    }

    /// Compares the counts, indexes and links of the whole version with its rows. Reads everything.
    /// - Returns: a line for each contradiction; empty if the version is consistent.
    public func inconsistencies() -> [String] {
        var found: [String] = []
        for plan in catalog.plans {
            guard let table = tables[plan.entityName] else { continue }
            let live = (0..<table.endRow).count { table.contains(row: $0) }
            if live != table.count {
                found.append("\(plan.entityName): expected \(table.count) records, found \(live)")
            }
            for (number, definition) in plan.indexes.enumerated() {
                let isFaulty = !table.hasSoundIndex(number, definition, live: live)
                if isFaulty {
                    found.append("\(plan.entityName): the index of \(table.names(definition)) does not match its rows")
                }
            }
        }
        found += linkInconsistencies()
        if let duplicate = try? duplicateOfTail() { found.append("\(duplicate)") }
        return found
    }

    /// Compares both sides of all one-to-one relationships. Earlier programs could leave them so when the other side was added.
    /// - Returns: a line for each relationship with records whose partners do not refer back.
    public func contradictingPairs() -> [String] {
        var found: [String] = []
        for (entity, relationships) in catalog.relationships.enumerated() {
            guard let table = tables[catalog.plans[entity].entityName] else { continue }
            for relationship in relationships where !relationship.isToMany {
                guard let inverse = catalog.storedInverse(ofSlot: relationship.slot, entity: entity) else { continue }
                var owners: [PersistentIdentifier] = []
                for row in 0..<table.endRow where table.contains(row: row) {
                    guard let target = table.identifier(row: row, slot: relationship.slot),
                        let other = tables[target.entityName], let place = other.row(of: target),
                        let slot = other.layout.slot(named: inverse)
                    else { continue }
                    let owner = table.identifier(ofRow: row)
                    if other.identifier(row: place, slot: slot) != owner { owners.append(owner) }
                }
                guard let first = owners.first else { continue }
                found.append(
                    "\(first.entityName).\(relationship.name): the partners of \(owners.count) records do not refer back "
                        + "by \(inverse), first that of \(first); set the reference of these records again")
            }
        }
        return found
    }

    private func linkInconsistencies() -> [String] {
        var found: [String] = []
        for (entity, relationships) in catalog.relationships.enumerated() {
            guard let table = tables[catalog.plans[entity].entityName] else { continue }
            for relationship in relationships {
                var links = 0
                var isFaulty = false
                var dangling = 0
                for row in 0..<table.endRow where table.contains(row: row) {
                    let owner = table.sequence(ofRow: row)
                    let values: [PersistentIdentifier] =
                        relationship.isToMany
                        ? table.identifiers(row: row, slot: relationship.slot)
                        : table.identifier(row: row, slot: relationship.slot).map { [$0] } ?? []
                    for value in values {
                        links += 1
                        guard let other = catalog.entity(of: value), let sequence = value.sequenceNumber,
                            let target = tables[catalog.plans[other].entityName],
                            target.row(ofSequence: sequence) != nil
                        else {
                            dangling += 1
                            continue
                        }
                        let hasReverse = target.links[relationship.reverse].pairs.contains(
                            LinkSet.probe(sequence, owner, relationship.ownerAmongTargets))
                        if !hasReverse { isFaulty = true }
                    }
                }
                let reverse = relationship.targets.reduce(0) { sum, target in
                    sum + (tables[catalog.plans[target].entityName]?.links[relationship.reverse].pairs.count ?? 0)
                }
                let name = "\(catalog.plans[entity].entityName).\(relationship.name)"
                if dangling > 0 { found.append("\(name): \(dangling) references to missing records") }
                // Several entities of one family may share a reverse.
                if isFaulty || reverse < links {
                    found.append("\(name): the reverse links do not match")
                }
            }
        }
        return found
    }
}

extension TableVersion {
    fileprivate func names(_ definition: IndexDefinition) -> String {
        definition.slots.map { plan.layout.slots[$0].name }.joined(separator: ", ")
    }

    /// Whether an index has exactly the rows that are there, each under its key, in order.
    fileprivate func hasSoundIndex(_ number: Int, _ definition: IndexDefinition, live: Int) -> Bool {
        let tree = indexes[number]
        guard tree.count == live else { return false }
        let key = KeyBuffer()
        for row in 0..<endRow where contains(row: row) {
            key.setKey(place(ofChunk: row >> Chunk.shift), row & Chunk.mask, definition, dictionaries)
            let isThere = tree.contains(IndexProbe(key.key, row: UInt64(row), isWide: tree.isWide))
            if !isThere { return false }
        }
        return true
    }
}
