#if SQLite
import CSQLite
import Foundation
import MortiseCore
import MortiseSQL

/// Writes the changes of one save, within its transaction.
struct SaveWriter {
    let store: SQLiteStore
    let connection: SQLiteConnection
    let identifier: String
    let mapping: TableMapping
    private(set) var nextNumber: Int64
    private(set) var holdsNaN: Bool
    /// Tells the transaction from any other of the same number.
    let mark = HistoryMark.next()
    /// For the history.
    private(set) var changes = HistoryChanges()
    /// The permanent identifiers by the temporary ones.
    private(set) var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Records whose lists have other members now, by the slots of these.
    private(set) var owners: [PersistentIdentifier: Set<Int>] = [:]
    private var gone: Set<PersistentIdentifier> = []
    /// Records that were given new values, with the slots.
    private(set) var written: [PersistentIdentifier: Set<Int>] = [:]

    init(_ store: SQLiteStore, _ connection: SQLiteConnection, _ moment: SQLiteStore.Moment) {
        self.store = store
        self.connection = connection
        identifier = store.identifier
        mapping = store.mapping
        nextNumber = moment.nextNumber
        holdsNaN = moment.holdsNaN
    }

    // MARK: Names

    func entity(_ record: PersistentIdentifier) throws -> TableMapping.Entity {
        guard let entity = mapping.entities[record.entityName] else {
            throw store.error(.misfit("\(record.entityName) is not in the schema"))
        }
        return entity
    }

    /// The number of a stored record.
    func number(_ record: PersistentIdentifier) -> Int64? {
        guard record.storeIdentifier == identifier else { return nil }
        return record.sequenceNumber.flatMap { Int64(exactly: $0) }
    }

    private func found(_ number: Int64, _ entity: Int64) throws -> PersistentIdentifier {
        guard let name = mapping.byNumber[Int(clamping: entity)]?.name, number > 0 else {
            throw store.error(.damagedValue(record: "record \(number)", property: "ent", found: "\(entity)"))
        }
        return .numbered(UInt64(number), storeIdentifier: identifier, entityName: name)
    }

    /// Whether the record is stored as one of that entity, and its version.
    func version(of record: PersistentIdentifier) throws -> UInt64? {
        guard let number = number(record), let entity = mapping.entities[record.entityName] else { return nil }
        var version: UInt64?
        try connection.run(
            "SELECT t.\"rv\" FROM \(SQLName.quoted(entity.table)) t WHERE t.\"id\" = ? AND t.\"ent\" = ?",
            [.integer(number), .integer(Int64(entity.number))]
        ) { version = UInt64(clamping: $0.integer(0)) }
        return version
    }

    // MARK: Deletions

    /// Deletes records. References to them that have no inverse are cleared: no context knows them. The others are cleared too if that
    /// is asked for. What is not cleared by the end of the transaction is refused there, and so are references that a record requires.
    mutating func delete(_ records: [PersistentIdentifier], clearing clears: Bool = false) throws {
        gone.formUnion(records)
        try clearReferences(to: records, all: clears)
        for record in records {
            let entity = try entity(record)
            guard let number = number(record) else { continue }
            try preserve(record, entity, number)
            try unlink(record, entity, number)
            try connection.run("DELETE FROM \(SQLName.quoted(entity.table)) WHERE \"id\" = ?", [.integer(number)])
            owners[record] = nil
        }
    }

    /// Notes what the history keeps of a record, and who loses a member.
    private mutating func preserve(_ record: PersistentIdentifier, _ entity: TableMapping.Entity, _ number: Int64)
        throws
    {
        let decoding = RecordDecoding([entity.number], mapping)
        var snapshot: DefaultSnapshot?
        let isNeeded = entity.slots.contains { slot in
            if case .reference = slot.place { return slot.slot.property.relationship?.inverse != nil }
            return slot.slot.property.attribute?.options.contains(.preserveValueOnDeletion) == true
        }
        if isNeeded {
            try connection.run(
                "SELECT \(decoding.columns) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"id\" = ?",
                [.integer(number)]
            ) { snapshot = try decoding.record($0, store: identifier, path: store.configuration.path) }
        }
        var preserved: [(property: Int, text: String)] = []
        if let snapshot {
            for (slot, value) in zip(entity.slots, snapshot.values) {
                if case .reference = slot.place { try note(slot, of: nil, value, .null) }
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

    /// Removes a record from all lists that are kept, its own and others'.
    private mutating func unlink(_ record: PersistentIdentifier, _ entity: TableMapping.Entity, _ number: Int64) throws
    {
        for (owner, place) in store.linkSlots {
            let slot = owner.slots[place]
            guard case .links(let links) = slot.place else { continue }
            let table = SQLName.quoted(links)
            if owner.table == entity.table {
                for member in try linked(slot, of: number) { note(inverseOf: slot, member) }
                try connection.run("DELETE FROM \(table) WHERE \"a\" = ?", [.integer(number)])
            }
            guard mapping.entities[slot.destination]?.table == entity.table else { continue }
            var holders: [PersistentIdentifier] = []
            try connection.run(
                "SELECT t.\"id\", t.\"ent\" FROM \(table) l JOIN \(SQLName.quoted(owner.table)) t ON t.\"id\" = l.\"a\" "
                    + "WHERE l.\"b\" = ?", [.integer(number)]
            ) { holders.append(try found($0.integer(0), $0.integer(1))) }
            if holders.isEmpty { continue }
            try connection.run("DELETE FROM \(table) WHERE \"b\" = ?", [.integer(number)])
            for holder in holders where !gone.contains(holder) { try touch(holder, place) }
        }
    }

    /// Clears what refers to records that are about to be deleted.
    private mutating func clearReferences(to records: [PersistentIdentifier], all: Bool) throws {
        for record in records {
            guard let number = number(record), let target = mapping.entities[record.entityName] else { continue }
            for (owner, place, column, other) in store.referenceSlots
            where mapping.entities[owner.slots[place].destination]?.table == target.table
                && (all || owner.slots[place].slot.property.relationship?.inverse == nil)
                && owner.slots[place].slot.property.isOptional
            {
                var holders: [PersistentIdentifier] = []
                let table = SQLName.quoted(owner.table)
                try connection.run(
                    "SELECT t.\"id\", t.\"ent\" FROM \(table) t WHERE t.\(SQLName.quoted(column)) = ?",
                    [.integer(number)]
                ) { holders.append(try found($0.integer(0), $0.integer(1))) }
                for holder in holders where !gone.contains(holder) {
                    guard let holding = self.number(holder) else { continue }
                    let cleared = [column] + (other.map { [$0] } ?? [])
                    try connection.run(
                        "UPDATE \(table) SET \(cleared.map { "\(SQLName.quoted($0)) = NULL, " }.joined())\"rv\" = \"rv\" + 1 "
                            + "WHERE \"id\" = ?", [.integer(holding)])
                    written[holder, default: []].insert(place)
                }
            }
        }
    }

    /// Counts a change of a record's list, which is kept elsewhere.
    private mutating func touch(_ record: PersistentIdentifier, _ slot: Int) throws {
        guard let number = number(record), let entity = mapping.entities[record.entityName] else { return }
        if written[record] == nil {
            try connection.run(
                "UPDATE \(SQLName.quoted(entity.table)) SET \"rv\" = \"rv\" + 1 WHERE \"id\" = ?", [.integer(number)])
        }
        written[record, default: []].insert(slot)
    }

    // MARK: Owners of lists

    /// Notes the owners whose derived lists have other members because a reference changes.
    private mutating func note(
        _ slot: TableMapping.Slot, of record: PersistentIdentifier?, _ before: StoredValue, _ after: StoredValue
    ) throws {
        guard slot.slot.property.relationship?.inverse != nil, before != after else { return }
        for case .identifier(let target) in [before, after] { note(inverseOf: slot, target) }
    }

    private mutating func note(inverseOf slot: TableMapping.Slot, _ target: PersistentIdentifier) {
        guard let inverse = slot.slot.property.relationship?.inverse, !gone.contains(target),
            let place = mapping.entities[target.entityName]?.layout.slot(named: inverse)
        else { return }
        owners[target, default: []].insert(place)
    }

    private func linked(_ slot: TableMapping.Slot, of number: Int64) throws -> [PersistentIdentifier] {
        try store.members(slot, of: [number], connection)[Int(number)] ?? []
    }

    // MARK: Values

    /// The contents of the columns of a slot, in the order of `TableMapping.columns(of:)`; nil for a list.
    private mutating func contents(
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
            return [.integer(number), .integer(Int64(mapping.entities[target.entityName]?.number ?? 0))]
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

    // MARK: Updates

    /// Sets some slots of stored records. Unique values can be exchanged.
    mutating func update(_ snapshots: [DefaultSnapshot], _ changed: [SlotSet]) throws {
        let before = snapshots.count > 1 ? try park(snapshots, changed) : [:]
        for (place, snapshot) in snapshots.enumerated() {
            try update(snapshot, changed.indices.contains(place) ? changed[place] : nil, before[place])
        }
    }

    /// Takes away the unique values that are about to change, so that records can exchange them.
    /// - Returns: by place, what records refer to whose references are among these values.
    private func park(_ snapshots: [DefaultSnapshot], _ changed: [SlotSet]) throws -> [Int: [Int: StoredValue]] {
        var before: [Int: [Int: StoredValue]] = [:]
        for (place, snapshot) in snapshots.enumerated() {
            let entity = try entity(snapshot.persistentIdentifier)
            guard let number = number(snapshot.persistentIdentifier) else { continue }
            let own = changed.indices.contains(place) ? changed[place] : nil
            let unique = Set(entity.layout.uniqueConstraints.joined()).sorted().filter { own?.contains($0) ?? true }
            let columns = unique.compactMap { mapping.comparedColumn(entity.slots[$0].place) }
            if columns.isEmpty { continue }
            let hasReferences = unique.contains { slot in
                if case .reference = entity.slots[slot].place { true } else { false }
            }
            if hasReferences { before[place] = try references(of: number, entity, own) }
            let assignments = columns.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
            try connection.run(
                "UPDATE \(SQLName.quoted(entity.table)) SET \(assignments) WHERE \"id\" = ?", [.integer(number)])
        }
        return before
    }

    private mutating func update(
        _ snapshot: DefaultSnapshot, _ changed: SlotSet?, _ parked: [Int: StoredValue]?
    ) throws {
        let record = snapshot.persistentIdentifier
        let entity = try entity(record)
        guard let number = number(record) else {
            throw store.error(.missingTarget(record: "\(record)", property: "id", target: "\(record)"))
        }
        let values = try fitted(snapshot, entity)
        var assignments: [String] = []
        var contents: [SQLValue] = []
        var slots: Set<Int> = []
        var lists: [Int] = []
        let before = try parked ?? references(of: number, entity, changed)
        for (place, slot) in entity.slots.enumerated() where changed?.contains(place) ?? true {
            guard let found = try self.contents(slot, values[place], of: record) else {
                // What was left out when the record was read stays as it is.
                if case .identifiers(let members) = values[place] {
                    if case .links = slot.place { lists.append(place) } else { try check(members, slot, of: record) }
                }
                continue
            }
            for (column, value) in zip(TableMapping.columns(of: slot.place), found) {
                assignments.append("\(SQLName.quoted(column)) = ?")
                contents.append(value)
            }
            slots.insert(place)
            if let old = before[place] {
                var new = values[place]
                new.remapIdentifiers(permanent)
                try note(slot, of: record, old, new)
            }
        }
        for place in lists where try link(values[place], entity.slots[place], of: record, number) {
            slots.insert(place)
        }
        if slots.isEmpty {
            written[record, default: []].formUnion([])
            return
        }
        assignments.append("\"rv\" = \"rv\" + 1")
        contents.append(.integer(number))
        try writing(record, values, entity) {
            try connection.run(
                "UPDATE \(SQLName.quoted(entity.table)) SET \(assignments.joined(separator: ", ")) WHERE \"id\" = ?",
                contents)
        }
        written[record, default: []].formUnion(slots)
    }

    /// The targets of those references of a stored record whose change others' lists show.
    private func references(
        of number: Int64, _ entity: TableMapping.Entity, _ changed: SlotSet?
    ) throws -> [Int: StoredValue] {
        let places = entity.slots.indices.filter { place in
            guard case .reference = entity.slots[place].place, changed?.contains(place) ?? true else { return false }
            return entity.slots[place].slot.property.relationship?.inverse != nil
        }
        if places.isEmpty { return [:] }
        let decoding = RecordDecoding([entity.number], mapping)
        var found: [Int: StoredValue] = [:]
        try connection.run(
            "SELECT \(decoding.columns) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"id\" = ?", [.integer(number)]
        ) { row in
            let snapshot = try decoding.record(
                row, store: identifier, path: store.configuration.path, midway: true)
            for place in places { found[place] = snapshot.values[place] }
        }
        return found
    }

    /// The values in the order of the store's layout.
    private func fitted(_ snapshot: DefaultSnapshot, _ entity: TableMapping.Entity) throws -> ContiguousArray<
        StoredValue
    > {
        if snapshot.layout === entity.layout || snapshot.layout.slots.map(\.name) == entity.layout.slots.map(\.name) {
            return snapshot.values
        }
        return ContiguousArray(entity.layout.slots.map { snapshot[property: $0.name] ?? .null })
    }

    /// Makes sure that the members of a list that others keep exist.
    private func check(
        _ members: [PersistentIdentifier], _ slot: TableMapping.Slot, of record: PersistentIdentifier
    ) throws {
        for member in members where permanent[member] == nil {
            if try version(of: member) == nil || gone.contains(member) {
                throw store.error(
                    .missingTarget(record: "\(record)", property: slot.slot.name, target: "\(member)"))
            }
        }
    }

    /// Stores the members of a list.
    /// - Returns: whether they differ from those that were stored.
    private mutating func link(
        _ value: StoredValue, _ slot: TableMapping.Slot, of record: PersistentIdentifier, _ number: Int64,
        isNew: Bool = false
    ) throws -> Bool {
        guard case .links(let links) = slot.place, case .identifiers(let members) = value else { return false }
        let wanted = Set(try members.map { try self.number(ofTarget: $0, slot, of: record) })
        var names: [Int64: PersistentIdentifier] = [:]
        for member in members {
            let member = permanent[member] ?? member
            if let number = self.number(member) { names[number] = member }
        }
        var known: Set<Int64> = []
        if !isNew {
            for member in try linked(slot, of: number) {
                guard let number = self.number(member) else { continue }
                known.insert(number)
                names[number] = member
            }
        }
        let table = SQLName.quoted(links)
        for member in known.subtracting(wanted) {
            try connection.run(
                "DELETE FROM \(table) WHERE \"a\" = ? AND \"b\" = ?", [.integer(number), .integer(member)])
        }
        for member in wanted.subtracting(known).sorted() {
            try connection.run(
                "INSERT INTO \(table) (\"a\", \"b\") VALUES (?, ?)", [.integer(number), .integer(member)])
        }
        for member in known.symmetricDifference(wanted) {
            if let name = names[member] { note(inverseOf: slot, name) }
        }
        return known != wanted
    }

    // MARK: Insertions

    /// Gives new records their numbers, in order.
    mutating func number(_ records: [PersistentIdentifier]) throws {
        for record in records {
            _ = try entity(record)
            permanent[record] = .numbered(
                UInt64(nextNumber), storeIdentifier: identifier, entityName: record.entityName)
            nextNumber += 1
        }
    }

    /// Writes new records under the numbers that they have.
    mutating func insert(_ snapshots: [DefaultSnapshot], noting: Bool = true) throws {
        var linked: [(PersistentIdentifier, TableMapping.Slot, Int64, StoredValue)] = []
        for snapshot in snapshots {
            let record = permanent[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            let entity = try entity(record)
            guard let number = number(record) else { throw store.error(.misfit("\(record) has no number")) }
            let values = try fitted(snapshot, entity)
            var columns = ["\"id\"", "\"ent\"", "\"rv\""]
            var contents: [SQLValue] = [.integer(number), .integer(Int64(entity.number)), .integer(1)]
            for (place, slot) in entity.slots.enumerated() {
                guard let found = try self.contents(slot, values[place], of: record) else {
                    if case .links = slot.place { linked.append((record, slot, number, values[place])) }
                    continue
                }
                columns += TableMapping.columns(of: slot.place).map(SQLName.quoted)
                contents += found
                if noting, case .reference = slot.place {
                    var target = values[place]
                    target.remapIdentifiers(permanent)
                    try note(slot, of: record, .null, target)
                }
            }
            let places = repeatElement("?", count: columns.count).joined(separator: ", ")
            try writing(record, values, entity) {
                try connection.run(
                    "INSERT INTO \(SQLName.quoted(entity.table)) (\(columns.joined(separator: ", "))) VALUES (\(places))",
                    contents)
            }
            if noting { changes.insert(number, entity: entity.number) }
        }
        for (record, slot, number, value) in linked {
            _ = try link(value, slot, of: record, number, isNew: true)
        }
    }

    // MARK: Errors

    /// `SQLITE_CONSTRAINT_PRIMARYKEY` and `SQLITE_CONSTRAINT_ROWID`. The tables of records have no other primary keys.
    private static let numberIsTaken: [Int32] = [1_555, 2_579]

    /// Runs a statement; where a unique value is taken, says by whom.
    private func writing(
        _ record: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, _ entity: TableMapping.Entity,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SQLiteError {
            guard case .engine(let code, _) = error.fault, code & 0xFF == SQLITE_CONSTRAINT else { throw error }
            if Self.numberIsTaken.contains(code) {
                throw store.error(
                    .damagedMetadata(
                        "the next record would be \(record), and \(entity.table) has that number already, by another "
                            + "program perhaps; nextNumber of mortise_store has to be greater"))
            }
            for constraint in entity.layout.uniqueConstraints {
                guard let other = try holder(of: values, constraint, entity, except: record) else { continue }
                throw store.error(
                    .notUnique(
                        entity: entity.name, properties: constraint.map { entity.layout.slots[$0].name },
                        record: record,
                        other: other))
            }
            throw error
        }
    }

    /// The record that has the unique values of another.
    private func holder(
        of values: ContiguousArray<StoredValue>, _ constraint: [Int], _ entity: TableMapping.Entity,
        except record: PersistentIdentifier
    ) throws -> PersistentIdentifier? {
        var conditions: [String] = []
        var contents: [SQLValue] = []
        for place in constraint {
            let slot = entity.slots[place]
            guard let column = mapping.comparedColumn(slot.place) else { return nil }
            var value: SQLValue?
            switch (slot.place, values[place]) {
            case (.attribute(let columns), let attribute):
                // Equal to nothing.
                if columns.kind.isNaN(attribute) { return nil }
                value = AttributeColumns.compared(attribute, as: columns.kind)
            case (_, .identifier(let target)): value = number(permanent[target] ?? target).map(SQLValue.integer)
            default: break
            }
            guard let value, !value.isNull else { return nil }
            conditions.append("t.\(SQLName.quoted(column)) = ?")
            contents.append(value)
        }
        guard !conditions.isEmpty, let number = number(record) else { return nil }
        var other: PersistentIdentifier?
        try connection.run(
            "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(entity.table)) t WHERE "
                + conditions.joined(separator: " AND ") + " AND t.\"id\" <> ? LIMIT 1", contents + [.integer(number)]
        ) { other = try found($0.integer(0), $0.integer(1)) }
        return other
    }

    /// The records, other than some, that refer to a record.
    func holders(of record: PersistentIdentifier, except known: Set<PersistentIdentifier>) throws
        -> [PersistentIdentifier]
    {
        try references(to: record).map(\.holder).filter { !known.contains($0) }
    }

    /// A record, other than some, that requires one of the deleted records; nil if no record does.
    func requiring(
        _ deleted: [PersistentIdentifier], except known: Set<PersistentIdentifier>,
        where isConcerned: (TableMapping.Slot) -> Bool = { _ in true }
    ) throws -> SQLiteError? {
        for record in deleted {
            let found = try references(to: record).first { holder, slot in
                !slot.slot.property.isOptional && isConcerned(slot) && !known.contains(holder)
            }
            guard let (holder, slot) = found else { continue }
            return store.error(
                .missingTarget(record: "\(holder)", property: slot.slot.name, target: "\(record)"))
        }
        return nil
    }

    private func references(
        to record: PersistentIdentifier
    ) throws -> [(holder: PersistentIdentifier, slot: TableMapping.Slot)] {
        guard let number = number(record), let target = mapping.entities[record.entityName] else { return [] }
        var references: [(holder: PersistentIdentifier, slot: TableMapping.Slot)] = []
        for (owner, place, column, _) in store.referenceSlots
        where mapping.entities[owner.slots[place].destination]?.table == target.table {
            try connection.run(
                "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(owner.table)) t WHERE t.\(SQLName.quoted(column)) = ?",
                [.integer(number)]
            ) { references.append((try found($0.integer(0), $0.integer(1)), owner.slots[place])) }
        }
        return references
    }

    // MARK: The end

    /// Whether anything is stored otherwise than before.
    var isEmpty: Bool {
        !changes.isErasure && changes.inserted.isEmpty && changes.deleted.isEmpty
            && written.values.allSatisfy(\.isEmpty)
    }

    /// Writes the transaction into the history.
    /// - Returns: its number.
    mutating func finish(_ moment: SQLiteStore.Moment, author: String?) throws -> Int64 {
        for (record, slots) in written.sorted(by: { $0.key < $1.key }) where !slots.isEmpty && !gone.contains(record) {
            guard let entity = mapping.entities[record.entityName], let number = number(record) else { continue }
            changes.updated.append(
                HistoryChanges.Update(
                    entity: entity.number, number: number, properties: slots.sorted().map { entity.slots[$0].number }))
        }
        for (record, slots) in owners.sorted(by: { $0.key < $1.key }) where !gone.contains(record) {
            guard let entity = mapping.entities[record.entityName], let number = number(record) else { continue }
            // New records are named already.
            if number >= moment.nextNumber { continue }
            changes.owners.append(
                HistoryChanges.Update(
                    entity: entity.number, number: number, properties: slots.sorted().map { entity.slots[$0].number }))
        }
        let transaction = moment.lastTransaction + 1
        let entry = entry(transaction, author: author)
        try connection.run(
            "INSERT INTO mortise_history (n, at, author, process, bundle, kind, mark, changes) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(transaction), .real(entry.timestamp.timeIntervalSinceReferenceDate),
                author.map(SQLValue.text) ?? .null, .text(entry.process), .text(entry.bundle),
                .integer(Int64(entry.kind.rawValue)), .integer(Int64(bitPattern: mark)), .blob(changes.data),
            ])
        try connection.run(
            "UPDATE mortise_store SET nextNumber = ?, lastTransaction = ?, holdsNaN = ?",
            [.integer(nextNumber), .integer(transaction), .integer(holdsNaN ? 1 : 0)])
        if changes.isErasure { try connection.run("UPDATE mortise_store SET erasure = ?", [.integer(transaction)]) }
        return transaction
    }

    /// The transaction, as the history has it.
    func entry(_ number: Int64, author: String?) -> HistoryEntry {
        HistoryEntry(
            number: number, mark: mark, timestamp: Date(), author: author,
            process: ProcessInfo.processInfo.processName, bundle: Bundle.main.bundleIdentifier ?? "",
            kind: changes.isErasure ? .erasure : .changes)
    }

    /// Notes that all records go.
    mutating func noteErasure() { changes.isErasure = true }
}
#endif
