public import MortiseCore

/// Brings a version forward by transactions that were made elsewhere, such as those in a log after its checkpoint.
///
/// They are applied as they are: the consequences of a save (cleared references, deletions) must be among the changes.
public final class EngineReplay {
    private let transaction: EngineTransaction
    /// Rows whose values changed and that are in no index now, by entity and number.
    private var unindexed: [Row] = []
    private var unindexedRows: Set<Row> = []

    private struct Row: Hashable {
        let entity: Int
        let row: Int
    }

    /// Makes a replay on top of a version, which does not change.
    public init(_ base: EngineVersion) { transaction = EngineTransaction(base, isForeign: true) }

    private func find(_ entity: Int, _ sequence: UInt64) throws -> (table: TableWriter, row: Int) {
        let table = transaction.table(entity)
        guard let row = table.row(sequence) else {
            throw EngineError.noSuchRecord(transaction.catalog.identifier(sequence, entity))
        }
        return (table, row)
    }

    /// Removes all records.
    public func erase() {
        unindexed.removeAll()
        unindexedRows.removeAll()
        transaction.erase()
    }

    /// Deletes a record.
    /// - Throws: `EngineError.noSuchRecord`.
    public func delete(entity: Int, sequence: UInt64) throws {
        _ = try find(entity, sequence)
        try transaction.delete(transaction.catalog.identifier(sequence, entity))
    }

    /// Changes values of a record.
    /// - Parameters:
    ///   - entity: the number of the record's entity.
    ///   - sequence: the record's number.
    ///   - changes: the new values, by slot of the catalog's layout.
    /// - Throws: `EngineError` if there is no such record, or a value does not fit its column.
    public func update(
        entity: Int, sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]
    ) throws {
        let (table, row) = try find(entity, sequence)
        let isIndexed = table.plan.indexes.contains { index in changes.contains { index.slots.contains($0.slot) } }
        let place = Row(entity: entity, row: row)
        if isIndexed, unindexedRows.insert(place).inserted {
            transaction.unindex(table, row)
            unindexed.append(place)
        }
        for (slot, value) in changes { try set(value, slot, entity, table, row, isNew: false) }
        transaction.isChanged = true
    }

    /// Inserts a record.
    /// - Parameters:
    ///   - entity: the number of the record's entity.
    ///   - sequence: the record's number, greater than that of every record that the entity has had.
    ///   - values: one value for each slot of the catalog's layout; null for a slot that is not stored. Missing values
    ///     become null.
    /// - Throws: `EngineError` if the number is not new, or a value does not fit its column.
    public func insert(entity: Int, sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        let table = transaction.table(entity)
        let identifier = transaction.catalog.identifier(sequence, entity)
        if sequence <= (table.endRow > 0 ? table.sequence(table.endRow - 1) : 0) {
            throw EngineError.unfitValue(
                entity: identifier.entityName, property: "", record: identifier, found: "its number was used before")
        }
        let row = table.append(sequence)
        for slot in table.plan.columns.indices {
            try set(slot < values.count ? values[slot] : .null, slot, entity, table, row, isNew: true)
        }
        unindexed.append(Row(entity: entity, row: row))
        transaction.isChanged = true
    }

    private func set(
        _ value: StoredValue, _ slot: Int, _ entity: Int, _ table: TableWriter, _ row: Int, isNew: Bool
    ) throws {
        guard table.plan.columns.indices.contains(slot) else { return }
        let column = table.plan.columns[slot]
        switch column.role {
        case .attribute:
            let isMissing = value.isNull && !column.isOptional && !column.isEphemeral
            try transaction.catalog.checkReference(value, column, table.plan)
            if isMissing || !table.write(value, row, column, isNew: isNew) {
                let record = transaction.catalog.identifier(table.sequence(row), entity)
                throw transaction.unfit(value, column, record)
            }
        case .toOne, .toManyStored:
            guard let relationship = transaction.catalog.relationships[entity].first(where: { $0.slot == slot }) else {
                return
            }
            if relationship.isToMany {
                try transaction.setMembers(value, relationship, entity, table, row, nil, isNew: isNew)
            } else {
                try transaction.setTarget(value, relationship, entity, table, row, nil, isNew: isNew)
            }
        case .toManyDerived: break
        }
    }

    /// Ends a transaction: its unique values are checked and indexed.
    /// - Throws: `EngineError.notUnique`.
    public func endTransaction() throws {
        for place in unindexed {
            let table = transaction.table(place.entity)
            if table.isLive(place.row) { try transaction.index(table, place.entity, place.row) }
        }
        unindexed.removeAll(keepingCapacity: true)
        unindexedRows.removeAll(keepingCapacity: true)
        // Nobody asks for these: the log has them.
        transaction.written.removeAll(keepingCapacity: true)
        transaction.deleted.removeAll(keepingCapacity: true)
        transaction.changes = ChangeSet()
    }

    /// The version after the last ended transaction.
    /// - Throws: the error of a region of the base that cannot be read.
    public func finish(number: UInt64, nextSequence: UInt64) throws -> EngineVersion {
        try transaction.finished(number: number, nextSequence: nextSequence)
    }
}
