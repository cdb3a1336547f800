import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Compactions that a store begins by itself, and what ends one.
struct BackgroundCompactionTests {
    private let checkpointPath = logPath + ".checkpoint"

    private func configuration(
        _ disk: any FileSystem, history: AppendLogHistory = .keep(days: 0), least: Int64 = 8_192,
        checkpoints: AppendLogCheckpoints = .onCall, compaction: AppendLogCompaction = .automatic
    ) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: logPath, history: history, checkpoints: checkpoints, compaction: compaction, in: disk)
        configuration.allocationStep = 4_096
        configuration.leastGarbage = least
        return configuration
    }

    /// Saves another text of an item so often.
    private func rewrite(_ context: ModelContext, _ times: Int, length: Int = 1_000) throws {
        let found = try context.fetch(FetchDescriptor<Item>()).first
        let item = found ?? Item("")
        if found == nil { context.insert(item) }
        for number in 0..<times {
            item.name = String(repeating: String(number % 10), count: length)
            item.count = number
            try context.save()
        }
    }

    private func store(_ container: ModelContainer) throws -> AppendLogStore {
        try #require(container.store(AppendLogStore.self))
    }

    private func length(_ disk: SimulatedFileSystem, _ path: String = logPath) -> Int {
        disk.contents(at: path)?.count ?? 0
    }

    private func temporaries(_ disk: SimulatedFileSystem) -> [String] {
        disk.paths.filter { $0.hasSuffix(".mortise-tmp") }
    }

    private func replacements(_ disk: SimulatedFileSystem) -> Int {
        disk.trace.count { $0.operation == .rename && isNewLog($0.path) }
    }

    /// Whether a path is that of a temporary which becomes the log.
    private func isNewLog(_ path: String) -> Bool {
        path.contains(".store.log.") && !path.contains(".checkpoint.")
    }

    @Test func aLogThatIsMostlyForgottenHistoryIsCompactedByItself() throws {
        let disk = try makeDisk()
        let container = try openLog(configuration(disk))
        let events = Mutex<[StoreEvent]>([])
        let progress = Mutex<[AppendLogProgress]>([])
        let store = try store(container)
        store.reportEvents { event in events.withLock { $0.append(event) } }
        store.reportBackgroundCompaction { now in progress.withLock { $0.append(now) } }
        let context = ModelContext(container)
        for _ in 0..<20 {
            try rewrite(context, 10)
            store.waitForBackgroundWork()
            // Twice what is left, and what has to come before it is looked at again.
            #expect(length(disk) + length(disk, checkpointPath) < 40_000)
        }
        let expected = try contents(context)
        try container.close()
        // The first is the making of the log.
        let compactions = replacements(disk) - 1
        #expect(compactions >= 3)
        let dropped = events.withLock { $0 }.map {
            if case .compaction("store", let dropped, _) = $0 { dropped } else { -1 }
        }
        #expect(dropped.count == compactions && dropped.allSatisfy { $0 > 3 }, "\(dropped)")
        let reports = progress.withLock { $0 }
        #expect(reports.count { $0.completed == $0.total } >= dropped.count)
        #expect(reports.count > 10 * dropped.count)
        #expect(try contents(logConfiguration(disk)) == expected)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        #expect(temporaries(disk).isEmpty)
    }

    /// What an earlier process left is looked at in opening.
    @Test func openingBeginsACompactionThatIsDue() throws {
        let disk = try makeDisk()
        try withLog(configuration(disk, compaction: .onCall)) { try rewrite($0, 40) }
        #expect(replacements(disk) == 1)
        let container = try openLog(configuration(disk))
        try store(container).waitForBackgroundWork()
        #expect(replacements(disk) == 2)
        #expect(length(disk) < 2_000)
        try container.close()
    }

    @Test func nothingBeginsThatTheSettingsDoNotAskFor() throws {
        let token = DefaultHistoryToken([:])
        let settings = [
            configuration(try makeDisk(), history: .keepAll), configuration(try makeDisk(), history: .keep(days: 30)),
            configuration(try makeDisk(), history: .keepSince(token)), configuration(try makeDisk(), least: 1 << 20),
            configuration(try makeDisk(), compaction: .onCall),
        ]
        for configuration in settings {
            let disk = try #require(configuration.givenFileSystem as? SimulatedFileSystem)
            let container = try openLog(configuration)
            try rewrite(ModelContext(container), 60)
            try store(container).waitForBackgroundWork()
            let history = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            #expect(history.count == 60)
            try container.close()
            // The first is the making of the log.
            #expect(replacements(disk) == 1, "\(configuration.history), \(configuration.compaction)")
        }
        let disk = try makeDisk()
        var shared = AppendLogConfiguration(path: logPath, sharing: .shared, history: .keep(days: 0), in: disk)
        shared.leastGarbage = 8_192
        let container = try openLog(shared)
        try rewrite(ModelContext(container), 60)
        try store(container).waitForBackgroundWork()
        try container.close()
        #expect(replacements(disk) == 1)
    }

    /// Only what is older goes, also where most of the log is older.
    @Test func whatTheSettingKeepsStays() throws {
        let disk = try makeDisk()
        let now = Mutex(Date(timeIntervalSinceReferenceDate: 0))
        var configuration = configuration(disk, history: .keep(days: 2))
        configuration.now = { now.withLock { $0 } }
        let container = try openLog(configuration)
        let context = ModelContext(container)
        var all: [Double] = []
        for day in 0..<12 {
            for _ in 0..<10 {
                try rewrite(context, 2)
                all += [Double(day), Double(day)]
                try store(container).waitForBackgroundWork()
                let limit = now.withLock { $0.timeIntervalSinceReferenceDate } / 86_400 - 2
                let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
                    .map { $0.timestamp.timeIntervalSinceReferenceDate / 86_400 }
                #expect(found.suffix(all.count { $0 >= limit }) == all.filter { $0 >= limit }[...])
            }
            now.withLock { $0 += 86_400 }
        }
        #expect(replacements(disk) > 2)
        #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count < 160)
        try container.close()
    }

    // MARK: Ending one

    /// The task is cancelled before each operation of a compaction in turn.
    @Test func aCancelledTaskEndsItsCompactionSoonAndLeavesTheStoreAsItWas() async throws {
        var number = 1
        var cancelled = 0
        while true {
            let disk = try makeDisk()
            let container = try openLog(configuration(disk, compaction: .onCall))
            let context = ModelContext(container)
            for count in 0..<400 { context.insert(Item("item \(count)", count: count)) }
            try context.save()
            try rewrite(context, 60)
            let expected = try contents(context)
            let store = try store(container)
            let log = disk.contents(at: logPath)
            let before = disk.operationCount
            let cancelledAt = Mutex<Int?>(nil)
            disk.interject(at: number) {
                withUnsafeCurrentTask { $0?.cancel() }
                cancelledAt.withLock { $0 = disk.operationCount }
            }
            let result = await Task { try store.compact() }.result
            let after = disk.operationCount
            disk.removeFaults()
            let place = "operation \(number) of \(after - before)"
            guard let start = cancelledAt.withLock({ $0 }) else { break }
            switch result {
            case .success:
                // Behind the last look at it the new log takes its place.
                #expect(after - start < 60, "\(place)")
                #expect(disk.contents(at: logPath) != log, "\(place)")
            case .failure(let error):
                cancelled += 1
                #expect(error is CancellationError, "\(place): \(error)")
                #expect(disk.contents(at: logPath) == log, "\(place)")
                #expect(after - start < 30, "\(place): went on for \(after - start) operations")
            }
            #expect(temporaries(disk).isEmpty, "\(place)")
            #expect(try contents(context) == expected, "\(place)")
            context.insert(Box("after"))
            try context.save()
            try container.close()
            #expect(try contents(logConfiguration(disk)).count == expected.count + 1, "\(place)")
            number += isFullSize || number < 8 ? 1 : 5
        }
        #expect(cancelled > 10)
    }

    /// The store is closed at some operation of a compaction in the background, which waits there until it notices.
    @Test func closingTheStoreEndsACompactionInTheBackground() throws {
        for number in stride(from: 1, through: 60, by: isFullSize ? 1 : 6) {
            let disk = try makeDisk()
            try withLog(configuration(disk, compaction: .onCall)) { try rewrite($0, 60) }
            let expected = try contents(logConfiguration(disk))
            let log = disk.contents(at: logPath)
            // The checkpoint in closing waits for nothing that can end.
            let isWritten = number % 12 == 1
            var configuration = configuration(
                disk, least: .max / 4, checkpoints: isWritten ? .automatic : .onCall)
            configuration.leastReplay = 1
            let container = try openLog(configuration)
            let store = try store(container)
            let sink = try #require(store.opened.sink)
            let hasBegun = DispatchSemaphore(value: 0)
            let wasReached = Atomic(false)
            disk.interject(at: number) {
                wasReached.store(true, ordering: .relaxed)
                hasBegun.signal()
                while !sink.isStopping() { Thread.sleep(forTimeInterval: 0.000_1) }
            }
            let work = BackgroundWork()
            let result = Mutex<Result<Int, any Error>?>(nil)
            work.plan(at: 0)
            work.start {
                let found = Result {
                    try sink.compact(MaintenanceProgress(isStopped: sink.isStopping), dropping: .everything) { _, _ in
                        false
                    }
                }
                result.withLock { $0 = found }
                hasBegun.signal()
            }
            work.noteAppended(upTo: 1)
            hasBegun.wait()
            try container.close()
            waitUntilIdle(work)
            let ended = try #require(result.withLock { $0 })
            if case .failure(let error) = ended {
                #expect(error is CancellationError, "operation \(number): \(error)")
                #expect(disk.contents(at: logPath) == log, "operation \(number)")
            }
            if number < 8 { #expect(throws: CancellationError.self) { try ended.get() } }
            if isWritten { #expect(disk.contents(at: logPath + ".checkpoint") != nil, "operation \(number)") }
            #expect(temporaries(disk).isEmpty, "operation \(number)")
            #expect(try contents(logConfiguration(disk)) == expected, "operation \(number)")
        }
    }

    /// What is called waits for what is under way, and not longer than its caller wants to.
    @Test func aCallThatWaitsForAnotherEndsWithItsTask() async throws {
        let disk = try makeDisk()
        let container = try openLog(configuration(disk))
        let store = try store(container)
        let hasBegun = DispatchSemaphore(value: 0)
        let isHeld = DispatchGroup()
        isHeld.enter()
        store.reportBackgroundCompaction { _ in
            hasBegun.signal()
            isHeld.wait()
        }
        try rewrite(ModelContext(container), 40)
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                hasBegun.wait()
                done.resume()
            }
        }
        for work in [{ _ = try store.compact() }, { try store.backup(to: "/data/copy") }, { try store.checkpoint() }]
            as [@Sendable () throws -> Void]
        {
            let task = Task { try work() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        isHeld.leave()
        store.waitForBackgroundWork()
        #expect(replacements(disk) == 2 && temporaries(disk).isEmpty)
        #expect(!disk.paths.contains { $0.hasPrefix("/data/copy") && !$0.hasSuffix(".lock") })
        // A compaction has written a checkpoint; one that was due before is not any more.
        func checkpoints() -> Int {
            disk.trace.count { $0.operation == .rename && $0.path.contains(".checkpoint.") }
        }
        let before = checkpoints()
        try store.opened.sink?.checkpoint(isAsked: false)
        #expect(checkpoints() == before)
        try store.checkpoint()
        #expect(checkpoints() == before + 1)
        try container.close()
    }

    @Test func anObserverEndsACompactionInTheBackground() throws {
        struct Enough: Error {}
        let disk = try makeDisk()
        let container = try openLog(configuration(disk))
        let store = try store(container)
        let events = Mutex<[StoreEvent]>([])
        store.reportEvents { event in events.withLock { $0.append(event) } }
        store.reportBackgroundCompaction { if $0.completed > $0.total / 3 { throw Enough() } }
        let context = ModelContext(container)
        try rewrite(context, 60)
        store.waitForBackgroundWork()
        #expect(replacements(disk) == 1 && temporaries(disk).isEmpty)
        store.reportBackgroundCompaction(to: nil)
        try rewrite(context, 30)
        store.waitForBackgroundWork()
        #expect(replacements(disk) > 1)
        #expect(events.withLock { $0 }.allSatisfy { if case .compaction = $0 { true } else { false } })
        try container.close()
    }

    // MARK: Space

    /// A capacity that leaves so many bytes.
    private func leave(_ room: Int, on disk: SimulatedFileSystem) {
        disk.limits.capacity = disk.paths.reduce(0) { $0 + length(disk, $1) } + room
    }

    @Test(arguments: [20, 2_000, 5_000])
    func aFullDiskInTheMiddleLeavesTheStoreUsableAndIsToldOnce(room: Int) throws {
        let disk = try makeDisk()
        // Room for saves ahead, which a full disk does not take.
        var configuration = configuration(disk)
        configuration.allocationStep = 1 << 20
        let container = try openLog(configuration)
        let store = try store(container)
        let events = Mutex<[StoreEvent]>([])
        store.reportEvents { event in events.withLock { $0.append(event) } }
        let context = ModelContext(container)
        try rewrite(context, 2)
        leave(room, on: disk)
        let before = disk.trace.count
        for _ in 0..<30 {
            try rewrite(context, 5)
            store.waitForBackgroundWork()
        }
        let attempts = disk.trace.dropFirst(before)
            .count { $0.operation == .open && isNewLog($0.path) }
        #expect(attempts > 1 && attempts < 7, "\(attempts) attempts")
        let failures = events.withLock { $0 }
        #expect(failures.count == 1, "\(failures)")
        if case .compactionFailed("store", let reason)? = failures.first {
            #expect(reason.contains("ENOSPC"), "\(reason)")
        } else {
            Issue.record("\(failures)")
        }
        #expect(temporaries(disk).isEmpty && replacements(disk) == 1)
        disk.limits.capacity = nil
        while replacements(disk) == 1 {
            try rewrite(context, 10)
            store.waitForBackgroundWork()
            try #require(length(disk) < 2 << 20)
        }
        #expect(events.withLock { $0 }.count == 2)
        let expected = try contents(context)
        try container.close()
        #expect(try contents(logConfiguration(disk)) == expected)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    /// A disk on which there is just so much room as the format promises, and one that has a little less.
    @Test(arguments: [0, 20]) func itTakesNoMoreRoomThanItsResultAndWhatIsWrittenMeanwhile(saves: Int) throws {
        func make() throws -> (SimulatedFileSystem, ModelContainer) {
            let disk = try makeDisk(seed: 7)
            try withLog(configuration(disk, compaction: .onCall)) { context in
                for count in 0..<1_000 { context.insert(Item("item \(count)", count: count)) }
                try context.save()
            }
            let before = try openStore(configuration(disk, compaction: .onCall))
            try before.checkpoint()
            try before.close()
            let container = try openLog(configuration(disk, compaction: .onCall))
            let item = try #require(try ModelContext(container).fetch(FetchDescriptor<Item>()).first)
            _ = item.name
            try rewrite(ModelContext(container), 50)
            return (disk, container)
        }
        /// Compacts, and saves in the middle of it.
        func compact(_ container: ModelContainer) throws {
            let context = ModelContext(container)
            var isDue = saves > 0
            _ = try store(container).compact { progress in
                guard isDue, progress.completed * 4 > progress.total * 3 else { return }
                isDue = false
                try rewrite(context, saves)
            }
        }
        let (disk, container) = try make()
        let used = disk.paths.reduce(0) { $0 + length(disk, $1) }
        let log = length(disk)
        let grown = Mutex(0)
        disk.interject(at: 2, of: .rename) { grown.withLock { $0 = length(disk) - log } }
        try compact(container)
        let result = length(disk) + length(disk, checkpointPath)
        try container.close()
        let meanwhile = grown.withLock { $0 }
        #expect((meanwhile > 10_000) == (saves > 0))
        let (enough, first) = try make()
        enough.limits.capacity = used + result + meanwhile
        try compact(first)
        try first.close()
        #expect(try AppendLogStore.verify(logPath, in: enough).isSound)
        // The bound is no more than is needed: what is written is there at the same time.
        let (less, second) = try make()
        less.limits.capacity = used + result + meanwhile - 5_000
        #expect((thrown { try compact(second) } as? FileError)?.reason == .noSpace)
        less.limits.capacity = nil
        try second.close()
        #expect(temporaries(less).isEmpty)
    }

    // MARK: Readers and writers meanwhile

    /// A context that has begun before reads what it has not read yet out of files that have lost their names.
    @Test func whatWasPinnedBeforeIsReadDuringAndAfterwards() throws {
        @Sendable func name(_ number: Int) -> String { "an item with a longer name \(number)" }
        let disk = try makeDisk()
        let first = configuration(disk, compaction: .onCall)
        try withLog(first) { context in
            for number in 0..<40 {
                let box = Box("box \(number)")
                context.insert(box)
                for item in 0..<50 { context.insert(Item(name(number * 50 + item), count: item, box: box)) }
            }
            try context.save()
        }
        let before = try openStore(first)
        try before.compact()
        try before.close()
        let container = try openLog(configuration(disk))
        let store = try store(container)
        let pinned = ModelContext(container)
        let found = try pinned.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == "box 37" }))
        let version = store.engine.version
        let old = try disk.info(checkpointPath, followingLinks: true)
        let reads = Mutex(0)
        store.reportBackgroundCompaction { _ in
            let number = reads.withLock {
                $0 += 1
                return $0
            }
            // The first chunks; the last are left for afterwards.
            guard number < 800, let table = version.tables["Item"] else { return }
            #expect(table.value(row: number, slot: 0) == .string(name(number)))
        }
        let writing = ModelContext(container)
        let item = Item("")
        writing.insert(item)
        for round in 0..<400 {
            item.name = String(repeating: "\(round % 10)", count: 2_000)
            try writing.save()
            store.waitForBackgroundWork()
        }
        #expect(replacements(disk) > 3)
        #expect(reads.withLock { $0 } > 5)
        #expect(try disk.info(checkpointPath, followingLinks: true).inode != old.inode)
        let readsBefore = disk.trace.count { $0.operation == .read && $0.path == checkpointPath }
        #expect(found.first?.items.map(\.name).sorted() == (1_850..<1_900).map(name))
        #expect(disk.trace.count { $0.operation == .read && $0.path == checkpointPath } > readsBefore)
        for row in 0..<2_000 { #expect(version.tables["Item"]?.value(row: row, slot: 0) == .string(name(row))) }
        #expect(version.inconsistencies() == [])
        #expect(version.damage == nil)
        try container.close()
    }

    /// What is saved while the new log is written is in it, and little of that is copied while savers wait.
    @Test func savesGoOnUntilAShortLastStep() throws {
        let disk = try makeDisk()
        let container = try openLog(configuration(disk, least: 1 << 20))
        let store = try store(container)
        let context = ModelContext(container)
        let saved = Mutex(0)
        nonisolated(unsafe) let saving = ModelContext(container)
        store.reportBackgroundCompaction { progress in
            guard progress.completed == progress.total, saved.withLock({ $0 == 0 }) else { return }
            for number in 0..<12 {
                saving.insert(Box("meanwhile \(number)"))
                saving.insert(Item(String(repeating: "m", count: 300_000)))
                try saving.save()
                saved.withLock { $0 += 1 }
            }
        }
        for _ in 0..<4 {
            try rewrite(context, 8, length: 100_000)
            store.waitForBackgroundWork()
        }
        #expect(saved.withLock { $0 } == 12)
        let trace = disk.trace.filter { isNewLog($0.path) }
        let end = try #require(trace.lastIndex { $0.operation == .rename })
        let syncs = trace[..<end].indices.filter { trace[$0].operation == .sync }
        try #require(syncs.count >= 2)
        let last = trace[syncs[syncs.count - 2]..<end].count { $0.operation == .write }
        let all = trace[..<end].count { $0.operation == .write }
        #expect(all > 10 && last < 5, "\(last) of \(all) writes in the last step")
        let expected = try contents(context)
        #expect(expected.count { $0.contains("meanwhile") } == 12)
        try container.close()
        #expect(try contents(logConfiguration(disk)) == expected)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }
}
