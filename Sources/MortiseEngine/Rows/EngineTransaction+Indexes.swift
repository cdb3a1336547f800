import MortiseCore

extension EngineTransaction {
    /// Takes a row out of its table's indexes, before its values change.
    func unindex(_ table: TableWriter, _ row: Int) {
        if table.plan.indexes.isEmpty { return }
        let place = table.place(row)
        for (number, definition) in table.plan.indexes.enumerated() {
            key.setKey(place, row & Chunk.mask, definition, table.dictionaries)
            table.indexes[number].remove(key.key, row: UInt64(row), owner: table.owner)
        }
    }

    /// Puts a row into its table's indexes.
    /// - Throws: `EngineError.notUnique`.
    func index(_ table: TableWriter, _ entity: Int, _ row: Int) throws {
        if table.plan.indexes.isEmpty { return }
        let place = table.place(row)
        for (number, definition) in table.plan.indexes.enumerated() {
            let isExempt = key.setKey(place, row & Chunk.mask, definition, table.dictionaries)
            let bytes = key.key
            if bulk != nil {
                bulk?.append(bytes, row: UInt64(row), entity: entity, index: number, isExempt: isExempt)
                continue
            }
            if !definition.family.isEmpty, !isExempt {
                try refuseDuplicate(of: bytes, definition, table, number, entity, row)
            }
            table.indexes[number].insert(bytes, row: UInt64(row), owner: table.owner)
        }
    }

    private func refuseDuplicate(
        of bytes: UnsafeRawBufferPointer, _ definition: IndexDefinition, _ table: TableWriter, _ number: Int,
        _ entity: Int, _ row: Int
    ) throws {
        for relative in definition.family {
            let other = self.table(relative)
            guard let place = relative == entity ? number : other.plan.index(sameAs: definition),
                let found = other.indexes[place].firstRow(bytes), relative != entity || found != UInt64(row)
            else { continue }
            throw notUnique(definition, row, in: table, as: Int(found), in: other)
        }
    }

    private func notUnique(
        _ definition: IndexDefinition, _ row: Int, in table: TableWriter, as found: Int, in other: TableWriter
    ) -> EngineError {
        .notUnique(
            entity: table.plan.entityName, properties: definition.slots.map { table.plan.layout.slots[$0].name },
            record: catalog.identifier(table.sequence(row), table.plan.number),
            other: catalog.identifier(other.sequence(found), other.plan.number))
    }

    /// Checks sorted entries that are about to go into a unique index, against each other and against what is there.
    /// - Throws: `EngineError.notUnique`.
    func refuseDuplicates(in entries: SortedEntries, _ number: Int, _ table: TableWriter) throws {
        let definition = table.plan.indexes[number]
        if definition.family.isEmpty { return }
        try entries.forEachDuplicate { first, second in
            throw notUnique(definition, Int(second), in: table, as: Int(first), in: table)
        }
        for relative in definition.family {
            let other = self.table(relative)
            guard let place = other === table ? number : other.plan.index(sameAs: definition),
                !other.indexes[place].isEmpty
            else { continue }
            let index = other.indexes[place]
            try entries.forEach { probe, isExempt in
                if !isExempt, let found = index.firstRow(probe) {
                    throw notUnique(definition, Int(probe.row), in: table, as: Int(found), in: other)
                }
            }
        }
    }
}
