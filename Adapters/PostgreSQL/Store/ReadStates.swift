#if PostgreSQL
import Foundation
import MortiseCore
import Synchronization

/// The states of the store from which contexts read, one for each context, until it goes on to another scope or ends.
final class ReadStates: Sendable {
    private struct Kept {
        var states: [UUID: (scope: ReadScope, state: ReadState)] = [:]
        var isClosed = false
    }
    private let kept = Mutex(Kept())

    /// The state of a scope: that of the store now if the scope is new.
    /// - Throws: `PostgreSQLError`.
    func state(of scope: ReadScope, in store: PostgreSQLStore) throws -> ReadState {
        let known = try kept.withLock { kept in
            if kept.isClosed { throw store.error(.closed) }
            return kept.states[scope.context]
        }
        if let known, known.scope == scope { return known.state }
        end(scope.context)
        let state = try ReadState(store)
        kept.withLock { if !$0.isClosed { $0.states[scope.context] = (scope, state) } }
        return state
    }

    func end(_ context: UUID) {
        // Released outside of the lock.
        _ = kept.withLock { $0.states.removeValue(forKey: context) }
    }

    func close() {
        _ = kept.withLock { kept in
            kept.isClosed = true
            defer { kept.states = [:] }
            return kept.states
        }
    }
}

/// One state of the store, in a transaction that lasts as long as somebody refers to it: a context, or a cursor. Once a statement has
/// failed in it, or its connection is lost, all that is read of it fails.
///
/// @unchecked Sendable: what changes is used under the lock.
final class ReadState: @unchecked Sendable {
    /// Nil for a connection that is not one of the pool's: a state that a context keeps must not take one from saves.
    private let pool: ConnectionPool?
    private let connection: PostgreSQLConnection
    private let moment: PostgreSQLStore.Moment
    private let lock = NSRecursiveLock()
    private var cursors = 0

    /// With `isPooled`, it takes one of the pool's connections, which is for a short time.
    init(_ store: PostgreSQLStore, isPooled: Bool = false) throws {
        pool = isPooled ? store.pool : nil
        connection = try isPooled ? store.pool.take() : PostgreSQLConnection(store.configuration)
        do {
            let results = try connection.run([
                .init(PostgreSQLStore.beginReading), .init(PostgreSQLStore.momentText),
            ])
            moment = try store.moment(results[1])
        } catch {
            Self.end(connection, pool)
            throw error
        }
    }

    deinit { Self.end(connection, pool) }

    private static func end(_ connection: PostgreSQLConnection, _ pool: ConnectionPool?) {
        if let pool { pool.put(connection) } else { connection.close() }
    }

    /// Reads the state.
    func reading<R>(_ body: (PostgreSQLConnection, PostgreSQLStore.Moment) throws -> R) throws -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(connection, moment)
    }

    /// A name that no other cursor of this state has.
    func cursorName() -> String {
        lock.lock()
        defer { lock.unlock() }
        cursors += 1
        return "mortise_cursor_\(cursors)"
    }
}

extension PostgreSQLStore {
    /// Ends the state that a context reads from, and forgets its saves of unknown outcome: nobody asks for them any more.
    public func invalidateState(for editingState: EditingState) {
        states?.end(editingState.id)
        unsettled.withLock { $0.removeAll { $0.context == editingState.id } }
    }

    /// The state that a scope reads; nil where the store is not configured to keep any.
    func state(of scope: ReadScope?) throws -> ReadState? {
        guard let states, let scope else { return nil }
        return try states.state(of: scope, in: self)
    }
}
#endif
