import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog

struct GroupCommitTests {
    private func insert(_ label: String, into store: AppendLogStore) throws {
        let box = Box(label)
        let layout = try #require(store.engine.catalog.layouts["Box"])
        let snapshot = DefaultSnapshot(
            persistentIdentifier: box.persistentModelID, layout: layout, values: [.string(label), .identifiers([])])
        _ = try store.save(DataStoreSaveChangesRequest(inserted: [snapshot], editingState: EditingState()))
    }

    /// Runs the body on so many threads and waits for all.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            let thread = Thread {
                body(index)
                group.leave()
            }
            group.enter()
            thread.start()
        }
        group.wait()
    }

    @Test func saversAtOnceShareSyncsAndAllAreDurable() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        disk.interject(of: .sync, times: .max) { Thread.sleep(forTimeInterval: 0.002) }
        let before = disk.trace.count { $0.operation == .sync }
        onThreads(8) { thread in
            for number in 0..<10 {
                do { try insert("\(thread)-\(number)", into: store) } catch { Issue.record(error) }
            }
        }
        let syncs = disk.trace.count { $0.operation == .sync } - before
        #expect(syncs < 40, "80 saves took \(syncs) syncs")
        disk.removeFaults()
        let after = disk.crashed(after: .max, losing: .unsynced)
        #expect(try contents(logConfiguration(after)).count == 80)
        try store.close()
    }

    @Test func nothingIsVisibleBeforeItIsDurable() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        let seen = Mutex<[UInt64]>([])
        disk.interject(of: .sync, times: 3) { seen.withLock { $0.append(store.engine.version.number) } }
        for label in ["a", "b", "c"] { try insert(label, into: store) }
        #expect(seen.withLock { $0 } == [0, 1, 2])
        try store.close()
    }

    @Test func aFailedSyncFailsEverybodyWhoWaitedForIt() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        try insert("before", into: store)
        disk.interject(of: .sync, times: .max) { Thread.sleep(forTimeInterval: 0.02) }
        disk.inject(.fail(.io), of: .sync)
        let failed = Atomic(0)
        onThreads(6) { thread in
            do { try insert("\(thread)", into: store) } catch { failed.add(1, ordering: .relaxed) }
        }
        #expect(failed.load(ordering: .relaxed) == 6)
        #expect(store.engine.version.number == 1)
        disk.removeFaults()
        try store.close()
        #expect(try contents(logConfiguration(disk)).contains { $0.contains("before") })
    }

    @Test func contextsOfSeveralContainersOnOneLogAllGetThrough() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk)
        let keeper = try openStore(configuration)
        disk.interject(of: .sync, times: .max) { Thread.sleep(forTimeInterval: 0.001) }
        onThreads(4) { thread in
            do {
                let container = try openLog(configuration)
                let context = ModelContext(container)
                for number in 0..<5 {
                    context.insert(Box("\(thread)-\(number)"))
                    try context.save()
                }
                try container.close()
            } catch {
                Issue.record(error)
            }
        }
        disk.removeFaults()
        try keeper.close()
        #expect(try contents(configuration).count == 20)
    }
}
