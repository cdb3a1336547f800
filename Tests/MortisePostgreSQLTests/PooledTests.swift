#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Synchronization
import Testing

/// Stores behind PgBouncer in transaction mode, which gives each transaction another session of the server.
@Suite(
    .enabled(
        if: TestServer.socket != nil && PoolProcess.isInstalled, "\(TestServer.reason), or no PgBouncer is installed"))
struct PooledTests {
    private let items = [entity("Item", [("name", .string), ("size", .int64)], unique: [["name"]])]

    private func pool(_ space: TestSpace) throws -> PoolProcess {
        let server = try space.configuration().server
        return try #require(
            PoolProcess(host: server.host, port: Int(server.port) ?? 5_432, user: server.user))
    }

    private func open(
        _ space: TestSpace, _ pool: PoolProcess, _ profile: PostgreSQLConfiguration.Profile = .pooled,
        _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
    ) throws -> PostgreSQLStore {
        try space.open(items) {
            var server = $0.server
            (server.host, server.port) = (pool.folder, "\(pool.port)")
            var configuration = PostgreSQLConfiguration(
                server: server, namespace: $0.namespace, pool: 4, lockTimeout: .seconds(60), retryFor: .seconds(5))
            configuration.profile = profile
            $0 = configuration
            change(&$0)
        }
    }

    /// Many connections of the store have two sessions of the server: no name of a statement collides, no setting is missing.
    @Test func storesShareTheSessionsOfAPool() throws {
        let spaces = [try TestSpace(), try TestSpace()]
        let pool = try pool(spaces[0])
        let stores = try spaces.map { try open($0, pool) }
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let store = stores[number % 2]
            do {
                for turn in 0..<25 {
                    let record = try store.insert("Item", ["name": .string("\(number)-\(turn)"), "size": .integer(0)])[
                        0]
                    try store.update(record, ["size": .integer(Int64(turn))], version: 1)
                    let condition = QueryExpression.compare(
                        .equal, store.property("Item", "name"), .constant(.string("\(number)-\(turn)")))
                    let found = try store.values("Item", "size", where: condition)
                    if found != [.integer(Int64(turn))] { failures.withLock { $0.append("\(found)") } }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        for store in stores {
            #expect(try store.records(StoreQuery("Item")).count == 100)
            #expect(try store.storedTransactions(after: 0, last: nil)?.count == 200)
        }
        try stores[0].insert("Item", (0..<3_000).map { ["name": .string("copied \($0)")] })
        let sorted = stores[0].plan(StoreQuery("Item", order: [.init(stores[0].property("Item", "name"))]))
        let cursor = try stores[0].cursor(for: sorted)
        var count = 0
        while case let portion = try cursor.next(atMost: 512), !portion.isEmpty { count += portion.count }
        #expect(count == 3_100)
        try stores[0].erase()
        #expect(try stores[1].records(StoreQuery("Item")).count == 100)
    }

    /// Without the profile, the sessions have what other stores have left in them.
    @Test func theProfileIsNeeded() throws {
        let spaces = [try TestSpace(), try TestSpace()]
        let pool = try pool(spaces[0])
        for space in spaces { try space.open(items).close() }
        #expect(throws: PostgreSQLError.self) {
            let stores = try spaces.map { try open($0, pool, .postgresql) }
            for store in stores { try store.insert("Item", ["name": .string("a")]) }
        }
    }

    @Test func timeLimitsHoldInEachTransaction() throws {
        let space = try TestSpace()
        let pool = try pool(space)
        try space.open(items).insert("Item", ["name": .string("a")])
        let store = try open(space, pool) {
            var configuration = PostgreSQLConfiguration(
                server: $0.server, namespace: $0.namespace, statementTimeout: .seconds(2))
            configuration.profile = .pooled
            $0 = configuration
        }
        try space.configuration().connected { connection in
            try connection.run("BEGIN")
            try connection.run("LOCK TABLE \"Item\" IN ACCESS EXCLUSIVE MODE")
            #expect(throws: PostgreSQLError(store.configuration.location, .timedOut)) {
                try store.records(StoreQuery("Item"))
            }
            connection.rollBack()
        }
        #expect(try store.values("Item", "name") == [.string("a")])
    }

    /// A pool takes LISTEN, and tells nothing: the store looks for itself.
    @Test func savesOfOthersAreFoundWithoutNews() throws {
        let space = try TestSpace()
        let pool = try pool(space)
        let store = try open(space, pool) { $0.pollInterval = .seconds(600) }
        let other = try space.open(items)
        let found = Mutex<[PersistentIdentifier]>([])
        let arrived = DispatchSemaphore(value: 0)
        let follower = try #require(store.changeFeed).follow(.records) { delivery in
            found.withLock { $0 += delivery.changes.flatMap(\.inserted.records) }
            arrived.signal()
        }
        defer { follower.cancel() }
        var saved: [PersistentIdentifier] = []
        // The first may have come before the store began to look.
        for name in ["a", "b", "c"] {
            saved += try other.insert("Item", ["name": .string(name)])
            #expect(arrived.wait(timeout: .now() + 20) == .success)
        }
        #expect(found.withLock { $0 } == saved)
    }
}
#endif
