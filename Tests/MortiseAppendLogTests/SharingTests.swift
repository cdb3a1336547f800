import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog

/// One log, open for writing in several processes.
struct SharingTests {
    private func configuration(
        _ disk: SimulatedFileSystem, history: AppendLogHistory = .keepAll
    ) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: logPath, sharing: .shared, history: history, in: disk)
        configuration.allocationStep = 4_096
        return configuration
    }

    @Test func eachProcessSeesWhatTheOthersSavedAtItsNextFetch() throws {
        let disk = try makeDisk()
        let containers = try (0..<3).map { try openLog(configuration(disk.process(100 + $0))) }
        let contexts = containers.map { ModelContext($0) }
        for round in 0..<12 {
            let context = contexts[round % 3]
            let box = Box("box \(round)")
            context.insert(box)
            context.insert(Item("item \(round)", box: box))
            if let older = try context.fetch(FetchDescriptor<Item>()).dropFirst(round / 2).first {
                older.name += ", seen in round \(round)"
            }
            try context.save()
            let states = try contexts.map { try contents($0) }
            #expect(states.allSatisfy { $0 == states[0] })
            #expect(states[0].count == 2 * (round + 1))
        }
        for container in containers { try container.close() }
        // And so does one that opens it alone afterwards, from the log and from a checkpoint.
        let expected = try withLog(logConfiguration(disk), contents)
        #expect(expected.count == 24)
        let store = try openStore(logConfiguration(disk))
        #expect(store.engine.version.inconsistencies() == [])
        #expect(store.engine.version.number == 12)
        try store.close()
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    @Test func whatIsSharedCannotBeTakenAloneAndTheOtherWayRound() throws {
        let disk = try makeDisk()
        let shared = try openLog(configuration(disk.process(100)))
        #expect(
            (thrown { _ = try openLog(logConfiguration(disk.process(101))) } as? FileError)?.reason.isLocked == true)
        try shared.close()
        let alone = try openLog(logConfiguration(disk.process(101)))
        #expect(throws: FileError.self) { try FileLock(forStoreAt: logPath, kind: .shared, in: disk.process(100)) }
        try alone.close()
    }

    @Test func uniqueValuesAreUniqueAcrossProcesses() throws {
        let disk = try makeDisk()
        let one = ModelContext(try openLog(configuration(disk.process(100))))
        let other = ModelContext(try openLog(configuration(disk.process(101))))
        _ = try contents(other)
        one.insert(Box("the same"))
        try one.save()
        // An upsert: the second takes the first one's place.
        other.insert(Box("the same"))
        try other.save()
        #expect(try one.fetch(FetchDescriptor<Box>()).map(\.label) == ["the same"])
        #expect(try other.fetch(FetchDescriptor<Box>()).map(\.label) == ["the same"])
        try one.container.close()
        try other.container.close()
    }

    /// A process dies in the middle of a write, and the next to write finds half a transaction.
    @Test func whatADyingProcessLeftHalfWrittenIsCutOffByTheNext() throws {
        for length in [1, 20, 48, 60] {
            let disk = try makeDisk()
            let dying = disk.process(100)
            let surviving = disk.process(101)
            let first = ModelContext(try openLog(configuration(dying)))
            let second = ModelContext(try openLog(configuration(surviving)))
            first.insert(Box("one"))
            try first.save()
            dying.inject(.shorten(to: length), of: .write)
            dying.interject(at: 2, of: .write) { dying.kill() }
            first.insert(Box("lost"))
            #expect(throws: (any Error).self) { try first.save() }
            second.insert(Box("two"))
            try second.save()
            #expect(try second.fetch(FetchDescriptor<Box>()).map(\.label) == ["one", "two"])
            try second.container.close()
            #expect(try contents(logConfiguration(disk.process(102))).count == 2)
        }
    }

    /// Another process's sync failed; what it wrote can be read, and is not on the disk.
    @Test func whatAnotherProcessCouldNotSyncIsNotBuiltUpon() throws {
        for seed in 0..<20 as Range<UInt64> {
            let disk = try makeDisk(seed: seed)
            let failing = disk.process(100)
            let first = ModelContext(try openLog(configuration(failing)))
            let second = ModelContext(try openLog(configuration(disk.process(101))))
            failing.inject(.fail(.io), of: .sync)
            first.insert(Item(String(repeating: "a", count: 2_000)))
            #expect(throws: FileError.self) { try first.save() }
            second.insert(Box("acknowledged"))
            try second.save()
            let after = disk.crashed(after: .max, losing: .unsynced)
            #expect(try contents(logConfiguration(after)).contains { $0.contains("acknowledged") })
            try second.container.close()
        }
    }

    @Test func compactionWaitsUntilItIsAloneAndCheckpointsDoNot() throws {
        let disk = try makeDisk()
        let one = try openLog(configuration(disk.process(100), history: .keep(days: 0)))
        let other = try openLog(configuration(disk.process(101), history: .keep(days: 0)))
        for (number, container) in [one, other, one].enumerated() {
            let context = ModelContext(container)
            context.insert(Box("box \(number)"))
            try context.save()
        }
        let store = try #require(one.store(AppendLogStore.self))
        #expect((thrown { try store.compact() } as? FileError)?.reason.isLocked == true)
        try store.checkpoint()
        let context = ModelContext(other)
        context.insert(Box("after the checkpoint"))
        try context.save()
        try other.close()
        #expect(try store.compact() == 4)
        // Shared again.
        let third = try openLog(configuration(disk.process(102), history: .keep(days: 0)))
        #expect(try contents(ModelContext(third)).count == 4)
        try third.close()
        try one.close()
    }

    @Test func aChangeOfAnotherProcessIsNotified() async throws {
        let disk = try makeDisk()
        let one = try openLog(configuration(disk.process(100)))
        let other = try openLog(configuration(disk.process(101)))
        let store = try #require(one.store(AppendLogStore.self))
        let isNotified = Mutex(false)
        let observer = NotificationCenter.default.addObserver(
            forName: AppendLogStore.remoteChange, object: store, queue: nil
        ) { _ in isNotified.withLock { $0 = true } }
        let context = ModelContext(other)
        context.insert(Box("elsewhere"))
        try context.save()
        for _ in 0..<100 where !isNotified.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(50)) }
        #expect(isNotified.withLock { $0 })
        NotificationCenter.default.removeObserver(observer)
        try one.close()
        try other.close()
    }

    /// Beside one that writes alone, through saves, a checkpoint and compactions.
    @Test func aReaderFollowsWhoWrites() throws {
        let disk = try makeDisk()
        let writing = disk.process(100)
        let writer = try openLog(logConfiguration(writing, history: .keep(days: 0)))
        let context = ModelContext(writer)
        context.insert(Box("first"))
        try context.save()
        let reader = try openLog(logConfiguration(disk.process(101), allowsSave: false))
        let reading = ModelContext(reader)
        #expect(try contents(reading).count == 1)
        let store = try #require(writer.store(AppendLogStore.self))
        for round in 0..<8 {
            let held = try reading.fetch(FetchDescriptor<Box>()).first
            let box = Box("box \(round)")
            context.insert(box)
            for number in 0..<3 { context.insert(Item("item \(number)", box: box)) }
            if round == 5 { context.delete(try #require(try context.fetch(FetchDescriptor<Item>()).first)) }
            try context.save()
            #expect(held?.label == "first")
            #expect(try contents(reading) == contents(context), "round \(round)")
            switch round {
            case 1, 4: try store.checkpoint()
            // What the reader has read it need not have any more.
            case 2, 6: try store.compact()
            default: break
            }
        }
        #expect(reader.store(AppendLogStore.self)?.engine.version.inconsistencies() == [])
        // What it has not read yet is dropped from the log.
        for label in ["last", "after"] {
            context.insert(Box(label))
            try context.save()
            if label == "last" { try store.compact() }
        }
        #expect(try contents(reading) == contents(context))
        try reader.close()
        #expect(try contents(logConfiguration(disk.process(101), allowsSave: false)) == contents(context))
        try writer.close()
    }

    /// A writer that failed may cut off what a reader has seen, and another goes on in its place.
    @Test func aReaderStaysWhereItIsWhenWhatItReadIsGone() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        let reader = try openLog(logConfiguration(disk, allowsSave: false))
        let reading = ModelContext(reader)
        let before = try contents(reading)
        // Another transaction of the same length in the place of the last, and one more behind it.
        var forged = log
        let place = try #require(log.indices.last { log[$0...].starts(with: Array("blue".utf8)) })
        forged.replaceSubrange(place..<(place + 4), with: Array("grey".utf8))
        LogMutationCheck.mend(&forged)
        let other = try makeDisk(with: forged)
        try withLog(logConfiguration(other)) { context in
            context.insert(Box("and another"))
            try context.save()
        }
        let file = try disk.open(logPath, mode: .readWrite)
        try file.truncate(to: 0)
        try file.writeAll(try #require(other.contents(at: logPath)), at: 0)
        try file.close()
        #expect(try contents(reading) == before)
        try reader.close()
    }

    @Test func theSystemTellsWhenAFileIsWrittenTo() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/watched"
            let file = try POSIXFileSystem().open(path, mode: .createExclusive(permissions: 0o600))
            #if canImport(Glibc)
            let watch = try #require(FileWatch(path))
            let told = DispatchSemaphore(value: 0)
            watch.start { told.signal() }
            for byte in 1...3 {
                try file.writeAll([UInt8(byte)], at: Int64(byte))
                #expect(told.wait(timeout: .now() + 5) == .success)
            }
            watch.stop()
            #endif
            #expect(FileWatch(folder + "/missing") == nil)
            try file.close()
        }
    }

    /// Four processes save for a minute, some of them killed now and then.
    @Test(.enabled(if: HelperProcess.program != nil, "the helper program is not there"))
    func processesThatSaveAtOnceLoseAndDuplicateNothing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/shared.log"
            let seconds = isFullSize ? 60.0 : 3.0
            let end = Date().addingTimeInterval(seconds)
            var acknowledged: Set<Int> = []
            var begun: Set<Int> = []
            var processes: [(process: Process, output: Pipe)] = []
            var started = 0
            func start() throws {
                started += 1
                let process = try HelperProcess.process(["share", path, "\(started)"])
                let output = Pipe()
                process.standardOutput = output
                try process.run()
                processes.append((process, output))
            }
            func finish(_ index: Int) {
                let (process, output) = processes.remove(at: index)
                kill(process.processIdentifier, SIGKILL)
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                    let words = line.split(separator: " ")
                    guard words.count == 2, let number = Int(words[1]) else {
                        Issue.record("\(line)")
                        continue
                    }
                    if words[0] == "acknowledged" { acknowledged.insert(number) } else { begun.insert(number) }
                }
            }
            for _ in 0..<4 { try start() }
            while Date() < end {
                Thread.sleep(forTimeInterval: 0.7)
                finish(0)
                try start()
            }
            while !processes.isEmpty { finish(0) }
            let container = try Workload.open(path: path)
            let numbers = try ModelContext(container).fetch(FetchDescriptor<Parcel>()).map(\.number)
            let store = try #require(container.store(AppendLogStore.self))
            #expect(store.engine.version.inconsistencies() == [])
            try container.close()
            #expect(Set(numbers).count == numbers.count, "duplicates")
            #expect(acknowledged.subtracting(numbers).isEmpty, "lost")
            #expect(Set(numbers).isSubset(of: begun), "nobody saved that")
            // How many there are depends on the machine; a run without any has tried nothing.
            #expect(!acknowledged.isEmpty)
            #expect(try AppendLogStore.verify(path).isSound)
            print("shared: \(acknowledged.count) saves of \(started) processes in \(seconds) seconds")
            FaultLedger.add(["F13", "F19"], injected: started)
        }
    }
}

extension FileError.Reason {
    fileprivate var isLocked: Bool { if case .locked = self { true } else { false } }
}
