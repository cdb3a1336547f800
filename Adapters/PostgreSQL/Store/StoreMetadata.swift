#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// What a store says of itself.
struct StoreMetadata {
    /// The format of the tables; a later one is refused.
    static let format = 1

    var identifier: String
    /// Grows when the store comes to another schema.
    var schemaNumber: Int64
    var schema: StoredSchema
    var catalog: TableCatalog
    var lastTransaction: Int64

    /// The tables of a new store, in one statement each.
    private static let tables = [
        """
        CREATE TABLE mortise_store (identifier text NOT NULL, format int8 NOT NULL, schema text NOT NULL, \
        "schemaNumber" int8 NOT NULL, "nextNumber" int8 NOT NULL, "lastTransaction" int8 NOT NULL, \
        "holdsNaN" bool NOT NULL, "nextEntity" int8 NOT NULL, "nextProperty" int8 NOT NULL, \
        \(storeColumns.joined(separator: ", ")))
        """,
        "CREATE TABLE mortise_entity (number int8 PRIMARY KEY, name text NOT NULL, tbl text NOT NULL)",
        """
        CREATE TABLE mortise_property (number int8 PRIMARY KEY, entity int8 NOT NULL, name text NOT NULL, \
        place text NOT NULL, form text NOT NULL)
        """,
        """
        CREATE TABLE mortise_history (n int8 PRIMARY KEY, at float8 NOT NULL, author text, process text NOT NULL, \
        bundle text NOT NULL, changes bytea NOT NULL, \(historyColumns.joined(separator: ", ")))
        """,
        """
        CREATE TABLE mortise_saves (key uuid PRIMARY KEY, n int8 NOT NULL, first int8 NOT NULL, \
        count int8 NOT NULL)
        """,
        "CREATE INDEX mortise_saves_n ON mortise_saves (n)",
        holderTable,
    ]

    /// What the first stores lacked. The defaults are for programs of that time, which still save and name no such columns: each of their
    /// transactions gets a mark from the server.
    private static let historyColumns = [
        "kind int2 NOT NULL DEFAULT 0",
        """
        mark int8 NOT NULL \
        DEFAULT (('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::int8)
        """,
    ]

    private static let storeColumns = [
        "horizon int8 NOT NULL DEFAULT 0", "\"horizonMark\" int8", "erasure int8 NOT NULL DEFAULT 0",
    ]

    private static let holderTable =
        "CREATE TABLE IF NOT EXISTS mortise_holder (name text PRIMARY KEY, holder text NOT NULL)"

    static func create(_ connection: PostgreSQLConnection) throws {
        let empty = try text(of: StoredSchema(version: Schema.Version(0, 0, 0), entities: []))
        _ = try connection.run(
            tables.map { .init($0) } + [
                .init(
                    "INSERT INTO mortise_store VALUES ($1::text, \(format), $2::text, 0, 1, 0, false, 1, 1, 0, NULL, 0)",
                    [.text(UUID().uuidString), .text(empty)])
            ])
    }

    static func text(of schema: StoredSchema) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return EscapedText.escaped(String(decoding: try encoder.encode(schema), as: UTF8.self))
    }

    /// Whether there is a store in the schema of the connection.
    static func exists(_ connection: PostgreSQLConnection) throws -> Bool {
        try connection.run("SELECT to_regclass('mortise_store') IS NOT NULL").rows.first?.bool(0) ?? false
    }

    /// Whether the tables are those of an earlier version of this library, whose history had no marks.
    static func isOlder(_ connection: PostgreSQLConnection) throws -> Bool {
        let found = try connection.run(
            """
            SELECT count(*) FROM pg_attribute a WHERE a.attrelid = to_regclass('mortise_history') \
            AND a.attname IN ('kind', 'mark') AND NOT a.attisdropped
            """)
        return (found.rows.first?.integer(0) ?? 0) < 2
    }

    /// Gives the store the tables and columns that it lacks, within a transaction.
    static func upgrade(_ connection: PostgreSQLConnection) throws {
        guard try isOlder(connection) else { return }
        func adding(_ columns: [String]) -> String { columns.map { "ADD COLUMN \($0)" }.joined(separator: ", ") }
        _ = try connection.run([
            // In the order in which others lock them: nobody who has the one waits for the other.
            .init("ALTER TABLE mortise_store \(adding(storeColumns))"),
            .init("ALTER TABLE mortise_history \(adding(historyColumns))"),
            // The first byte of the changes is their format, and the second one says that all records went.
            .init("UPDATE mortise_history SET kind = 1 WHERE substr(changes, 2, 1) = '\\x01'::bytea"),
            .init(
                """
                UPDATE mortise_store SET \
                horizon = coalesce((SELECT min(h.n) - 1 FROM mortise_history h), "lastTransaction"), \
                erasure = coalesce((SELECT max(h.n) FROM mortise_history h WHERE h.kind = 1), 0)
                """),
            .init(holderTable),
        ])
    }

    /// Reads what the store says.
    /// - Throws: `PostgreSQLError` for a schema without a store, or a damaged one.
    init(_ connection: PostgreSQLConnection) throws {
        func damaged(_ text: String) -> PostgreSQLError {
            PostgreSQLError(connection.location, .damagedMetadata(text))
        }
        func plain(_ row: PostgreSQLRow, _ column: Int32) -> String? { row.text(column).flatMap(EscapedText.text) }
        guard try Self.exists(connection) else { throw PostgreSQLError(connection.location, .missing) }
        let results = try connection.run([
            .init(
                """
                SELECT s.identifier, s.format, s.schema, s."schemaNumber", s."nextEntity", s."nextProperty", \
                s."lastTransaction" FROM mortise_store s
                """),
            .init("SELECT e.number, e.name, e.tbl FROM mortise_entity e ORDER BY e.number"),
            .init("SELECT p.number, p.entity, p.name, p.place, p.form FROM mortise_property p ORDER BY p.number"),
        ])
        guard results.count == 3, let row = results[0].rows.first else { throw damaged("mortise_store has no row") }
        guard let format = row.number(1) else { throw damaged("the format is missing") }
        if format > Self.format {
            throw PostgreSQLError(
                connection.location, .newerFormat(found: Int(clamping: format), known: Self.format))
        }
        guard let identifier = row.text(0), !identifier.isEmpty, let schema = plain(row, 2), let number = row.number(3),
            let entity = row.number(4), let property = row.number(5), let last = row.number(6)
        else { throw damaged("mortise_store lacks a value") }
        do {
            self.schema = try JSONDecoder().decode(StoredSchema.self, from: Data(schema.utf8))
        } catch {
            throw damaged("the schema cannot be read")
        }
        self.identifier = identifier
        schemaNumber = number
        lastTransaction = last
        catalog = TableCatalog()
        (catalog.nextEntity, catalog.nextProperty) = (Int(clamping: entity), Int(clamping: property))
        for row in results[1].rows {
            guard let name = plain(row, 1), let table = row.text(2) else {
                throw damaged("mortise_entity lacks a name")
            }
            catalog.entities.append(TableCatalog.Entity(number: Int(row.integer(0)), name: name, table: table))
        }
        for row in results[2].rows {
            guard let entity = row.number(1), let name = plain(row, 2), let place = row.text(3),
                let form = plain(row, 4)
            else { throw damaged("mortise_property lacks a value") }
            catalog.properties.append(
                TableCatalog.Property(
                    number: Int(row.integer(0)), entity: Int(clamping: entity), name: name, place: place, form: form))
        }
    }

    /// Writes schema and catalog; programs that have the store open under another schema cannot save any more.
    mutating func write(_ connection: PostgreSQLConnection) throws {
        schemaNumber += 1
        func text(_ name: String) -> SQLValue { .text(EscapedText.escaped(name)) }
        func integers(_ numbers: [Int]) -> SQLValue { .array(numbers.map { .integer(Int64($0)) }, of: "int8") }
        func texts(_ names: [String]) -> SQLValue { .array(names.map(text), of: "text") }
        _ = try connection.run([
            .init(
                """
                UPDATE mortise_store SET schema = $1::text, "schemaNumber" = $2::int8, "nextEntity" = $3::int8, \
                "nextProperty" = $4::int8
                """,
                [
                    .text(try Self.text(of: schema)), .integer(schemaNumber), .integer(Int64(catalog.nextEntity)),
                    .integer(Int64(catalog.nextProperty)),
                ]),
            .init("DELETE FROM mortise_entity"), .init("DELETE FROM mortise_property"),
            .init(
                "INSERT INTO mortise_entity SELECT * FROM unnest($1::int8[], $2::text[], $3::text[])",
                [
                    integers(catalog.entities.map(\.number)), texts(catalog.entities.map(\.name)),
                    texts(catalog.entities.map(\.table)),
                ]),
            .init(
                """
                INSERT INTO mortise_property \
                SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::text[])
                """,
                [
                    integers(catalog.properties.map(\.number)), integers(catalog.properties.map(\.entity)),
                    texts(catalog.properties.map(\.name)), texts(catalog.properties.map(\.place)),
                    texts(catalog.properties.map(\.form)),
                ]),
        ])
    }
}
#endif
