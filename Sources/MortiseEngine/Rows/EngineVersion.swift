public import MortiseCore

/// A state of an engine: every table, with its indexes. Immutable; old versions live as long as they are retained.
public final class EngineVersion: StoreVersion {
    /// The limit of record and transaction numbers. Readers of files refuse numbers that are not below it, so that
    /// numbers never run out.
    public static let numberLimit: UInt64 = 1 << 62

    /// The number of the version. Later versions have higher numbers.
    public let number: UInt64
    /// The number of the next new record, greater than that of every record so far.
    public let nextSequence: UInt64
    /// The tables that exist, by entity.
    public let tables: [String: TableVersion]
    /// What the engine knows of its schema.
    public let catalog: Catalog
    /// The file with the parts that were not read yet; nil if everything is in memory.
    let packed: PackedFile?

    init(
        number: UInt64, nextSequence: UInt64, tables: [String: TableVersion], catalog: Catalog,
        packed: PackedFile? = nil
    ) {
        self.packed = packed
        self.number = number
        self.nextSequence = nextSequence
        self.tables = tables
        self.catalog = catalog
    }

    /// The records of exactly that entity; nil if the version has none.
    public func rows(ofEntity name: String) -> RowSource? { tables[name] }

    /// The record that an index finds; nil if it finds none, or if one of the values is null.
    public func identifier(
        ofEntity name: String, constraint: Int, values: [StoredValue]
    ) -> PersistentIdentifier? {
        guard let plan = catalog.plan(name),
            let place = plan.indexes.firstIndex(where: { $0.constraint == constraint }),
            values.count == plan.indexes[place].components.count, !values.contains(where: \.isNeverUnique)
        else { return nil }
        let definition = plan.indexes[place]
        let buffer = KeyBuffer()
        for (component, value) in zip(definition.components, values) {
            let isPossible = buffer.append(value, component) { plan.reference($0, at: component.slot) }
            if !isPossible { return nil }
        }
        for entity in definition.family {
            guard let table = tables[catalog.plans[entity].entityName],
                let other = table.plan.index(sameAs: definition),
                let row = table.indexes[other].firstRow(buffer.key)
            else { continue }
            return table.identifier(ofRow: Int(row))
        }
        return nil
    }
}

extension TablePlan {
    /// Which of this plan's indexes is the given one of a relative.
    func index(sameAs definition: IndexDefinition) -> Int? {
        indexes.firstIndex { $0.constraint != nil && $0.slots == definition.slots }
    }

    /// A target as its column has it; nil for an identifier that cannot stand there.
    func reference(_ identifier: PersistentIdentifier, at slot: Int) -> (sequence: UInt64, entity: UInt16)? {
        for (number, family) in targets[slot].enumerated() {
            if let sequence = family.sequence(of: identifier) { return (sequence, UInt16(number)) }
        }
        return nil
    }
}
