#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

/// A store in a database of PostgreSQL. Records are read when they are asked for.
///
/// The server evaluates what it decides as Swift does; the framework does the rest. A save is one transaction, which checks the
/// versions of the records that it changes, so that other processes may read and write the store at the same time. The store has a
/// history of all saves.
public final class PostgreSQLStore: QueryableDataStore, Sendable {
    /// The form in which records enter and leave the store.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration that opened the store.
    public let configuration: PostgreSQLConfiguration
    /// The models that the store keeps.
    public let schema: Schema
    /// Names the store in the identifiers of its records; kept in the store.
    public var identifier: String { current.withLock { $0 } }
    /// Whether the store accepts changes.
    public var allowsSave: Bool { configuration.allowsSave }
    /// Where what is committed is posted, by this process and by others.
    public var changeFeed: ChangeFeed? { following.feed }
    /// True: the history of the store tells what others have saved.
    public var announcesOtherProcesses: Bool { true }

    /// What a store that is open for reading only does not show, because the schema lacks it; nil if that is nothing.
    public let schemaLoss: SchemaLoss?
    /// The names that entities had in earlier versions, each with the entities that had it.
    public let formerNames: [String: [String]]

    /// The identifier, which changes where records of another store are restored.
    let current: Mutex<String>
    let mapping: TableMapping
    let schemaNumber: Int64
    let pool: ConnectionPool
    let following: PostgreSQLFollowing
    /// Nil where contexts read the latest state each time.
    let states: ReadStates?
    /// Whether any number may be NaN, as far as is known. It never becomes false again.
    let knownNaN = Mutex(false)
    /// Saves whose outcome is not known.
    let unsettled = Mutex<[UnsettledSave]>([])
    /// One thread saves at a time, so that what is committed is posted in order.
    let saveLock = NSRecursiveLock()
    /// The lists that are kept, each with the entity that declares it.
    let linkSlots: [(owner: TableMapping.Entity, place: Int)]
    /// The references, each with the entity that declares it.
    let referenceSlots: [(owner: TableMapping.Entity, place: Int, column: String, other: String?)]

    /// What the store can do.
    public var capabilities: StoreCapabilities {
        let own = StoreCapabilities(conformances: self).union([
            .reopening, .durability, .erase, .batchUpdate, .uniqueness, .referentialIntegrity, .concurrency,
            .recordVersions, .deferredRelationships, .announcements, .closing, .aggregates, .restoring, .healthChecks,
        ])
        return states == nil ? own : own.union([.readConsistency])
    }

    /// Opens the store, or makes it, and brings its tables to the schema.
    /// - Throws: `PostgreSQLError`; `MigrationError` for stages of a plan that have code, and for a store that is newer than the schema.
    public init(_ configuration: PostgreSQLConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw PostgreSQLError(configuration.location, .noSchema) }
        let opening = try PostgreSQLOpening(configuration, schema.stored, migrationPlan)
        self.configuration = configuration
        self.schema = schema
        current = Mutex(opening.metadata.identifier)
        schemaNumber = opening.metadata.schemaNumber
        mapping = opening.mapping
        pool = opening.pool
        states = configuration.pinsReads ? ReadStates() : nil
        schemaLoss = opening.loss
        formerNames = schema.stored.keepingNames(of: opening.metadata.schema).formerNames
        following = PostgreSQLFollowing(opening.metadata.lastTransaction)
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
        following.watch(self)
    }

    deinit {
        following.stop()
        pool.close()
    }

    /// Closes all connections. Later calls throw that the store is closed.
    public func close() throws {
        following.stop()
        states?.close()
        pool.close()
    }

    /// Whether the server answers, and has the store as it was opened.
    /// - Throws: `PostgreSQLError`.
    public func checkHealth() throws { try reading { _, _ in } }

    func error(_ fault: PostgreSQLError.Fault) -> PostgreSQLError { PostgreSQLError(configuration.location, fault) }

    /// What a transaction begins with.
    struct Moment {
        let lastTransaction: Int64
        let nextNumber: Int64
        /// Whether any number may be NaN.
        let holdsNaN: Bool
    }

    static let momentText =
        "SELECT s.\"schemaNumber\", s.\"lastTransaction\", s.\"nextNumber\", s.\"holdsNaN\" FROM mortise_store s"

    /// Makes sure that the store has the schema with which it was opened.
    func moment(_ result: PostgreSQLResult) throws -> Moment {
        guard let row = result.rows.first else { throw error(.damagedMetadata("mortise_store has no row")) }
        guard row.number(0) == schemaNumber else { throw error(.schemaChanged) }
        let holdsNaN = row.bool(3) ?? true
        if holdsNaN { knownNaN.withLock { $0 = true } }
        return Moment(
            lastTransaction: row.integer(1), nextNumber: max(row.integer(2), 1), holdsNaN: holdsNaN)
    }

    static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    /// Reads one state of the store. The body may be called again, with another connection, where one was lost.
    func reading<R>(_ body: (PostgreSQLConnection, Moment) throws -> R) throws -> R {
        try retrying { connection in
            let results = try connection.run([.init(Self.beginReading), .init(Self.momentText)])
            let result = try body(connection, try moment(results[1]))
            try connection.run("COMMIT")
            return result
        }
    }

    /// Runs one statement on one state of the store, in one round trip.
    func reading(_ statement: PostgreSQLConnection.Statement) throws -> (Moment, PostgreSQLResult) {
        try retrying { connection in
            let results = try connection.run([
                .init(Self.beginReading), .init(Self.momentText), statement, .init("COMMIT"),
            ])
            return (try moment(results[1]), results[2])
        }
    }

    /// Does what changes nothing, and again where a connection was lost or a plan did not fit any more.
    private func retrying<R>(_ body: (PostgreSQLConnection) throws -> R) throws -> R {
        let deadline = ContinuousClock.now + configuration.retryFor
        var pause = Backoff()
        var replanned = false
        while true {
            do {
                return try pool.using { connection in
                    do { return try body(connection) } catch {
                        connection.rollBack()
                        throw error
                    }
                }
            } catch let error as PostgreSQLError {
                if case .engine("0A000", _, _, _, _) = error.fault, !replanned {
                    replanned = true
                    continue
                }
                guard case .unreachable = error.fault, .now < deadline else { throw error }
                pause.wait()
            }
        }
    }
}

/// Pauses that become longer, each of a random length.
struct Backoff {
    private var milliseconds: Double = 5

    mutating func wait() {
        Thread.sleep(forTimeInterval: milliseconds * Double.random(in: 0.5...1) / 1_000)
        milliseconds = min(milliseconds * 2, 500)
    }
}
#endif
