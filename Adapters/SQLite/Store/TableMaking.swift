#if SQLite
import Foundation
import MortiseCore
import MortiseSQL

/// Makes the tables, columns and indexes of a mapping that a file lacks.
struct TableMaking {
    let connection: SQLiteConnection
    let mapping: TableMapping

    /// SQLite takes 2,000 columns.
    private static let mostColumns = 2_000

    func makeTables() throws {
        for (name, entities) in mapping.tables { try makeTable(name, entities) }
        for (name, entities) in mapping.tables { try makeLinks(entities, of: name) }
    }

    private func columns(ofTable name: String) throws -> Set<String> {
        var found: Set<String> = []
        try connection.run("SELECT c.name FROM pragma_table_info(?) c", [.text(name)]) { row in
            if let column = row.text(0) { found.insert(column) }
        }
        return found
    }

    /// The columns of properties, each with what follows its name.
    private func definitions(_ entities: [TableMapping.Entity]) -> [(
        column: String, words: String, destination: String?
    )] {
        var found: [(column: String, words: String, destination: String?)] = []
        for entity in entities {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                switch slot.place {
                case .attribute(let columns):
                    found.append((columns.main, columns.kind.columnType, nil))
                    if let other = columns.other {
                        found.append((other, columns.kind == .decimal ? " BLOB" : " TEXT", nil))
                    }
                case .reference(let column, let entityColumn):
                    guard let table = mapping.entities[slot.destination]?.table else { continue }
                    let target = "\(SQLName.quoted(table))(\(SQLName.quoted(TableMapping.Column.id)))"
                    found.append(
                        (column, " INTEGER REFERENCES \(target) DEFERRABLE INITIALLY DEFERRED", nil))
                    if let entityColumn { found.append((entityColumn, " INTEGER", slot.destination)) }
                default: continue
                }
            }
        }
        return found
    }

    private func makeTable(_ name: String, _ entities: [TableMapping.Entity]) throws {
        let known = try columns(ofTable: name)
        let definitions = definitions(entities)
        let own = [TableMapping.Column.id, TableMapping.Column.entity, TableMapping.Column.version]
        let count = Set(definitions.map(\.column)).union(known).union(own).count
        if count > Self.mostColumns {
            throw SQLiteError(connection.path, .tooManyColumns(table: name, count: count))
        }
        if known.isEmpty {
            let words =
                ["\"id\" INTEGER PRIMARY KEY", "\"ent\" INTEGER NOT NULL", "\"rv\" INTEGER NOT NULL"]
                + definitions.map { SQLName.quoted($0.column) + $0.words }
            try connection.run("CREATE TABLE \(SQLName.quoted(name)) (\(words.joined(separator: ", ")))")
            return
        }
        guard known.isSuperset(of: own) else { throw foreign(name) }
        for (column, words, destination) in definitions {
            if !known.contains(column) {
                try connection.run("ALTER TABLE \(SQLName.quoted(name)) ADD COLUMN \(SQLName.quoted(column))\(words)")
            }
            // The targets were of one entity, and may be of several now. A column that is there already may come from a schema before,
            // and has nothing for what was saved since.
            guard let destination, let table = mapping.entities[destination]?.table else { continue }
            let reference = String(column.dropLast("__ent".count))
            if !known.contains(reference) { continue }
            try connection.run(
                "UPDATE \(SQLName.quoted(name)) AS r SET \(SQLName.quoted(column)) = "
                    + "(SELECT t.\"ent\" FROM \(SQLName.quoted(table)) t WHERE t.\"id\" = r.\(SQLName.quoted(reference))) "
                    + "WHERE r.\(SQLName.quoted(reference)) IS NOT NULL AND r.\(SQLName.quoted(column)) IS NULL")
        }
    }

    private func foreign(_ name: String) -> SQLiteError {
        SQLiteError(
            connection.path,
            .misfit(
                "The file has a table \(name) of another program, and the schema needs one of that name. Rename either")
        )
    }

    private func makeLinks(_ entities: [TableMapping.Entity], of table: String) throws {
        for entity in entities {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                guard case .links(let links) = slot.place, let destination = mapping.entities[slot.destination]?.table
                else { continue }
                let known = try columns(ofTable: links)
                if !known.isEmpty {
                    guard known.isSuperset(of: [TableMapping.Link.owner, TableMapping.Link.member]) else {
                        throw foreign(links)
                    }
                    continue
                }
                func reference(_ column: String, _ table: String) -> String {
                    "\(SQLName.quoted(column)) INTEGER NOT NULL REFERENCES \(SQLName.quoted(table))(\"id\") "
                        + "DEFERRABLE INITIALLY DEFERRED"
                }
                try connection.run(
                    "CREATE TABLE \(SQLName.quoted(links)) (\(reference(TableMapping.Link.owner, table)), "
                        + "\(reference(TableMapping.Link.member, destination)), PRIMARY KEY (\"a\", \"b\")) WITHOUT ROWID"
                )
                try connection.run(
                    "CREATE INDEX \(SQLName.quoted("mortise_links_\(links)")) ON \(SQLName.quoted(links)) (\"b\", \"a\")"
                )
            }
        }
    }

    /// After the records have the values of the schema, which may have to be unique.
    func makeIndexes() throws {
        let wanted = mapping.tables.flatMap { mapping.indexes(ofTable: $0.name) }
        var known: [String: String] = [:]
        try connection.run(
            "SELECT m.name, m.sql FROM sqlite_master m WHERE m.type = 'index' AND m.name GLOB 'mortise_*' "
                + "AND m.name NOT GLOB 'mortise_links_*'"
        ) { row in
            if let name = row.text(0) { known[name] = row.text(1) ?? "" }
        }
        var made: Set<String> = []
        for index in wanted {
            let columns = index.columns.map(SQLName.quoted).joined(separator: ", ")
            let text =
                "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQLName.quoted(index.name)) ON "
                + "\(SQLName.quoted(index.table)) (\(columns))" + (index.condition.map { " WHERE \($0)" } ?? "")
            made.insert(index.name)
            if known[index.name] == text { continue }
            if known[index.name] != nil { try connection.run("DROP INDEX \(SQLName.quoted(index.name))") }
            do {
                try connection.run(text)
            } catch let error as SQLiteError where index.isUnique && error.errorClass == .conflict {
                throw SQLiteError(
                    connection.path,
                    .misfit("Records have the same \(index.columns.joined(separator: ", ")), which has to be unique"))
            }
        }
        for name in known.keys where !made.contains(name) {
            try connection.run("DROP INDEX \(SQLName.quoted(name))")
        }
    }
}

extension StorageKind {
    /// The type of the column, after its name. Floating-point numbers have none, with which SQLite would drop the sign of zero.
    fileprivate var columnType: String {
        switch self {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: " INTEGER"
        case .float, .double, .date: ""
        case .decimal, .string, .url, .coded: " TEXT"
        case .data, .uuid: " BLOB"
        }
    }
}
#endif
