#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLConfiguration: SelfDescribingConfiguration {
    /// The schema that the store has; nil if there is no store, or if no program with models has opened it.
    /// - Throws: `PostgreSQLError`.
    public func storedSchema() throws -> StoredSchema? {
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        guard try StoreMetadata.exists(connection) else { return nil }
        let metadata = try StoreMetadata(connection)
        return metadata.schemaNumber == 0 ? nil : metadata.schema
    }

    /// A configuration that opens the store for reading only, where all that belongs together is of one state (`pinsReads`).
    public func readOnly() -> PostgreSQLConfiguration {
        var copy = PostgreSQLConfiguration(
            name, schema: schema, server: server, namespace: namespace, allowsSave: false, pool: pool,
            connectTimeout: connectTimeout, statementTimeout: statementTimeout, lockTimeout: lockTimeout,
            retryFor: retryFor, notifies: notifies, dropping: dropping)
        copy.pollInterval = pollInterval
        copy.session = session
        copy.profile = profile
        copy.pinsReads = true
        return copy
    }

    /// A configuration that opens the store for reading only, and keeps no state of it from one save of others to the next.
    public func following() -> PostgreSQLConfiguration {
        var copy = readOnly()
        copy.pinsReads = false
        return copy
    }

    /// None: the server keeps the files.
    /// - Throws: nothing.
    public func storeFiles() throws -> [StoreFile] { [] }

    /// What an acknowledged save survives with the server's own settings: a power cut, unless `synchronous_commit` is off there.
    public var durabilityGrade: DurabilityGrade { .full }
}
#endif
