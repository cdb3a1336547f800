#if SQLiteStore
public import Foundation
public import MortiseCore

/// Keeps models in a file of SQLite, which other programs may read and write at the same time.
public struct SQLiteConfiguration: DataStoreConfiguration {
    public typealias Store = SQLiteStore
    public var name = "sqlite"
    public var schema: Schema?
    public let file: URL
    public init(file: URL) { self.file = file }
}

/// A store that has no records in memory: SQLite finds and sorts them. A family of entities is a table.
public final class SQLiteStore: QueryableDataStore {
    public let configuration: SQLiteConfiguration
    public let schema: Schema
    public var identifier: String { translator.store }
    public var capabilities: StoreCapabilities {
        StoreCapabilities(conformances: self).union([
            .reopening, .durability, .recordVersions, .deferredRelationships, .erase, .closing,
        ])
    }
    let translator: Translator
    private var layouts: [String: RecordLayout] { translator.layouts }
    private let tables: [String: String]
    private let database: Database

    public init(_ configuration: SQLiteConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        let layouts = schema.stored.recordLayouts()
        func root(_ entity: String) -> String { layouts[entity]?.superentityName.map(root) ?? entity }
        tables = layouts.mapValues { Translator.name("of \(root($0.entityName))") }
        (self.configuration, self.schema) = (configuration, schema)
        let file = configuration.file.path
        if !FileManager.default.fileExists(atPath: file) {
            try Database.create(file, "CREATE TABLE store AS SELECT '\(UUID())' AS identifier, 0 AS last, '' AS schema")
        }
        database = try Database(file)
        var about: [String: String] = [:]
        try database.run("SELECT * FROM store") { about = $0 }
        translator = Translator(layouts: layouts, store: about["identifier"] ?? "")
        // If this throws, nothing holds the connection any more, and it closes.
        try database.transaction { try adopt(migrationPlan) }
    }

    public func close() throws { database.close() }

    public func erase() throws {
        try database.transaction { for table in Set(tables.values) { try database.run("DELETE FROM \(table)") } }
    }

    // MARK: The schema

    /// Makes the tables and columns that the file lacks. Nothing is removed, and nothing forgotten that was there: what one
    /// schema lacks, the next may have. What would lose values or hand out wrong ones is refused.
    private func adopt(_ plan: (any SchemaMigrationPlan.Type)?) throws {
        var (merged, stored) = (schema.stored, StoredSchema(version: schema.stored.version, entities: []))
        try database.run("SELECT schema FROM store") { row in
            guard let text = row["schema"], !text.isEmpty else { return }
            stored = try JSONDecoder().decode(StoredSchema.self, from: Data(text.utf8))
        }
        try stored.checkIsNotNewer(than: merged, store: configuration.name)
        for case .custom(_, let target, let before, let after) in plan?.stages ?? [] where before != nil || after != nil
        {
            let (old, new, stage) = (stored.version, merged.version, target.versionIdentifier)
            guard old < stage, stage <= new else { continue }
            throw MigrationError.customStage(store: configuration.name, from: old, to: new, stage: stage)
        }
        let known = stored.recordLayouts()
        for (entity, layout) in layouts {
            let (table, old) = (tables[entity] ?? "", known[entity])
            try database.run("CREATE TABLE IF NOT EXISTS \(table) (id INTEGER PRIMARY KEY, entity, version INTEGER)")
            if let old, old.superentityName != layout.superentityName { throw misfit(entity, "has another superclass") }
            for slot in layout.slots where slot.declaringEntity == entity {
                let (property, title) = (slot.property, "\(entity).\(slot.name)")
                let named = old?.slots.first { $0.name == slot.name }
                let before = named ?? old?.slots.first { $0.name == property.originalName }
                if let before, before.form != slot.form {
                    throw misfit(title, "was \(before.form), and is now \(slot.form)")
                }
                let isEmpty = before?.property.isOptional ?? (old != nil)
                if isEmpty, !property.isOptional, !slot.role.isToMany, property.attribute?.defaultValue == nil {
                    throw misfit(title, "is required, and records may have no value for it")
                }
                if named != nil || !slot.hasColumn { continue }
                if let before {
                    try database.run("ALTER TABLE \(table) RENAME COLUMN \(before.column) TO \(slot.column)")
                } else if old?.slots.contains(where: { $0.property.originalName == slot.name }) == true {
                    throw misfit(title, "has got another name")
                } else {
                    let type = property.attribute?.kind.integerRange == nil ? "TEXT" : "INTEGER"
                    let value = property.attribute?.defaultValue.flatMap(slot.text)
                    let text = value.map { "'\($0.replacing("'", with: "''"))'" } ?? "NULL"
                    try database.run("ALTER TABLE \(table) ADD COLUMN \(slot.column) \(type) DEFAULT \(text)")
                }
                if slot.role != .toOne { continue }
                let index = Translator.name("\(entity) \(slot.columnText)")
                try database.run("CREATE INDEX IF NOT EXISTS \(index) ON \(table) (\(slot.column))")
            }
        }
        for old in stored.entities {
            guard let place = merged.entities.firstIndex(where: { $0.name == old.name }) else {
                merged.entities.append(old)
                continue
            }
            let names = merged.entities[place].properties.flatMap { [$0.name, $0.originalName] }
            merged.entities[place].properties += old.properties.filter { !names.contains($0.name) }
        }
        if merged == stored { return }
        let text = String(decoding: try JSONEncoder().encode(merged), as: UTF8.self)
        try database.run("UPDATE store SET schema = ?", [text])
    }

    private func misfit(_ name: String, _ text: String) -> SQLiteStoreError {
        SQLiteStoreError(.conflict, "\(name) \(text): the store \"\(configuration.name)\" does not fit the schema")
    }

    // MARK: Reading

    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let query = plan.query
        let selection = plan.preparation as? Selection ?? selection(query)
        // Numbers are given in the order of insertion, whatever the entity.
        var sql =
            "SELECT * FROM \(tables[query.entity] ?? "") r WHERE \(selection.condition.text) ORDER BY \(selection.order ?? "r.id")"
        var values = selection.condition.values
        if plan.appliesLimit, query.isLimited {
            sql += " LIMIT ? OFFSET ?"
            values += ["\(max(query.limit ?? .max, 0))", "\(max(query.offset, 0))"]
        }
        // Records and their lists are of one state, whatever others write meanwhile.
        return try database.transaction(writes: false) {
            var found: [(record: PersistentIdentifier, values: ContiguousArray<StoredValue>, version: UInt64)] = []
            try database.run(sql, values) { row in
                let (entity, number) = (row["entity"] ?? "", UInt64(row["id"] ?? "") ?? 0)
                let values = try layouts[entity]?.slots.map { slot in
                    if let value = slot.isRead(query) ? value(of: slot, in: row) : .null { return value }
                    throw SQLiteStoreError(.damaged, "\(slot.name) of \(entity)/\(number) has no value of its kind")
                }
                found.append(
                    (
                        .numbered(number, storeIdentifier: identifier, entityName: entity),
                        ContiguousArray(values ?? []), UInt64(row["version"] ?? "") ?? 0
                    ))
            }
            let scanned = max(database.scanned, found.count)
            for entity in Set(found.map(\.record.entityName)) {
                for (index, slot) in (layouts[entity]?.slots ?? []).enumerated() {
                    guard slot.role == .toManyDerived, slot.isRead(query) else { continue }
                    let members = try members(slot, of: found.map(\.record))
                    for place in found.indices where found[place].record.entityName == entity {
                        found[place].values[index] = .identifiers(members["\(found[place].record)"] ?? [])
                    }
                }
            }
            return StoreRows(
                snapshots: found.map { record, values, version in
                    let layout = layouts[record.entityName] ?? .empty(record.entityName)
                    var snapshot = DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values)
                    snapshot.recordVersion = version
                    return snapshot
                }, scanned: scanned)
        }
    }

    /// A value that its record keeps; nil for one that is not of its kind.
    private func value(of slot: RecordLayout.Slot, in row: [String: String]) -> StoredValue? {
        if !slot.hasColumn { return slot.role.isToMany ? .null : slot.property.attribute?.defaultValue ?? .null }
        return slot.value(ofText: row[String(slot.column.dropFirst().dropLast())], storeIdentifier: identifier)
    }

    /// A list that the records at its other end keep: one statement for all owners.
    private func members(
        _ slot: RecordLayout.Slot, of owners: [PersistentIdentifier]
    ) throws -> [String: [PersistentIdentifier]] {
        guard let relationship = slot.property.relationship, let layout = layouts[relationship.destination],
            let inverse = relationship.inverse.flatMap({ layout.slot(named: $0) })
        else { return [:] }
        var members: [String: [PersistentIdentifier]] = [:]
        let each = "json_each('[\"' || replace(r.\(layout.slots[inverse].column), ' ', '\",\"') || '\"]')"
        try database.run(
            "SELECT o.value AS owner, r.entity, r.id FROM \(tables[layout.entityName] ?? "") r, \(each) o "
                + "WHERE o.value IN (SELECT value FROM json_each(?)) ORDER BY r.id", [Translator.list(owners)]
        ) { row in
            guard let entity = row["entity"], layouts[entity] != nil, let number = row["id"].flatMap({ UInt64($0) })
            else { return }
            members[row["owner"] ?? "", default: []].append(
                .numbered(number, storeIdentifier: identifier, entityName: entity))
        }
        return members
    }

    // MARK: Saving

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try database.transaction {
            let superseded = try request.superseded { record in
                var version: UInt64?
                guard record.storeIdentifier == identifier, let table = tables[record.entityName] else { return nil }
                try database.run(
                    "SELECT version FROM \(table) WHERE entity || '/' || id = ?2 AND id = ?1",
                    [number(record), "\(record)"]
                ) { row in version = row["version"].flatMap { UInt64($0) } }
                return version
            }
            if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
            try database.run(
                "UPDATE store SET last = last + ? RETURNING last", ["\(request.inserted.count)"]
            ) { row in
                let first = (UInt64(row["last"] ?? "") ?? 0) &- UInt64(request.inserted.count) &+ 1
                for (number, record) in zip(first..., request.inserted.map(\.persistentIdentifier)) {
                    permanent[record] = .numbered(number, storeIdentifier: identifier, entityName: record.entityName)
                }
            }
            for snapshot in request.inserted {
                guard let record = permanent[snapshot.persistentIdentifier] else { continue }
                try database.run(
                    "INSERT INTO \(tables[record.entityName] ?? "") (id, entity, version) VALUES (?, ?, 0)",
                    [number(record), record.entityName])
                try write(snapshot.copy(persistentIdentifier: record, remappedIdentifiers: permanent), nil)
            }
            for (place, snapshot) in request.updated.enumerated() {
                let record = snapshot.persistentIdentifier
                try write(
                    snapshot.copy(persistentIdentifier: record, remappedIdentifiers: permanent),
                    request.changedSlots.isEmpty ? nil : request.changedSlots[place])
            }
            for record in request.deleted.map(\.persistentIdentifier) {
                try database.run("DELETE FROM \(tables[record.entityName] ?? "") WHERE id = ?", [number(record)])
            }
            return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
        }
    }

    private func number(_ record: PersistentIdentifier) -> String? { record.sequenceNumber.map { "\($0)" } }

    /// Writes some slots of a record, or all of them. What the snapshot has in others need not be what is stored.
    private func write(_ snapshot: DefaultSnapshot, _ slots: SlotSet?) throws {
        let record = snapshot.persistentIdentifier
        var (assignments, values) = (["version = version + 1"], [String?]())
        for (index, slot) in (layouts[record.entityName]?.slots ?? []).enumerated() {
            // A list that was left out when it was read stays as it is.
            guard slot.hasColumn, slots?.contains(index) ?? true, !slot.role.isToMany || !snapshot.values[index].isNull
            else { continue }
            let text = slot.text(of: snapshot.values[index])
            if text == nil, !snapshot.values[index].isNull, !slot.role.isToMany {
                throw SQLiteStoreError(.unsupported, "\(slot.name) of \(record) cannot be kept to the last bit")
            }
            assignments.append("\(slot.column) = ?")
            values.append(text)
        }
        try database.run(
            "UPDATE \(tables[record.entityName] ?? "") SET \(assignments.joined(separator: ", ")) WHERE id = ?",
            values + [number(record)])
    }
}

extension RecordLayout.Slot {
    /// What the property holds, and which side keeps it.
    fileprivate var form: String { "\(columnText.dropFirst(name.count + 1)) (\(role))" }
    /// Whether a query is answered with it: a list that it does not name may be left out.
    fileprivate func isRead(_ query: StoreQuery) -> Bool { !role.isToMany || query.prefetch.contains(name) }
}
#endif
