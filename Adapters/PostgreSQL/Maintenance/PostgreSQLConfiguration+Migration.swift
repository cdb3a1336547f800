#if PostgreSQL
import Foundation
public import MortiseCore
public import MortiseEngine
import MortiseSQL

/// The container migrates a store in its tables, or, where a plan has code, by copying it into another schema of the database. The tables
/// are then exchanged in one transaction, so that other processes find those of the new schema in their place.
extension PostgreSQLConfiguration: ReplaceableConfiguration {
    /// Whether the store may be changed.
    public var allowsMigration: Bool { allowsSave }
    /// True: what needs no code is done in the tables themselves.
    public var adaptsWhenOpened: Bool { true }
    /// The same store, which does not save.
    public var readingOnly: PostgreSQLConfiguration { readOnly() }
    /// The same store. `beginMigration(_:)` has the locks that keep others from writing.
    public var exclusive: PostgreSQLConfiguration { self }

    /// Begins a transaction, during which nobody else opens the store for writing or saves. Who reads goes on. Code of a plan gets a copy
    /// of the records.
    /// - Throws: `PostgreSQLError`, `.inUse` if somebody has the store open for writing; `MigrationError`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try PostgreSQLMigration(of: self, request)
    }

    /// Looks at the store, and says whether a copy of the records would be needed.
    /// - Throws: as `beginMigration(_:)`.
    public func previewMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try PostgreSQLPreview(of: self, try copyingPreview(request))
    }

    /// Asks the server for the session that migrates the store.
    public func migrationUnderWay() -> MigrationUnderWay? { MigrationNotice.current(self) }

    private func connected<R>(_ body: (PostgreSQLConnection) throws -> R) throws -> R {
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        return try body(connection)
    }

    /// A store in another schema of the database, which takes the right to make one.
    /// - Throws: `PostgreSQLError`.
    public func sibling() throws -> PostgreSQLConfiguration {
        // Who has lost the locks may have another migration beside it, with a sibling of the same name.
        try turn?.connection.run("SELECT 1")
        let places = MigrationPlaces(of: namespace)
        try connected { try places.makeSibling($0) }
        var copy = PostgreSQLConfiguration(
            name, server: server, namespace: places.sibling, pool: pool, connectTimeout: connectTimeout,
            statementTimeout: statementTimeout, lockTimeout: lockTimeout, retryFor: retryFor, notifies: false,
            dropping: dropping)
        copy.session = session
        copy.profile = profile
        return copy
    }

    /// Exchanges the tables in the transaction of the migration, which ends with that. Histories are not told any more, and tokens of
    /// before have expired.
    /// - Throws: `PostgreSQLError`. If the connection is lost at the end, it is not known whether they were exchanged.
    public func replace(with sibling: PostgreSQLConfiguration, keepingCopy keepsCopy: Bool) throws {
        guard let turn else { throw DataStoreError.unsupportedFeature }
        let exchange = TableExchange(turn: turn, places: MigrationPlaces(of: namespace))
        try exchange.carryOut(takingFrom: sibling.namespace, keepingCopy: keepsCopy)
        try turn.commit()
    }

    /// Removes the tables of the store as it was before migrations, but the newest ones.
    public func removeCopies(exceptNewest most: Int) {
        let places = MigrationPlaces(of: namespace)
        try? connected { connection in
            for copy in try places.copies(connection).dropFirst(most) { try? places.removeCopy(copy, connection) }
        }
    }

    /// The URL of the newest of these, without a password.
    public func newestCopy() -> String? {
        let copies = try? connected { try MigrationPlaces(of: namespace).copies($0) }
        return copies?.first.map { "\(server)?schema=\($0)" }
    }

    /// Removes the tables of a sibling.
    public func discard(_ sibling: PostgreSQLConfiguration) {
        try? connected { try MigrationPlaces(of: namespace).removeSibling($0) }
    }
}
#endif
