import MortiseCore

/// Brings the records of a store into an engine, under the schema that the store holds.
///
/// Records whose identifiers are not numbers of the store get numbers, in their order.
struct RecordLoading<Store: DataStore> {
    private let schema: StoredSchema
    private let name: String
    private let identifier: String
    private let transfer: StoreTransfer<Store>
    private let spill: ChunkSpill?

    init(
        _ schema: StoredSchema, store name: String, identifier: String, _ transfer: StoreTransfer<Store>,
        spillingTo spill: ChunkSpill? = nil
    ) {
        (self.schema, self.name, self.identifier, self.transfer) = (schema, name, identifier, transfer)
        self.spill = spill
    }

    /// - Parameters:
    ///   - found: by entity, the identifiers of the store's records, in order.
    ///   - nextNumber: the number of the store's next record at least.
    ///   - clear: called for each property of a record that loses references, since they lead to records that the store does not have.
    ///   - advance: called with the number of records read since the last call.
    /// - Returns: a version of an engine with the records.
    /// - Throws: the store's errors; `ModelContextError.storeContract` for a required reference to a record that the store does not
    ///   have, and for a record with the last number there is; `EngineError` for records that break the store's own schema.
    func version(
        of found: [String: [PersistentIdentifier]], nextNumber: UInt64,
        clear: (_ entity: String, _ property: String) -> Void, _ advance: (_ records: Int) throws -> Void
    ) throws -> EngineVersion {
        let names = schema.entities.map(\.name)
        let numbers = numbers(found)
        let catalog = Catalog(schema: schema, storeIdentifier: identifier)
        let loader = EngineLoader(catalog, spillingTo: spill)
        var last: UInt64 = 0
        for entity in names {
            let next = transfer.reader(of: found[entity] ?? [], ofEntity: entity, atMost: StoreFilling.readAtOnce)
            while case let records = try next(), !records.isEmpty {
                try advance(records.count)
                for record in records {
                    guard let new = numbers(record.persistentIdentifier), let number = new.sequenceNumber else {
                        continue
                    }
                    last = max(last, number)
                    try loader.append(
                        entity: entity, sequence: number,
                        try record.storedValues(leading: numbers, store: name) { clear(entity, $0) })
                }
            }
        }
        if last == .max {
            throw ModelContextError.storeContract(
                store: name, fault: "It has a record with the last number there is, after which none can be inserted.")
        }
        return try loader.finish(number: 0, nextSequence: max(nextNumber, last + 1))
    }

    /// The identifier that a record has in the engine; nil for one that the store does not have.
    private func numbers(
        _ found: [String: [PersistentIdentifier]]
    ) -> (PersistentIdentifier) -> PersistentIdentifier? {
        let isNumbered = found.values.allSatisfy { identifiers in
            identifiers.allSatisfy { $0.sequenceNumber != nil && $0.storeIdentifier == identifier }
        }
        if isNumbered {
            return { found[$0.entityName]?.containsSorted($0) == true ? $0 : nil }
        }
        var numbers: [PersistentIdentifier: PersistentIdentifier] = [:]
        for (number, record) in found.values.joined().sorted().enumerated() {
            numbers[record] = .numbered(
                UInt64(number) + 1, storeIdentifier: identifier, entityName: record.entityName)
        }
        return { [numbers] in numbers[$0] }
    }
}

extension DefaultSnapshot {
    /// The values by slot, and nothing where a relationship follows from the records of the other side.
    var storedValues: ContiguousArray<StoredValue> {
        ContiguousArray(zip(layout.slots, values).map { $0.role == .toManyDerived ? .null : $1 })
    }

    /// The values by slot with other identifiers. A reference is left out if `target` returns nil for it, and `clear` is called with
    /// the name of the property that loses it.
    /// - Throws: `ModelContextError.storeContract` for a required reference without a record.
    func storedValues(
        leading target: (PersistentIdentifier) -> PersistentIdentifier?, store: String, _ clear: (String) -> Void
    ) throws -> ContiguousArray<StoredValue> {
        var values = storedValues
        for (place, slot) in layout.slots.enumerated() where slot.role.isRelationship && place < values.count {
            let value = values[place].leading(target)
            if value.targets.count < values[place].targets.count {
                if value.isNull, !slot.property.isOptional {
                    throw ModelContextError.storeContract(
                        store: store,
                        fault: "\(slot.name) of \(persistentIdentifier) leads to a record that it does not have.")
                }
                clear(slot.name)
            }
            values[place] = value
        }
        return values
    }
}

extension StoredValue {
    /// The value with other identifiers. A reference is left out if `target` returns nil for it.
    func leading(_ target: (PersistentIdentifier) -> PersistentIdentifier?) -> StoredValue {
        switch self {
        case .identifier(let record): target(record).map { .identifier($0) } ?? .null
        case .identifiers(let records): .identifiers(records.compactMap(target))
        default: self
        }
    }
}

extension [PersistentIdentifier] {
    /// Whether the record is among these, which are in order.
    func containsSorted(_ record: PersistentIdentifier) -> Bool {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if self[middle] == record { return true }
            range = self[middle] < record ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }
}

extension SchemaMapping {
    /// Whether each record can be brought to the new schema without a look at others: no links change their side, no one-to-one
    /// relationship is completed, no values have to be unique that were not, and each entity keeps its name and what it inherits from.
    func goesRecordByRecord(from old: StoredSchema, to new: StoredSchema) -> Bool {
        guard releases.values.allSatisfy(\.isEmpty), pairs.values.allSatisfy(\.isEmpty), names.isEmpty else {
            return false
        }
        // A reference may lead out of its destination's family where that changes.
        for entity in new.entities {
            if let known = old.entity(named: entity.name), known.superentity != entity.superentity { return false }
        }
        let before = old.recordLayouts()
        func isUnique(_ layout: RecordLayout, _ slots: [Int]) -> Bool {
            guard let known = before[layout.entityName], known.superentityName == layout.superentityName else {
                return false
            }
            let origins = layout.origins(in: known)
            for slot in slots where !layout.slots[slot].property.isOptional {
                // Those without a value all get the default.
                guard let origin = origins[slot], !known.slots[origin].property.isOptional else { return false }
            }
            return known.uniqueConstraints.contains(slots.map { origins[$0] ?? -1 })
        }
        return new.recordLayouts().values.allSatisfy { layout in
            layout.uniqueConstraints.allSatisfy { isUnique(layout, $0) }
        }
    }

    /// A record under the new schema; nil if that has no such entity.
    func map(
        _ record: DefaultSnapshot, _ values: ContiguousArray<StoredValue>, ofEntity name: String,
        to layout: RecordLayout
    ) -> DefaultSnapshot? {
        guard let values = map(values, ofEntity: name, defaults: layout) else { return nil }
        return DefaultSnapshot(
            persistentIdentifier: record.persistentIdentifier.renamed(names), layout: layout, values: values)
    }
}

extension EngineVersion {
    /// The records of an entity in the order of their numbers, some at a time.
    /// - Throws: why a record cannot be read.
    func reader(ofEntity name: String, atMost count: Int) throws -> () throws -> [DefaultSnapshot] {
        guard let table = tables[name] else { return { [] } }
        var row = 0
        return { [self] in
            var found: [DefaultSnapshot] = []
            while row < table.endRow, found.count < count {
                defer { row += 1 }
                guard table.contains(row: row) else { continue }
                let values = try table.layout.slots.enumerated().map { place, slot in
                    slot.role == .toManyDerived ? .null : try table.readValue(row: row, slot: place)
                }
                found.append(
                    DefaultSnapshot(
                        persistentIdentifier: table.identifier(ofRow: row), layout: table.layout,
                        values: ContiguousArray(values)))
            }
            try check()
            return found
        }
    }
}
