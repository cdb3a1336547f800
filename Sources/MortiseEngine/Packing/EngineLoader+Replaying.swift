import Foundation
public import MortiseCore

// Records out of a log: written into columns value by value, changed and deleted in place. Derived relationships and
// indexes are made at the end, all at once.

extension EngineLoader {
    /// The values that a column takes without a `StoredValue` in between.
    public enum DirectForm: Sendable {
        /// A truth value.
        case bool
        /// A signed integer of any width, or an unsigned one of at most 32 bits.
        case integer
        /// An unsigned integer of 64 bits.
        case unsigned
        /// A number of 32 bits.
        case float
        /// A number of 64 bits.
        case double
        /// Seconds since 2001, as a number of 64 bits.
        case date
        /// The 16 bytes of a UUID.
        case uuid
        /// The UTF-8 bytes of a string.
        case text
        /// A to-one relationship: the record's number and its entity.
        case reference
        /// No direct form: use `set(_:slot:)` with a `StoredValue`.
        case other
    }

    /// The direct form of each slot of an entity, in the order of the catalog's layout.
    public func directForms(ofEntity entity: Int) -> [DirectForm] {
        catalog.plans[entity].columns.map { column in
            switch column.role {
            case .toOne: return .reference
            case .toManyStored, .toManyDerived: return .other
            case .attribute: break
            }
            switch column.form {
            case .bool: return .bool
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: return .integer
            case .uint64: return .unsigned
            case .float: return .float
            case .double: return .double
            case .date: return .date
            case .uuid: return .uuid
            case .text: return .text
            default: return .other
            }
        }
    }

    /// Begins a record, whose values are set next: each stored slot once.
    /// - Throws: `EngineError.unfitValue` where the number is 0, or not greater than those of all the entity's records
    ///   before.
    public func begin(entity: Int, sequence: UInt64) throws {
        let table = filling.flatMap { $0.plan.number == entity ? $0 : nil } ?? table(entity)
        if sequence <= (table.endRow > 0 ? table.sequence(table.endRow - 1) : 0) {
            throw EngineError.unfitValue(
                entity: table.plan.entityName, property: "", record: catalog.identifier(sequence, entity),
                found: "its number was used before")
        }
        filling = table
        _ = table.append(sequence)
        row = NewRow(table)
    }

    // Each returns false, and sets nothing, if the column does not take such a value or no record is being filled.

    /// Clears the slot of the new record; false if its property is required.
    public func setNull(slot: Int) -> Bool {
        guard let table = filling, !isRequired(table.plan.columns[slot]) else { return false }
        let (chunk, offset) = table.newest
        let entry = chunk.place.entry(slot)
        if entry.form != .none { chunk.clear(entry, offset, isNew: true) }
        return true
    }

    /// Sets a bool slot of the new record.
    public func set(_ value: Bool, slot: Int) -> Bool { row.store(value ? 1 : 0 as UInt8, slot, as: .bool) }

    /// Sets an integer slot of the new record; false also for a value out of range.
    public func set(_ value: Int64, slot: Int) -> Bool {
        switch row.form(slot) {
        case .int64: row.store(value.littleEndian, slot, as: .int64)
        case .int32: row.store(Int32(exactly: value)?.littleEndian, slot, as: .int32)
        case .int16: row.store(Int16(exactly: value)?.littleEndian, slot, as: .int16)
        case .int8: row.store(Int8(exactly: value), slot, as: .int8)
        case .uint32: row.store(UInt32(exactly: value)?.littleEndian, slot, as: .uint32)
        case .uint16: row.store(UInt16(exactly: value)?.littleEndian, slot, as: .uint16)
        case .uint8: row.store(UInt8(exactly: value), slot, as: .uint8)
        default: false
        }
    }

    /// Sets a `uint64` slot of the new record.
    public func set(unsigned value: UInt64, slot: Int) -> Bool { row.store(value.littleEndian, slot, as: .uint64) }
    /// Sets a float slot of the new record by its bits.
    public func set(float bits: UInt32, slot: Int) -> Bool { row.store(bits.littleEndian, slot, as: .float) }
    /// Sets a double slot of the new record by its bits.
    public func set(double bits: UInt64, slot: Int) -> Bool { row.store(bits.littleEndian, slot, as: .double) }
    /// Sets a date slot of the new record by the bits of its seconds since 2001.
    public func set(date bits: UInt64, slot: Int) -> Bool { row.store(bits.littleEndian, slot, as: .date) }
    /// Sets a UUID slot of the new record.
    public func set(_ value: uuid_t, slot: Int) -> Bool { row.store(value, slot, as: .uuid) }

    /// Sets a text in the record that is being filled.
    /// - Parameters:
    ///   - utf8: valid UTF-8; the caller has checked it.
    ///   - slot: the slot of the text.
    /// - Returns: false if no record is being filled or the slot does not hold text.
    public func set(utf8: UnsafeRawBufferPointer, slot: Int) -> Bool {
        guard let table = filling, table.plan.columns[slot].form == .text else { return false }
        let (chunk, offset) = table.newest
        let entry = chunk.place.entry(slot)
        if entry.form == .text, utf8.count < Int(UInt32.max) {
            chunk.store(bytes: utf8, entry, offset, isNew: true)
        } else if entry.form == .code, let code = table.code(of: utf8, slot) {
            return row.store(UInt16(code).littleEndian, slot, as: .code)
        } else {
            // The chunk has to keep its strings itself from now on, which is the writer's affair.
            return set(.string(String(decoding: utf8, as: UTF8.self)), slot: slot)
        }
        return true
    }

    /// Sets a to-one relationship of the record that is being filled.
    /// - Parameters:
    ///   - sequence: the number of the target.
    ///   - entity: the number of the target's entity.
    ///   - slot: the slot of the relationship.
    /// - Returns: false if no record is being filled or the relationship cannot lead to that entity.
    public func set(reference sequence: UInt64, of entity: Int, slot: Int) -> Bool {
        guard let table = filling, let target = table.plan.columns[slot].targets.firstIndex(of: entity) else {
            return false
        }
        table.write(reference: (sequence, target), table.endRow - 1, slot, isNew: true)
        return true
    }

    /// Sets a slot of the new record to any value; false if the value does not fit.
    public func set(_ value: StoredValue, slot: Int) -> Bool {
        guard let table = filling else { return false }
        // It may need another chunk for the row.
        defer { row = NewRow(table) }
        return (try? write(value, table, table.endRow - 1, slot, isNew: true)) ?? false
    }

    // MARK: Changes

    /// Changes values of a record that was replayed before.
    /// - Parameters:
    ///   - entity: the number of the record's entity.
    ///   - sequence: the record's number.
    ///   - changes: the new values, by slot of the catalog's layout; unknown slots are ignored.
    /// - Throws: `EngineError` if there is no such record, or a value does not fit its column.
    public func update(entity: Int, sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        let (table, row) = try find(entity, sequence)
        for (slot, value) in changes where table.plan.columns.indices.contains(slot) {
            guard try write(value, table, row, slot, isNew: false) else {
                throw EngineError.unfitValue(
                    entity: table.plan.entityName, property: table.plan.layout.slots[slot].name,
                    record: catalog.identifier(sequence, entity), found: "\(value)")
            }
        }
    }

    /// Deletes a record that was replayed before.
    /// - Throws: `EngineError.noSuchRecord`.
    public func delete(entity: Int, sequence: UInt64) throws {
        let (table, row) = try find(entity, sequence)
        table.remove(row)
        for column in table.plan.columns where column.role == .toManyStored { clear(column.slot, table, sequence) }
    }

    /// Removes all records.
    public func erase() { removeAll() }

    /// Whether no record may be without a value: saving refuses that.
    private func isRequired(_ column: Column) -> Bool {
        !column.isOptional && !column.isEphemeral && (column.role == .attribute || column.role == .toOne)
    }

    private func find(_ entity: Int, _ sequence: UInt64) throws -> (table: TableWriter, row: Int) {
        let table = table(entity)
        guard let row = table.row(sequence) else {
            throw EngineError.noSuchRecord(catalog.identifier(sequence, entity))
        }
        return (table, row)
    }

    private func clear(_ slot: Int, _ table: TableWriter, _ owner: UInt64) {
        for (member, target) in table.links[slot].members(of: owner) {
            table.links[slot].remove(owner, member, target, transaction: table.owner)
        }
    }

    /// - Returns: false if the value is not of the column's kind.
    private func write(
        _ value: StoredValue, _ table: TableWriter, _ row: Int, _ slot: Int, isNew: Bool
    ) throws -> Bool {
        let column = table.plan.columns[slot]
        switch (column.role, value) {
        case (.attribute, _):
            try catalog.checkReference(value, column, table.plan)
            if value.isNull, isRequired(column) { return false }
            return table.write(value, row, column, isNew: isNew)
        case (.toOne, .null) where isRequired(column): return false
        case (.toOne, .null): table.write(reference: nil, row, slot, isNew: isNew)
        case (.toOne, .identifier(let target)):
            table.write(reference: try reference(target, table, row, slot), row, slot, isNew: isNew)
        case (.toManyStored, .null): if !isNew { clear(slot, table, table.sequence(row)) }
        case (.toManyStored, .identifiers(let members)):
            let owner = table.sequence(row)
            if !isNew { clear(slot, table, owner) }
            for member in members {
                let (number, target) = try reference(member, table, row, slot)
                table.links[slot].insert(owner, number, target, transaction: table.owner)
            }
        case (.toManyDerived, _): break
        default: return false
        }
        return true
    }
}

/// The row that a table has just got, in a chunk that no version has: its values are zero and there.
///
/// Holds the chunk by its address alone, because counting references would cost more than the values do; the loader's table
/// keeps it.
struct NewRow {
    private let memory: UnsafeMutableRawPointer?
    private let offset: Int

    init() {
        memory = nil
        offset = 0
    }

    init(_ table: TableWriter) {
        let (chunk, offset) = table.newest
        memory = chunk.memory
        self.offset = offset
    }

    @inline(__always)
    private func entry(_ slot: Int) -> ChunkPlace.Entry? {
        memory.map { ChunkPlace(fixed: UnsafeRawPointer($0), heap: UnsafeRawPointer($0)).entry(slot) }
    }

    func form(_ slot: Int) -> ColumnForm { entry(slot)?.form ?? .none }

    /// - Returns: false if no record is being filled, or the column has another form.
    @inline(__always)
    func store<T: BitwiseCopyable>(_ value: T?, _ slot: Int, as form: ColumnForm) -> Bool {
        guard let value, let memory, let entry = entry(slot), entry.form == form else { return false }
        memory.storeBytes(of: value, toByteOffset: entry.offset + MemoryLayout<T>.size * offset, as: T.self)
        return true
    }
}
