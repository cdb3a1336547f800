#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

/// A store on a file of SQLite. Records are read when they are asked for, and the file may be larger than the memory.
///
/// SQLite evaluates what it decides as Swift does; the framework does the rest. A save is one transaction, which checks the
/// versions of the records that it changes, so that other processes may read and write the file at the same time. The file has a
/// history of all saves.
public final class SQLiteStore: QueryableDataStore, Sendable {
    /// The form in which records enter and leave the store.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration that opened the store.
    public let configuration: SQLiteConfiguration
    /// The models that the store keeps.
    public let schema: Schema
    /// Names the store in the identifiers of its records; kept in the file.
    public var identifier: String { current.withLock { $0 } }
    /// Whether the store accepts changes.
    public var allowsSave: Bool { configuration.allowsSave }
    /// Where what is committed is posted, by this process and by others.
    public var changeFeed: ChangeFeed? { following.feed }
    /// True: the history of the file tells what others have saved.
    public var announcesOtherProcesses: Bool { true }

    /// What the schema lacks of what the file held when the store was opened. The opening has dropped it, after it had copied the file to
    /// `PATH.before-migration-N`, or, where both have the same version, to `PATH.before-opening-N`, of which the newest stays; a store that
    /// is open for reading only does not show it. Nil if that is nothing.
    public let schemaLoss: SchemaLoss?
    /// The names that entities had in earlier versions, each with the entities that had it.
    public let formerNames: [String: [String]]
    /// The copy that has it, until somebody was told.
    private let untoldCopy: Mutex<String?>

    /// The identifier, which changes where records of another store are restored.
    let current: Mutex<String>
    let mapping: TableMapping
    let schemaNumber: Int64
    let pool: ConnectionPool
    let following: SQLiteFollowing
    /// Nil where contexts read the latest state each time.
    let states: ReadStates?
    private let lock: OpeningLock?
    /// The lists that are kept, each with the entity that declares it.
    let linkSlots: [(owner: TableMapping.Entity, place: Int)]
    /// The references, each with the entity that declares it.
    let referenceSlots: [(owner: TableMapping.Entity, place: Int, column: String, other: String?)]

    /// What the store can do.
    public var capabilities: StoreCapabilities {
        let own = StoreCapabilities(conformances: self).union([
            .reopening, .durability, .erase, .batchUpdate, .uniqueness, .referentialIntegrity, .concurrency,
            .recordVersions,
            .deferredRelationships, .announcements, .closing, .aggregates, .restoring, .healthChecks,
        ])
        return states == nil ? own : own.union([.readConsistency])
    }

    /// Opens the file, or makes it, and brings its tables to the schema.
    /// - Throws: `SQLiteError`; `MigrationError` for stages of a plan that have code, and for a store that is newer than the schema.
    public init(_ configuration: SQLiteConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw SQLiteError(configuration.path, .noSchema) }
        let opening = try SQLiteOpening(configuration, schema.stored, migrationPlan)
        self.configuration = configuration
        self.schema = schema
        current = Mutex(opening.metadata.identifier)
        schemaNumber = opening.metadata.schemaNumber
        mapping = opening.mapping
        pool = opening.pool
        lock = opening.lock
        states = configuration.pinsReads ? ReadStates() : nil
        schemaLoss = opening.loss?.loss
        formerNames = schema.stored.keepingNames(of: opening.metadata.schema).formerNames
        untoldCopy = Mutex(opening.loss?.copy)
        following = SQLiteFollowing(opening.lastTransaction)
        let slots = opening.mapping.entities.values.sorted { $0.number < $1.number }.flatMap { entity in
            entity.slots.indices.filter { entity.slots[$0].slot.declaringEntity == entity.name }.map { (entity, $0) }
        }
        linkSlots = slots.filter { entity, place in
            if case .links = entity.slots[place].place { true } else { false }
        }
        referenceSlots = slots.compactMap { entity, place in
            guard case .reference(let column, let other) = entity.slots[place].place else { return nil }
            return (entity, place, column, other)
        }
        following.watch(self, every: configuration.pollInterval)
        OpenStores.add(self, lastTransaction: opening.lastTransaction)
        if let loss = opening.loss {
            StoreEvents.emit(.schemaLoss(store: configuration.name, loss: loss.loss, copy: loss.copy))
        }
    }

    /// Tells the handler where the copy is that the opening has made.
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        guard let schemaLoss, let copy = untoldCopy.withLock({ $0.take() }) else { return }
        handler(.schemaLoss(store: configuration.name, loss: schemaLoss, copy: copy))
    }

    deinit {
        following.stop()
        pool.close()
    }

    /// Closes all connections. Later calls throw that the store is closed.
    public func close() throws {
        following.stop()
        OpenStores.remove(self)
        states?.endAll()
        pool.close()
        lock?.release()
    }

    /// Whether the file can be read, and is still the one that was opened.
    /// - Throws: `SQLiteError`.
    public func checkHealth() throws {
        try pool.checkFile()
        _ = try pool.reading { try check($0) }
    }

    func error(_ fault: SQLiteError.Fault) -> SQLiteError { SQLiteError(configuration.path, fault) }

    /// What a transaction begins with.
    struct Moment {
        let lastTransaction: Int64
        let nextNumber: Int64
        /// Whether any number may be NaN.
        let holdsNaN: Bool
    }

    /// Makes sure that the store has the schema with which it was opened.
    @discardableResult
    func check(_ connection: SQLiteConnection) throws -> Moment {
        var moment: Moment?
        try connection.run(
            "SELECT s.schemaNumber, s.lastTransaction, s.nextNumber, s.holdsNaN FROM mortise_store s"
        ) { row in
            guard row.number(0) == schemaNumber else { throw error(.schemaChanged) }
            moment = Moment(
                lastTransaction: try StoreMetadata.number(row, 1, "lastTransaction", configuration.path),
                nextNumber: max(try StoreMetadata.number(row, 2, "nextNumber", configuration.path), 1),
                holdsNaN: row.integer(3) != 0)
        }
        guard let moment else { throw error(.damagedMetadata("mortise_store has no row")) }
        return moment
    }

    /// Reads one state of the file.
    func reading<R>(_ body: (SQLiteConnection, Moment) throws -> R) throws -> R {
        try pool.reading { connection in
            try connection.transaction(writes: false) { try body(connection, try check(connection)) }
        }
    }

    /// Changes the file in one transaction.
    func writing<R>(_ body: (SQLiteConnection, Moment) throws -> R) throws -> R {
        try pool.writing { connection in
            try connection.transaction(writes: true) { try body(connection, try check(connection)) }
        }
    }
}
#endif
