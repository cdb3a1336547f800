#if PostgreSQL
import MortiseSQL

extension PostgreSQLConfiguration {
    /// Ends all other sessions that have the name of this configuration's, as a crash of their processes does.
    /// - Throws: `PostgreSQLError`.
    package func endSessions() throws {
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        try connection.run(
            """
            SELECT count(pg_terminate_backend(a.pid, 10000)) FROM pg_stat_activity a \
            WHERE a.application_name = $1::text AND a.pid <> pg_backend_pid()
            """, [.text(session)])
    }

    /// Removes the schema with all tables, those of other programs included, and what migrations of the store have left.
    /// - Throws: `PostgreSQLError`.
    package func removeNamespace() throws {
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        try connection.script("DROP SCHEMA IF EXISTS \(SQLName.quoted(namespace)) CASCADE")
        let places = MigrationPlaces(of: namespace)
        try places.removeSibling(connection)
        for copy in try places.copies(connection) { try places.removeCopy(copy, connection) }
    }
}
#endif
