#if PostgreSQL
import MortiseCore
import MortiseSQL

/// Makes the tables, columns and indexes of a mapping that a schema lacks.
struct TableMaking {
    let connection: PostgreSQLConnection
    let mapping: TableMapping

    /// PostgreSQL takes 1,600 columns.
    private static let mostColumns = 1_600

    func makeTables() throws {
        let found = try connection.run(
            "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c "
                + "WHERE c.table_schema = current_schema()")
        var known: [String: Set<String>] = [:]
        for row in found.rows {
            if let table = row.text(0), let column = row.text(1) { known[table, default: []].insert(column) }
        }
        // References come last: they lead from table to table.
        var references: [String] = []
        for (name, entities) in mapping.tables { try makeTable(name, entities, known[name] ?? [], &references) }
        for (name, entities) in mapping.tables { try makeLinks(entities, of: name, known) }
        _ = try connection.run(references.map { .init($0) })
    }

    private func makeTable(
        _ name: String, _ entities: [TableMapping.Entity], _ known: Set<String>, _ references: inout [String]
    ) throws {
        let table = SQLName.quoted(name)
        let own = [TableMapping.Column.id, TableMapping.Column.entity, TableMapping.Column.version]
        guard known.isEmpty || known.isSuperset(of: own) else { throw foreign(name) }
        var added: [TypedColumn] = []
        var entityColumns: [(reference: String, column: String, target: String)] = []
        for entity in entities {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                let columns = TypedColumn.columns(of: slot.place)
                added += columns.filter { !known.contains($0.name) }
                guard case .reference(let reference, let entityColumn) = slot.place,
                    let target = mapping.entities[slot.destination]?.table
                else { continue }
                if known.contains(reference) {
                    if let entityColumn { entityColumns.append((reference, entityColumn, target)) }
                } else {
                    references.append(
                        "ALTER TABLE \(table) ADD FOREIGN KEY (\(SQLName.quoted(reference))) "
                            + "REFERENCES \(SQLName.quoted(target)) (\"id\") DEFERRABLE INITIALLY DEFERRED")
                }
            }
        }
        let count = added.count + max(known.count, 3)
        if count > Self.mostColumns {
            throw PostgreSQLError(connection.location, .tooManyColumns(table: name, count: count))
        }
        let words = added.map { "\(SQLName.quoted($0.name)) \($0.definition)" }
        if known.isEmpty {
            let own = ["\"id\" int8 PRIMARY KEY", "\"ent\" int2 NOT NULL", "\"rv\" int8 NOT NULL"]
            try connection.run("CREATE TABLE \(table) (\((own + words).joined(separator: ", ")))")
            return
        }
        if !added.isEmpty {
            try connection.run("ALTER TABLE \(table) " + words.map { "ADD COLUMN \($0)" }.joined(separator: ", "))
        }
        // The targets were of one entity, and may be of several now. A column that is there already may come from a schema before, and
        // has nothing for what was saved since.
        for (reference, column, target) in entityColumns {
            try connection.run(
                "UPDATE \(table) AS r SET \(SQLName.quoted(column)) = t.\"ent\" FROM \(SQLName.quoted(target)) t "
                    + "WHERE t.\"id\" = r.\(SQLName.quoted(reference)) AND r.\(SQLName.quoted(column)) IS NULL")
        }
    }

    private func foreign(_ name: String) -> PostgreSQLError {
        PostgreSQLError(
            connection.location,
            .misfit(
                "The schema has a table \(name) of another program, and the store needs one of that name. Rename either, or give "
                    + "the store a schema of its own with schema=NAME"))
    }

    private func makeLinks(
        _ entities: [TableMapping.Entity], of table: String, _ known: [String: Set<String>]
    ) throws {
        for entity in entities {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                guard case .links(let links) = slot.place, let destination = mapping.entities[slot.destination]?.table
                else { continue }
                if let columns = known[links] {
                    guard columns.isSuperset(of: [TableMapping.Link.owner, TableMapping.Link.member]) else {
                        throw foreign(links)
                    }
                    continue
                }
                func reference(_ column: String, _ table: String) -> String {
                    "\(SQLName.quoted(column)) int8 NOT NULL REFERENCES \(SQLName.quoted(table)) (\"id\") "
                        + "DEFERRABLE INITIALLY DEFERRED"
                }
                _ = try connection.run([
                    .init(
                        "CREATE TABLE \(SQLName.quoted(links)) (\(reference(TableMapping.Link.owner, table)), "
                            + "\(reference(TableMapping.Link.member, destination)), PRIMARY KEY (\"a\", \"b\"))"),
                    .init(
                        "CREATE INDEX \(SQLName.quoted("mortise_l_\(links)")) ON \(SQLName.quoted(links)) (\"b\", \"a\")"
                    ),
                ])
            }
        }
    }

    /// After the records have the values of the schema, which may have to be unique.
    func makeIndexes() throws {
        let wanted = mapping.tables.flatMap { mapping.indexes(ofTable: $0.name) }
        let found = try connection.run(
            """
            SELECT c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), '') FROM pg_class c \
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'i' \
            AND c.relname LIKE 'mortise\\_%' AND c.relname NOT LIKE 'mortise\\_l\\_%' \
            AND c.relname NOT LIKE 'mortise\\_saves%' AND c.relname NOT LIKE '%\\_pkey'
            """)
        var known: [String: String] = [:]
        for row in found.rows { if let name = row.text(0) { known[name] = row.text(1) ?? "" } }
        var made: Set<String> = []
        for index in wanted {
            let columns = index.columns.map { SQLName.quoted($0) + " NULLS FIRST" }.joined(separator: ", ")
            let name = SQLName.quoted(index.name)
            let text =
                "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(name) ON "
                + "\(SQLName.quoted(index.table)) (\(columns))" + (index.condition.map { " WHERE \($0)" } ?? "")
            made.insert(index.name)
            // What the index was made by is kept as its comment.
            if known[index.name] == text { continue }
            if known[index.name] != nil { try connection.run("DROP INDEX \(name)") }
            do {
                try connection.run(text)
                try connection.run("COMMENT ON INDEX \(name) IS '\(text.replacing("'", with: "''"))'")
            } catch let error as PostgreSQLError where index.isUnique && error.state == "23505" {
                throw PostgreSQLError(
                    connection.location,
                    .misfit("Records have the same \(index.columns.joined(separator: ", ")), which has to be unique"))
            }
        }
        for name in known.keys where !made.contains(name) {
            try connection.run("DROP INDEX \(SQLName.quoted(name))")
        }
    }
}
#endif
