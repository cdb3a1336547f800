import FaultWorkload
import Foundation
import MortiseCore
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Checkpoints that cannot be read, of logs that have everything: nobody is to notice but by a warning.
struct UnreadableCheckpointTests {
    private let checkpointPath = logPath + ".checkpoint"
    private static let count = isFullSize ? 3_000 : 900

    private static func label(_ number: Int) -> String { String(format: "box %06d", number) }

    /// A log with a checkpoint that has deleted rows between others, strings that are coded and strings that are not, and
    /// with some saves behind it.
    private func makeLog(on disk: SimulatedFileSystem, _ test: String = #function) throws {
        var generator = TestGenerator(seed: testSeed(test))
        try withLog(logConfiguration(disk)) { context in
            var boxes: [Box] = []
            for number in (0..<Self.count).shuffled(using: &generator) {
                let box = Box(Self.label(number))
                boxes.append(box)
                context.insert(box)
                if number % 3 == 0 {
                    let name = number % 2 == 0 ? "item \(number % 11)" : "an item with a longer name \(number)"
                    context.insert(Item(name, count: number, tags: ["t"], box: boxes.randomElement(using: &generator)))
                }
                if number % 50 == 0 { try context.save() }
            }
            try context.save()
            for box in boxes.shuffled(using: &generator).prefix(Self.count / 8) { context.delete(box) }
            try context.save()
        }
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        try withLog(logConfiguration(disk)) { context in
            for number in 0..<20 { context.insert(Box("behind \(number)")) }
            let boxes = try context.fetch(FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)]))
            context.delete(boxes[3])
            boxes[Self.count / 2].label = "moved"
            try context.save()
        }
    }

    /// Defect: of an empty checkpoint it was said that it is a log, and that it can be removed to start a new store.
    @Test(arguments: [false, true]) func anEmptyCheckpointIsNamedAndNotToBeRemovedWhereItIsNeeded(isNeeded: Bool) throws
    {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk, history: isNeeded ? .keep(days: 0) : .keepAll))
        try store.compact()
        try store.close()
        try disk.install([], at: checkpointPath)
        let problem = try #require(try AppendLogStore.verify(logPath, in: disk).problems.first)
        #expect(problem.path == checkpointPath)
        #expect(problem.fault == .emptyCheckpoint(transaction: isNeeded ? 4 : 0))
        let text = "\(problem)"
        #expect(
            !text.contains("new store") && text.contains(isNeeded ? "Restore a backup" : "nothing needs to be done"))
        if isNeeded {
            let error = #expect(throws: AppendLogError.self) { try openStore(logConfiguration(disk)) }
            #expect(error == problem)
            return
        }
        let again = try openStore(logConfiguration(disk))
        #expect(again.recovery?.ignoredCheckpoint == problem.fault)
        try again.close()
        #expect(try contents(logConfiguration(disk)) == states.last)
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
    }

    /// What is found by values, by indexes and by links.
    private func answers(_ context: ModelContext) throws -> [String] {
        var found = try contents(context)
        found += try context.fetch(FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label, order: .reverse)])).map(
            \.label)
        for number in stride(from: 0, to: Self.count, by: 37) {
            let wanted = Self.label(number)
            let boxes = try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == wanted }))
            found.append("\(wanted): \(boxes.map { $0.items.count })")
        }
        let count = try context.fetchCount(FetchDescriptor<Item>(predicate: #Predicate { $0.name == "item 6" }))
        return found + ["\(count)"]
    }

    /// How the log is opened.
    enum Opening: CaseIterable { case alone, reading, shared }

    private func configuration(_ disk: any FileSystem, _ opening: Opening) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: logPath, allowsSave: opening != .reading, sharing: opening == .shared ? .shared : .exclusive, in: disk
        )
        configuration.allocationStep = 4_096
        return configuration
    }

    /// Each byte of the file in turn, or each of many: whatever it is a part of.
    @Test(arguments: Opening.allCases)
    func whateverByteHasRottenTheAnswersAreThoseOfTheLog(opening: Opening) throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let expected = try withLog(logConfiguration(disk), answers)
        let log = try #require(disk.contents(at: logPath))
        let checkpoint = try #require(disk.contents(at: checkpointPath))
        var (atOpening, later) = (0, 0)
        let step = isFullSize ? 97 : checkpoint.count / 6
        for place in stride(from: isFullSize ? 5 : .random(in: 0..<step), to: checkpoint.count, by: step) {
            var rotten = checkpoint
            rotten[place] ^= 0x10
            let other = try makeDisk(with: log, checkpoint: rotten)
            let events = Events()
            let container = try openLog(configuration(other, opening))
            let store = try #require(container.store(AppendLogStore.self))
            store.reportEvents { events.add($0) }
            if store.recovery?.ignoredCheckpoint != nil { atOpening += 1 }
            #expect(try answers(ModelContext(container)) == expected, "byte \(place)")
            #expect(store.engine.version.damage == nil, "byte \(place)")
            #expect(store.engine.version.inconsistencies() == [], "byte \(place)")
            later += events.unreadable.count
            #expect(events.unreadable.count <= 1, "byte \(place)")
            // Closing does not wait for the checkpoint of a shared log.
            store.waitForBackgroundWork()
            try container.close()
            if opening == .reading {
                #expect(other.contents(at: logPath) == log && other.contents(at: checkpointPath) == rotten)
            } else {
                // The next checkpoint takes its place, and the store is as sound as it was.
                #expect(try AppendLogStore.verify(logPath, in: other).problems == [], "byte \(place)")
            }
            #expect(try withLog(logConfiguration(other), answers) == expected, "byte \(place)")
        }
        #expect(!isFullSize || atOpening > 0 && later > 5, "\(atOpening) at opening, \(later) later")
    }

    /// All regions at once, when the log has already more than it had at opening.
    @Test(arguments: [Opening.reading, .shared])
    func whatOthersSaveMeanwhileIsShownWithWhatTheLogHas(opening: Opening) throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let (mine, others) = (disk.process(100), disk.process(101))
        let writer = try openLog(configuration(others, opening == .shared ? .shared : .alone))
        let container = try openLog(configuration(mine, opening))
        let store = try #require(container.store(AppendLogStore.self))
        let events = Events()
        store.reportEvents { events.add($0) }
        let writing = ModelContext(writer)
        func save(_ name: String) throws {
            let box = Box("box of \(name)")
            writing.insert(box)
            for number in 0..<5 { writing.insert(Item("\(name) \(number)", count: number, box: box)) }
            let boxes = try writing.fetch(FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)]))
            boxes[boxes.count / 2].label = "moved by \(name)"
            writing.delete(boxes[boxes.count / 3])
            try writing.save()
        }
        try save("before")
        let expected = try answers(writing)
        // Of the regions that this process reads only now.
        let size = try #require(disk.contents(at: checkpointPath)).count
        mine.limits.unreadable[checkpointPath] = [0..<size]
        #expect(try answers(ModelContext(container)) == expected)
        #expect(events.unreadable.count == 1)
        try save("after")
        #expect(try answers(ModelContext(container)) == answers(writing))
        #expect(store.engine.version.inconsistencies() == [])
        #expect(events.unreadable.count == 1)
        mine.limits.unreadable = [:]
        try container.close()
        try writer.close()
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
    }

    /// All regions at once, first touched by a save.
    @Test func aSaveGoesOnWhereNothingOfTheCheckpointCanBeRead() throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        var expected = try contents(logConfiguration(disk))
        let container = try openLog(logConfiguration(disk))
        let size = try #require(disk.contents(at: checkpointPath)).count
        // What opening has read is in memory.
        disk.limits.unreadable[checkpointPath] = [0..<size]
        let context = ModelContext(container)
        let box = Box(Self.label(Self.count + 1))
        context.insert(box)
        try context.save()
        context.insert(Item("new", box: box))
        try context.save()
        let found = try contents(context)
        expected.append(
            try #require(
                found.first { $0.contains(Self.label(Self.count + 1)) && $0.hasPrefix("\(box.persistentModelID)") }))
        expected.append(try #require(found.first { $0.contains(" new ") }))
        #expect(found == expected.sorted())
        disk.limits.unreadable = [:]
        try container.close()
        #expect(try contents(logConfiguration(disk)) == expected.sorted())
        let problems = try AppendLogStore.verify(logPath, in: disk).problems
        #expect(problems == [], "\(problems)")
    }

    /// A getter cannot throw: it was to show nothing, and the next fetch failed.
    @Test func aGetterShowsWhatTheLogHas() throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let expected = try withLog(logConfiguration(disk)) { context in
            try context.fetch(FetchDescriptor<Item>()).compactMap { $0.box?.label }
        }
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        let items = try context.fetch(FetchDescriptor<Item>())
        disk.limits.unreadable[checkpointPath] = [0..<(1 << 30)]
        #expect(items.compactMap { $0.box?.label } == expected)
        #expect(throws: Never.self) { try context.fetch(FetchDescriptor<Item>()) }
        disk.limits.unreadable = [:]
        try container.close()
    }

    /// The file that the pack of 23 November 2026 wrote for descending keys, made by hand: a first separator above the second.
    @Test func separatorsThatWentStaleAreRead() throws {
        let node = IndexNode(owner: 1, isWide: true)
        for (place, number) in [900, 300, 400].enumerated() {
            let child = IndexNode(owner: 1, isWide: true)
            child.insert(LinkSet.probe(UInt64(place * 100 + 10), 1, 0), at: 0)
            node.insert(child, beneath: LinkSet.probe(UInt64(number), 0, 0), at: place)
        }
        var packed = PackedBytes()
        let regions = (0..<3).map { PackedRegion(offset: UInt64(64 + 64 * $0), length: 64, checksum: 0) }
        // As it was written: the node's own first entry, whatever is beneath it.
        node.pack(into: &packed, level: 1, children: regions, least: node)
        #expect(try node.unpacked(packed).count == 3)
        packed.removeAll()
        node.pack(into: &packed, level: 1, children: regions, least: node.child(0))
        let back = try node.unpacked(packed)
        #expect((0..<3).map { back.head($0) } == [10, 300, 400])
    }

    // MARK: Reading back

    /// What a faulty disk or program writes is not put in the old one's place, and the store goes on.
    @Test(arguments: [false, true])
    func aCheckpointThatDoesNotReadBackIsNotPublished(compacts: Bool) throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, history: compacts ? .keep(days: 0) : .keepAll)
        try withLog(configuration) { context in
            for number in 0..<Self.count { context.insert(Box(Self.label(number))) }
            try context.save()
        }
        let good = try openStore(configuration)
        try good.checkpoint()
        try good.close()
        let expected = try contents(configuration)
        let (log, before) = (disk.contents(at: logPath), try #require(disk.contents(at: checkpointPath)))
        for place in stride(from: 70, to: before.count, by: before.count / 12) {
            let flipping = FlippingFileSystem(disk, at: Int64(place))
            let store = try openStore(logConfiguration(flipping, history: configuration.history))
            flipping.isOn.store(true, ordering: .relaxed)
            #expect(throws: AppendLogError.self, "byte \(place)") {
                if compacts { _ = try store.compact() } else { try store.checkpoint() }
            }
            flipping.isOn.store(false, ordering: .relaxed)
            try store.close()
            #expect(disk.contents(at: checkpointPath) == before && disk.contents(at: logPath) == log)
            #expect(!disk.paths.contains { $0.hasSuffix(".mortise-tmp") })
        }
        #expect(try contents(configuration) == expected)
    }

    @Test func aCheckpointOfClosingThatDoesNotReadBackIsToldAndLeavesTheStoreWhole() throws {
        let disk = try makeDisk()
        let flipping = FlippingFileSystem(disk, at: 2_000)
        var configuration = logConfiguration(flipping)
        configuration.leastReplay = 2_048
        let events = Events()
        let container = try openLog(configuration)
        try #require(container.store(AppendLogStore.self)).reportEvents { events.add($0) }
        let context = ModelContext(container)
        for number in 0..<300 { context.insert(Box(Self.label(number))) }
        try context.save()
        flipping.isOn.store(true, ordering: .relaxed)
        try container.close()
        #expect(events.failed.count == 1)
        #expect(disk.contents(at: checkpointPath) == nil)
        #expect(try contents(logConfiguration(disk)).count == 300)
    }
}

extension IndexNode {
    /// The node out of its bytes, as a branch whose children have an entry each.
    fileprivate func unpacked(_ packed: PackedBytes) throws -> IndexNode {
        let disk = SimulatedFileSystem()
        let offset: UInt64 = 4_096
        try disk.install(Array(repeating: 0, count: Int(offset)) + Array(packed.bytes), at: "/node")
        var sum = CRC32C(resuming: 0)
        packed.bytes.withUnsafeBytes { sum.update($0) }
        let file = PackedFile(try disk.open("/node", mode: .read), end: offset + UInt64(packed.bytes.count), seed: 0) {
            $0
        }
        let region = PackedRegion(offset: offset, length: UInt32(packed.bytes.count), checksum: sum.value)
        return try PackedNode.read(
            .init(region: region, level: 1, total: 3), .init(file: file, isWide: isWide, rowLimit: 1))
    }
}

/// Collects what a store tells.
private final class Events: Sendable {
    private let all = Mutex<[StoreEvent]>([])
    func add(_ event: StoreEvent) { all.withLock { $0.append(event) } }
    var unreadable: [StoreEvent] {
        all.withLock { $0.filter { if case .checkpointUnreadable = $0 { true } else { false } } }
    }
    var failed: [StoreEvent] { all.withLock { $0.filter { if case .checkpointFailed = $0 { true } else { false } } } }
}

/// Writes one bit of an unfinished checkpoint otherwise than it was told to.
private final class FlippingFileSystem: FileSystem {
    let isOn = Atomic(false)
    private let base: any FileSystem
    private let place: Int64

    init(_ base: any FileSystem, at place: Int64) {
        self.base = base
        self.place = place
    }

    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        let file = try base.open(path, mode: mode)
        let isWanted = isOn.load(ordering: .relaxed) && path.hasSuffix(".mortise-tmp") && path.contains("checkpoint")
        return isWanted ? FlippingFile(file, at: place) : file
    }

    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try base.info(path, followingLinks: followingLinks)
    }
    func readLink(_ path: String) throws(FileError) -> String { try base.readLink(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}

private final class FlippingFile: OpenFile {
    private let base: any OpenFile
    private let place: Int64

    init(_ base: any OpenFile, at place: Int64) {
        self.base = base
        self.place = place
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        var copy = Array(bytes)
        if place >= offset, place < offset + Int64(copy.count) { copy[Int(place - offset)] ^= 1 }
        return try copy.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try base.write(bytes, at: offset) }
        }.get()
    }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }
    func sync(_ kind: SyncKind) throws(FileError) { try base.sync(kind) }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    func info() throws(FileError) -> FileInfo { try base.info() }
    func setPermissions(_ permissions: UInt32) throws(FileError) { try base.setPermissions(permissions) }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { try base.tryLock(kind) }
    func close() throws(FileError) { try base.close() }
}
