#if SQLite
import Foundation
import MortiseCore
import MortiseSQL

/// What a store's file says of itself.
struct StoreMetadata {
    /// The format of the tables; a later one is refused.
    static let format = 1
    /// "Mort", in the header of the file.
    static let applicationID = 0x4D6F_7274

    var identifier: String
    /// Grows when the store comes to another schema.
    var schemaNumber: Int64
    var schema: StoredSchema
    var catalog: TableCatalog

    /// The tables of a new store, in one statement each.
    static let tables = [
        """
        CREATE TABLE mortise_store (identifier TEXT NOT NULL, format INTEGER NOT NULL, schema TEXT NOT NULL, \
        schemaNumber INTEGER NOT NULL, nextNumber INTEGER NOT NULL, lastTransaction INTEGER NOT NULL, \
        holdsNaN INTEGER NOT NULL, nextEntity INTEGER NOT NULL, nextProperty INTEGER NOT NULL, \
        horizon INTEGER NOT NULL, horizonMark INTEGER, erasure INTEGER NOT NULL)
        """,
        "CREATE TABLE mortise_entity (number INTEGER PRIMARY KEY, name TEXT NOT NULL, tbl TEXT NOT NULL)",
        """
        CREATE TABLE mortise_property (number INTEGER PRIMARY KEY, entity INTEGER NOT NULL, name TEXT NOT NULL, \
        place TEXT NOT NULL, form TEXT NOT NULL)
        """,
        """
        CREATE TABLE mortise_history (n INTEGER PRIMARY KEY, at REAL NOT NULL, author TEXT, process TEXT NOT NULL, \
        bundle TEXT NOT NULL, kind INTEGER NOT NULL, mark INTEGER NOT NULL, changes BLOB NOT NULL)
        """,
        "CREATE TABLE mortise_holder (name TEXT PRIMARY KEY, holder TEXT NOT NULL)",
    ]

    static func create(_ connection: SQLiteConnection) throws {
        try connection.run("PRAGMA application_id = \(applicationID)")
        for table in tables { try connection.run(table) }
        let empty = try text(of: StoredSchema(version: Schema.Version(0, 0, 0), entities: []))
        try connection.run(
            "INSERT INTO mortise_store VALUES (?, ?, ?, 0, 1, 0, 0, 1, 1, 0, NULL, 0)",
            [.text(UUID().uuidString), .integer(Int64(format)), .text(empty)])
    }

    static func text(of schema: StoredSchema) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(schema), as: UTF8.self)
    }

    /// Reads what the file says.
    /// - Throws: `SQLiteError` for a file that is no store, or a damaged one.
    init(_ connection: SQLiteConnection) throws {
        func damaged(_ text: String) -> SQLiteError { SQLiteError(connection.path, .damagedMetadata(text)) }
        if try !Self.isStore(connection) { throw SQLiteError(connection.path, .notAStore) }
        var found: StoreMetadata?
        try connection.run(
            "SELECT s.identifier, s.format, s.schema, s.schemaNumber, s.nextEntity, s.nextProperty FROM mortise_store s"
        ) { row in
            guard let format = row.number(1) else { throw damaged("the format is missing") }
            if format > Self.format {
                throw SQLiteError(connection.path, .newerFormat(found: Int(clamping: format), known: Self.format))
            }
            guard let identifier = row.text(0), !identifier.isEmpty, let schema = row.text(2),
                row.number(3) != nil, row.number(4) != nil, row.number(5) != nil
            else { throw damaged("mortise_store lacks a value") }
            let number = try Self.number(row, 3, "schemaNumber", connection.path)
            let entity = try Self.number(row, 4, "nextEntity", connection.path)
            let property = try Self.number(row, 5, "nextProperty", connection.path)
            let stored: StoredSchema
            do {
                stored = try JSONDecoder().decode(StoredSchema.self, from: Data(schema.utf8))
            } catch {
                throw damaged("the schema cannot be read")
            }
            var catalog = TableCatalog()
            (catalog.nextEntity, catalog.nextProperty) = (Int(clamping: entity), Int(clamping: property))
            found = StoreMetadata(identifier: identifier, schemaNumber: number, schema: stored, catalog: catalog)
        }
        guard var found else { throw damaged("mortise_store has no row") }
        try connection.run("SELECT e.number, e.name, e.tbl FROM mortise_entity e ORDER BY e.number") { row in
            guard let name = row.text(1), let table = row.text(2) else { throw damaged("mortise_entity lacks a name") }
            found.catalog.entities.append(
                TableCatalog.Entity(number: Int(row.integer(0)), name: name, table: table))
        }
        try connection.run(
            "SELECT p.number, p.entity, p.name, p.place, p.form FROM mortise_property p ORDER BY p.number"
        ) {
            row in
            guard let entity = row.number(1), let name = row.text(2), let place = row.text(3), let form = row.text(4)
            else { throw damaged("mortise_property lacks a value") }
            found.catalog.properties.append(
                TableCatalog.Property(
                    number: Int(row.integer(0)), entity: Int(clamping: entity), name: name, place: place, form: form))
        }
        self = found
    }

    private init(identifier: String, schemaNumber: Int64, schema: StoredSchema, catalog: TableCatalog) {
        self.identifier = identifier
        self.schemaNumber = schemaNumber
        self.schema = schema
        self.catalog = catalog
    }

    /// What counts up stays below this: there is always a next one.
    static let numbers: Range<Int64> = 0..<1 << 62

    /// A number that counts up, in a column of `mortise_store`.
    static func number(_ row: SQLiteStatement, _ column: Int32, _ name: String, _ path: String) throws -> Int64 {
        guard let number = row.number(column) else {
            throw SQLiteError(path, .damagedMetadata("\(name) of mortise_store is no number"))
        }
        guard numbers.contains(number) else {
            throw SQLiteError(path, .damagedMetadata("\(name) of mortise_store is \(number)"))
        }
        return number
    }

    /// The number of the last transaction.
    static func lastTransaction(_ connection: SQLiteConnection) throws -> Int64 {
        var last: Int64?
        try connection.run("SELECT s.lastTransaction FROM mortise_store s") {
            last = try number($0, 0, "lastTransaction", connection.path)
        }
        guard let last else {
            throw SQLiteError(connection.path, .damagedMetadata("mortise_store has no row"))
        }
        return last
    }

    /// Whether the tables are those of an earlier version of this library, whose history had no marks.
    static func isOlder(_ connection: SQLiteConnection) throws -> Bool {
        var count: Int64 = 0
        try connection.run(
            "SELECT count(*) FROM pragma_table_info('mortise_history') c WHERE c.name IN ('kind', 'mark')"
        ) { count = $0.integer(0) }
        return count < 2
    }

    /// Gives the file the tables and columns that it lacks, within a transaction.
    static func upgrade(_ connection: SQLiteConnection) throws {
        guard try isStore(connection), try isOlder(connection) else { return }
        for column in ["kind", "mark"] {
            try connection.run("ALTER TABLE mortise_history ADD COLUMN \(column) INTEGER NOT NULL DEFAULT 0")
        }
        // Two copies of the file that go on by themselves have other marks.
        try connection.run("UPDATE mortise_history SET kind = (substr(changes, 2, 1) = x'01'), mark = random()")
        for column in [
            "horizon INTEGER NOT NULL DEFAULT 0", "horizonMark INTEGER", "erasure INTEGER NOT NULL DEFAULT 0",
        ] {
            try connection.run("ALTER TABLE mortise_store ADD COLUMN \(column)")
        }
        try connection.run(
            """
            UPDATE mortise_store SET \
            horizon = coalesce((SELECT min(h.n) - 1 FROM mortise_history h), lastTransaction), \
            erasure = coalesce((SELECT max(h.n) FROM mortise_history h WHERE h.kind = 1), 0)
            """)
        try connection.run("CREATE TABLE IF NOT EXISTS mortise_holder (name TEXT PRIMARY KEY, holder TEXT NOT NULL)")
    }

    private static func isStore(_ connection: SQLiteConnection) throws -> Bool {
        var isStore = false
        try connection.run("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'mortise_store'") {
            isStore = $0.integer(0) == 1
        }
        return isStore
    }

    /// Writes schema and catalog; programs that have the store open under another schema cannot save any more.
    mutating func write(_ connection: SQLiteConnection) throws {
        schemaNumber += 1
        try connection.run(
            "UPDATE mortise_store SET schema = ?, schemaNumber = ?, nextEntity = ?, nextProperty = ?",
            [
                .text(try Self.text(of: schema)), .integer(schemaNumber), .integer(Int64(catalog.nextEntity)),
                .integer(Int64(catalog.nextProperty)),
            ])
        try connection.run("DELETE FROM mortise_entity")
        for entity in catalog.entities {
            try connection.run(
                "INSERT INTO mortise_entity VALUES (?, ?, ?)",
                [.integer(Int64(entity.number)), .text(entity.name), .text(entity.table)])
        }
        try connection.run("DELETE FROM mortise_property")
        for property in catalog.properties {
            try connection.run(
                "INSERT INTO mortise_property VALUES (?, ?, ?, ?, ?)",
                [
                    .integer(Int64(property.number)), .integer(Int64(property.entity)), .text(property.name),
                    .text(property.place), .text(property.form),
                ])
        }
    }
}
#endif
