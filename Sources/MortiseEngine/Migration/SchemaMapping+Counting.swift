import MortiseCore

extension SchemaMapping {
    /// Counts what the new schema does not take of a table of the old one. Reads nothing but the columns that it lacks, or that may lack
    /// what it needs; no chunk is kept in memory for that.
    /// - Throws: why a record cannot be read.
    func count(_ table: TableVersion, in tally: inout SchemaTally) throws {
        if table.count == 0 { return }
        let name = currentName(ofEntity: table.plan.entityName)
        guard let entity = entities[name] else {
            tally.records[table.plan.entityName, default: 0] += table.count
            return
        }
        var needed: [(slot: Int, origin: Int)] = []
        for (slot, origin) in entity.demanding {
            if let origin {
                needed.append((slot, origin))
            } else {
                tally.missing[name, default: [:]][slot, default: 0] += table.count
            }
        }
        let columns = table.plan.columns
        var dropped: [Int] = []
        for slot in entity.dropped {
            if columns[slot].role.isToMany {
                let owners = table.links[slot].ownerCount
                if owners > 0 { tally.values[name, default: [:]][slot, default: 0] += owners }
            } else {
                dropped.append(slot)
            }
        }
        if dropped.isEmpty, needed.isEmpty { return }
        try table.forEachChunk { _, rows, place in
            for slot in dropped {
                let count = place.count(rows, slot) { offset, entry in
                    if place.isAbsent(entry, offset) { return false }
                    guard let value = columns[slot].defaultValue else { return true }
                    return place.value(columns[slot], offset, table.dictionaries[slot], table.plan.targets[slot])
                        != value
                }
                if count > 0 { tally.values[name, default: [:]][slot, default: 0] += count }
            }
            for (slot, origin) in needed {
                let count = place.count(rows, origin) { place.isAbsent($1, $0) }
                if count > 0 { tally.missing[name, default: [:]][slot, default: 0] += count }
            }
        }
    }
}

extension ChunkPlace {
    /// How many of the first rows are there and meet a condition on a column.
    fileprivate func count(_ rows: Int, _ slot: Int, where isMet: (Int, Entry) -> Bool) -> Int {
        let entry = entry(slot)
        // What was erased has no values.
        if entry.form == .none { return 0 }
        return (0..<rows).count { !isDead($0) && isMet($0, entry) }
    }
}

extension LinkSet {
    /// How many records have members.
    fileprivate var ownerCount: Int {
        var count = 0
        var last: UInt64?
        pairs.forEachRun(from: nil, to: nil) { node, run in
            for index in run where node.head(index) != last {
                last = node.head(index)
                count += 1
            }
            return true
        }
        return count
    }
}
