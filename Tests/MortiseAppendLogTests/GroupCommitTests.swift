import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

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
        disk.slowSyncs(to: 0.002)
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

    /// The failed sync itself, or that it has failed before.
    private func isOfSync(_ error: any Error) -> Bool {
        if let error = error as? FileError { return error.operation == .sync && error.reason == .io }
        if case .latched = error as? EngineError { return true }
        return false
    }

    @Test func aFailedSyncFailsEverybodyWhoWaitedForIt() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        try insert("before", into: store)
        disk.slowSyncs(to: 0.02)
        disk.inject(.fail(.io), of: .sync)
        let failed = Atomic(0)
        onThreads(6) { thread in
            do {
                try insert("\(thread)", into: store)
            } catch {
                #expect(isOfSync(error), "\(error)")
                failed.add(1, ordering: .relaxed)
            }
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
        disk.slowSyncs(to: 0.001)
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

    // MARK: Contexts of one container

    @Test func contextsOfOneContainerShareSyncs() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        disk.slowSyncs(to: 0.002)
        let before = disk.trace.count { $0.operation == .sync }
        onThreads(8) { thread in
            let context = ModelContext(container)
            for number in 0..<10 {
                context.insert(Box("\(thread)-\(number)"))
                do { try context.save() } catch { Issue.record(error) }
            }
        }
        let syncs = disk.trace.count { $0.operation == .sync } - before
        #expect(syncs < 40, "80 saves took \(syncs) syncs")
        disk.removeFaults()
        let after = disk.crashed(after: .max, losing: .unsynced)
        #expect(try contents(logConfiguration(after)).count == 80)
        try container.close()
    }

    /// Each adds one to what it has read; a save that did not see another's would take its one away.
    @Test func savesOfOneRecordAtOnceLoseNone() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let setup = ModelContext(container)
        setup.insert(Item("counter", count: 0))
        try setup.save()
        disk.slowSyncs(to: 0.000_5)
        let conflicts = Atomic(0)
        onThreads(4) { thread in
            do {
                let context = ModelContext(container)
                context.mergePolicy = .error
                for number in 0..<10 {
                    // Others save at the same time what has nothing to do with it.
                    context.insert(Box("\(thread)-\(number)"))
                    try context.save()
                    while true {
                        let item = try context.fetch(FetchDescriptor<Item>()).first
                        item?.count = (item?.count ?? 0) + 1
                        do {
                            try context.save()
                            break
                        } catch is SaveConflict {
                            conflicts.add(1, ordering: .relaxed)
                            context.rollback()
                        }
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        disk.removeFaults()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Item>()).map(\.count) == [40])
        #expect(conflicts.load(ordering: .relaxed) > 0, "nobody met anybody")
        try container.close()
        #expect(try contents(logConfiguration(disk)).count == 41)
    }

    @Test func uniqueValuesAndDeletionsAtOnceAreAsOneAfterTheOther() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        disk.slowSyncs(to: 0.000_5)
        onThreads(6) { thread in
            do {
                let context = ModelContext(container)
                for number in 0..<8 {
                    // The same label in all threads: one of them inserts it, the others update that one.
                    let box = Box("shared \(number)")
                    context.insert(box)
                    let item = Item("\(thread)-\(number)", box: box)
                    context.insert(item)
                    try context.save()
                    if number % 2 == 0 {
                        context.delete(item)
                        try context.save()
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        disk.removeFaults()
        let (boxes, items) = try {
            let context = ModelContext(container)
            return (
                try context.fetch(FetchDescriptor<Box>()).map(\.label).sorted(),
                try context.fetch(FetchDescriptor<Item>()).map { "\($0.name) \($0.box?.label ?? "-")" }.sorted()
            )
        }()
        #expect(boxes == (0..<8).map { "shared \($0)" })
        let wanted = (0..<6).flatMap { thread in
            [1, 3, 5, 7].map { "\(thread)-\($0) shared \($0)" }
        }
        #expect(items == wanted.sorted())
        let expected = try contents(ModelContext(container))
        try container.close()
        #expect(try contents(logConfiguration(disk)) == expected)
        let store = try openStore(logConfiguration(disk))
        #expect(store.engine.version.inconsistencies() == [])
        try store.close()
    }

    @Test func aFailedSyncLeavesEveryContextThatWaitedDirty() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        disk.slowSyncs(to: 0.02)
        disk.inject(.fail(.io), of: .sync)
        let dirty = Atomic(0)
        onThreads(6) { thread in
            let context = ModelContext(container)
            context.insert(Box("\(thread)"))
            do {
                try context.save()
            } catch {
                #expect(isOfSync(error), "\(error)")
                if context.hasChanges { dirty.add(1, ordering: .relaxed) }
            }
        }
        #expect(dirty.load(ordering: .relaxed) == 6)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Box>()) == 0)
        disk.removeFaults()
        try container.close()
    }
}
