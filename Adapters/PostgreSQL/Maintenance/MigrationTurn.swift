#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// The transaction in which a store is migrated, with the locks that keep everybody away who writes: openings for writing and saves wait
/// for its end. Who reads goes on until tables are exchanged.
final class MigrationTurn: @unchecked Sendable {
    // @unchecked: one thread migrates a store, and nobody else gets this.
    let connection: PostgreSQLConnection
    /// What the store says of itself, as nobody else changes it until the end.
    let stored: StoreMetadata
    private let configuration: PostgreSQLConfiguration
    private var session: Int64 = 0
    private var isOver = false

    /// Takes the locks, once nobody else has the store open for writing.
    /// - Parameters:
    ///   - configuration: where the store is.
    ///   - version: the version that the store comes to, for those who wait.
    /// - Throws: `PostgreSQLError`, `.inUse` if somebody has it open; `MigrationError.storeGone`, `.attemptsDied`.
    init(_ configuration: PostgreSQLConfiguration, to version: Schema.Version?) throws {
        self.configuration = configuration
        var own = PostgreSQLConfiguration(
            configuration.name, server: configuration.server, namespace: configuration.namespace, pool: 1,
            connectTimeout: configuration.connectTimeout, statementTimeout: .zero,
            lockTimeout: configuration.lockTimeout, retryFor: configuration.retryFor, notifies: false)
        own.session = configuration.session
        own.profile = configuration.profile
        connection = try PostgreSQLConnection(own)
        do {
            try connection.run("BEGIN")
            // Code of a stage may run for hours between two statements.
            try connection.run(
                "SELECT set_config(s.name, '0', true) FROM pg_settings s "
                    + "WHERE s.name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')")
            try Self.lock(connection, configuration)
            guard try StoreMetadata.exists(connection) else {
                throw MigrationError.storeGone(store: configuration.name)
            }
            // Programs with an older version of this library know no other lock.
            try connection.run("LOCK TABLE mortise_store IN EXCLUSIVE MODE")
            stored = try StoreMetadata(connection)
            session = try connection.run("SELECT pg_backend_pid()").rows.first?.integer(0) ?? 0
            try MigrationNotice.announce(
                MigrationUnderWay(from: stored.schema.version, to: version), ofSession: session, configuration)
            try connection.run("SAVEPOINT work")
        } catch {
            connection.close()
            throw error
        }
    }

    deinit { end() }

    private static func lock(_ connection: PostgreSQLConnection, _ configuration: PostgreSQLConfiguration) throws {
        let name: [SQLValue] = [.text(configuration.namespace)]
        // In the order in which an opening takes them.
        do {
            try connection.run("SELECT pg_advisory_xact_lock(\(StoreLock.writing), hashtext($1::text))", name)
        } catch let error as PostgreSQLError where error.state == "55P03" {
            throw PostgreSQLError(configuration.location, .inUse)
        }
        try connection.run("SELECT pg_advisory_xact_lock(\(StoreLock.opening), hashtext($1::text))", name)
    }

    /// Takes back what was done to the tables. The locks stay.
    func rollBackWork() throws { try connection.run("ROLLBACK TO SAVEPOINT work") }

    /// Makes what was done durable, and lets others open the store again.
    /// - Throws: `PostgreSQLError`. If the connection was lost, it is not known whether it was done.
    func commit() throws {
        try connection.run("COMMIT")
        end()
    }

    /// Leaves the store as it is, and lets others open it again.
    func end() {
        if isOver { return }
        isOver = true
        MigrationNotice.remove(ofSession: session, configuration)
        connection.close()
    }
}

extension MigrationTurn: Hashable {
    static func == (lhs: MigrationTurn, rhs: MigrationTurn) -> Bool { lhs === rhs }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The keys of advisory locks, each with a hash of the schema's name.
enum StoreLock {
    /// "Mort": held while the tables of a store are made or changed.
    static let opening = 1_299_149_428
    /// Shared by all connections of stores that are open for writing.
    static let writing = 1_299_149_429

    /// The statement by which a connection takes its share; it has it until it is closed.
    static func sharing(_ namespace: String) -> String {
        "SELECT pg_advisory_lock_shared(\(writing), hashtext('\(namespace.replacing("'", with: "''"))'))"
    }
}

/// The table in which a session says that it migrates the store. Nobody relies on it: the locks alone keep others out.
enum MigrationNotice {
    private static let table = "mortise_migration"

    /// Notes a migration, and how many attempts before it ended with their processes.
    /// - Throws: `MigrationError.attemptsDied`. What keeps the note from being written keeps nothing else.
    static func announce(
        _ migration: MigrationUnderWay, ofSession session: Int64, _ configuration: PostgreSQLConfiguration
    ) throws {
        guard let connection = try? PostgreSQLConnection(configuration) else { return }
        defer { connection.close() }
        let isThere = try? connection.run(
            "CREATE TABLE IF NOT EXISTS \(table) (session int8 NOT NULL, notice text NOT NULL)")
        guard isThere != nil else { return }
        let last = try? connection.run("SELECT m.notice FROM \(table) m").rows.last?.text(0)
        _ = try? connection.run("DELETE FROM \(table)")
        let next = try migration.following((last ?? nil).flatMap(read), store: configuration.name)
        guard let bytes = try? JSONEncoder().encode(next) else { return }
        _ = try? connection.run(
            "INSERT INTO \(table) VALUES ($1::int8, $2::text)",
            [.integer(session), .text(EscapedText.escaped(String(decoding: bytes, as: UTF8.self)))])
    }

    static func remove(ofSession session: Int64, _ configuration: PostgreSQLConfiguration) {
        guard let connection = try? PostgreSQLConnection(configuration) else { return }
        defer { connection.close() }
        _ = try? connection.run("DELETE FROM \(table) WHERE session = $1::int8", [.integer(session)])
    }

    /// What the session says that holds the lock; nil if none does, or if it says nothing.
    static func current(_ configuration: PostgreSQLConfiguration) -> MigrationUnderWay? {
        guard let connection = try? PostgreSQLConnection(configuration) else { return nil }
        defer { connection.close() }
        let found = try? connection.run(
            """
            SELECT m.notice FROM \(table) m JOIN pg_locks l ON l.pid = m.session WHERE l.locktype = 'advisory' \
            AND l.classid::int8 = \(StoreLock.writing) AND l.mode = 'ExclusiveLock' AND l.granted \
            AND l.objid::int8 = (hashtext($1::text)::int8 & 4294967295)
            """, [.text(configuration.namespace)])
        return found?.rows.first?.text(0).flatMap(read)
    }

    private static func read(_ text: String) -> MigrationUnderWay? {
        EscapedText.text(text).flatMap {
            try? JSONDecoder().decode(MigrationUnderWay.self, from: Data($0.utf8))
        }
    }
}
#endif
