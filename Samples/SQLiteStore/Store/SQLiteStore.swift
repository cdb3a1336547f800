#if SQLite
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
    private let tables: [String: String]
    private let database: Database
    private var layouts: [String: RecordLayout] { translator.layouts }

    public init(_ configuration: SQLiteConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        let layouts = schema.stored.recordLayouts()
        func root(_ entity: String) -> String { layouts[entity]?.superentityName.map(root) ?? entity }
        tables = layouts.mapValues { "\"of \(Translator.name(root($0.entityName)))\"" }
        (self.configuration, self.schema) = (configuration, schema)
        let file = configuration.file.path
        if !FileManager.default.fileExists(atPath: file) {
            try Database.create(
                file, "CREATE TABLE store AS SELECT '\(UUID())' AS identifier, 0 AS last, NULL AS schema")
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
        try database.run("SELECT schema FROM store") {
            if let text = $0["schema"] { stored = try JSONDecoder().decode(StoredSchema.self, from: Data(text.utf8)) }
        }
        try stored.checkIsNotNewer(than: merged, store: configuration.name)
        for stage in plan?.stages ?? [] where stage.hasCode {
            let stage = stage.target.versionIdentifier
            if stage <= stored.version || merged.version < stage { continue }
            throw MigrationError.customStage(
                store: configuration.name, from: stored.version, to: merged.version, stage: stage)
        }
        func misfit(_ text: String) -> SQLiteStoreError { SQLiteStoreError(.conflict, text + ". Use another store") }
        let known = stored.recordLayouts()
        for (entity, layout) in layouts {
            let (table, old) = (tables[entity] ?? "", known[entity])
            try database.run("CREATE TABLE IF NOT EXISTS \(table) (id INTEGER PRIMARY KEY, entity, version INTEGER)")
            if let old, old.superentityName != layout.superentityName {
                throw misfit("\(entity) has another superclass")
            }
            let origins = old.map { layout.origins(in: $0) }
            for (index, slot) in layout.slots.enumerated() {
                let (property, title) = (slot.property, "\(entity).\(slot.name)")
                let named = old?.slots.first { $0.name == slot.name }
                let before = origins?[index].flatMap { old?.slots[$0] }
                if let was = before?.form, was != slot.form { throw misfit("\(title) was \(was), not \(slot.form)") }
                let isEmpty = before?.property.isOptional ?? (old != nil && property.attribute?.defaultValue == nil)
                if isEmpty, !property.isOptional, !slot.role.isToMany { throw misfit("\(title) has to have a value") }
                if let named, named.name != before?.name { throw misfit("\(title) takes another property's name") }
                // A property is a column once, in the entity that declares it.
                if named != nil || !slot.hasColumn || slot.declaringEntity != entity { continue }
                if let before {
                    try database.run("ALTER TABLE \(table) RENAME COLUMN \(before.column) TO \(slot.column)")
                } else if old?.slots.contains(where: { $0.property.originalName == slot.name }) == true {
                    throw misfit("\(title) has another name by now")
                } else {
                    let type = property.attribute?.kind.integerRange == nil ? "TEXT" : "INTEGER"
                    let value = property.attribute?.defaultValue.flatMap(slot.text)
                    let text = value.map { "'\($0.replacing("'", with: "''"))'" } ?? "NULL"
                    try database.run("ALTER TABLE \(table) ADD COLUMN \(slot.column) \(type) DEFAULT \(text)")
                }
                if slot.role != .toOne { continue }
                try database.run("CREATE INDEX \"of \(slot.key)\" ON \(table) (\(slot.column))")
            }
        }
        for entity in stored.entities where layouts[entity.name] == nil { merged.entities.append(entity) }
        for place in merged.entities.indices {
            let names = merged.entities[place].properties.flatMap { [$0.name, $0.originalName] }
            let old = stored.entity(named: merged.entities[place].name)?.properties ?? []
            merged.entities[place].properties += old.filter { !names.contains($0.name) }
        }
        if merged == stored { return }
        try database.run("UPDATE store SET schema = ?", [String(decoding: JSONEncoder().encode(merged), as: UTF8.self)])
    }

    // MARK: Reading

    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let query = plan.query
        let selection = plan.preparation as? Selection ?? selection(query)
        var (sql, values) = selection.condition
        // Numbers are given in the order of insertion, whatever the entity.
        sql = "SELECT * FROM \(tables[query.entity] ?? "") r WHERE \(sql) ORDER BY \(selection.order ?? "r.id")"
        if plan.appliesLimit, query.isLimited {
            sql += " LIMIT ? OFFSET ?"
            values += ["\(max(query.limit ?? .max, 0))", "\(max(query.offset, 0))"]
        }
        // Records and their lists are of one state, whatever others write meanwhile.
        return try database.transaction(writes: false) {
            var found: [(record: PersistentIdentifier, values: ContiguousArray<StoredValue>, version: UInt64)] = []
            try database.run(sql, values) { row in
                let record = record(row)
                let values = try (layouts[record.entityName]?.slots ?? []).map { slot in
                    if slot.role.isToMany, !query.prefetch.contains(slot.name) { return StoredValue.null }
                    if !slot.hasColumn { return slot.property.attribute?.defaultValue ?? .null }
                    if let value = slot.value(ofText: row[slot.key], storeIdentifier: identifier) { return value }
                    throw SQLiteStoreError(.damaged, "\(slot.name) of \(record) has no value of its kind")
                }
                found.append((record, ContiguousArray(values), UInt64(row["version"] ?? "") ?? 0))
            }
            let report = ExecutionReport(scanned: max(database.scanned, found.count))
            for entity in Set(found.map(\.record.entityName)) {
                for (index, slot) in (layouts[entity]?.slots ?? []).enumerated() {
                    guard slot.role == .toManyDerived, query.prefetch.contains(slot.name) else { continue }
                    let members = try members(slot, of: found.map(\.record))
                    for place in found.indices where found[place].record.entityName == entity {
                        found[place].values[index] = .identifiers(members["\(found[place].record)"] ?? [])
                    }
                }
            }
            let snapshots = found.map { record, values, version in
                var snapshot = DefaultSnapshot(
                    persistentIdentifier: record, layout: layouts[record.entityName] ?? .empty(""), values: values)
                snapshot.recordVersion = version
                return snapshot
            }
            return StoreRows(snapshots: snapshots, report: report)
        }
    }

    /// A list that the records at its other end keep: one statement for all owners.
    private func members(
        _ slot: RecordLayout.Slot, of owners: [PersistentIdentifier]
    ) throws -> [String: [PersistentIdentifier]] {
        guard let relationship = slot.property.relationship, let layout = layouts[relationship.destination],
            let inverse = relationship.inverse.flatMap({ layout.slot(named: $0) })
        else { return [:] }
        var members: [String: [PersistentIdentifier]] = [:]
        let (column, isList) = ("r.\(layout.slots[inverse].column)", layout.slots[inverse].role.isToMany)
        // One reference is found by its index; several in a text have to be taken apart.
        let owner = isList ? "o.value" : column
        let each = isList ? ", json_each('[\"' || replace(\(column), ' ', '\",\"') || '\"]') o" : ""
        try database.run(
            "SELECT \(owner) AS owner, r.entity, r.id FROM \(tables[layout.entityName] ?? "") r\(each) "
                + "WHERE \(owner) IN (SELECT value FROM json_each(?)) ORDER BY r.id", [Translator.list(owners)]
        ) { members[$0["owner"] ?? "", default: []].append(record($0)) }
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
                let sql = "SELECT version FROM \(table) WHERE id = ? AND entity = ?"
                try database.run(sql, [record.number, record.entityName]) { version = UInt64($0["version"] ?? "") }
                return version
            }
            if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
            for new in request.inserted.map(\.persistentIdentifier) {
                try database.run("UPDATE store SET last = last + 1 RETURNING last") { row in
                    permanent[new] = record(["id": row["last"] ?? "", "entity": new.entityName])
                }
            }
            for snapshot in request.inserted {
                guard let record = permanent[snapshot.persistentIdentifier] else { continue }
                try database.run(
                    "INSERT INTO \(tables[record.entityName] ?? "") (id, entity, version) VALUES (?, ?, 0)",
                    [record.number, record.entityName])
                try write(snapshot, to: record, nil, permanent)
            }
            for (place, snapshot) in request.updated.enumerated() {
                let slots = request.changedSlots.isEmpty ? nil : request.changedSlots[place]
                try write(snapshot, to: snapshot.persistentIdentifier, slots, permanent)
            }
            for record in request.deleted.map(\.persistentIdentifier) {
                try database.run("DELETE FROM \(tables[record.entityName] ?? "") WHERE id = ?", [record.number])
            }
            return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
        }
    }

    /// Writes some slots of a record, or all of them. What the snapshot has in others need not be what is stored.
    private func write(
        _ snapshot: DefaultSnapshot, to record: PersistentIdentifier, _ slots: SlotSet?,
        _ permanent: [PersistentIdentifier: PersistentIdentifier]
    ) throws {
        let snapshot = snapshot.copy(persistentIdentifier: record, remappedIdentifiers: permanent)
        var (assignments, values) = (["version = version + 1"], [String?]())
        for (index, slot) in (layouts[record.entityName]?.slots ?? []).enumerated() {
            // A list that was left out when the record was read stays as it is.
            let value = snapshot.values[index]
            if !slot.hasColumn || slots?.contains(index) == false || slot.role.isToMany && value.isNull { continue }
            assignments.append("\(slot.column) = ?")
            let text = slot.text(of: value)
            values.append(text)
            if text == nil, slot.role == .attribute, !value.isNull {
                throw SQLiteStoreError(.unsupported, "\(slot.name) of \(record) has a value that text does not keep")
            }
        }
        try database.run(
            "UPDATE \(tables[record.entityName] ?? "") SET \(assignments.joined(separator: ", ")) WHERE id = ?",
            values + [record.number])
    }
}
#endif
