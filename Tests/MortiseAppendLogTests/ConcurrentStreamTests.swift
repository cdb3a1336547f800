import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// What others do while a transaction is written piece by piece.
struct ConcurrentStreamTests {
    /// A log with a frame of some megabytes that is not finished.
    private func beginLongFrame(_ container: ModelContainer) throws -> FrameStream {
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        let writer = try #require(container.store(AppendLogStore.self)?.opened.sink).writer
        let stream = FrameStream(to: writer, behind: [])
        var payload = ByteWriter(to: stream)
        for number in 0..<60_000 {
            payload.beginRecord()
            payload.text("a record that is not very long, and its number: \(number)")
        }
        return stream
    }

    /// It is cut off while somebody looks whether anything behind it says that it was synced.
    @Test(arguments: 1...6) func aReaderUnderWhomALongFrameIsGivenUpSeesWhatIsBeforeIt(number: Int) throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        // Used by one thread at a time.
        nonisolated(unsafe) let stream = try beginLongFrame(container)
        let size = try #require(disk.contents(at: logPath)).count
        #expect(size >= 3 << 20)
        disk.interject(at: number, of: .read) { stream.abandon() }
        var reader = logConfiguration(disk.process(2), allowsSave: false)
        reader.readRetries = 0
        #expect(try contents(reader).count == 1)
        disk.removeFaults()
        stream.abandon()
        #expect(try #require(disk.contents(at: logPath)).count < 1_000)
        try container.close()
    }

    /// A copy of the tail that there is no room for would take the room of the next attempt.
    @Test func aTornTailThatCannotBeKeptLeavesNoPartOfItself() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let stream = try beginLongFrame(container)
        let left = disk.crashed(after: .max, losing: .nothing)
        left.limits.capacity = try #require(left.contents(at: logPath)).count + (1 << 20)
        let error = #expect(throws: FileError.self) { try openLog(logConfiguration(left)) }
        #expect(error?.reason == .noSpace)
        #expect(!left.paths.contains { $0.contains(".torn-") }, "\(left.paths)")
        left.limits.capacity = nil
        #expect(try contents(logConfiguration(left)).count == 1)
        #expect(left.paths.contains { $0.contains(".torn-") })
        stream.abandon()
        try container.close()
    }

    /// Who opens the log while a transaction is being written sees those before it, and so does who copies it.
    @Test func readersSeeNothingOfWhatIsBeingWritten() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        let seen = Mutex<[Int]>([])
        let isLooking = Mutex(false)
        let follower = try openLog(logConfiguration(disk.process(4), allowsSave: false))
        disk.interject(of: .write, times: .max) {
            // What a copy writes is none of the save's.
            let isNested = isLooking.withLock { isLooking in
                defer { isLooking = true }
                return isLooking
            }
            if isNested { return }
            defer { isLooking.withLock { $0 = false } }
            do {
                var reader = logConfiguration(disk.process(2), allowsSave: false)
                reader.readRetries = 0
                var found = [
                    try contents(reader).count, try ModelContext(follower).fetchCount(FetchDescriptor<Item>()),
                ]
                if seen.withLock({ $0.count == 6 }) {
                    _ = try reader.backUpStore(to: "/data/copy.log")
                    found.append(try contents(logConfiguration(disk, path: "/data/copy.log")).count)
                }
                seen.withLock { $0 += found }
            } catch {
                Issue.record(error)
            }
        }
        insertItems(1_000, into: context)
        try context.save()
        disk.removeFaults()
        seen.withLock { #expect($0.count > 12 && $0.allSatisfy { $0 == 1 }, "\($0)") }
        #expect(try ModelContext(follower).fetchCount(FetchDescriptor<Item>()) == 1_001)
        try follower.close()
        try container.close()
        #expect(try contents(streamingConfiguration(disk)).count == 1_002)
    }

    /// A checkpoint, a compaction and a backup that are asked for in the middle wait for its end.
    @Test(arguments: ["checkpoint", "compaction", "backup"]) func maintenanceWaitsForTheFrame(work: String) throws {
        let disk = try makeDisk()
        let configuration = streamingConfiguration(disk, history: .keep(days: 0))
        let container = try openLog(configuration)
        let store = try #require(container.store(AppendLogStore.self))
        let writer = try #require(store.opened.sink).writer
        let context = ModelContext(container)
        // History for a compaction to drop.
        for name in ["first", "before"] {
            context.insert(Item(name))
            try context.save()
        }
        let group = DispatchGroup()
        disk.interject(at: 5, of: .write) {
            group.enter()
            Thread.detachNewThread {
                do {
                    switch work {
                    case "checkpoint": try store.checkpoint()
                    case "compaction": try store.compact()
                    default: try store.backup(to: "/data/copy.log")
                    }
                } catch {
                    Issue.record(error)
                }
                group.leave()
            }
            let isWaiting = comesAbout { writer.waiting > 0 }
            #expect(isWaiting)
        }
        insertItems(1_000, into: context)
        try context.save()
        #expect(group.wait(timeout: .now() + 60) == .success)
        let name = ["checkpoint": "store.log.checkpoint", "compaction": "store.log", "backup": "copy.log"][work] ?? ""
        let last = try #require(disk.trace.lastIndex { $0.path == logPath && $0.operation == .write })
        let named = try #require(disk.trace.lastIndex { $0.operation == .rename && $0.path.contains(name) })
        #expect(last < named, "the frame was ended at \(last), and the \(work) at \(named)")
        let saved = try contents(context)
        try container.close()
        #expect(try contents(configuration) == saved)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        if work == "backup" { #expect(try contents(logConfiguration(disk, path: "/data/copy.log")) == saved) }
    }

    /// It begins when little was left to be copied: then it is copied before saves are held up, and not twice.
    @Test(arguments: 1...6) func aFrameThatBeginsInACompactionIsCopiedOnce(number: Int) throws {
        let disk = try makeDisk()
        let configuration = streamingConfiguration(disk, history: .keep(days: 0))
        let container = try openLog(configuration)
        let store = try #require(container.store(AppendLogStore.self))
        let context = ModelContext(container)
        for name in ["first", "before"] {
            context.insert(Item(name))
            try context.save()
        }
        let group = DispatchGroup()
        let (isReady, mayStart) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        group.enter()
        Thread.detachNewThread {
            let context = ModelContext(container)
            insertItems(4_000, named: String(repeating: "long name ", count: 40), into: context)
            isReady.signal()
            mayStart.wait()
            do { try context.save() } catch { Issue.record(error) }
            group.leave()
        }
        isReady.wait()
        let start = try #require(disk.contents(at: logPath)).count
        disk.interject(at: number, of: .sync) {
            mayStart.signal()
            // Until it is being written. Where the compaction holds appends up it cannot be, and nothing says so.
            _ = comesAbout(within: .seconds(2)) { disk.contents(at: logPath)?.count ?? 0 >= start + 100_000 }
        }
        #expect(try store.compact() > 0)
        disk.removeFaults()
        // Where there were fewer syncs.
        mayStart.signal()
        #expect(group.wait(timeout: .now() + 60) == .success)
        let saved = try contents(context)
        try container.close()
        #expect(try contents(configuration) == saved)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    /// Each takes its turn: frames are neither lost to a log that is replaced nor cut by it.
    @Test func compactionsBesideLongTransactionsLoseNothing() throws {
        let disk = try makeDisk()
        let configuration = streamingConfiguration(disk, history: .keep(days: 0))
        let container = try openLog(configuration)
        let store = try #require(container.store(AppendLogStore.self))
        let isDone = Mutex(false)
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            while !isDone.withLock({ $0 }) {
                do { try store.compact() } catch { Issue.record(error) }
            }
            group.leave()
        }
        let context = ModelContext(container)
        for round in 0..<40 {
            insertItems(200, named: "\(round)", into: context)
            try context.save()
        }
        isDone.withLock { $0 = true }
        group.wait()
        let saved = try contents(context)
        #expect(saved.count == 40 * 201)
        try container.close()
        #expect(try contents(configuration) == saved)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    /// Savers wait for their own syncs, and for the frame only where they append.
    @Test func manySaversOfLongAndShortTransactionsLoseNothing() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let group = DispatchGroup()
        for writer in 0..<6 {
            group.enter()
            Thread.detachNewThread {
                let context = ModelContext(container)
                for number in 0..<8 {
                    for item in 0..<(writer % 2 == 0 ? 300 : 1) {
                        context.insert(Item("\(writer) \(number) \(item)"))
                    }
                    do { try context.save() } catch { Issue.record(error) }
                }
                group.leave()
            }
        }
        group.wait()
        try container.close()
        #expect(try contents(streamingConfiguration(disk)).count == 3 * 8 * 301)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }
}
