#if PostgreSQL
import Foundation
import MortiseSQL

/// The connections of one open store: as many as are needed at a time, up to a limit.
final class ConnectionPool: @unchecked Sendable {
    // @unchecked: a connection is in one place at a time: among the idle ones under a lock, or with the thread that took it.
    private let configuration: PostgreSQLConfiguration
    private let condition = NSCondition()
    private var idle: [PostgreSQLConnection] = []
    private var count = 0
    private var isClosed = false

    init(_ configuration: PostgreSQLConfiguration) { self.configuration = configuration }

    private func error(_ fault: PostgreSQLError.Fault) -> PostgreSQLError {
        PostgreSQLError(configuration.location, fault)
    }

    /// A connection; give it back by `put(_:)`. Waits for one if all are in use.
    func take() throws -> PostgreSQLConnection {
        let seconds = configuration.lockTimeout / .seconds(1)
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        while true {
            if isClosed {
                condition.unlock()
                throw error(.closed)
            }
            if let found = idle.popLast() {
                condition.unlock()
                return found
            }
            if count < configuration.pool { break }
            guard condition.wait(until: deadline) else {
                condition.unlock()
                throw error(.noConnection(limit: configuration.pool))
            }
        }
        count += 1
        condition.unlock()
        do {
            return try PostgreSQLConnection(
                configuration, writes: configuration.allowsSave && configuration.turn == nil)
        } catch {
            condition.withLock {
                count -= 1
                condition.signal()
            }
            throw error
        }
    }

    func put(_ connection: PostgreSQLConnection) {
        connection.rollBack()
        let isKept = condition.withLock {
            let isKept = !isClosed && connection.isUsable
            if isKept { idle.append(connection) } else { count -= 1 }
            condition.signal()
            return isKept
        }
        if !isKept { connection.close() }
    }

    /// Does something with one of the connections.
    func using<R>(_ body: (PostgreSQLConnection) throws -> R) throws -> R {
        let connection = try take()
        defer { put(connection) }
        return try body(connection)
    }

    /// How many connections there are, in use or idle.
    var size: Int { condition.withLock { count } }

    /// Closes what nobody uses, which may lead to a server that is not the one to ask any more.
    func closeIdle() {
        let last = condition.withLock {
            count -= idle.count
            defer { idle = [] }
            condition.broadcast()
            return idle
        }
        for connection in last { connection.close() }
    }

    func close() {
        let last = condition.withLock {
            isClosed = true
            count -= idle.count
            defer { idle = [] }
            condition.broadcast()
            return idle
        }
        for connection in last { connection.close() }
    }
}
#endif
