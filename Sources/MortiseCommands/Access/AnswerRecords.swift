#if Tool
import MortiseCore

/// The records that have been read of a store, by entity, numbered in the order in which they were read.
///
/// @unchecked Sendable: the tool reads a store on one thread at a time.
final class AnswerRecords: @unchecked Sendable {
    /// How more is read.
    struct Reading {
        /// Whether null in a list may say that the store has not read it.
        let defersLists: Bool
        /// Records by identifiers of one entity, with the lists of some names; nil if the store does not find records so.
        let some: (ArraySlice<PersistentIdentifier>, [String]) throws -> [DefaultSnapshot]?
        /// All records of an entity.
        let all: (String, [String]) throws -> [DefaultSnapshot]
    }

    private final class Table {
        let layout: RecordLayout
        var records: [DefaultSnapshot] = []
        var rows: [PersistentIdentifier: Int] = [:]
        /// What was looked for and does not exist.
        var absent: Set<PersistentIdentifier> = []
        var isWhole = false
        /// The relationships that somebody has read, with the row where that was done last.
        var followed: [Int: Int] = [:]

        init(_ layout: RecordLayout) { self.layout = layout }

        /// Adds a record unless it is there.
        /// - Returns: its row.
        @discardableResult func add(_ snapshot: DefaultSnapshot) -> Int {
            let identifier = snapshot.persistentIdentifier
            if let row = rows[identifier] { return row }
            rows[identifier] = records.count
            if snapshot.layout === layout {
                records.append(snapshot)
            } else {
                let values = layout.slots.map { snapshot[property: $0.name] ?? .null }
                append(identifier, ContiguousArray(values), snapshot.recordVersion)
            }
            return records.count - 1
        }

        func set(_ row: Int, _ slot: Int, _ value: StoredValue) {
            var values = records[row].values
            values[slot] = value
            var record = DefaultSnapshot(
                persistentIdentifier: records[row].persistentIdentifier, layout: layout, values: values)
            record.recordVersion = records[row].recordVersion
            records[row] = record
        }

        private func append(
            _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, _ version: UInt64
        ) {
            var record = DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: values)
            record.recordVersion = version
            records.append(record)
        }
    }

    /// How many records are read at a time.
    private static let most = 1_000

    let layouts: [String: RecordLayout]
    private let reading: Reading
    private let tables: [String: Table]
    private var failure: (any Error)?

    init(_ layouts: [String: RecordLayout], _ reading: Reading) {
        self.layouts = layouts
        self.reading = reading
        tables = layouts.mapValues(Table.init)
    }

    /// Takes in the records of an answer.
    /// - Throws: `UnknownEntity`.
    func add(_ snapshots: [DefaultSnapshot]) throws -> [AnswerVersion.Row] {
        try snapshots.map { snapshot in
            let entity = snapshot.persistentIdentifier.entityName
            guard let table = tables[entity] else { throw UnknownEntity(name: entity, known: Array(layouts.keys)) }
            return (entity, table.add(snapshot))
        }
    }

    func count(ofEntity entity: String) -> Int { tables[entity]?.records.count ?? 0 }

    func snapshot(_ entity: String, _ row: Int) -> DefaultSnapshot? {
        guard let table = tables[entity], table.records.indices.contains(row) else { return nil }
        return table.records[row]
    }

    /// A record that has been read.
    func snapshot(of identifier: PersistentIdentifier) -> DefaultSnapshot? {
        guard let table = tables[identifier.entityName] else { return nil }
        return table.rows[identifier].map { table.records[$0] }
    }

    /// - Throws: the first error of a read.
    func check() throws { if let failure { throw failure } }

    /// The row of a record, which is read if it has not been; nil if there is no such record.
    func row(of identifier: PersistentIdentifier) -> Int? {
        guard let table = tables[identifier.entityName] else { return nil }
        if let row = table.rows[identifier] { return row }
        if table.isWhole || table.absent.contains(identifier) { return nil }
        do { try read(identifier, table) } catch { failure = failure ?? error }
        return table.rows[identifier]
    }

    /// A value, which is read if it is a list that the store has left out.
    func value(_ entity: String, _ row: Int, _ slot: Int) -> StoredValue {
        guard let table = tables[entity], table.records.indices.contains(row), table.layout.slots.indices.contains(slot)
        else { return .null }
        let value = table.records[row].values[slot]
        let role = table.layout.slots[slot].role
        if role == .attribute { return value }
        table.followed[slot] = row
        guard value.isNull, role.isToMany, reading.defersLists else { return value }
        do { try readList(table, row, slot) } catch { failure = failure ?? error }
        return table.records[row].values[slot]
    }

    /// Reads a record, and with it those to which others lead from where relationships were followed last.
    private func read(_ identifier: PersistentIdentifier, _ table: Table) throws {
        let entity = identifier.entityName
        var wanted = [identifier]
        var known: Set = [identifier]
        func want(_ other: PersistentIdentifier) {
            guard wanted.count < Self.most, other.entityName == entity, table.rows[other] == nil,
                !table.absent.contains(other), known.insert(other).inserted
            else { return }
            wanted.append(other)
        }
        for other in tables.values {
            for (slot, row) in other.followed {
                for record in other.records[row..<min(row + Self.most, other.records.count)] {
                    switch record.values[slot] {
                    case .identifier(let target): want(target)
                    case .identifiers(let targets): targets.forEach(want)
                    default: break
                    }
                    if wanted.count == Self.most { break }
                }
            }
        }
        guard let found = try reading.some(wanted[...], []) else {
            for snapshot in try reading.all(entity, []) { table.add(snapshot) }
            table.isWhole = true
            return
        }
        // In the order in which they will be needed.
        let snapshots = Dictionary(found.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
        for identifier in wanted { if let snapshot = snapshots[identifier] { table.add(snapshot) } }
        table.absent.formUnion(wanted.lazy.filter { table.rows[$0] == nil })
    }

    /// Reads a list of a record and of those after it.
    private func readList(_ table: Table, _ row: Int, _ slot: Int) throws {
        let rows = (row..<min(row + Self.most, table.records.count)).filter { table.records[$0].values[slot].isNull }
        let wanted = rows.map { table.records[$0].persistentIdentifier }
        let name = table.layout.slots[slot].name
        guard let found = try reading.some(wanted[...], [name]) else { return try readLists(table, row, slot) }
        var lists: [PersistentIdentifier: StoredValue] = [:]
        for snapshot in found { lists[snapshot.persistentIdentifier] = snapshot[property: name] ?? .null }
        for (row, identifier) in zip(rows, wanted) {
            guard let list = lists[identifier] else { throw ToolError.changedMeanwhile(record: "\(identifier)") }
            table.set(row, slot, list.isNull ? .identifiers([]) : list)
        }
    }

    /// Reads a list of all records of an entity, for a store that does not find records by their identifiers.
    private func readLists(_ table: Table, _ row: Int, _ slot: Int) throws {
        let name = table.layout.slots[slot].name
        for snapshot in try reading.all(table.layout.entityName, [name]) {
            guard let row = table.rows[snapshot.persistentIdentifier], table.records[row].values[slot].isNull else {
                continue
            }
            let list = snapshot[property: name] ?? .null
            table.set(row, slot, list.isNull ? .identifiers([]) : list)
        }
        if table.records[row].values[slot].isNull {
            throw ToolError.changedMeanwhile(record: "\(table.records[row].persistentIdentifier)")
        }
    }
}
#endif
