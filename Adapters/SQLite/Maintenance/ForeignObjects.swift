#if SQLite
import MortiseCore
import MortiseSQL

/// What other programs have made in the file of a store. A migration that copies the records takes views, indexes and triggers along,
/// and refuses tables: what they hold is not its own.
struct ForeignObjects {
    private struct Definition {
        let name: String
        let sql: String
    }

    private let path: String
    private let tables: [String]
    private let definitions: [Definition]

    /// Looks for what the catalog of the store does not name.
    init(_ connection: SQLiteConnection, _ catalog: TableCatalog) throws {
        var own = Set(catalog.entities.map { $0.table.lowercased() })
        for property in catalog.properties where property.form.hasPrefix("to-many ") {
            own.insert(property.place.lowercased())
        }
        var tables: [String] = []
        var definitions: [Definition] = []
        // Triggers may be of views.
        try connection.run(
            "SELECT m.type, m.name, m.sql FROM sqlite_master m WHERE m.sql IS NOT NULL AND m.name NOT GLOB 'sqlite_*' "
                + "AND m.name NOT GLOB 'mortise_*' ORDER BY m.type = 'trigger', m.rowid"
        ) { row in
            guard let type = row.text(0), let name = row.text(1), let sql = row.text(2) else { return }
            if type != "table" {
                definitions.append(Definition(name: name, sql: sql))
            } else if !own.contains(name.lowercased()) {
                tables.append(name)
            }
        }
        (path, self.tables, self.definitions) = (connection.path, tables, definitions)
    }

    /// - Throws: `SQLiteError`, `.misfit` if there are tables.
    func checkForTables() throws {
        if tables.isEmpty { return }
        throw SQLiteError(
            path,
            .misfit(
                "The file has tables of other programs, which a migration that copies the records would lose: "
                    + "\(tables.sorted().joined(separator: ", ")). Move them to a file of their own"))
    }

    /// Makes views, indexes and triggers in the file that takes the place of the store's.
    /// - Throws: `SQLiteError`, `.misfit` for one that does not fit the tables there.
    func make(in copy: String, busyTimeout: Duration) throws {
        if definitions.isEmpty { return }
        let connection = try SQLiteConnection(copy, .readWrite, busyTimeout: busyTimeout)
        defer { connection.close() }
        for definition in definitions {
            do {
                try connection.run(definition.sql)
            } catch let error as SQLiteError {
                let isMisfit = error.errorClass == .damaged || error.errorClass == .conflict
                guard case .engine(_, let message) = error.fault, isMisfit else { throw error }
                throw SQLiteError(
                    path,
                    .misfit(
                        "\(definition.name), which another program has made in the file, does not fit the new tables "
                            + "(\(message)). Drop it, and make it again after the migration"))
            }
        }
        try check(connection)
    }

    /// SQLite looks at what views and triggers name only when a table gets another name.
    private func check(_ connection: SQLiteConnection) throws {
        try connection.run("BEGIN")
        defer { try? connection.run("ROLLBACK") }
        do {
            try connection.run("ALTER TABLE mortise_store RENAME TO mortise_store_checked")
        } catch let error as SQLiteError {
            guard case .engine(_, let message) = error.fault, error.errorClass == .damaged else { throw error }
            throw SQLiteError(
                path,
                .misfit(
                    "What another program has made in the file does not fit the new tables (\(message)). Drop it, and make "
                        + "it again after the migration"))
        }
    }
}
#endif
