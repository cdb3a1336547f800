#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// What one transaction is to change.
struct RequestedChanges {
    var inserted: [DefaultSnapshot] = []
    var updated: [DefaultSnapshot] = []
    /// By record of `updated`, the slots that change; all for one without.
    var changedSlots: [SlotSet] = []
    var deleted: [PersistentIdentifier] = []
    /// Whether all references to deleted records are cleared, and not only those that no context knows.
    var clears = false

    func changes(_ slot: Int, ofUpdated place: Int) -> Bool {
        changedSlots.indices.contains(place) ? changedSlots[place].contains(slot) : true
    }
}

/// Writes the changes of one transaction: reads what it depends on in one round trip, and collects statements for another.
final class SaveWriter {
    let store: PostgreSQLStore
    let connection: PostgreSQLConnection
    let identifier: String
    let mapping: TableMapping
    /// Names the save where its outcome is asked for.
    private let key = UUID()
    /// The mark of the transaction in the history.
    let mark = HistoryMark.next()
    /// When the history says that it was.
    private var date = 0.0
    private(set) var moment: PostgreSQLStore.Moment
    var holdsNaN = false
    /// For the history.
    var changes = HistoryChanges()
    /// The permanent identifiers by the temporary ones.
    private(set) var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Records whose lists have other members now, by the slots of these.
    var owners: [PersistentIdentifier: Set<Int>] = [:]
    var gone: Set<PersistentIdentifier> = []
    /// Records that were given new values, with the slots.
    var written: [PersistentIdentifier: Set<Int>] = [:]
    /// The versions of the records that change.
    private(set) var versions: [PersistentIdentifier: UInt64] = [:]
    /// By how much the versions of records grow.
    var raises: [PersistentIdentifier: UInt64] = [:]
    /// Records of which values are needed.
    var rows: [PersistentIdentifier: DefaultSnapshot] = [:]
    /// The members of lists, by table of links and owner.
    var members: [String: [Int64: [PersistentIdentifier]]] = [:]
    /// The records that have deleted ones in their lists, by table of links.
    var listing: [String: Set<PersistentIdentifier>] = [:]
    /// The records that refer to deleted ones, by place in `referenceSlots` of the store.
    var referring: [Int: Set<PersistentIdentifier>] = [:]
    /// Records that lists name which others keep.
    var present: Set<PersistentIdentifier> = []
    /// What is to be run.
    var statements: [PostgreSQLConnection.Statement] = []
    /// Links that go and come, by table.
    var unlinked: [String: [(Int64, Int64)]] = [:]
    var linked: [String: [(Int64, Int64)]] = [:]

    init(_ store: PostgreSQLStore, _ connection: PostgreSQLConnection) {
        self.store = store
        self.connection = connection
        identifier = store.identifier
        mapping = store.mapping
        moment = PostgreSQLStore.Moment(lastTransaction: 0, nextNumber: 1, holdsNaN: false)
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

    func found(_ row: PostgreSQLRow, _ column: Int32 = 0) throws -> PersistentIdentifier {
        try store.record(row.integer(column), row.integer(column + 1), identifier)
    }

    /// The numbers of stored records by table.
    func numbers(_ records: some Sequence<PersistentIdentifier>) -> [(table: String, numbers: [Int64])] {
        var found: [String: [Int64]] = [:]
        for record in records {
            guard let number = number(record), let table = mapping.entities[record.entityName]?.table else { continue }
            found[table, default: []].append(number)
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Beginning

    /// A statement, and what is done with what it returns.
    private typealias Reading = (statement: PostgreSQLConnection.Statement, take: (PostgreSQLResult) throws -> Void)

    /// Begins the transaction, waits for other writers of the store, and reads what the changes depend on, in one round trip.
    func begin(numbers count: Int, _ changes: RequestedChanges = RequestedChanges()) throws {
        let lock = PostgreSQLConnection.Statement(
            """
            UPDATE mortise_store AS s SET "nextNumber" = s."nextNumber" + $1::int8, \
            "lastTransaction" = s."lastTransaction" + 1 RETURNING s."schemaNumber", s."lastTransaction" - 1, \
            s."nextNumber" - $1::int8, s."holdsNaN"
            """, [.integer(Int64(count))])
        try read(
            [(.init("BEGIN"), { _ in }), (lock, { self.moment = try self.store.moment($0) })] + readings(of: changes))
        holdsNaN = moment.holdsNaN
    }

    /// Reads what changes depend on, in one round trip.
    func load(_ changes: RequestedChanges) throws { try read(readings(of: changes)) }

    private func read(_ readings: [Reading]) throws {
        if readings.isEmpty { return }
        let results = try connection.run(readings.map(\.statement))
        for (reading, result) in zip(readings, results) { try reading.take(result) }
    }

    private func readings(of changes: RequestedChanges) -> [Reading] {
        var found: [Reading] = []
        let changing = changes.updated.map(\.persistentIdentifier) + changes.deleted
        for (table, numbers) in numbers(changing) {
            found.append(
                (
                    .init(
                        "SELECT t.\"id\", t.\"ent\", t.\"rv\" FROM \(SQLName.quoted(table)) t "
                            + "WHERE t.\"id\" = ANY($1::int8[]) FOR UPDATE", [.numbers(numbers)]),
                    { result in
                        for row in result.rows {
                            self.versions[try self.found(row)] = UInt64(clamping: row.integer(2))
                        }
                    }
                ))
        }
        found += valueReadings(changes) + listReadings(changes)
        for (place, target) in store.referenceSlots.enumerated() {
            let slot = target.owner.slots[target.place]
            guard changes.clears || slot.slot.property.relationship?.inverse == nil, slot.slot.property.isOptional,
                let table = mapping.entities[slot.destination]?.table
            else { continue }
            let doomed = numbers(changes.deleted).first { $0.table == table }?.numbers ?? []
            if doomed.isEmpty { continue }
            found.append(
                (
                    .init(
                        "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(target.owner.table)) t "
                            + "WHERE t.\(SQLName.quoted(target.column)) = ANY($1::int8[]) FOR UPDATE",
                        [.numbers(doomed)]),
                    { self.referring[place, default: []].formUnion(try $0.rows.map { try self.found($0) }) }
                ))
        }
        return found
    }

    /// Whole records: where the history keeps values of deleted ones, and where others' lists follow from references.
    private func valueReadings(_ changes: RequestedChanges) -> [Reading] {
        func follows(_ slot: TableMapping.Slot) -> Bool {
            if case .reference = slot.place { slot.slot.property.relationship?.inverse != nil } else { false }
        }
        var needed: [String: [Int64]] = [:]
        for (place, snapshot) in changes.updated.enumerated() {
            let record = snapshot.persistentIdentifier
            guard let entity = mapping.entities[record.entityName], let number = number(record) else { continue }
            if entity.slots.indices.contains(where: {
                follows(entity.slots[$0]) && changes.changes($0, ofUpdated: place)
            }) {
                needed[entity.name, default: []].append(number)
            }
        }
        for record in changes.deleted {
            guard let entity = mapping.entities[record.entityName], let number = number(record) else { continue }
            if entity.slots.contains(where: {
                follows($0) || $0.slot.property.attribute?.options.contains(.preserveValueOnDeletion) == true
            }) {
                needed[entity.name, default: []].append(number)
            }
        }
        return needed.sorted { $0.key < $1.key }.compactMap { name, numbers in
            guard let entity = mapping.entities[name] else { return nil }
            let decoding = RecordDecoding([entity.number], mapping)
            return (
                .init(
                    "SELECT \(decoding.columns) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"id\" = ANY($1::int8[]) "
                        + "AND t0.\"ent\" = \(entity.number)", [.numbers(numbers)]),
                { result in
                    for row in result.rows {
                        let snapshot = try decoding.record(
                            row, store: self.identifier, path: self.store.configuration.location)
                        self.rows[snapshot.persistentIdentifier] = snapshot
                    }
                }
            )
        }
    }

    /// The members of lists that are kept, where the list changes or its owner or a member goes; and whether the members of other lists
    /// exist.
    private func listReadings(_ changes: RequestedChanges) -> [Reading] {
        var found: [Reading] = []
        let doomed = Dictionary(uniqueKeysWithValues: numbers(changes.deleted).map { ($0.table, $0.numbers) })
        var changed: [String: Set<Int64>] = [:]
        var named: Set<PersistentIdentifier> = []
        for (place, snapshot) in changes.updated.enumerated() {
            guard let entity = mapping.entities[snapshot.persistentIdentifier.entityName],
                let number = number(snapshot.persistentIdentifier)
            else { continue }
            for (slot, mapped) in entity.slots.enumerated() where changes.changes(slot, ofUpdated: place) {
                guard case .identifiers(let members)? = snapshot[property: mapped.slot.name] else { continue }
                if case .links(let table) = mapped.place {
                    changed[table, default: []].insert(number)
                } else if mapped.slot.role.isToMany {
                    named.formUnion(members)
                }
            }
        }
        for (owner, place) in store.linkSlots {
            let slot = owner.slots[place]
            guard case .links(let links) = slot.place else { continue }
            let owners = changed[links, default: []].union(doomed[owner.table] ?? [])
            if !owners.isEmpty, let statement = store.members(slot, of: owners.sorted()) {
                found.append(
                    (
                        statement,
                        { result in
                            for row in result.rows {
                                self.members[links, default: [:]][row.integer(0), default: []].append(
                                    try self.found(row, 1))
                            }
                        }
                    ))
            }
            guard let table = mapping.entities[slot.destination]?.table, let numbers = doomed[table] else { continue }
            found.append(
                (
                    .init(
                        "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(links)) l "
                            + "JOIN \(SQLName.quoted(owner.table)) t ON t.\"id\" = l.\"a\" WHERE l.\"b\" = ANY($1::int8[])",
                        [.numbers(numbers)]),
                    { self.listing[links, default: []].formUnion(try $0.rows.map { try self.found($0) }) }
                ))
        }
        for (table, numbers) in numbers(named) {
            found.append(
                (
                    .init(
                        "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(table)) t WHERE t.\"id\" = ANY($1::int8[])",
                        [.numbers(numbers)]),
                    { self.present.formUnion(try $0.rows.map { try self.found($0) }) }
                ))
        }
        return found
    }

    /// Gives new records their numbers, in order.
    func number(_ records: [PersistentIdentifier]) throws {
        for (place, record) in records.enumerated() {
            _ = try entity(record)
            permanent[record] = .numbered(
                UInt64(moment.nextNumber + Int64(place)), storeIdentifier: identifier, entityName: record.entityName)
        }
    }

    // MARK: The end

    /// The versions of the records that stay: those that they had, and those that they get.
    var raisedVersions: [PersistentIdentifier: (before: UInt64, after: UInt64)] {
        var found: [PersistentIdentifier: (before: UInt64, after: UInt64)] = [:]
        for (record, version) in versions where !gone.contains(record) {
            found[record] = (version, version + (raises[record] ?? 0))
        }
        return found
    }

    /// What the save leaves in the store, once its end was sent.
    var trace: SaveTrace {
        SaveTrace(key: key, number: moment.lastTransaction + 1, first: moment.nextNumber, date: date)
    }

    /// Whether anything is stored otherwise than before.
    var isEmpty: Bool {
        !changes.isErasure && changes.inserted.isEmpty && changes.deleted.isEmpty
            && written.values.allSatisfy(\.isEmpty)
    }

    /// Adds the statements that write the history and end the transaction.
    /// - Returns: the number of the transaction.
    func finish(author: String?, notifies: Bool, inserted: Int) -> Int64 {
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
        date = Date().timeIntervalSinceReferenceDate
        func text(_ text: String) -> SQLValue { .text(EscapedText.escaped(text)) }
        statements += [
            .init(
                """
                INSERT INTO mortise_history (n, at, author, process, bundle, changes, kind, mark) \
                VALUES ($1::int8, $2::float8, $3::text, $4::text, $5::text, $6::bytea, $7::int8, $8::int8)
                """,
                [
                    .integer(transaction), .real(date), author.map(text) ?? .null,
                    text(ProcessInfo.processInfo.processName), text(Bundle.main.bundleIdentifier ?? ""),
                    .blob(changes.data),
                    .integer(Int64((changes.isErasure ? HistoryEntry.Kind.erasure : .changes).rawValue)),
                    .integer(Int64(bitPattern: mark)),
                ]),
            .init(
                "INSERT INTO mortise_saves VALUES ($1::uuid, $2::int8, $3::int8, $4::int8)",
                [.uuid(key), .integer(transaction), .integer(moment.nextNumber), .integer(Int64(inserted))]),
            .init(
                "DELETE FROM mortise_saves WHERE n < $1::int8", [.integer(transaction - Self.mostSaves)]),
        ]
        if changes.isErasure {
            statements.append(
                .init("UPDATE mortise_store SET erasure = $1::int8", [.integer(transaction)]))
        }
        if holdsNaN, !moment.holdsNaN { statements.append(.init("UPDATE mortise_store SET \"holdsNaN\" = true")) }
        if notifies {
            statements.append(
                .init(
                    "SELECT pg_notify('\(PostgreSQLFollowing.channel)', $1::text)",
                    [.text("\(identifier) \(transaction)")]))
        }
        statements.append(.init("COMMIT"))
        return transaction
    }

    /// Of how many saves it can be asked whether they were committed.
    static let mostSaves: Int64 = 1_000
}
#endif
