public import MortiseCore

/// Builds the first version of an engine from the records of a file.
///
/// Only stored values are given; derived relationships and indexes follow from them.
public final class EngineLoader {
    let catalog: Catalog
    private let owner = EngineTransaction.nextOwner()
    private var tables: [TableWriter?]
    private var last: TableWriter?
    /// The table that the record goes to whose values are being set one by one.
    var filling: TableWriter?
    /// Where that record's values go, looked up once for each record and not for each value.
    var row = NewRow()

    private let spill: ChunkSpill?
    private var appended = 0
    /// After how many records chunks are taken out of memory.
    private static let often = 16_384

    /// Makes a loader of an empty version.
    public convenience init(_ catalog: Catalog) { self.init(catalog, spillingTo: nil) }

    /// Makes a loader of an empty version whose full chunks go to a file while records are added.
    init(_ catalog: Catalog, spillingTo spill: ChunkSpill?) {
        self.catalog = catalog
        self.spill = spill
        tables = Array(repeating: nil, count: catalog.plans.count)
    }

    /// Records of one entity mostly come together.
    private func table(named name: String) throws -> TableWriter {
        if let last, last.plan.entityName == name { return last }
        guard let entity = catalog.numbers[name] else { throw EngineError.unknownEntity(name) }
        let found = table(entity)
        last = found
        return found
    }

    func table(_ entity: Int) -> TableWriter {
        if let table = tables[entity] { return table }
        let table = TableWriter(catalog.plans[entity], from: nil, owner: owner, isForeign: true)
        tables[entity] = table
        return table
    }

    /// Adds a record. The numbers of an entity's records ascend; values are by slot of the catalog's layout.
    /// - Throws: `EngineError.unknownEntity`; `unfitValue` for a value that is not of its property's kind;
    ///   `wrongDestination` for a reference to what can be no record of the relationship's destination.
    public func append(entity name: String, sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        let table = try table(named: name)
        let entity = table.plan.number
        appended += 1
        if let spill, appended % Self.often == 0 { try relieve(spill) }
        let row = table.append(sequence)
        for column in table.plan.columns {
            let value = column.slot < values.count ? values[column.slot] : .null
            switch column.role {
            case .attribute:
                try catalog.checkReference(value, column, table.plan)
                if !table.write(value, row, column, isNew: true) {
                    throw EngineError.unfitValue(
                        entity: name, property: table.plan.layout.slots[column.slot].name,
                        record: catalog.identifier(sequence, entity), found: "\(value)")
                }
            case .toOne:
                let target: PersistentIdentifier? = if case .identifier(let target) = value { target } else { nil }
                table.write(
                    reference: try target.map { try reference($0, table, row, column.slot) }, row, column.slot,
                    isNew: true)
            case .toManyStored:
                guard case .identifiers(let members) = value else { continue }
                for member in members {
                    let (number, target) = try reference(member, table, row, column.slot)
                    table.links[column.slot].insert(sequence, number, target, transaction: owner)
                }
            case .toManyDerived: break
            }
        }
    }

    func reference(
        _ identifier: PersistentIdentifier, _ table: TableWriter, _ row: Int, _ slot: Int
    ) throws -> (sequence: UInt64, target: Int) {
        if let found = table.plan.reference(identifier, at: slot) { return (found.sequence, Int(found.entity)) }
        throw EngineError.wrongDestination(
            entity: table.plan.entityName, property: table.plan.layout.slots[slot].name,
            record: catalog.identifier(table.sequence(row), table.plan.number), target: identifier)
    }

    func removeAll() {
        tables = Array(repeating: nil, count: tables.count)
        last = nil
        filling = nil
        row = NewRow()
    }

    private func relieve(_ spill: ChunkSpill) throws {
        for table in tables { try table?.relieve(spill) }
    }

    /// The version with everything that was added.
    /// - Throws: `EngineError.notUnique`.
    public func finish(number: UInt64, nextSequence: UInt64) throws -> EngineVersion {
        complete()
        var refusal: EngineError?
        forEachDuplicate {
            refusal = $0
            return false
        }
        if let refusal { throw refusal }
        if let spill, appended >= Self.often { try relieve(spill) }
        var finished: [String: TableVersion] = [:]
        for table in tables {
            if let table { finished[table.plan.entityName] = table.finished() }
        }
        let version = EngineVersion(
            number: number, nextSequence: nextSequence, tables: finished, catalog: catalog, packed: spill?.file)
        // What could not be read again looks like nothing.
        try version.checkDamage()
        return version
    }

    /// The records to leave out so that no two have the same unique values, as few as possible. `finish` must not be
    /// called afterwards.
    public func duplicates() -> [PersistentIdentifier] {
        complete()
        var found: Set<PersistentIdentifier> = []
        forEachDuplicate { error in
            if case .notUnique(_, _, let record, let other) = error, !found.contains(other) { found.insert(record) }
            return true
        }
        return found.sorted()
    }

    private func complete() {
        derive()
        for table in tables {
            if let table { index(table) }
        }
    }

    // MARK: Reverses

    private func derive() {
        for (entity, relationships) in catalog.relationships.enumerated() {
            guard let table = tables[entity] else { continue }
            for relationship in relationships {
                var reverses: [[(target: UInt64, owner: UInt64)]] = relationship.targets.map { _ in [] }
                table.forEachRow { row, sequence in
                    if relationship.isToMany {
                        table.links[relationship.slot].forEach(of: sequence) { member, target in
                            reverses[target].append((member, sequence))
                        }
                    } else if let (member, target) = table.reference(row, relationship.slot) {
                        reverses[target].append((member, sequence))
                    }
                }
                for number in reverses.indices where !reverses[number].isEmpty {
                    // In place, and gone before the next: they take as much as the links that they become.
                    reverses[number].sort { $0.target == $1.target ? $0.owner < $1.owner : $0.target < $1.target }
                    link(reverses[number], in: self.table(relationship.targets[number]), relationship)
                    reverses[number] = []
                }
            }
        }
    }

    private func link(
        _ sorted: [(target: UInt64, owner: UInt64)], in table: TableWriter, _ relationship: Catalog.RelationshipSlot
    ) {
        if table.links[relationship.reverse].pairs.isEmpty {
            var builder = OrderedIndexBuilder(isWide: true, owner: owner)
            for pair in sorted {
                builder.append(LinkSet.probe(pair.target, pair.owner, relationship.ownerAmongTargets))
            }
            table.links[relationship.reverse] = LinkSet(pairs: builder.finish())
        } else {
            for pair in sorted {
                table.links[relationship.reverse].insert(
                    pair.target, pair.owner, relationship.ownerAmongTargets, transaction: owner)
            }
        }
    }

    // MARK: Indexes

    private func index(_ table: TableWriter) {
        for (number, definition) in table.plan.indexes.enumerated() {
            var entries = SortedEntries(isWide: definition.isWide)
            let key = KeyBuffer()
            table.forEachRow { row, _ in
                key.setKey(table.place(row), row & Chunk.mask, definition, table.dictionaries)
                entries.append(key.key, row: UInt64(row))
            }
            table.indexes[number] = entries.index(owner: owner)
        }
    }

    /// Calls the body with an error for each record that has unique values of others, once for each of those, until it
    /// returns false.
    private func forEachDuplicate(_ body: (EngineError) -> Bool) {
        let key = KeyBuffer()
        var goesOn = true
        for table in tables {
            guard let table else { continue }
            for (number, definition) in table.plan.indexes.enumerated() where !definition.family.isEmpty {
                table.forEachRow { row, sequence in
                    if !goesOn { return }
                    if key.setKey(table.place(row), row & Chunk.mask, definition, table.dictionaries) { return }
                    for relative in definition.family {
                        guard let other = tables[relative],
                            let place = other === table ? number : other.plan.index(sameAs: definition),
                            let found = other.indexes[place].firstRow(key.key), other !== table || found != UInt64(row)
                        else { continue }
                        goesOn = body(
                            .notUnique(
                                entity: table.plan.entityName,
                                properties: definition.slots.map { table.plan.layout.slots[$0].name },
                                record: catalog.identifier(sequence, table.plan.number),
                                other: catalog.identifier(other.sequence(Int(found)), relative)))
                        if !goesOn { return }
                    }
                }
            }
        }
    }
}
