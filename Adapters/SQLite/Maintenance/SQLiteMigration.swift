#if SQLite
import CSQLite
import Foundation
import MortiseCore
import MortiseEngine
import MortiseSQL

/// A migration of a file, which nobody else writes meanwhile.
///
/// What needs no code is done in the file itself, in one transaction that ends with the migration: the history goes on, and tokens stay.
/// Code, and what tables cannot be brought to, needs a copy of the records, which is begun when the first of it is due.
final class SQLiteMigration: StoreMigration {
    let storedSchema: StoredSchema
    private let configuration: SQLiteConfiguration
    private let request: MigrationRequest
    private let advice: MigrationAdvice
    private let foreign: ForeignObjects
    private var announced: MigrationUnderWay?
    private let path: String
    private var work: Work?
    /// Takes the place of `work`.
    private var copying: (any StoreMigration)?
    private var adapted: [(schema: StoredSchema, converted: [String: Set<String>])] = []
    private var losses: [SchemaLoss] = []
    private var copy: String?
    private(set) var copyLocation: String?
    private var mostCopies: Int?
    private var isPrepared = false

    /// The transaction in the file.
    private struct Work {
        let lock: OpeningLock
        let connection: SQLiteConnection
        var metadata: StoreMetadata

        /// Leaves the file as it was, whose lock stays.
        func rollBack() {
            if let handle = connection.handle, sqlite3_get_autocommit(handle) == 0 { try? connection.run("ROLLBACK") }
            connection.close()
        }

        func end() {
            rollBack()
            lock.release()
        }
    }

    var advance: (_ records: Int) throws -> Void = { _ in } {
        didSet { copying?.advance = advance }
    }

    init(of configuration: SQLiteConfiguration, _ request: MigrationRequest) throws {
        (self.configuration, self.request) = (configuration, request)
        path = OpenPlace.absolute(configuration.path)
        guard SQLiteOpening.exists(path) else { throw MigrationError.storeGone(store: configuration.name) }
        let lock = try OpeningLock.ofOpening(path, isExclusive: true, keepingNotice: true)
        do {
            let connection = try SQLiteConnection(path, .readWrite, busyTimeout: configuration.busyTimeout)
            do {
                _ = try StoreMetadata(connection)
                try connection.prepareForWriting(configuration)
                try connection.run("PRAGMA synchronous = FULL")
                try connection.run("BEGIN IMMEDIATE")
                try StoreMetadata.upgrade(connection)
                let metadata = try StoreMetadata(connection)
                storedSchema = metadata.schema
                foreign = try ForeignObjects(connection, metadata.catalog)
                work = Work(lock: lock, connection: connection, metadata: metadata)
            } catch {
                connection.close()
                throw error
            }
        } catch {
            lock.release()
            throw error
        }
        advice = configuration.migrationAdvice
        do {
            announced = try MigrationUnderWay(from: storedSchema.version, to: request.target)
                .following(advice.current, store: configuration.name)
        } catch {
            advice.clear()
            abandon()
            throw error
        }
        announce()
    }

    deinit { abandon() }

    private func announce() {
        var status = stat()
        let permissions = stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o666 : 0o600
        if let announced { advice.write(announced, permissions: permissions) }
    }

    // MARK: Stages

    var keepsIdentifiers: Bool { copying?.keepsIdentifiers ?? true }

    var isCopy: Bool { copying != nil }

    func count(ofEntity name: String) throws -> Int {
        if let copying { return try copying.count(ofEntity: name) }
        guard let work, let entity = TableMapping(storedSchema, work.metadata.catalog).entities[name] else { return 0 }
        var count = 0
        try work.connection.run(
            "SELECT count(*) FROM \(SQLName.quoted(entity.table)) t WHERE t.\"ent\" = ?",
            [.integer(Int64(entity.number))]
        ) { count = Int(clamping: $0.integer(0)) }
        return count
    }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        if copying == nil, converted.isEmpty {
            do {
                let loss = try change(to: schema)
                adapted.append((schema, converted))
                losses.append(loss)
                return loss
            } catch let error as SQLiteError {
                switch error.fault {
                // The copy may be brought there, or says better why not.
                case .misfit, .tooManyColumns: break
                default: throw error
                }
            }
        }
        return try copied().adapt(to: schema, converting: converted)
    }

    private func change(to schema: StoredSchema) throws -> SchemaLoss {
        guard var work, !isPrepared else { throw DataStoreError.unsupportedFeature }
        let change = try StoreChange(work.metadata, to: schema, configuration)
        let loss = try change.loss(work.connection)
        try change.carryOut(work.connection, &work.metadata)
        self.work = work
        return loss
    }

    func frozen(under schema: Schema) throws -> any VersionedDataStore { try copied().frozen(under: schema) }

    func working(under schema: Schema) throws -> any VersionedDataStore { try copied().working(under: schema) }

    func delete(_ records: [PersistentIdentifier]) throws { try copied().delete(records) }

    /// Leaves the file as it was, and copies the records.
    private func copied() throws -> any StoreMigration {
        if let copying { return copying }
        guard let work, !isPrepared else { throw DataStoreError.unsupportedFeature }
        try foreign.checkForTables()
        work.rollBack()
        self.work = nil
        // Others must not get the lock before the records are copied, and wait by the notice.
        var holding = configuration
        holding.heldLock = work.lock
        let migration: any StoreMigration
        do {
            migration = try holding.copyingMigration(request)
        } catch {
            advice.remove()
            work.lock.release()
            throw error
        }
        copying = migration
        guard migration.storedSchema == storedSchema else {
            throw MigrationError.changedMeanwhile(store: configuration.name)
        }
        migration.advance = advance
        for (schema, converted) in adapted { try migration.adapt(to: schema, converting: converted) }
        return migration
    }

    // MARK: The end

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        if let copying {
            try copying.prepare(keepingCopy: keepsCopy, atMost: most)
            return try foreign.make(in: StoreCopies(of: path).sibling, busyTimeout: configuration.busyTimeout)
        }
        guard let work, !isPrepared else { throw DataStoreError.unsupportedFeature }
        mostCopies = most
        if keepsCopy || !losses.allSatisfy(\.isEmpty) {
            // Another connection sees the store as it is.
            copy = try StoreCopies.keep(of: configuration, asWrittenAt: path)
        }
        // What is left to write is the end of the transaction.
        try work.connection.check(sqlite3_db_cacheflush(work.connection.handle))
        isPrepared = true
    }

    func commit() throws {
        if let copying {
            defer { abandon() }
            try copying.commit()
            copyLocation = copying.copyLocation
            return
        }
        guard let work, isPrepared else { throw DataStoreError.unsupportedFeature }
        defer { abandon() }
        let kept = copy
        // If that fails, it cannot be said that nothing has changed.
        copy = nil
        try work.connection.run("COMMIT")
        if let mostCopies { StoreCopies(of: path).remove(exceptNewest: mostCopies) }
        copyLocation = kept.flatMap { SQLiteOpening.exists($0) ? $0 : nil }
        if let last = losses.last, !losses.allSatisfy(\.isEmpty) {
            let loss = SchemaLoss(
                stored: storedSchema.version, opened: last.opened, entities: losses.flatMap(\.entities),
                properties: losses.flatMap(\.properties))
            StoreEvents.emit(.schemaLoss(store: configuration.name, loss: loss, copy: copyLocation))
        }
    }

    func abandon() {
        guard work != nil || copying != nil else { return }
        // Once the lock is released, the notice may be that of another process.
        advice.remove()
        copying?.abandon()
        copying = nil
        if let copy { StoreCopies.remove(copy) }
        copy = nil
        work?.end()
        work = nil
    }
}
#endif
