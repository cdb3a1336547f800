import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Transactions that are written while they are encoded.
struct FrameStreamTests {
    private func writes(of disk: SimulatedFileSystem, _ body: () throws -> Void) rethrows -> Int {
        let before = disk.trace.count
        try body()
        return disk.trace[before...].count { $0.path == logPath && $0.operation == .write }
    }

    // MARK: What is written

    /// Streamed or not, a log has the same bytes: also where frames begin anywhere in their sectors, and where a schema goes
    /// before.
    @Test func piecesMakeTheBytesThatOneWriteMakes() throws {
        for length in stride(from: 0, to: 600, by: 37) {
            let origin = try makeDisk()
            var files: [[UInt8]] = []
            try withLog(logConfiguration(origin)) { context in
                context.insert(Item(String(repeating: "x", count: length)))
                try context.save()
            }
            let log = try #require(origin.contents(at: logPath))
            var counts: [Int] = []
            for pieceSize in [512, 1 << 20] {
                let disk = try makeDisk(with: log)
                var configuration = logConfiguration(disk)
                configuration.pieceSize = pieceSize
                configuration.now = { Date(timeIntervalSinceReferenceDate: 1) }
                configuration.nextMark = { 7 }
                let container = try ModelContainer(
                    for: Schema([Box.self, Item.self, Earlier.Note.self]), configurations: [configuration])
                let context = ModelContext(container)
                counts.append(
                    try writes(of: disk) {
                        insertItems(1_000, into: context)
                        try context.save()
                    })
                for item in try context.fetch(FetchDescriptor<Item>()).prefix(200) { item.count = 7 }
                for item in try context.fetch(FetchDescriptor<Item>()).suffix(50) { context.delete(item) }
                try context.save()
                try container.close()
                files.append(try #require(disk.contents(at: logPath)))
            }
            #expect(counts[0] > 10 && counts[1] <= 3, "\(counts)")
            #expect(files[0] == files[1], "behind \(length)")
        }
    }

    @Test(arguments: [AppendLogDurability.full, .batched(.seconds(3_600)), .none])
    func whatWasStreamedIsThereAfterwards(durability: AppendLogDurability) throws {
        let disk = try makeDisk()
        let saved = try withLog(streamingConfiguration(disk, durability: durability)) { context in
            insertItems(400, into: context)
            try context.save()
            insertItems(400, named: "later", into: context)
            try context.save()
            return try contents(context)
        }
        #expect(saved.count == 802)
        #expect(try contents(streamingConfiguration(disk)) == saved)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    /// However many records there are, the payload is not held.
    @Test func aLongTransactionTakesNoMoreRoomThanAPiece() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        defer { try? store.close() }
        let sink = try #require(store.opened.sink)
        let stream = FrameStream(to: sink.writer, behind: [], pieceSize: 4_096)
        var payload = ByteWriter(to: stream)
        var largest = 0
        for number in 0..<50_000 {
            payload.beginRecord()
            payload.text("record \(number)")
            largest = max(largest, payload.bytes.capacity)
        }
        #expect(payload.count > 600_000 && largest < 20_000, "\(largest)")
        stream.abandon()
    }

    /// Else a power cut could leave the header with zeros in place of what a piece wrote beside it: damage, where there was
    /// nothing but a torn tail.
    @Test(arguments: ["many records", "a long record"]) func noSectorOfTheHeaderHasBytesOfAPiece(what: String) throws {
        // Headers come to stand anywhere in their sectors.
        for length in stride(from: 0, to: 600, by: 37) {
            let disk = try makeDisk()
            let container = try openLog(streamingConfiguration(disk))
            let context = ModelContext(container)
            context.insert(Item(String(repeating: "x", count: length)))
            try context.save()
            let pictures = Mutex<[[UInt8]]>([])
            disk.interject(of: .write, times: .max) {
                pictures.withLock { $0.append(disk.contents(at: logPath) ?? []) }
            }
            if what == "a long record" {
                context.insert(Item(String(repeating: "y", count: 5_000)))
            } else {
                insertItems(200, into: context)
            }
            try context.save()
            disk.removeFaults()
            let taken = pictures.withLock { $0 } + [try #require(disk.contents(at: logPath))]
            let changes = zip(taken, taken.dropFirst()).map { old, new in
                Set(new.indices.filter { new[$0] != ($0 < old.count ? old[$0] : 0) }.map { $0 / 512 })
            }
            let head = try #require(changes.last)
            #expect(changes.count > 1 && !head.isEmpty)
            #expect(changes.dropLast().allSatisfy { $0.isDisjoint(with: head) }, "behind \(length)")
            try container.close()
            #expect(try contents(logConfiguration(disk)).count == (what == "a long record" ? 2 : 202))
        }
    }

    // MARK: What goes wrong

    private struct Promise {
        var operation: Int
        var count: Int
    }

    /// The power is cut after each operation, and what was not synced is lost in every way.
    @Test(arguments: faultSeeds(small: 1, full: 3)) func noCrashLeavesAPart(seed: UInt64) throws {
        let disk = try makeDisk(seed: seed)
        var promises = [Promise(operation: disk.operationCount, count: 0)]
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        for (place, count) in [200, 3, 300].enumerated() {
            for number in 0..<count { context.insert(Item("\(place) \(number)", tags: ["tag"])) }
            try context.save()
            promises.append(Promise(operation: disk.operationCount, count: (promises.last?.count ?? 0) + count))
        }
        try container.close()
        var images = 0
        disk.forEachCrash(limit: isFullSize ? 8 : 3) { image in
            images += 1
            let atLeast = promises.last { $0.operation <= image.operation }?.count ?? 0
            let atMost = promises.first { $0.operation > image.operation }?.count ?? atLeast
            do {
                let found = try contents(logConfiguration(image.fileSystem)).count
                #expect(found == atLeast || found == atMost, "\(image.operation), \(image.loss)")
            } catch {
                Issue.record("\(image.operation), \(image.loss): \(error)")
            }
        }
        #expect(images > (isFullSize ? 600 : 200))
    }

    /// Each operation of the save fails once, in each of two ways.
    @Test(arguments: isFullSize ? [FileError.Code.io, .noSpace] : [.io])
    func aFailureAnywhereLeavesNothingOfIt(code: FileError.Code) throws {
        for afterwards in [false, true] {
            var number = 1
            while true {
                let disk = try makeDisk()
                let container = try openLog(streamingConfiguration(disk))
                let context = ModelContext(container)
                context.insert(Item("before"))
                try context.save()
                let start = disk.operationCount
                disk.inject(afterwards ? .failAfterwards(code) : .fail(code), at: number)
                insertItems(400, into: context)
                let error = thrown { try context.save() }
                let end = disk.operationCount
                disk.removeFaults()
                if end < start + number { break }
                let failed = disk.trace[start + number - 1]
                let place = "\(number): \(failed)"
                #expect(error == nil || error is FileError, "\(place): \(String(describing: error))")
                if [.write, .startWriting, .sync].contains(failed.operation) {
                    let next = thrown { try context.save() }
                    guard case EngineError.latched? = next else {
                        Issue.record("\(place) was followed by \(String(describing: next))")
                        break
                    }
                }
                try? container.close()
                let found = try contents(streamingConfiguration(disk.crashed(after: .max, losing: .nothing))).count
                // The frame is there where all of it was written before the device failed, or it failed to tell.
                let mayBeThere = afterwards || [.startWriting, .sync].contains(failed.operation)
                #expect(
                    found == 1 && error != nil || found == 402 && (error == nil || mayBeThere), "\(place): \(found)")
                // One in three, others each time.
                number += isFullSize ? 1 : .random(in: 1...5)
            }
            #expect(number > 15)
        }
    }

    /// A value that cannot be written is found when a part of the transaction was written already.
    /// What a failed save had written, and was cut off, must not come back behind the header of the next.
    @Test(arguments: [true, false]) func noCrashBringsBackWhatWasCutOffBeforeAReopening(isStreamed: Bool) throws {
        for durability in [AppendLogDurability.full, .none] {
            let disk = try makeDisk()
            let plain = logConfiguration(disk, durability: durability)
            var failing = isStreamed ? streamingConfiguration(disk) : logConfiguration(disk)
            failing.allocationStep = 0
            try withLog(plain) { context in
                context.insert(Box("before"))
                try context.save()
            }
            // With a checkpoint at its end, no frame has to be written once more.
            let store = try openStore(plain)
            try store.checkpoint()
            try store.close()
            let container = try openLog(failing)
            let context = ModelContext(container)
            // In pieces, of which all are on the disk but for the last; else in one, which is cut short.
            if isStreamed {
                disk.inject(.fail(.io), at: 8, of: .write)
                insertItems(1_000, into: context)
            } else {
                disk.inject(.shorten(to: 4_000), of: .write)
                disk.inject(.fail(.io), at: 2, of: .write)
                context.insert(Box(String(repeating: "y", count: 8_000)))
            }
            #expect(throws: FileError.self) { try context.save() }
            disk.removeFaults()
            try? container.close()
            let again = try openLog(plain)
            let last = ModelContext(again)
            last.insert(Box(String(repeating: "x", count: 3_000)))
            try last.save()
            let end = disk.operationCount
            let saved = try contents(last)
            for operation in (end - 4)...end {
                for seed in 0..<40 as Range<UInt64> {
                    let image = disk.crashed(after: operation, losing: .scattered(seed: seed))
                    do {
                        let found = try contents(logConfiguration(image))
                        #expect(found == saved || found.count == 1, "\(found.count)")
                    } catch {
                        Issue.record("\(durability), after \(operation) of \(end), seed \(seed): \(error)")
                    }
                }
            }
            try again.close()
        }
    }

    @Test func aValueThatIsRefusedLeavesTheLogAsItWas() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        insertItems(3, named: "before", into: context)
        try context.save()
        let before = try contents(context)
        insertItems(500, into: context)
        let refused = Item("refused", tags: Array(repeating: "", count: 200))
        context.insert(refused)
        let begun = writes(of: disk) {
            let error = #expect(throws: AppendLogError.self) { try context.save() }
            if case .unwritableValue(entity: "Item", property: "tags") = error?.fault {
            } else {
                Issue.record("\(String(describing: error))")
            }
        }
        #expect(begun > 5)
        #expect(try contents(logConfiguration(disk.process(3), allowsSave: false)) == before)
        refused.tags = []
        try context.save()
        let after = try contents(context)
        #expect(after.count == before.count + 502)
        try container.close()
        #expect(try contents(streamingConfiguration(disk)) == after)
    }

    /// What was begun and given up never comes back behind what follows it.
    @Test func noCrashBringsBackWhatWasGivenUp() throws {
        let disk = try makeDisk(seed: testSeed())
        let container = try openLog(streamingConfiguration(disk))
        let store = try #require(container.store(AppendLogStore.self))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        let start = disk.operationCount
        let stream = FrameStream(to: try #require(store.opened.sink).writer, behind: [], pieceSize: 512)
        var payload = ByteWriter(to: stream)
        for number in 0..<300 {
            payload.beginRecord()
            payload.text("given up \(number)")
        }
        #expect(stream.hasBegun)
        stream.abandon()
        context.insert(Item("after"))
        try context.save()
        let end = disk.operationCount
        try container.close()
        disk.forEachCrash(in: start...end, limit: 10) { image in
            do {
                let found = try contents(logConfiguration(image.fileSystem)).count
                #expect(image.operation < end ? (1...2).contains(found) : found == 2, "\(image.loss)")
            } catch {
                Issue.record("\(image.operation), \(image.loss): \(error)")
            }
        }
    }

    /// Nothing is thrown away in silence where the beginning fails and what follows would not.
    @Test func aStreamThatCouldNotBeginIsNoShorterTransaction() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        insertItems(100, into: context)
        // The look at the lock, with which writing begins.
        disk.inject(.fail(.io), of: .info)
        #expect(throws: FileError.self) { try context.save() }
        disk.removeFaults()
        try context.save()
        let after = try contents(context)
        #expect(after.count == 102)
        try container.close()
        #expect(try contents(streamingConfiguration(disk)) == after)
    }

    @Test func aLogThatLosesItsNameMeanwhileIsNotGoneOnWith() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        disk.interject(at: 8, of: .write) {
            do { try disk.process(2).rename(logPath, to: "/data/elsewhere.log") } catch { Issue.record(error) }
        }
        insertItems(1_000, into: context)
        let error = #expect(throws: FileError.self) { try context.save() }
        #expect(error?.reason == .changed(.deleted))
        try? container.close()
        #expect(try contents(logConfiguration(disk, path: "/data/elsewhere.log")).count == 1)
    }

    /// Somebody removes the lock file while a long frame is written. Another process would take its beginning for a torn
    /// tail; the lock of the log itself keeps it out.
    @Test func withoutTheLockFileTheLogItselfKeepsOthersOut() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        disk.interject(at: 5, of: .write) {
            do {
                try disk.process(2).unlink(logPath + ".lock")
            } catch {
                Issue.record(error)
            }
            let error = #expect(throws: FileError.self) {
                try withLog(logConfiguration(disk.process(2))) { $0.insert(Item("another's")) }
            }
            #expect(error?.reason == .openUnderAnotherName)
        }
        insertItems(1_000, into: context)
        let error = #expect(throws: FileError.self) { try context.save() }
        #expect(error?.operation == .lock && error?.reason == .changed(.replaced))
        try? container.close()
        let names = try withLog(logConfiguration(disk.process(3))) { context in
            try context.fetch(FetchDescriptor<Item>()).map(\.name)
        }
        #expect(names == ["before"])
    }

    /// The next piece would make it as long again, with a hole where frames were.
    @Test(arguments: [false, true]) func aLogThatIsCutMeanwhileIsLeftAsItIs(isRefused: Bool) throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        disk.interject(at: 11, of: .info) {
            do {
                let file = try disk.process(2).open(logPath, mode: .readWrite)
                try file.truncate(to: 100)
                try file.close()
            } catch {
                Issue.record(error)
            }
        }
        insertItems(1_000, into: context)
        if isRefused { context.insert(Item("refused", tags: Array(repeating: "", count: 200))) }
        let written = writes(of: disk) {
            let error = #expect(throws: FileError.self) { try context.save() }
            if case .changed(.truncated(_, to: 100)) = error?.reason {
            } else {
                Issue.record("\(String(describing: error))")
            }
        }
        #expect(written > 2)
        #expect(disk.contents(at: logPath)?.count == 100)
        let next = thrown { try context.save() }
        guard case EngineError.latched? = next else {
            Issue.record("\(String(describing: next))")
            return
        }
        try? container.close()
    }

    /// Somebody puts back an older copy, with a program that writes into the file that is there.
    @Test(arguments: [0, 60_000]) func whatOthersWriteBehindItMeanwhileIsLeftAsItIs(length: Int) throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        let foreign = Mutex<[UInt8]>([])
        disk.interject(at: 11, of: .info) {
            do {
                let file = try disk.process(2).open(logPath, mode: .readWrite)
                let size = try file.info().size
                try file.writeAll([UInt8](repeating: 0x42, count: length + 100), at: size)
                try file.close()
                foreign.withLock { $0 = disk.contents(at: logPath) ?? [] }
            } catch {
                Issue.record(error)
            }
        }
        insertItems(1_000, into: context)
        let error = #expect(throws: FileError.self) { try context.save() }
        guard case .changed(.extended)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        try? container.close()
        #expect(!foreign.withLock { $0 }.isEmpty && disk.contents(at: logPath) == foreign.withLock { $0 })
    }

    @Test func aPieceThatFailedIsToldOfAlthoughTheRestIsRefused() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        insertItems(500, into: context)
        context.insert(Item("refused", tags: Array(repeating: "", count: 200)))
        disk.inject(.fail(.io), of: .startWriting)
        let error = #expect(throws: FileError.self) { try context.save() }
        #expect(error?.operation == .startWriting)
        let next = #expect(throws: EngineError.self) { try context.save() }
        if case .latched = next {} else { Issue.record("\(String(describing: next))") }
        try? container.close()
        #expect(try contents(streamingConfiguration(disk)).count == 1)
    }

    /// Only one of two syncs at the same time might be told of a failure.
    @Test func givingUpWaitsForTheSyncOfOthers() throws {
        let disk = try makeDisk()
        let container = try openLog(streamingConfiguration(disk))
        let writer = try #require(container.store(AppendLogStore.self)?.opened.sink).writer
        let context = ModelContext(container)
        context.insert(Item("before"))
        try context.save()
        let isSyncing = DispatchSemaphore(value: 0)
        disk.interject(of: .sync) {
            isSyncing.signal()
            // Whoever does not wait for this sync cuts the log in the middle of it.
            let hasCome = comesAbout {
                writer.waiting > 0 || disk.trace.last { $0.path == logPath }?.operation == .truncate
            }
            #expect(hasCome)
        }
        let group = DispatchGroup()
        group.enter()
        Thread.detachNewThread {
            let other = ModelContext(container)
            other.insert(Item("other"))
            do { try other.save() } catch { Issue.record(error) }
            group.leave()
        }
        #expect(isSyncing.wait(timeout: .now() + 60) == .success)
        let stream = FrameStream(to: writer, behind: [], pieceSize: 512)
        var payload = ByteWriter(to: stream)
        for number in 0..<300 {
            payload.beginRecord()
            payload.text("given up \(number)")
        }
        stream.abandon()
        group.wait()
        let operations = disk.trace.filter { $0.path == logPath }.map(\.operation)
        let cut = try #require(operations.lastIndex(of: .truncate))
        #expect(operations[cut...] == [.truncate, .sync])
        #expect(operations[..<cut].suffix(8).contains(.sync), "\(operations.suffix(20))")
        try container.close()
        #expect(try contents(streamingConfiguration(disk)).count == 2)
    }
}
