import HashTreeCollections
public import MortiseCore

/// Builds the first version of an engine from records that come out of a file.
///
/// Only stored values are given; derived relationships and what is unique follow from them.
public final class EngineLoader {
    private let catalog: Catalog
    private var tables: [String: TableWriter] = [:]

    public init(_ catalog: Catalog) { self.catalog = catalog }

    /// Adds a record. The numbers of an entity's records ascend; values are by slot of the catalog's layout.
    /// - Throws: `EngineError.unknownEntity`.
    public func append(entity: String, sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        let table: TableWriter
        if let known = tables[entity] {
            table = known
        } else {
            guard let layout = catalog.layouts[entity] else { throw EngineError.unknownEntity(entity) }
            table = TableWriter(
                layout: layout, storeIdentifier: catalog.storeIdentifier, owner: 0, isOutside: true)
            tables[entity] = table
        }
        var values = values
        for (index, slot) in table.layout.slots.enumerated() where slot.role == .toManyDerived {
            values[index] = .identifiers([])
        }
        table.append(sequence, values)
    }

    /// The version with everything that was added.
    /// - Throws: `EngineError.notUnique`.
    public func finish(number: UInt64, nextSequence: UInt64) throws -> EngineVersion {
        try derive()
        let uniques = try indexed()
        return EngineVersion(
            number: number, nextSequence: nextSequence, tables: tables.mapValues { $0.finished() }, uniques: uniques,
            catalog: catalog)
    }

    private func derive() throws {
        struct Place: Hashable {
            let target: PersistentIdentifier
            let property: String
        }
        var members: [Place: [PersistentIdentifier]] = [:]
        for (entity, table) in tables {
            for relationship in catalog.relationships[entity] ?? [] {
                guard let property = relationship.derived else { continue }
                table.forEachRow { row, sequence in
                    let owner = catalog.identifier(sequence, entity)
                    switch table.value(row, relationship.slot) {
                    case .identifier(let target):
                        members[Place(target: target, property: property), default: []].append(owner)
                    case .identifiers(let targets):
                        for target in targets {
                            members[Place(target: target, property: property), default: []].append(owner)
                        }
                    default: break
                    }
                }
            }
        }
        for (place, owners) in members {
            guard let table = tables[place.target.entityName], let sequence = place.target.sequenceNumber,
                let row = table.row(sequence), let slot = table.layout.slot(named: place.property)
            else { continue }
            table.set(.identifiers(owners.sorted()), row, slot)
        }
    }

    private func indexed() throws -> [UniqueConstraint: UniqueIndex] {
        var uniques: [UniqueConstraint: UniqueIndex] = [:]
        for (entity, table) in tables {
            for (constraint, slots) in catalog.constraints[entity] ?? [] {
                var index = uniques.removeValue(forKey: constraint) ?? UniqueIndex()
                try table.forEachRow { row, sequence in
                    guard let key = UniqueKey(slots.map { table.value(row, $0) }) else { return }
                    let place = RecordPlace(entity: catalog.entityNumbers[entity] ?? 0, sequence: sequence)
                    if let other = index.updateValue(place, forKey: key) {
                        throw EngineError.notUnique(
                            entity: entity, properties: slots.map { table.layout.slots[$0].name },
                            record: catalog.identifier(sequence, entity),
                            other: catalog.identifier(other.sequence, catalog.entityNames[other.entity]))
                    }
                }
                uniques[constraint] = index
            }
        }
        return uniques
    }
}
