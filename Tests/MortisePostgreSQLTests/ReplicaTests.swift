#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Synchronization
import Testing

/// A server and a standby that follows it by streaming, both of which a test may end.
@Suite(.serialized, .enabled(if: TestServer.canStartAnother, "\(TestServer.reason)"))
struct ReplicaTests {
    private let items = [entity("Item", [("name", .string), ("size", .int64)])]

    private struct Pair {
        let primary: ServerProcess
        let standby: ServerProcess
    }

    private func pair() throws -> Pair {
        let primary = try #require(ServerProcess(port: 54_341))
        return Pair(primary: primary, standby: try #require(ServerProcess(port: 54_342, following: primary)))
    }

    private func open(
        _ servers: [ServerProcess], allowsSave: Bool = true, retryFor: Duration = .seconds(30),
        _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
    ) throws -> PostgreSQLStore {
        var configuration = PostgreSQLConfiguration(
            server: PostgreSQLServer(
                host: servers.map(\.folder).joined(separator: ","),
                port: servers.map { "\($0.port)" }.joined(separator: ","), database: "postgres", user: "mortise"),
            namespace: "app", allowsSave: allowsSave, retryFor: retryFor)
        configuration.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: items))
        change(&configuration)
        return try PostgreSQLStore(configuration, migrationPlan: nil)
    }

    private func administer(_ server: ServerProcess, _ texts: String...) throws {
        let configuration = PostgreSQLConfiguration(
            server: PostgreSQLServer(
                host: server.folder, port: "\(server.port)", database: "postgres", user: "mortise"))
        try configuration.connected { connection in for text in texts { try connection.run(text) } }
    }

    private func until(_ what: String, _ isSo: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !isSo() {
            guard .now < deadline else {
                Issue.record("not within a minute: \(what)")
                return
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    @Test func aStandbyIsReadAndFollowed() throws {
        let pair = try pair()
        let writer = try open([pair.standby, pair.primary])
        try writer.insert("Item", ["name": .string("a")])
        try until("the standby has the store") { (try? open([pair.standby], allowsSave: false)) != nil }
        for pins in [false, true] {
            let reader = try open([pair.standby], allowsSave: false) { $0.pinsReads = pins }
            let found = Mutex<[PersistentIdentifier]>([])
            let follower = try #require(reader.changeFeed).follow(.records) { delivery in
                found.withLock { $0 += delivery.changes.flatMap(\.inserted.records) }
            }
            defer { follower.cancel() }
            Thread.sleep(forTimeInterval: 0.3)
            let saved = try writer.insert("Item", ["name": .string("pins \(pins)")])
            try until("the standby tells of it") { found.withLock { $0 } == saved }
            let order = [StoreQuery.Order(reader.property("Item", "name"))]
            let cursor = try reader.cursor(for: reader.plan(StoreQuery("Item", order: order)))
            #expect(try cursor.next(atMost: 10).count == (pins ? 3 : 2))
            let error = #expect(throws: PostgreSQLError.self) { try reader.insert("Item", ["name": .string("x")]) }
            #expect(error?.errorClass == .denied)
            try reader.close()
        }
        // It may become the leader.
        let later = try open([pair.standby])
        let error = #expect(throws: PostgreSQLError.self) { try later.insert("Item", ["name": .string("x")]) }
        #expect(error?.errorClass == .denied)
        pair.primary.stop()
        #expect(pair.standby.promote())
        try later.insert("Item", ["name": .string("x")])
        #expect(try later.values("Item", "name").count == 4)
    }

    /// The leader goes, the standby becomes the leader: a store that names both goes on, and loses nothing that the standby had confirmed.
    @Test func aStoreGoesOnWithTheStandbyOnceItIsTheLeader() throws {
        let pair = try pair()
        let store = try open([pair.primary, pair.standby])
        try administer(
            pair.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()::text")
        try until("the standby is synchronous") {
            try store.pool.using {
                try $0.run("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").rows.first?.integer(0)
            } == 1
        }
        let acknowledged = Mutex<[String]>([])
        let isDone = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var number = 0
            while !isDone.withLock({ $0 }) {
                number += 1
                do {
                    try store.insert("Item", ["name": .string("n\(number)")])
                    acknowledged.withLock { $0.append("n\(number)") }
                } catch { Issue.record("\(error)") }
            }
            ended.signal()
        }
        try until("there are saves") { acknowledged.withLock { $0.count } >= 20 }
        pair.primary.stop()
        #expect(pair.standby.promote())
        let before = acknowledged.withLock { $0.count }
        try until("there are more") { acknowledged.withLock { $0.count } >= before + 20 }
        isDone.withLock { $0 = true }
        ended.wait()
        let names = try open([pair.standby]).values("Item", "name")
        #expect(names == acknowledged.withLock { $0 }.map(StoredValue.string))
    }

    /// Somebody cancels the session that waits for a synchronous standby. The server says so in a notice, and reports a commit: what was
    /// saved is lost with the server. Such a save was acknowledged.
    @Test func aSaveThatNoStandbyConfirmsIsNotAcknowledged() throws {
        let primary = try #require(ServerProcess(port: 54_343))
        let store = try open([primary], retryFor: .milliseconds(600))
        try administer(
            primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()::text")
        Thread.sleep(forTimeInterval: 0.3)
        let request = DataStoreSaveChangesRequest(
            inserted: [store.snapshot("Item", ["name": .string("a")])], editingState: EditingState())
        let isDone = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.withLock({ $0 }) {
                try? administer(
                    primary,
                    "SELECT count(pg_cancel_backend(a.pid)) FROM pg_stat_activity a WHERE a.wait_event = 'SyncRep'")
                Thread.sleep(forTimeInterval: 0.02)
            }
            ended.signal()
        }
        let error = #expect(throws: PostgreSQLError.self) { try store.save(request) }
        isDone.withLock { $0 = true }
        ended.wait()
        #expect(error?.fault == .outcomeUnknown)
        let standby = try #require(ServerProcess(port: 54_344, following: primary))
        // It is there, and a standby has it.
        try until("the standby confirms") { (try? store.save(request)) != nil }
        #expect(try store.values("Item", "name") == [.string("a")])
        primary.stop()
        #expect(standby.promote())
        #expect(try open([standby]).values("Item", "name") == [.string("a")])
    }
}
#endif
