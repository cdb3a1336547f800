#if SQLite
import CSQLite
import Foundation
import MortiseCore
import MortiseEngine
import MortiseSQL

/// Opens a file, and brings it to a schema.
struct SQLiteOpening {
    let metadata: StoreMetadata
    let mapping: TableMapping
    let pool: ConnectionPool
    let lastTransaction: Int64
    /// Nil for a store that is open for reading only.
    let lock: OpeningLock?
    /// What the schema lacks, and the copy of the store as it was before; without a copy where the store is open for reading only.
    let loss: (loss: SchemaLoss, copy: String?)?

    init(
        _ configuration: SQLiteConfiguration, _ schema: StoredSchema, _ plan: (any SchemaMigrationPlan.Type)?
    ) throws {
        let path = OpenPlace.absolute(configuration.path)
        if !Self.exists(path) {
            guard configuration.allowsSave else { throw SQLiteError(path, .missing) }
            try Self.create(path, configuration)
        }
        lock = try configuration.allowsSave ? Self.lock(path, configuration) : nil
        let connection = try SQLiteConnection(
            path, configuration.allowsSave ? .readWrite : .readOnly, busyTimeout: configuration.busyTimeout)
        do {
            var metadata = try StoreMetadata(connection)
            if configuration.allowsSave {
                try connection.prepareForWriting(configuration)
                loss = try Self.adapt(connection, &metadata, to: schema, plan, configuration)
            } else {
                let loss = try connection.transaction(writes: false) {
                    metadata = try StoreMetadata(connection)
                    return try Self.checkReadable(connection, metadata, as: schema, configuration)
                }
                self.loss = loss.map { ($0, nil) }
            }
            mapping = TableMapping(schema, metadata.catalog)
            self.metadata = metadata
            lastTransaction = try StoreMetadata.lastTransaction(connection)
            pool = try ConnectionPool(
                path, writer: configuration.allowsSave ? connection : nil, busyTimeout: configuration.busyTimeout,
                cacheBytes: configuration.cacheBytes, readers: configuration.readers)
            if !configuration.allowsSave { connection.close() }
        } catch {
            connection.close()
            throw error
        }
    }

    private static func lock(_ path: String, _ configuration: SQLiteConfiguration) throws -> OpeningLock {
        if let held = configuration.heldLock, held.isHeld { return held }
        return try OpeningLock.ofOpening(path, isExclusive: configuration.isExclusive)
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        // What cannot be looked at may be there.
        return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    /// Makes the file of a new store under another name, which it keeps until its tables are there: no other process finds half of
    /// it. Unlike a move, a link never replaces what another process has made meanwhile.
    private static func create(_ path: String, _ configuration: SQLiteConfiguration) throws {
        do {
            try make(path, configuration)
        } catch let error as SQLiteError {
            // Another process was faster, and has removed what this one was making.
            if !exists(path) { throw error }
        }
    }

    private static func make(_ path: String, _ configuration: SQLiteConfiguration) throws {
        let new = StoreCopies.temporary(for: path)
        defer { StoreCopies.remove(new) }
        let connection = try DatabaseCopy.create(new, permissions: configuration.permissions)
        defer { connection.close() }
        if let pageSize = configuration.pageSize { try connection.run("PRAGMA page_size = \(pageSize)") }
        // Without a log beside it, the file is whole when it gets its name.
        try connection.run("PRAGMA synchronous = FULL")
        try connection.transaction(writes: true) { try StoreMetadata.create(connection) }
        connection.close()
        _ = try name(new, path)
    }

    /// Gives a file the name of a store, unless there is something already.
    /// - Returns: whether it has the name.
    static func name(_ file: String, _ path: String) throws -> Bool {
        if link(file, path) == 0 { return true }
        let code = errno
        // Another process that has opened what is there removes what is left beside it.
        if code == EEXIST || code == ENOENT && exists(path) { return false }
        throw SQLiteError(path, .engine(code: .ofSystem(code), message: "the file cannot be made: \(systemText(code))"))
    }

    /// A store that is open for reading only cannot be brought to another schema.
    /// - Returns: what is not shown; nil if that is nothing.
    private static func checkReadable(
        _ connection: SQLiteConnection, _ metadata: StoreMetadata, as schema: StoredSchema,
        _ configuration: SQLiteConfiguration
    ) throws -> SchemaLoss? {
        if try StoreMetadata.isOlder(connection) { throw SQLiteError(configuration.path, .olderFormat) }
        try metadata.schema.checkIsNotNewer(than: schema, store: configuration.name)
        if metadata.schema == schema { return nil }
        let change = try StoreChange(metadata, to: schema, configuration)
        if let name = change.steps.missing(in: metadata.catalog) {
            throw SQLiteError(
                configuration.path,
                .misfit("The store lacks \(name), or has it otherwise, and is open for reading only"))
        }
        let loss = try change.checkedLoss(connection)
        try change.checkNothingIsDue(connection)
        return loss.isEmpty ? nil : loss
    }

    /// Brings the store to a schema, in one transaction.
    /// - Returns: what the schema lacks, and the path of the copy that has it; nil if that is nothing.
    private static func adapt(
        _ connection: SQLiteConnection, _ metadata: inout StoreMetadata, to schema: StoredSchema,
        _ plan: (any SchemaMigrationPlan.Type)?, _ configuration: SQLiteConfiguration
    ) throws -> (loss: SchemaLoss, copy: String?)? {
        var copy: String?
        var kind = StoreCopies.Kind.migration
        do {
            let done: (loss: SchemaLoss, copy: String?)? = try connection.transaction(writes: true) {
                // Others may have been here since.
                try StoreMetadata.upgrade(connection)
                metadata = try StoreMetadata(connection)
                guard let change = try due(metadata, to: schema, plan, configuration) else { return nil }
                let loss = try change.checkedLoss(connection)
                // Another connection sees the store as it is until the transaction ends.
                if !loss.isEmpty {
                    if metadata.schema.version == schema.version { kind = .opening }
                    copy = try StoreCopies.keep(of: configuration, asWrittenAt: connection.path, as: kind)
                }
                try change.carryOut(connection, &metadata)
                return loss.isEmpty ? nil : (loss, copy)
            }
            // Programs of one version may open the store in turn many times.
            if copy != nil, kind == .opening { StoreCopies(of: connection.path).remove(.opening, exceptNewest: 1) }
            return done
        } catch {
            // Where it cannot be said that nothing has changed, the copy stays.
            let now = try? StoreMetadata(connection)
            if let copy, let now, now.schema != schema { StoreCopies.remove(copy) }
            throw error
        }
    }

    /// What there is to do; nil if the store has the schema.
    private static func due(
        _ metadata: StoreMetadata, to schema: StoredSchema, _ plan: (any SchemaMigrationPlan.Type)?,
        _ configuration: SQLiteConfiguration
    ) throws -> StoreChange? {
        let stored = metadata.schema
        try stored.checkIsNotNewer(than: schema, store: configuration.name)
        try stored.checkStages(of: plan, to: schema, store: configuration.name)
        if stored == schema, metadata.schemaNumber > 0 { return nil }
        return try StoreChange(metadata, to: schema, configuration)
    }
}

extension SQLiteConnection {
    /// Gives the file a write-ahead log. Where two processes do so at once, SQLite refuses one of them without waiting.
    private func keepLog(waiting patience: Duration) throws {
        let end = ContinuousClock.now + patience
        while true {
            do {
                return try run("PRAGMA journal_mode = WAL")
            } catch let error as SQLiteError where error.errorClass == .busy && .now < end {
                sqlite3_sleep(5)
            }
        }
    }

    /// How a connection writes.
    func prepareForWriting(_ configuration: SQLiteConfiguration) throws {
        try keepLog(waiting: configuration.busyTimeout)
        let level =
            switch configuration.durability {
            case .full: "FULL"
            case .system: "NORMAL"
            case .none: "OFF"
            }
        try run("PRAGMA synchronous = \(level)")
        try run("PRAGMA journal_size_limit = \(configuration.walLimit)")
        try run("PRAGMA cache_size = -\(max(configuration.cacheBytes / 1_024, 1))")
    }
}
#endif
