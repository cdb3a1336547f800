import MortiseCore

extension EngineVersion {
    /// Looks through the records of a log's tail for one with the unique values of another. Saves that make such are refused, but
    /// nothing is read at opening to compare a tail of another hand with its checkpoint.
    /// - Returns: the error; nil if all are unique.
    /// - Throws: why a region cannot be read.
    func duplicateOfTail() throws -> EngineError? {
        for plan in catalog.plans {
            guard let table = tables[plan.entityName] else { continue }
            for (number, definition) in plan.indexes.enumerated() where !definition.family.isEmpty {
                if let found = duplicate(in: table, number, definition) { return found }
            }
        }
        try checkDamage()
        return nil
    }

    private func duplicate(in table: TableVersion, _ number: Int, _ definition: IndexDefinition) -> EngineError? {
        let index = table.indexes[number]
        guard let overlay = index.overlay else { return nil }
        let relatives = definition.family.compactMap { entity -> (table: TableVersion, index: OrderedIndex)? in
            guard let other = tables[catalog.plans[entity].entityName],
                let place = other === table ? number : other.plan.index(sameAs: definition)
            else { return nil }
            return (other, other.indexes[place])
        }
        let key = KeyBuffer()
        var cursor = IndexCursor(index.added, overlay, from: 0)
        // Records with one key come together, and whether it counts is a matter of the key.
        var lastExempt: IndexProbe?
        while let entry = cursor.next() {
            if let lastExempt, entry.hasSameKey(as: lastExempt) { continue }
            // Null comes first in a key, and may come often.
            if definition.components.first?.isOptional == true, entry.head >> 56 == 0 { continue }
            let row = Int(entry.row)
            if overlay.isKnownToBeExempt(row) { continue }
            for (other, relative) in relatives {
                guard let found = relative.row(sharing: entry, besides: other === table ? entry.row : nil) else {
                    continue
                }
                let chunk = table.cell(ofChunk: row >> Chunk.shift).take()
                let isExempt = withExtendedLifetime(chunk) {
                    key.setKey(chunk.place, row & Chunk.mask, definition, table.dictionaries)
                }
                if isExempt {
                    overlay.noteExempt(row)
                    lastExempt = entry
                    break
                }
                return .notUnique(
                    entity: table.plan.entityName, properties: definition.slots.map { table.layout.slots[$0].name },
                    record: table.identifier(ofRow: row), other: other.identifier(ofRow: Int(found)))
            }
        }
        return nil
    }
}

extension OrderedIndex {
    /// A row with a probe's key; another one than the given.
    fileprivate func row(sharing probe: IndexProbe, besides own: UInt64?) -> UInt64? {
        var found: UInt64?
        let start = IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: 0)
        let end = IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: .max)
        forEachRun(from: start, to: end) { node, run in
            for index in run {
                if node.row(index) == own { continue }
                found = node.row(index)
                return false
            }
            return true
        }
        return found
    }
}
