import MortiseCore

/// Brings the records of a store into an engine, under the schema that the store holds.
///
/// Records whose identifiers are not numbers of the store get numbers, in their order.
struct RecordLoading<Store: DataStore> {
    private let schema: StoredSchema
    private let name: String
    private let identifier: String
    private let transfer: StoreTransfer<Store>

    init(_ schema: StoredSchema, store name: String, identifier: String, _ transfer: StoreTransfer<Store>) {
        (self.schema, self.name, self.identifier, self.transfer) = (schema, name, identifier, transfer)
    }

    /// - Throws: the store's errors; `ModelContextError.storeContract` for a required reference to a record that the store does not
    ///   have; `EngineError` for records that break the store's own schema.
    func version(nextNumber: UInt64, _ advance: (_ records: Int) throws -> Void) throws -> EngineVersion {
        let names = schema.entities.map(\.name)
        let found = try Dictionary(
            names.map { ($0, try transfer.identifiers(ofEntity: $0)) }, uniquingKeysWith: { first, _ in first })
        let numbers = numbers(found)
        let catalog = Catalog(schema: schema, storeIdentifier: identifier)
        let loader = EngineLoader(catalog)
        var last: UInt64 = 0
        for entity in names {
            guard let layout = catalog.layouts[entity] else { continue }
            let next = try transfer.reader(ofEntity: entity, atMost: StoreFilling.readAtOnce)
            while case let records = try next(), !records.isEmpty {
                try advance(records.count)
                for record in records {
                    guard let new = numbers(record.persistentIdentifier), let number = new.sequenceNumber else {
                        continue
                    }
                    last = max(last, number)
                    try loader.append(
                        entity: entity, sequence: number, try values(of: record, layout) { numbers($0) })
                }
            }
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

    private func values(
        of record: DefaultSnapshot, _ layout: RecordLayout,
        _ current: (PersistentIdentifier) -> PersistentIdentifier?
    ) throws -> ContiguousArray<StoredValue> {
        var values = record.storedValues
        for (place, slot) in layout.slots.enumerated() where slot.role.isRelationship && place < values.count {
            let value = values[place].leading(current)
            if value.isNull, !values[place].isNull, !slot.property.isOptional {
                throw ModelContextError.storeContract(
                    store: name,
                    fault: "\(slot.name) of \(record.persistentIdentifier) leads to a record that it does not have.")
            }
            values[place] = value
        }
        return values
    }
}

extension DefaultSnapshot {
    /// The values by slot, and nothing where a relationship follows from the records of the other side.
    var storedValues: ContiguousArray<StoredValue> {
        ContiguousArray(zip(layout.slots, values).map { $0.role == .toManyDerived ? .null : $1 })
    }
}

extension StoredValue {
    /// The value with other identifiers; those for which there are none are left out.
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
    /// relationship is completed, and no values have to be unique that were not.
    func goesRecordByRecord(from old: StoredSchema, to new: StoredSchema) -> Bool {
        guard releases.values.allSatisfy(\.isEmpty), pairs.values.allSatisfy(\.isEmpty) else { return false }
        let before = old.recordLayouts()
        func isUnique(_ layout: RecordLayout, _ slots: [Int]) -> Bool {
            guard let known = before[layout.entityName], known.superentityName == layout.superentityName else {
                return false
            }
            let origins = layout.origins(in: known)
            return known.uniqueConstraints.contains(slots.map { origins[$0] ?? -1 })
        }
        return new.recordLayouts().values.allSatisfy { layout in
            layout.uniqueConstraints.allSatisfy { isUnique(layout, $0) }
        }
    }

    /// A record under the new schema; nil if that has no such entity.
    func map(_ record: DefaultSnapshot, ofEntity name: String, to layout: RecordLayout) -> DefaultSnapshot? {
        guard let values = map(record.storedValues, ofEntity: name, defaults: layout) else { return nil }
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
