public import MortiseCore

extension EngineVersion {
    /// The records of a version under another schema.
    public struct Mapped {
        /// The records, with the number of the version that they come from.
        public let version: EngineVersion
        /// What the schema does not take.
        public let loss: SchemaLoss
        /// Whether one-to-one relationships are new.
        public let hasPairs: Bool
        /// The slots that were completed because of that, by record.
        public let completed: [ChangeSet.Update]
    }

    /// The records under another schema, as a lightweight stage brings them there. Numbers and the order of insertion stay.
    ///
    /// Where no record has to be made anew, its chunks are those of this version, each brought to the schema when it is first touched.
    /// - Parameters:
    ///   - schema: the schema to come to.
    ///   - writesExternal: whether later changes may write files.
    ///   - completesPairs: whether both sides of one-to-one relationships that are new get values.
    ///   - advance: is told how many records come next; what it throws ends the mapping.
    /// - Returns: the version, and what the schema does not take.
    /// - Throws: `EngineError.schemaMismatch`, `.notUnique`, `.sameDefault`; why a record cannot be read.
    package func mapped(
        to schema: StoredSchema, writingExternal writesExternal: Bool = true, completingPairs completesPairs: Bool,
        _ advance: (_ records: Int) throws -> Void = { _ in }
    ) throws -> Mapped {
        try mapped(
            to: schema, writingExternal: writesExternal, completingPairs: completesPairs, spillingTo: nil, advance)
    }

    /// As `mapped(to:writingExternal:completingPairs:_:)`; chunks that are made anew go to the file of a spill, if there is one.
    func mapped(
        to schema: StoredSchema, writingExternal writesExternal: Bool, completingPairs completesPairs: Bool,
        spillingTo spill: ChunkSpill?, _ advance: (_ records: Int) throws -> Void
    ) throws -> Mapped {
        let schema = schema.keepingNames(of: catalog.schema)
        let mapping = try SchemaMapping(from: catalog.schema, to: schema, store: catalog.storeIdentifier)
        let target = Catalog(
            schema: schema, storeIdentifier: catalog.storeIdentifier, external: catalog.external,
            writesExternal: writesExternal)
        var tally = SchemaTally()
        if let taken = try mapping.completing({ try self.taken(to: target, mapping, &tally, advance) }) {
            return Mapped(version: taken, loss: try mapping.loss(tally), hasPairs: false, completed: [])
        }
        return try remade(in: target, mapping, completingPairs: completesPairs, spillingTo: spill, advance)
    }

    /// Makes each record anew, and lets go of what is read for that.
    func remade(
        in target: Catalog, _ mapping: SchemaMapping, completingPairs completesPairs: Bool,
        spillingTo spill: ChunkSpill? = nil, _ advance: (_ records: Int) throws -> Void = { _ in }
    ) throws -> Mapped {
        let loader = EngineLoader(target, spillingTo: spill)
        var released = ReleasedLinks(mapping)
        var pairs = PairedLinks(mapping)
        var tally = SchemaTally()
        for entity in catalog.schema.entities.map(\.name) {
            guard let table = tables[entity] else { continue }
            let slots = table.layout.slots
            let current = mapping.currentName(ofEntity: entity)
            var (place, left) = (0, table.count)
            try forEachPart(of: table) { part in
                for row in 0..<part.endRow where part.contains(row: row) {
                    if place % 1_024 == 0 {
                        try advance(min(1_024, left))
                        left -= min(1_024, left)
                    }
                    place += 1
                    let values = ContiguousArray(
                        slots.indices.map { slot in
                            slots[slot].role == .toManyDerived ? .null : part.storedForm(row: row, slot: slot)
                        })
                    mapping.count(values, ofEntity: entity, in: &tally)
                    guard let layout = target.layouts[current],
                        let mapped = mapping.map(values, ofEntity: entity, defaults: layout)
                    else { continue }
                    let record = part.identifier(ofRow: row)
                    released.note(values, of: record)
                    if completesPairs { pairs.note(mapped, of: record) }
                    try loader.append(entity: current, sequence: part.sequence(ofRow: row), mapped)
                }
            }
        }
        // What could not be read looks like nothing.
        try check()
        try loader.take(released)
        let completed = completesPairs ? try loader.complete(pairs) : []
        let loss = try mapping.loss(tally)
        let version = try mapping.completing { try loader.finish(number: number, nextSequence: nextSequence) }
        return Mapped(version: version, loss: loss, hasPairs: !mapping.pairs.isEmpty, completed: completed)
    }

    /// Calls the body with parts of a table of this version, one after the other.
    private func forEachPart(of table: TableVersion, _ body: (TableVersion) throws -> Void) throws {
        do {
            try table.forEachPart { _, part in try body(part) }
        } catch let fault as PackedFault {
            throw packed?.explained(fault) ?? fault
        }
    }

    /// The same version, of which nothing is in memory that can be read again: what is read of the one, the other does not keep.
    package func unread() -> EngineVersion {
        EngineVersion(
            number: number, nextSequence: nextSequence, tables: tables.mapValues { $0.unread() }, catalog: catalog,
            packed: packed)
    }

    /// The same records under another number.
    package func numbered(_ number: UInt64, nextSequence: UInt64) -> EngineVersion {
        EngineVersion(
            number: number, nextSequence: nextSequence, tables: tables, catalog: catalog, packed: packed)
    }
}
