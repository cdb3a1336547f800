import MortiseCore

extension EngineVersion {
    /// The records under another schema, as a lightweight stage brings them there. Numbers and the order of insertion stay.
    /// - Parameters:
    ///   - schema: the schema to come to.
    ///   - writesExternal: whether later changes may write files.
    ///   - completesPairs: whether both sides of one-to-one relationships that are new get values.
    ///   - advance: is told how many records come next; what it throws ends the mapping.
    /// - Returns: the version, with the number of this one, and what the schema does not take.
    /// - Throws: `EngineError.schemaMismatch`, `.notUnique`, `.sameDefault`; why a record cannot be read.
    func mapped(
        to schema: StoredSchema, writingExternal writesExternal: Bool, completingPairs completesPairs: Bool,
        _ advance: (_ records: Int) throws -> Void = { _ in }
    ) throws -> (version: EngineVersion, loss: SchemaLoss, hasPairs: Bool) {
        let mapping = try SchemaMapping(from: catalog.schema, to: schema, store: catalog.storeIdentifier)
        let target = Catalog(
            schema: schema, storeIdentifier: catalog.storeIdentifier, external: catalog.external,
            writesExternal: writesExternal)
        let loader = EngineLoader(target)
        var released = ReleasedLinks(mapping)
        var pairs = PairedLinks(mapping)
        var tally = SchemaTally()
        for entity in catalog.schema.entities.map(\.name) {
            guard let table = tables[entity] else { continue }
            let slots = table.layout.slots
            var left = table.count
            for (place, row) in (0..<table.endRow).lazy.filter(table.contains(row:)).enumerated() {
                if place % 1_024 == 0 {
                    try advance(min(1_024, left))
                    left -= min(1_024, left)
                }
                let values = ContiguousArray(
                    slots.indices.map { slot in
                        slots[slot].role == .toManyDerived ? .null : table.storedForm(row: row, slot: slot)
                    })
                mapping.count(values, ofEntity: entity, in: &tally)
                let current = mapping.currentName(ofEntity: entity)
                guard let layout = target.layouts[current],
                    let mapped = mapping.map(values, ofEntity: entity, defaults: layout)
                else { continue }
                let record = table.identifier(ofRow: row)
                released.note(values, of: record)
                if completesPairs { pairs.note(mapped, of: record) }
                try loader.append(entity: current, sequence: table.sequence(ofRow: row), mapped)
            }
        }
        // What could not be read looks like nothing.
        try check()
        try loader.take(released)
        if completesPairs { try loader.complete(pairs) }
        let loss = try mapping.loss(tally)
        let version = try mapping.completing { try loader.finish(number: number, nextSequence: nextSequence) }
        return (version, loss, !mapping.pairs.isEmpty)
    }

    /// The same records under another number.
    func numbered(_ number: UInt64, nextSequence: UInt64) -> EngineVersion {
        EngineVersion(
            number: number, nextSequence: nextSequence, tables: tables, catalog: catalog, packed: packed)
    }
}
