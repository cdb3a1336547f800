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
            let hasNull = key.setKey(place, row & Chunk.mask, definition, table.dictionaries)
            let bytes = key.key
            if !definition.family.isEmpty {
                if !hasNull { try refuseDuplicate(of: bytes, definition, table, number, entity, row) }
            } else if bulk != nil {
                bulk?.append(bytes, row: UInt64(row), entity: entity, index: number)
                continue
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
            throw EngineError.notUnique(
                entity: table.plan.entityName, properties: definition.slots.map { table.plan.layout.slots[$0].name },
                record: catalog.identifier(table.sequence(row), entity),
                other: catalog.identifier(other.sequence(Int(found)), relative))
        }
    }
}
