public import MortiseCore

/// What a log's tail does to a version that was packed into a file, collected without reading the version.
///
/// Like `EngineReplay` it takes transactions as they are. It keeps their outcome, not their order: what counts is each record as
/// the last of them leaves it. `overlaid(number:nextSequence:)` makes a version of it whose parts are put together when they are
/// first read. What needs all records at once, such as an erasure or another schema, needs `replayed()`.
public final class EngineTail {
    let base: EngineVersion
    let note: @Sendable (any Error) -> Void
    private var tables: [TailTable?]
    private var last: TailTable?

    /// Begins with the version. There is no tail (nil) for a schema with entities two of whose relationships share an inverse, so
    /// that a link does not tell which one it is of.
    /// - Parameters:
    ///   - base: the version, as unpacked; nobody has read more of it.
    ///   - explain: makes the error that users of the store see where a change does not fit the version, which turns out when the
    ///     rows are read.
    public init?(_ base: EngineVersion, explain: @escaping @Sendable (any Error) -> any Error) {
        for relationships in base.catalog.relationships {
            for (number, one) in relationships.enumerated() {
                // Links lie in the tables of the targets, where the inverse has its slot.
                let isShared = relationships[(number + 1)...].contains { other in
                    other.reverse == one.reverse && !Set(other.targets).isDisjoint(with: one.targets)
                }
                if isShared { return nil }
            }
        }
        guard let packed = base.packed else { return nil }
        self.base = base
        // The file must not keep itself.
        note = { [weak packed] in packed?.note(explain($0)) }
        tables = Array(repeating: nil, count: base.catalog.plans.count)
    }

    /// What happens to the records of one entity; nil if nothing does.
    func found(_ entity: Int) -> TailTable? { tables[entity] }

    private func table(_ entity: Int) -> TailTable {
        if let last, last.plan.number == entity { return last }
        let table = tables[entity] ?? TailTable(base.catalog, entity, from: base)
        tables[entity] = table
        last = table
        return table
    }

    /// Deletes a record.
    /// - Throws: `EngineError.noSuchRecord` for one that is known not to be there. Of one that the version should have and lacks, it
    ///   turns out when its chunk is read.
    public func delete(entity: Int, sequence: UInt64) throws { try table(entity).delete(sequence) }

    /// Changes values of a record.
    /// - Parameters: as for `EngineReplay.update(entity:sequence:_:)`.
    /// - Throws: as `delete(entity:sequence:)`; `EngineError` for a value that does not fit its column.
    public func update(entity: Int, sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        try table(entity).update(sequence, changes)
    }

    /// Inserts a record.
    /// - Parameters: as for `EngineReplay.insert(entity:sequence:_:)`.
    /// - Throws: `EngineError` if the number is not new, or a value does not fit its column.
    public func insert(entity: Int, sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        try table(entity).insert(sequence, values)
    }

    /// The same changes applied to the version, record by record.
    /// - Throws: `EngineError.notUnique`; `EngineError.noSuchRecord`; the error of a region of the version that cannot be read.
    public func replayed() throws -> EngineReplay {
        let replay = EngineReplay(base)
        for table in tables {
            guard let table else { continue }
            for sequence in table.changed.keys.sorted() where table.changed[sequence]?.row == nil {
                try replay.delete(entity: table.plan.number, sequence: sequence)
            }
        }
        for table in tables {
            guard let table else { continue }
            for sequence in table.changed.keys.sorted() {
                guard let change = table.changed[sequence], change.row != nil else { continue }
                try replay.update(entity: table.plan.number, sequence: sequence, table.values(of: sequence, change))
            }
            for row in table.insertedSequences.indices {
                try replay.insert(
                    entity: table.plan.number, sequence: table.insertedSequences[row], table.insertedValues(row))
                // Its place stays taken.
                if !table.inserted.isLive(row) {
                    try replay.delete(entity: table.plan.number, sequence: table.insertedSequences[row])
                }
            }
        }
        try replay.endTransaction()
        return replay
    }
}

/// What a log's tail does to the records of one entity.
final class TailTable {
    let plan: TablePlan
    private let catalog: Catalog
    private let base: TableVersion?
    /// Above the numbers of all records of the version.
    private let limit: UInt64
    /// What becomes of records of the version, by number.
    private(set) var changed: [UInt64: TableTail.Change] = [:]
    /// Their new values, one row for each that is not deleted at once.
    let values: TableWriter
    /// The records that are new, with those that are deleted again.
    let inserted: TableWriter
    private(set) var insertedSequences: ContiguousArray<UInt64> = []
    /// By number and slot, the members of to-many relationships.
    private(set) var members: [Member: [(sequence: UInt64, target: Int)]] = [:]

    struct Member: Hashable {
        let sequence: UInt64
        let slot: Int
    }

    init(_ catalog: Catalog, _ entity: Int, from version: EngineVersion) {
        self.catalog = catalog
        plan = catalog.plans[entity]
        base = version.tables[plan.entityName]
        limit = version.nextSequence
        values = TableWriter(plan, from: nil, owner: EngineTransaction.nextOwner(), isForeign: true)
        inserted = TableWriter(plan, from: nil, owner: EngineTransaction.nextOwner(), isForeign: true)
    }

    private func missing(_ sequence: UInt64) -> EngineError { .noSuchRecord(plan.identifiers[sequence]) }

    /// The row of a record among those that the tail inserts; nil for one of the version.
    private func place(of sequence: UInt64) throws -> Int? {
        if let first = insertedSequences.first, sequence >= first {
            let place = insertedSequences.firstPlace(notBefore: sequence)
            guard place < insertedSequences.count, insertedSequences[place] == sequence, inserted.isLive(place) else {
                throw missing(sequence)
            }
            return place
        }
        guard let base, base.endRow > 0, sequence >= base.firstSequence(ofChunk: 0), sequence < limit,
            changed[sequence].map({ $0.row != nil }) ?? true
        else { throw missing(sequence) }
        return nil
    }

    func delete(_ sequence: UInt64) throws {
        if let place = try place(of: sequence) {
            inserted.remove(place)
        } else {
            changed[sequence] = TableTail.Change(row: nil)
        }
    }

    func update(_ sequence: UInt64, _ pairs: [(slot: Int, value: StoredValue)]) throws {
        if let place = try place(of: sequence) {
            for (slot, value) in pairs { try set(value, slot, sequence, inserted, place, isNew: false) }
            return
        }
        var change = changed[sequence] ?? TableTail.Change(row: nil)
        let row = change.row ?? newRow()
        change.row = row
        for (slot, value) in pairs where plan.columns.indices.contains(slot) {
            try set(value, slot, sequence, values, row, isNew: false)
            change.slots.insert(slot)
        }
        changed[sequence] = change
    }

    /// A row for new values, without any. Rows are numbered as they come, whatever records they are of.
    private func newRow() -> Int {
        let row = values.append(UInt64(values.endRow) + 1)
        for column in plan.columns where column.form != .none {
            if column.role == .toOne {
                values.write(reference: nil, row, column.slot, isNew: true)
            } else {
                _ = values.write(.null, row, column, isNew: true)
            }
        }
        return row
    }

    func insert(_ sequence: UInt64, _ given: ContiguousArray<StoredValue>) throws {
        let highest = insertedSequences.last ?? base.map { $0.endRow > 0 ? $0.sequence(ofRow: $0.endRow - 1) : 0 } ?? 0
        if sequence <= highest {
            let record = plan.identifiers[sequence]
            throw EngineError.unfitValue(
                entity: plan.entityName, property: "", record: record, found: "its number was used before")
        }
        let row = inserted.append(sequence)
        insertedSequences.append(sequence)
        for slot in plan.columns.indices {
            try set(slot < given.count ? given[slot] : .null, slot, sequence, inserted, row, isNew: true)
        }
    }

    // MARK: Values

    private func set(
        _ value: StoredValue, _ slot: Int, _ sequence: UInt64, _ table: TableWriter, _ row: Int, isNew: Bool
    ) throws {
        guard plan.columns.indices.contains(slot) else { return }
        let column = plan.columns[slot]
        switch column.role {
        case .attribute:
            let isMissing = value.isNull && !column.isOptional && !column.isEphemeral
            try catalog.checkReference(value, column, plan)
            if isMissing || !table.write(value, row, column, isNew: isNew) { throw unfit(value, column, sequence) }
        case .toOne:
            switch value {
            case .identifier(let target):
                table.write(reference: try resolve(target, slot, sequence), row, slot, isNew: isNew)
            case .null where column.isOptional: table.write(reference: nil, row, slot, isNew: isNew)
            default: throw unfit(value, column, sequence)
            }
        case .toManyStored:
            switch value {
            case .identifiers(let found):
                members[Member(sequence: sequence, slot: slot)] = try found.map { try resolve($0, slot, sequence) }
            case .null: members[Member(sequence: sequence, slot: slot)] = []
            default: throw unfit(value, column, sequence)
            }
        case .toManyDerived: break
        }
    }

    private func resolve(
        _ target: PersistentIdentifier, _ slot: Int, _ sequence: UInt64
    ) throws -> (sequence: UInt64, target: Int) {
        if let found = plan.reference(target, at: slot) { return (found.sequence, Int(found.entity)) }
        throw EngineError.wrongDestination(
            entity: plan.entityName, property: plan.layout.slots[slot].name, record: plan.identifiers[sequence],
            target: target)
    }

    private func unfit(_ value: StoredValue, _ column: Column, _ sequence: UInt64) -> EngineError {
        let property = plan.layout.slots[column.slot].name
        let record = plan.identifiers[sequence]
        if column.kind == .coded, value.fits(.coded) {
            return .codedValueTooLarge(entity: plan.entityName, property: property, record: record)
        }
        return .unfitValue(entity: plan.entityName, property: property, record: record, found: "\(value)")
    }

    /// The new values of a record of the version.
    func values(of sequence: UInt64, _ change: TableTail.Change) -> [(slot: Int, value: StoredValue)] {
        change.slots.slots.map { ($0, value($0, sequence, values, change.row ?? 0)) }
    }

    /// All values of a record that is new.
    func insertedValues(_ row: Int) -> ContiguousArray<StoredValue> {
        ContiguousArray(plan.columns.indices.map { value($0, insertedSequences[row], inserted, row) })
    }

    private func value(_ slot: Int, _ sequence: UInt64, _ table: TableWriter, _ row: Int) -> StoredValue {
        switch plan.columns[slot].role {
        case .attribute: return plan.columns[slot].form == .none ? .null : table.value(row, slot)
        case .toOne:
            guard let (target, place) = table.reference(row, slot) else { return .null }
            return .identifier(plan.targets[slot][place][target])
        case .toManyStored:
            let found = members[Member(sequence: sequence, slot: slot)] ?? []
            return .identifiers(found.map { plan.targets[slot][$0.target][$0.sequence] })
        case .toManyDerived: return .null
        }
    }
}
