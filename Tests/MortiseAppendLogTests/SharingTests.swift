import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

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
            #expect(throws: FileError.self) { try first.save() }
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

    /// What a power cut takes from the end of the log must not be behind the place that a checkpoint names.
    @Test(arguments: [nil, FileError.Code.io])
    func aCheckpointNamesNoPlaceBehindWhatAnotherProcessHasNotSynced(failure: FileError.Code?) throws {
        for seed in 0..<10 as Range<UInt64> {
            let disk = try makeDisk(seed: seed)
            let writing = disk.process(100)
            var relaxed = AppendLogConfiguration(
                path: logPath, sharing: .shared, durability: failure == nil ? .none : .full, in: writing)
            relaxed.allocationStep = 4_096
            let first = ModelContext(try openLog(relaxed))
            let second = ModelContext(try openLog(configuration(disk.process(101))))
            second.insert(Box("before"))
            try second.save()
            for number in 0..<3 {
                first.insert(Item(String(repeating: "a", count: 1_500), count: number))
                // Its frame can be read, and is not on the disk, and will not be with the next sync either.
                if let failure, number == 2 { writing.inject(.fail(failure), of: .sync) }
                do { try first.save() } catch { #expect(failure != nil && number == 2) }
            }
            let expected = try contents(second)
            #expect(expected.count == 4)
            let store = try #require(second.container.store(AppendLogStore.self))
            switch seed % 3 {
            case 0: try store.checkpoint()
            case 1: try store.backup(to: "/data/copy.log")
            default:
                writing.kill()
                try store.compact()
            }
            // No save of this process's own has synced anything since.
            for loss in [CrashLoss.unsynced, .scattered(seed: seed)] {
                let after = disk.crashed(after: .max, losing: loss)
                #expect(try contents(logConfiguration(after)) == expected, "seed \(seed), \(loss)")
                if seed % 3 == 1 {
                    #expect(try contents(logConfiguration(after, path: "/data/copy.log")) == expected)
                }
            }
            try second.container.close()
        }
    }

    /// The same alone, where the frames are those of an earlier process.
    @Test func aCheckpointNamesNoPlaceBehindWhatAnEarlierProcessHasNotSynced() throws {
        let disk = try makeDisk()
        let earlier = disk.process(100)
        let first = ModelContext(try openLog(logConfiguration(earlier, durability: .none)))
        for number in 0..<3 {
            first.insert(Item(String(repeating: "a", count: 1_500), count: number))
            try first.save()
        }
        earlier.kill()
        let container = try openLog(logConfiguration(disk.process(101), durability: .none))
        try container.store(AppendLogStore.self)?.checkpoint()
        let expected = try contents(ModelContext(container))
        #expect(expected.count == 3)
        let after = disk.crashed(after: .max, losing: .unsynced)
        #expect(try contents(logConfiguration(after)) == expected)
        try container.close()
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

    @Test func aChangeOfAnotherProcessIsNotified() throws {
        let disk = try makeDisk()
        let one = try openLog(configuration(disk.process(100)))
        let other = try openLog(configuration(disk.process(101)))
        let store = try #require(one.store(AppendLogStore.self))
        let posts = Posts(of: AppendLogStore.remoteChange, about: store)
        let context = ModelContext(other)
        context.insert(Box("elsewhere"))
        try context.save()
        #expect(posts.areMore(than: 0))
        try one.close()
        try other.close()
    }

    /// Whether it shares the writing or only reads, and however its contexts came to be.
    @Test(arguments: [true, false])
    func aContainerIsToldSoThatItsContextsCanFetch(isWriter: Bool) throws {
        let disk = try makeDisk()
        let writing = try openLog(isWriter ? configuration(disk.process(100)) : logConfiguration(disk.process(100)))
        let told = try openLog(
            isWriter ? configuration(disk.process(101)) : logConfiguration(disk.process(101), allowsSave: false))
        let shown = ModelContext(told)
        let posts = Posts(of: ModelContainer.remoteChange, about: told)
        for round in 1...3 {
            let before = posts.soFar
            let context = ModelContext(writing)
            context.insert(Box("round \(round)"))
            try context.save()
            #expect(posts.areMore(than: before), "round \(round)")
            #expect(try shown.fetchCount(FetchDescriptor<Box>()) == round)
        }
        try told.close()
        try writing.close()
    }

    /// What looks damaged without the turn may be on its way; what stands before it is taken in with it, or later.
    @Test func aFetchBesideAWriteOnItsWayLosesNothingBeforeIt() throws {
        let disk = try makeDisk()
        let one = try openLog(configuration(disk.process(100)))
        let other = try openLog(configuration(disk.process(101)))
        let context = ModelContext(other)
        context.insert(Box("first"))
        try context.save()
        let writer = try #require(other.store(AppendLogStore.self)?.opened.sink).writer
        let (header, position) = writer.state
        var frame = ByteWriter()
        let payload = [UInt8](repeating: 0x11, count: 20) + [payloadEnd]
        FrameHeader(
            kind: .transaction, payload: payload, sequence: position.sequence, transaction: position.transaction + 1,
            synced: 0, seed: header.seed
        ).write(to: &frame, seed: header.seed)
        let file = try disk.process(102).open(logPath, mode: .readWrite)
        try file.writeAll(frame.bytes + payload, at: position.offset)
        _ = try ModelContext(one).fetchCount(FetchDescriptor<Box>())
        try file.writeAll([UInt8](repeating: 0, count: frame.count + payload.count), at: position.offset)
        try file.close()
        #expect(try ModelContext(one).fetchCount(FetchDescriptor<Box>()) == 1)
        let last = ModelContext(one)
        last.insert(Box("second"))
        try last.save()
        #expect(try ModelContext(other).fetchCount(FetchDescriptor<Box>()) == 2)
        try one.close()
        try other.close()
        #expect(try contents(logConfiguration(disk)).count == 2)
    }

    /// Such a frame would be cut off again, under those who stand behind it.
    @Test func noSaveThatIsRefusedForWantOfRoomCanBeSeen() throws {
        var refused = 0
        for room in stride(from: 0, to: 6_000, by: 150) {
            let disk = try makeDisk()
            let one = try openLog(configuration(disk.process(100)))
            let other = try openLog(configuration(disk.process(101)))
            let context = ModelContext(one)
            context.insert(Box("first"))
            try context.save()
            // So that the next frame ends behind what was allocated.
            context.insert(Box(String(repeating: "x", count: 3_000)))
            try context.save()
            #expect(try ModelContext(other).fetchCount(FetchDescriptor<Box>()) == 2)
            let used = disk.paths.reduce(0) { $0 + (disk.contents(at: $1)?.count ?? 0) }
            disk.limits.capacity = used + room
            let seen = Mutex<[Int]>([])
            disk.interject(of: .truncate) {
                do {
                    let count = try ModelContext(other).fetchCount(FetchDescriptor<Box>())
                    let crashed = disk.crashed(after: .max, losing: .nothing)
                    seen.withLock { $0 += [count] }
                    let found = try withLog(logConfiguration(crashed)) { try $0.fetchCount(FetchDescriptor<Box>()) }
                    seen.withLock { $0 += [found] }
                } catch {
                    Issue.record(error)
                }
            }
            context.insert(Box(String(repeating: "y", count: 1_200)))
            let error = thrown { try context.save() }
            disk.removeFaults()
            disk.limits.capacity = nil
            if error != nil {
                refused += 1
                #expect(seen.withLock { $0 } == [2, 2], "\(room)")
            }
            #expect(try ModelContext(other).fetchCount(FetchDescriptor<Box>()) == (error == nil ? 3 : 2), "\(room)")
            try? one.close()
            try other.close()
        }
        #expect(refused > 10)
    }

    /// Frames that came while others were synced are not on the disk with those.
    @Test func aSyncMakesOnlyThoseFramesSureThatWereWrittenOnceMore() throws {
        let disk = try makeDisk()
        let one = try openLog(configuration(disk.process(100)))
        let other = try openLog(configuration(disk.process(101)))
        let writer = try #require(one.store(AppendLogStore.self)?.opened.sink).writer
        let others = try #require(other.store(AppendLogStore.self)?.opened.sink).writer
        var positions = [writer.state.position]
        let context = ModelContext(other)
        for label in ["first", "second"] {
            context.insert(Box(label))
            try context.save()
            positions.append(others.state.position)
        }
        let places = positions
        func writes() throws -> Int {
            let before = disk.trace.count
            try writer.settle()
            return disk.trace[before...].count { $0.operation == .write }
        }
        writer.follow(to: places[1], unsynced: places[0], claimed: 0)
        disk.interject(of: .sync) { writer.follow(to: places[2], unsynced: places[1], claimed: 0) }
        #expect(try writes() == 1)
        disk.removeFaults()
        #expect(try writes() == 1, "the second frame is still to be written once more")
        #expect(try writes() == 0)
        try? one.close()
        try other.close()
    }

    /// As at an opening, the bytes that a dead process left are reported by who cuts them off.
    @Test func whatADeadProcessLeftIsReportedByWhoGoesOn() throws {
        let disk = try makeDisk()
        let living = try openLog(configuration(disk.process(101)))
        let context = ModelContext(living)
        context.insert(Box("first"))
        try context.save()
        let store = try #require(living.store(AppendLogStore.self))
        let end = try #require(store.opened.sink).writer.state.position
        let events = Mutex<[StoreEvent]>([])
        store.reportEvents { event in events.withLock { $0.append(event) } }
        // The beginning of a frame that was never finished.
        let file = try disk.process(102).open(logPath, mode: .readWrite)
        var header = ByteWriter(capacity: FrameHeader.size)
        FrameHeader(
            kind: .transaction, sequence: end.sequence, transaction: 2, synced: 0, length: 900, checksum: 7
        ).write(to: &header, seed: 1)
        try file.writeAll(Array(header.bytes.prefix(40)), at: end.offset)
        try file.close()
        context.insert(Box("second"))
        try context.save()
        let recoveries = events.withLock { $0 }.filter { if case .recovery = $0 { true } else { false } }
        guard case .recovery("store", let bytes)? = recoveries.first, recoveries.count == 1 else {
            Issue.record("\(recoveries)")
            return
        }
        #expect(bytes >= 40)
        #expect(try disk.list("/data").contains { $0.hasPrefix("store.log.torn-") })
        try living.close()
        #expect(try contents(logConfiguration(disk)).count == 2)
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

    /// On a real disk, told by the system and not found by looking, also after a compaction has put another file in the
    /// log's place.
    #if canImport(Glibc)
    @Test(.enabled(if: HelperProcess.program != nil, "the helper program is not there"))
    func savesOfRealProcessesAreNotifiedAlsoBehindACompaction() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/shared.log"
            var configuration = AppendLogConfiguration(path: path, sharing: .shared, history: .keep(days: 0))
            configuration.pollIntervalWhenNotified = 3_600
            let container = try Workload.open(configuration)
            defer { try? container.close() }
            let store = try #require(container.store(AppendLogStore.self))
            let context = ModelContext(container)
            for number in 0..<8 { context.insert(Parcel(number: number, label: "tally")) }
            try context.save()
            let told = DispatchSemaphore(value: 0)
            let observer = NotificationCenter.default.addObserver(
                forName: AppendLogStore.remoteChange, object: store, queue: nil
            ) { _ in told.signal() }
            defer { NotificationCenter.default.removeObserver(observer) }
            for round in 1...3 {
                let helper = try HelperProcess("share", path, "\(round)", "1")
                #expect(helper.isClosed, "\(helper.lines)")
                #expect(told.wait(timeout: .now() + 10) == .success, "round \(round)")
                #expect(try context.fetchCount(FetchDescriptor<Parcel>()) == 8 + round)
                let inode = try POSIXFileSystem().info(path, followingLinks: true).inode
                try store.compact()
                #expect(try POSIXFileSystem().info(path, followingLinks: true).inode != inode)
                while told.wait(timeout: .now() + 0.2) == .success {}
            }
        }
    }
    #endif

    /// Four processes insert, change and delete for a minute, some of them killed now and then, and a fifth reads.
    @Test(.enabled(if: HelperProcess.program != nil, "the helper program is not there"))
    func processesThatSaveAtOnceLoseAndDuplicateNothing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/shared.log"
            let seconds = isFullSize ? 60.0 : 3.0
            let tallies = 8
            let first = try Workload.open(path: path)
            let context = ModelContext(first)
            for number in 0..<tallies { context.insert(Parcel(number: number, label: "tally")) }
            try context.save()
            try first.close()
            let end = Date().addingTimeInterval(seconds)
            var said = SharedAccount()
            var processes: [(process: Process, output: Pipe)] = []
            var started = 0
            let seed = testSeed()
            func start() throws {
                started += 1
                let process = try HelperProcess.process([
                    "share", path, "\(started)", "\(Int.max)", "\(seed &+ UInt64(started))",
                ])
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
                said.add(text)
            }
            let reader = try HelperProcess.process(["watch", path])
            let (input, output) = (Pipe(), Pipe())
            (reader.standardInput, reader.standardOutput) = (input, output)
            try reader.run()
            for _ in 0..<4 { try start() }
            // A run without any of a kind has tried nothing; how long processes take to start depends on the machine.
            let kinds = ["insert", "tally", "update", "delete"]
            func hasAll() -> Bool { kinds.allSatisfy { said.count("acknowledged", $0) > 0 } }
            while Date() < end || !hasAll() && Date() < end.addingTimeInterval(60) {
                // How long each process works before it is killed; the last ones as long as a busy machine may need.
                Thread.sleep(forTimeInterval: Date() < end ? 0.7 : 3)
                finish(0)
                try start()
            }
            while !processes.isEmpty { finish(0) }
            try input.fileHandleForWriting.close()
            let watched = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            reader.waitUntilExit()

            let container = try Workload.open(path: path)
            let parcels = try ModelContext(container).fetch(FetchDescriptor<Parcel>())
            let store = try #require(container.store(AppendLogStore.self))
            #expect(store.engine.version.inconsistencies() == [])
            for violation in said.violations(parcels, tallies: tallies) { Issue.record("\(violation)") }
            try container.close()
            #expect(hasAll(), "\(kinds.map { said.count("acknowledged", $0) })")
            #expect(try AppendLogStore.verify(path).isSound)
            #expect(!watched.contains("violation") && !watched.contains("error"), "\(watched)")
            let reads = watched.split(separator: "\n").first { $0.hasPrefix("reads ") }.flatMap { Int($0.dropFirst(6)) }
            #expect((reads ?? 0) > 1, "\(watched)")
            // The reader has seen all that there is.
            let counted = parcels.filter { $0.number < tallies }.reduce(0) { $0 + Int($1.weight) }
            #expect(counted > 0 && watched.contains("counted \(counted)\n"), "\(counted): \(watched)")
            print(
                "shared: \(said.count("acknowledged")) saves and \(said.count("refused")) conflicts of \(started) "
                    + "processes in \(seconds) seconds, read \(reads ?? 0) times meanwhile")
            FaultLedger.add(["F13", "F19"], trials: started)
        }
    }
}

/// What processes that share a log said of their saves.
struct SharedAccount {
    private var lines: [String: [String: [Int: Int]]] = [:]
    private var others: [String] = []

    /// - Parameter text: what a process said until it was killed; its last line may be cut off.
    mutating func add(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let number = Int(words[2]),
                ["trying", "acknowledged", "refused"].contains(words[0])
            else {
                others.append(String(line))
                continue
            }
            lines[words[0], default: [:]][words[1], default: [:]][number, default: 0] += 1
        }
    }

    func count(_ word: String, _ what: String? = nil) -> Int {
        (lines[word] ?? [:]).filter { what == nil || $0.key == what }
            .reduce(0) { $0 + $1.value.values.reduce(0, +) }
    }

    private func said(_ word: String, _ what: String) -> [Int: Int] { lines[word]?[what] ?? [:] }
    private func numbers(_ word: String, _ what: String) -> Set<Int> { Set(said(word, what).keys) }

    /// How the store differs from what was acknowledged, and from what was begun.
    func violations(_ parcels: [Parcel], tallies: Int) -> [String] {
        var found = others
        let numbers = parcels.map(\.number)
        if Set(numbers).count != numbers.count { found.append("a number is there twice") }
        let deleted = self.numbers("acknowledged", "delete")
        // A deletion that was begun may have happened although its process died before it could say so.
        let perhapsDeleted = self.numbers("trying", "delete")
        for number in self.numbers("acknowledged", "insert").subtracting(numbers).subtracting(perhapsDeleted) {
            found.append("parcel \(number) is lost")
        }
        for number in deleted.intersection(numbers) { found.append("parcel \(number) was deleted, and is there") }
        for number in Set(numbers).subtracting(self.numbers("trying", "insert")) where number >= tallies {
            found.append("nobody saved parcel \(number)")
        }
        for tally in 0..<tallies {
            let weight = parcels.first { $0.number == tally }.map { Int($0.weight) } ?? -1
            let least = said("acknowledged", "tally")[tally] ?? 0
            let most = (said("trying", "tally")[tally] ?? 0) - (said("refused", "tally")[tally] ?? 0)
            if weight < least || weight > most {
                found.append("tally \(tally) is \(weight), and was counted \(least) to \(most) times")
            }
        }
        return found
    }
}

extension FileError.Reason {
    fileprivate var isLocked: Bool { if case .locked = self { true } else { false } }
}
