#if SQLite
import CSQLite
import Foundation
import MortiseCore
import Synchronization

/// The states of the file from which contexts read, one for each context, until it goes on to another scope or ends.
final class ReadStates: Sendable {
    private let states = Mutex<[UUID: (scope: ReadScope, state: ReadState)]>([:])

    /// The state of a scope: that of the file now if the scope is new.
    /// - Throws: `SQLiteError`.
    func state(of scope: ReadScope, in store: SQLiteStore) throws -> ReadState {
        let known = states.withLock { $0[scope.context] }
        if let known, known.scope == scope { return known.state }
        // Its connection serves the next one.
        end(scope.context)
        let state = try ReadState(store)
        states.withLock { $0[scope.context] = (scope, state) }
        return state
    }

    func end(_ context: UUID) {
        // Released outside of the lock.
        _ = states.withLock { $0.removeValue(forKey: context) }
    }

    func endAll() {
        _ = states.withLock { states in
            defer { states = [:] }
            return states
        }
    }
}

/// One state of the file, in a read transaction that lasts as long as somebody refers to it: a context, or a cursor.
///
/// @unchecked Sendable: the connection and the failure are used under the lock.
final class ReadState: @unchecked Sendable {
    private let pool: ConnectionPool
    private let connection: SQLiteConnection
    private let moment: SQLiteStore.Moment
    private let lock = NSRecursiveLock()
    private var failure: (any Error)?

    init(_ store: SQLiteStore) throws {
        pool = store.pool
        connection = try store.pool.take()
        do {
            try connection.run("BEGIN")
            // A transaction begins to read with its first statement.
            moment = try store.check(connection)
        } catch {
            Self.end(connection, pool)
            throw error
        }
    }

    deinit { Self.end(connection, pool) }

    private static func end(_ connection: SQLiteConnection, _ pool: ConnectionPool) {
        if let handle = connection.handle, sqlite3_get_autocommit(handle) == 0 { try? connection.run("ROLLBACK") }
        pool.put(connection)
    }

    /// Reads the state.
    /// - Throws: what the body throws; the error with which SQLite ended the transaction earlier, because a later state would be read.
    func reading<R>(_ body: (SQLiteConnection, SQLiteStore.Moment) throws -> R) throws -> R {
        lock.lock()
        defer { lock.unlock() }
        if let failure { throw failure }
        do {
            return try body(connection, moment)
        } catch {
            if let handle = connection.handle, sqlite3_get_autocommit(handle) != 0 { failure = error }
            throw error
        }
    }

    /// Ends a statement of the connection.
    func finish(_ statement: SQLiteStatement) {
        lock.lock()
        defer { lock.unlock() }
        connection.finish(statement)
    }
}

extension SQLiteStore {
    /// Ends the state that a context reads from.
    public func invalidateState(for editingState: EditingState) { states?.end(editingState.id) }

    /// The state that a scope reads; nil where the store is not configured to keep any.
    func state(of scope: ReadScope?) throws -> ReadState? {
        guard let states, let scope else { return nil }
        return try states.state(of: scope, in: self)
    }

    /// Reads the state of a scope, or one state of the file.
    func reading<R>(in scope: ReadScope?, _ body: (SQLiteConnection, Moment) throws -> R) throws -> R {
        guard let state = try state(of: scope) else { return try reading(body) }
        return try state.reading(body)
    }
}
#endif
