#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

extension SaveWriter {
    // MARK: Deletions

    /// Deletes records. References to them that have no inverse are cleared: no context knows them. The others are cleared too if that
    /// is asked for. What is not cleared by the end of the transaction is refused there, and so are references that a record requires.
    func delete(_ records: [PersistentIdentifier]) throws {
        gone.formUnion(records)
        for (place, holders) in referring.sorted(by: { $0.key < $1.key }) {
            let (owner, slot, column, other) = store.referenceSlots[place]
            let left = holders.subtracting(gone)
            if left.isEmpty { continue }
            let cleared = ([column] + (other.map { [$0] } ?? [])).map { "\(SQLName.quoted($0)) = NULL, " }.joined()
            statements.append(
                .init(
                    "UPDATE \(SQLName.quoted(owner.table)) SET \(cleared)\"rv\" = \"rv\" + 1 WHERE \"id\" = ANY($1::int8[])",
                    [.numbers(left.compactMap { number($0) }.sorted())]))
            for holder in left {
                written[holder, default: []].insert(slot)
                raises[holder, default: 0] += 1
            }
        }
        for record in records { preserve(record, try entity(record)) }
        unlink(records)
        for (table, numbers) in numbers(records) {
            statements.append(
                .init("DELETE FROM \(SQLName.quoted(table)) WHERE \"id\" = ANY($1::int8[])", [.numbers(numbers)]))
        }
        for record in records { owners[record] = nil }
    }

    /// Notes what the history keeps of a record, and who loses a member.
    private func preserve(_ record: PersistentIdentifier, _ entity: TableMapping.Entity) {
        guard let number = number(record) else { return }
        var preserved: [(property: Int, text: String)] = []
        if let snapshot = rows[record] {
            for (slot, value) in zip(entity.slots, snapshot.values) {
                if case .reference = slot.place { note(slot, value, .null) }
                guard let attribute = slot.slot.property.attribute,
                    attribute.options.contains(.preserveValueOnDeletion),
                    let text = value.text(as: attribute.kind)
                else { continue }
                preserved.append((slot.number, text))
            }
        }
        changes.deleted.append(
            HistoryChanges.Deletion(entity: entity.number, number: number, preserved: preserved))
    }

    /// Removes records from all lists that are kept, their own and others'.
    private func unlink(_ records: [PersistentIdentifier]) {
        var touched: [PersistentIdentifier: Set<Int>] = [:]
        for (owner, place) in store.linkSlots {
            let slot = owner.slots[place]
            guard case .links(let links) = slot.place else { continue }
            for (column, table) in [("a", owner.table), ("b", mapping.entities[slot.destination]?.table ?? "")] {
                guard let numbers = numbers(records).first(where: { $0.table == table })?.numbers else { continue }
                if column == "a" {
                    for number in numbers {
                        for member in members[links]?[number] ?? [] { note(inverseOf: slot, member) }
                    }
                } else {
                    for holder in (listing[links] ?? []).subtracting(gone) {
                        touched[holder, default: []].insert(place)
                    }
                }
                statements.append(
                    .init(
                        "DELETE FROM \(SQLName.quoted(links)) WHERE \"\(column)\" = ANY($1::int8[])",
                        [.numbers(numbers)]))
            }
        }
        // A change of a list counts as one of the record, which is kept elsewhere.
        let raised = touched.keys.filter { written[$0] == nil }.sorted()
        for holder in raised { raises[holder, default: 0] += 1 }
        for (table, numbers) in numbers(raised) {
            statements.append(
                .init(
                    "UPDATE \(SQLName.quoted(table)) SET \"rv\" = \"rv\" + 1 WHERE \"id\" = ANY($1::int8[])",
                    [.numbers(numbers)]))
        }
        for (holder, slots) in touched { written[holder, default: []].formUnion(slots) }
    }

    // MARK: Owners of lists

    /// Notes the owners whose derived lists have other members because a reference changes.
    private func note(_ slot: TableMapping.Slot, _ before: StoredValue, _ after: StoredValue) {
        guard slot.slot.property.relationship?.inverse != nil, before != after else { return }
        for case .identifier(let target) in [before, after] { note(inverseOf: slot, target) }
    }

    private func note(inverseOf slot: TableMapping.Slot, _ target: PersistentIdentifier) {
        guard let inverse = slot.slot.property.relationship?.inverse, !gone.contains(target),
            let place = mapping.entities[target.entityName]?.layout.slot(named: inverse)
        else { return }
        owners[target, default: []].insert(place)
    }

    // MARK: Values

    /// The contents of the columns of a slot, in the order of `TableMapping.columns(of:)`; nil for a list.
    private func contents(
        _ slot: TableMapping.Slot, _ value: StoredValue, of record: PersistentIdentifier
    ) throws -> [SQLValue]? {
        switch slot.place {
        case .attribute(let columns):
            guard let found = columns.contents(of: value) else {
                throw store.error(.unfitValue(record: "\(record)", property: slot.slot.name))
            }
            if columns.kind.isNaN(value) { holdsNaN = true }
            return columns.other == nil ? [found.main] : [found.main, found.other]
        case .reference(_, let other):
            guard case .identifier(let target) = value else { return other == nil ? [.null] : [.null, .null] }
            let number = try number(ofTarget: target, slot, of: record)
            guard other != nil else { return [.integer(number)] }
            let named = permanent[target] ?? target
            return [.integer(number), .integer(Int64(mapping.entities[named.entityName]?.number ?? 0))]
        default: return nil
        }
    }

    /// The number of a record that a relationship leads to.
    private func number(
        ofTarget target: PersistentIdentifier, _ slot: TableMapping.Slot, of record: PersistentIdentifier
    ) throws -> Int64 {
        let target = permanent[target] ?? target
        guard let number = number(target), let entity = mapping.entities[target.entityName],
            mapping.entities[slot.destination]?.family.contains(entity.number) == true
        else {
            throw store.error(
                .missingTarget(record: "\(record)", property: slot.slot.name, target: "\(target)"))
        }
        return number
    }

    /// The values in the order of the store's layout.
    func fitted(_ snapshot: DefaultSnapshot, _ entity: TableMapping.Entity) -> ContiguousArray<StoredValue> {
        if snapshot.layout === entity.layout || snapshot.layout.slots.map(\.name) == entity.layout.slots.map(\.name) {
            return snapshot.values
        }
        return ContiguousArray(entity.layout.slots.map { snapshot[property: $0.name] ?? .null })
    }

    // MARK: Updates

    private struct Shape: Hashable {
        let entity: String
        let slots: [Int]
    }

    /// Sets some slots of stored records. Unique values can be exchanged.
    func update(_ requested: RequestedChanges) throws {
        if requested.updated.count > 1 { try park(requested) }
        var groups: [Shape: ColumnValues] = [:]
        var shapes: [Shape] = []
        for (place, snapshot) in requested.updated.enumerated() {
            let record = snapshot.persistentIdentifier
            let entity = try entity(record)
            guard let number = number(record) else {
                throw store.error(.missingTarget(record: "\(record)", property: "id", target: "\(record)"))
            }
            let values = fitted(snapshot, entity)
            var (slots, row): ([Int], [SQLValue]) = ([], [.integer(number)])
            var lists: [Int] = []
            for (slot, mapped) in entity.slots.enumerated() where requested.changes(slot, ofUpdated: place) {
                guard let found = try contents(mapped, values[slot], of: record) else {
                    // What was left out when the record was read stays as it is.
                    if case .identifiers(let members) = values[slot] {
                        if case .links = mapped.place { lists.append(slot) } else { try check(members, mapped, record) }
                    }
                    continue
                }
                row += found
                slots.append(slot)
                if case .reference = mapped.place, let before = rows[record]?.values[slot] {
                    var new = values[slot]
                    new.remapIdentifiers(permanent)
                    note(mapped, before, new)
                }
            }
            let changedLists = try lists.filter { try link(values[$0], entity.slots[$0], of: record, number) }
            written[record, default: []].formUnion(slots + changedLists)
            if slots.isEmpty, changedLists.isEmpty { continue }
            raises[record, default: 0] += 1
            let shape = Shape(entity: entity.name, slots: slots)
            if groups[shape] == nil {
                shapes.append(shape)
                groups[shape] = ColumnValues(
                    [TypedColumn(name: "id", type: "int8")]
                        + slots.flatMap { TypedColumn.columns(of: entity.slots[$0].place) })
            }
            groups[shape]?.append(row)
        }
        for shape in shapes {
            guard let table = mapping.entities[shape.entity]?.table, let values = groups[shape] else { continue }
            let assignments = values.columns.dropFirst().enumerated().map {
                "\(SQLName.quoted($1.name)) = u.c\($0 + 1), "
            }.joined()
            let names = values.columns.indices.map { "c\($0)" }.joined(separator: ", ")
            for part in values.parts {
                statements.append(
                    .init(
                        "UPDATE \(SQLName.quoted(table)) AS t SET \(assignments)\"rv\" = t.\"rv\" + 1 "
                            + "FROM unnest(\(values.places)) AS u(\(names)) WHERE t.\"id\" = u.c0", part))
            }
        }
    }

    /// Takes away the unique values that are about to change, so that records can exchange them.
    private func park(_ requested: RequestedChanges) throws {
        var groups: [Shape: [Int64]] = [:]
        for (place, snapshot) in requested.updated.enumerated() {
            let entity = try entity(snapshot.persistentIdentifier)
            guard let number = number(snapshot.persistentIdentifier) else { continue }
            let slots = Set(entity.layout.uniqueConstraints.joined()).sorted().filter {
                requested.changes($0, ofUpdated: place) && mapping.comparedColumn(entity.slots[$0].place) != nil
            }
            if !slots.isEmpty { groups[Shape(entity: entity.name, slots: slots), default: []].append(number) }
        }
        for (shape, numbers) in groups.sorted(by: { ($0.key.entity, $0.value[0]) < ($1.key.entity, $1.value[0]) }) {
            guard let entity = mapping.entities[shape.entity] else { continue }
            let assignments = shape.slots.compactMap { mapping.comparedColumn(entity.slots[$0].place) }
                .map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
            statements.append(
                .init(
                    "UPDATE \(SQLName.quoted(entity.table)) SET \(assignments) WHERE \"id\" = ANY($1::int8[])",
                    [.numbers(numbers)]))
        }
    }

    /// Makes sure that the members of a list that others keep exist.
    private func check(
        _ members: [PersistentIdentifier], _ slot: TableMapping.Slot, _ record: PersistentIdentifier
    ) throws {
        for member in members where permanent[member] == nil && (!present.contains(member) || gone.contains(member)) {
            throw store.error(.missingTarget(record: "\(record)", property: slot.slot.name, target: "\(member)"))
        }
    }

    /// Stores the members of a list.
    /// - Returns: whether they differ from those that were stored.
    private func link(
        _ value: StoredValue, _ slot: TableMapping.Slot, of record: PersistentIdentifier, _ number: Int64
    ) throws -> Bool {
        guard case .links(let links) = slot.place, case .identifiers(let members) = value else { return false }
        var names: [Int64: PersistentIdentifier] = [:]
        var wanted: Set<Int64> = []
        for member in members {
            let number = try self.number(ofTarget: member, slot, of: record)
            wanted.insert(number)
            names[number] = permanent[member] ?? member
        }
        var known: Set<Int64> = []
        for member in self.members[links]?[number] ?? [] {
            guard let number = self.number(member), !gone.contains(member) else { continue }
            known.insert(number)
            names[number] = member
        }
        unlinked[links, default: []] += known.subtracting(wanted).sorted().map { (number, $0) }
        linked[links, default: []] += wanted.subtracting(known).sorted().map { (number, $0) }
        for member in known.symmetricDifference(wanted) {
            if let name = names[member] { note(inverseOf: slot, name) }
        }
        return known != wanted
    }

    // MARK: Insertions

    /// The contents of new records under the numbers that they have, by table.
    func insert(_ snapshots: [DefaultSnapshot], noting: Bool = true) throws -> [(table: String, values: ColumnValues)] {
        var groups: [String: ColumnValues] = [:]
        for snapshot in snapshots {
            let record = permanent[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            let entity = try entity(record)
            guard let number = number(record) else { throw store.error(.misfit("\(record) has no number")) }
            let values = fitted(snapshot, entity)
            var row: [SQLValue] = [.integer(number), .integer(Int64(entity.number)), .integer(1)]
            for (place, slot) in entity.slots.enumerated() {
                guard let found = try contents(slot, values[place], of: record) else {
                    _ = try link(values[place], slot, of: record, number)
                    continue
                }
                row += found
                if noting, case .reference = slot.place {
                    var target = values[place]
                    target.remapIdentifiers(permanent)
                    note(slot, .null, target)
                }
            }
            if groups[entity.name] == nil {
                groups[entity.name] = ColumnValues(
                    [
                        TypedColumn(name: "id", type: "int8"), TypedColumn(name: "ent", type: "int2"),
                        TypedColumn(name: "rv", type: "int8"),
                    ] + entity.slots.flatMap { TypedColumn.columns(of: $0.place) })
            }
            groups[entity.name]?.append(row)
            if noting { changes.insert(number, entity: entity.number) }
        }
        return groups.sorted { $0.key < $1.key }.compactMap { name, values in
            mapping.entities[name].map { ($0.table, values) }
        }
    }

    /// Adds the statements that insert records without COPY.
    func add(_ table: String, _ values: ColumnValues) {
        let names = values.columns.map { SQLName.quoted($0.name) }.joined(separator: ", ")
        for part in values.parts {
            statements.append(
                .init(
                    "INSERT INTO \(SQLName.quoted(table)) (\(names)) SELECT * FROM unnest(\(values.places))", part))
        }
    }

    /// Adds the statements that change lists.
    func addLinks() {
        for (table, pairs) in unlinked.sorted(by: { $0.key < $1.key }) where !pairs.isEmpty {
            statements.append(
                .init(
                    "DELETE FROM \(SQLName.quoted(table)) AS l USING unnest($1::int8[], $2::int8[]) AS u(a, b) "
                        + "WHERE l.\"a\" = u.a AND l.\"b\" = u.b", [.numbers(pairs.map(\.0)), .numbers(pairs.map(\.1))])
            )
        }
        for (table, pairs) in linked.sorted(by: { $0.key < $1.key }) where !pairs.isEmpty {
            statements.append(
                .init(
                    "INSERT INTO \(SQLName.quoted(table)) (\"a\", \"b\") SELECT * FROM unnest($1::int8[], $2::int8[])",
                    [.numbers(pairs.map(\.0)), .numbers(pairs.map(\.1))]))
        }
    }

    /// Removes all records.
    func erase() {
        for (owner, place) in store.linkSlots {
            if case .links(let table) = owner.slots[place].place {
                statements.append(.init("DELETE FROM \(SQLName.quoted(table))"))
            }
        }
        for table in Set(mapping.catalog.entities.map(\.table)).sorted() {
            statements.append(.init("DELETE FROM \(SQLName.quoted(table))"))
        }
        changes.isErasure = true
    }
}

/// The values of some columns for many records.
struct ColumnValues {
    let columns: [TypedColumn]
    private(set) var rows: [[SQLValue]] = []

    init(_ columns: [TypedColumn]) { self.columns = columns }

    mutating func append(_ row: [SQLValue]) { rows.append(row) }

    /// Places for one list for each column.
    var places: String {
        columns.enumerated().map { "$\($0 + 1)::\($1.type)[]" }.joined(separator: ", ")
    }

    /// About how many bytes of values a statement takes at most.
    private static let mostBytes = 32 << 20

    /// The lists of values, in parts that a server takes at a time.
    var parts: [[SQLValue]] {
        var found: [[SQLValue]] = []
        var first = 0
        while first < rows.count {
            var (end, bytes) = (first, 0)
            while end < rows.count, bytes < Self.mostBytes {
                for value in rows[end] {
                    switch value {
                    case .text(let text): bytes += text.utf8.count
                    case .blob(let data): bytes += data.count
                    default: bytes += 12
                    }
                }
                end += 1
            }
            found.append(
                columns.indices.map { column in .array(rows[first..<end].map { $0[column] }, of: columns[column].type) }
            )
            first = end
        }
        return found
    }

    /// The rows as `COPY … (FORMAT binary)` reads them.
    func copied() throws(BinaryCoding.Unfit) -> [UInt8] {
        var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)
        for row in rows {
            BinaryCoding.append(Int16(clamping: row.count), to: &bytes)
            for (column, value) in zip(columns, row) {
                try BinaryCoding.appendWithLength(value, as: column.type, to: &bytes)
            }
        }
        BinaryCoding.append(Int16(-1), to: &bytes)
        return bytes
    }
}
#endif
