#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Synchronization
import Testing

/// The cluster that the environment names.
private enum TestCluster {
    static let url = environment("MORTISE_CLUSTER")
    static let kill = environment("MORTISE_CLUSTER_KILL")

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}

/// A cluster whose leader is killed while several write: see `Tests/Failover/cluster`. `MORTISE_CLUSTER` is its store URL, and
/// `MORTISE_CLUSTER_KILL` the command that kills its leader.
@Suite(
    .enabled(
        if: TestCluster.url != nil && TestCluster.kill != nil,
        "no cluster: MORTISE_CLUSTER and MORTISE_CLUSTER_KILL do not name one; Tests/run servers makes it"))
struct FailoverTests {
    private let items = [entity("Item", [("name", .string), ("size", .int64)])]

    private struct Written {
        var acknowledged: Set<String> = []
        var unknown: Set<String> = []
        var refused: Set<String> = []
        var failures: [String] = []
    }

    /// Nothing that was acknowledged is lost, nothing is there twice, and what was refused is not there.
    @Test func theLeaderIsKilledUnderWriters() throws {
        let url = try #require(TestCluster.url)
        let space = "t_" + UUID().uuidString.lowercased().replacing("-", with: "")
        func open() throws -> PostgreSQLStore {
            let made = try StoreRegistry(.postgres).configuration(
                for: "\(url)?schema=\(space)&retryFor=60s&lockTimeout=60s&connectTimeout=2s")
            var configuration = try #require(made as? PostgreSQLConfiguration)
            configuration.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: items))
            return try PostgreSQLStore(configuration, migrationPlan: nil)
        }
        let stores = [try open(), try open()]
        let counters = try stores[0].insert(
            "Item", (0..<4).map { ["name": .string("counter \($0)"), "size": .integer(0)] })
        let written = Mutex(Written())
        let isDone = Mutex(false)
        let ended = DispatchGroup()
        for writer in 0..<4 {
            ended.enter()
            Thread.detachNewThread {
                defer { ended.leave() }
                let store = stores[writer % 2]
                var (number, version) = (0, UInt64(1))
                while !isDone.withLock({ $0 }) {
                    number += 1
                    let name = "\(writer)-\(number)"
                    // Each save has a new record and a raised counter, or nothing.
                    let request = DataStoreSaveChangesRequest(
                        inserted: [store.snapshot("Item", ["name": .string(name)])],
                        updated: [store.snapshot("Item", ["size": .integer(Int64(number))], of: counters[writer])],
                        editingState: EditingState(), changedSlots: [SlotSet([1])], updatedVersions: [version])
                    do {
                        _ = try store.save(request)
                        written.withLock { _ = $0.acknowledged.insert(name) }
                        version += 1
                    } catch let error as PostgreSQLError where error.fault == .outcomeUnknown {
                        // The next save of this context would ask.
                        do {
                            _ = try store.save(request)
                            written.withLock { _ = $0.acknowledged.insert(name) }
                            version += 1
                        } catch {
                            written.withLock { _ = $0.unknown.insert(name) }
                            return
                        }
                    } catch {
                        written.withLock {
                            $0.refused.insert(name)
                            $0.failures.append("\(error)")
                        }
                        return
                    }
                }
            }
        }
        func count() -> Int { written.withLock { $0.acknowledged.count } }
        func until(_ wanted: Int) {
            let deadline = ContinuousClock.now + .seconds(120)
            while count() < wanted, .now < deadline { Thread.sleep(forTimeInterval: 0.02) }
        }
        until(60)
        let before = count()
        let began = ContinuousClock.now
        let killing = Process()
        killing.executableURL = URL(fileURLWithPath: "/bin/sh")
        killing.arguments = ["-c", try #require(TestCluster.kill)]
        try killing.run()
        killing.waitUntilExit()
        #expect(killing.terminationStatus == 0)
        let killed = count()
        until(killed + 5)
        let pause = ContinuousClock.now - began
        until(killed + 60)
        isDone.withLock { $0 = true }
        ended.wait()
        let all = written.withLock { $0 }
        let found = try open().values("Item", "name").compactMap { value -> String? in
            if case .string(let text) = value, !text.hasPrefix("counter") { text } else { nil }
        }
        let lost = all.acknowledged.subtracting(found)
        let doubled = found.count - Set(found).count
        let phantoms = Set(found).subtracting(all.acknowledged).subtracting(all.unknown)
        print(
            "\(before) acknowledged before the leader was killed, \(all.acknowledged.count) at the end, first after \(pause): "
                + "\(lost.count) lost, \(doubled) doubled, \(phantoms.count) phantoms, \(all.unknown.count) unknown")
        #expect(lost == [] && doubled == 0 && phantoms == [])
        #expect(all.failures == [])
        #expect(all.acknowledged.count > before + 20)
        // The counters say the same.
        let sizes = try open().records(StoreQuery("Item")).prefix(4).compactMap { $0[property: "size"] }
        let last = (0..<4).map { writer in
            StoredValue.integer(Int64(found.count { $0.hasPrefix("\(writer)-") }))
        }
        #expect(sizes == last)
        let history = try #require(try open().storedTransactions(after: 0, last: nil))
        #expect(history.count == 1 + found.count)
    }
}
#endif
