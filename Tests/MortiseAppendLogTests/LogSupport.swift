import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import PackageTestSupport

@testable import MortiseAppendLog
import MortiseTestSupport

/// Where the tests' log is on a simulated disk.
let logPath = "/data/store.log"

/// A disk with the folder of the log on it.
func makeDisk(seed: UInt64 = 1) throws -> SimulatedFileSystem {
    let disk = SimulatedFileSystem(seed: seed)
    try disk.install(.directory, at: "/data")
    return disk
}

func logConfiguration(
    _ disk: any FileSystem, path: String = logPath, allowsSave: Bool = true,
    durability: AppendLogDurability = .full, history: AppendLogHistory = .keepAll,
    compaction: AppendLogCompaction = .onCall
) -> AppendLogConfiguration {
    var configuration = AppendLogConfiguration(
        path: path, allowsSave: allowsSave, durability: durability, history: history, compaction: compaction, in: disk)
    // A simulated disk remembers every byte.
    configuration.allocationStep = 4_096
    return configuration
}

func openLog(_ configuration: AppendLogConfiguration) throws -> ModelContainer {
    try ModelContainer(for: Schema([Box.self, Item.self]), configurations: [configuration])
}

/// The store alone, for what a container does not show.
func openStore(_ configuration: AppendLogConfiguration) throws -> AppendLogStore {
    var configuration = configuration
    configuration.schema = Schema([Box.self, Item.self])
    return try AppendLogStore(configuration, migrationPlan: nil)
}

/// Opens a log, runs the body with a context, and closes it.
func withLog<R>(_ configuration: AppendLogConfiguration, _ body: (ModelContext) throws -> R) throws -> R {
    let container = try openLog(configuration)
    defer { try? container.close() }
    return try body(ModelContext(container))
}

/// What a store holds, in words: every record with all its values.
func contents(_ context: ModelContext) throws -> [String] {
    let boxes = try context.fetch(FetchDescriptor<Box>()).map { box in
        "\(box.persistentModelID) \(box.label) \(box.items.map(\.name).sorted())"
    }
    let items = try context.fetch(FetchDescriptor<Item>()).map { item in
        "\(item.persistentModelID) \(item.name) \(item.count.map(String.init) ?? "-") "
            + "\(item.made.timeIntervalSinceReferenceDate) \(item.tags) \(item.box?.label ?? "-")"
    }
    return (boxes + items).sorted()
}

func contents(_ configuration: AppendLogConfiguration) throws -> [String] { try withLog(configuration, contents) }

/// A workload of a few saves of every kind, and what the store holds after each, the empty one first.
func makeSmallLog(on disk: SimulatedFileSystem, path: String = logPath) throws -> [[String]] {
    try withLog(logConfiguration(disk, path: path)) { context in
        var states: [[String]] = [try contents(context)]
        func save() throws {
            try context.save()
            states.append(try contents(context))
        }
        let box = Box("red")
        context.insert(box)
        for number in 0..<3 { context.insert(Item("item \(number)", count: number, tags: ["a", "b"], box: box)) }
        try save()
        let items = try context.fetch(FetchDescriptor<Item>())
        items[0].name = "renamed"
        items[0].count = nil
        try save()
        context.delete(items[1])
        context.insert(Item("later", tags: [], box: nil))
        try save()
        let blue = Box("blue")
        context.insert(blue)
        items[2].box = blue
        try save()
        return states
    }
}

/// A log of its own on another disk.
func makeDisk(with log: [UInt8], checkpoint: [UInt8]? = nil) throws -> SimulatedFileSystem {
    let disk = try makeDisk()
    try disk.install(log, at: logPath)
    if let checkpoint { try disk.install(checkpoint, at: logPath + ".checkpoint") }
    return disk
}

extension SimulatedFileSystem {
    /// Has each sync take as many seconds, as on a device: what comes in that time shares the next one.
    func slowSyncs(to seconds: TimeInterval) {
        interject(of: .sync, times: .max) { Thread.sleep(forTimeInterval: seconds) }
    }
}

/// Named apart from the engine's own generator, which tests of it see too.
typealias TestGenerator = PackageTestSupport.SeededGenerator

/// Pieces of a few records each, of any transaction with more than eight changes.
func streamingConfiguration(
    _ disk: any FileSystem, durability: AppendLogDurability = .full, history: AppendLogHistory = .keepAll
) -> AppendLogConfiguration {
    var configuration = logConfiguration(disk, durability: durability, history: history)
    configuration.pieceSize = 512
    // So that a value can be refused when much of its transaction is written.
    configuration.mostParts = 100
    return configuration
}

func insertItems(_ count: Int, named name: String = "item", into context: ModelContext) {
    let box = Box("box of \(name)")
    context.insert(box)
    for number in 0..<count {
        context.insert(
            Item("\(name) \(number)", count: number, tags: number % 3 == 0 ? ["a", "b"] : [], box: box))
    }
}

/// Waits for background work that is under way or about to begin; none begins by itself.
func waitUntilIdle(_ work: BackgroundWork) {
    while work.isBusy { Thread.sleep(forTimeInterval: 0.000_5) }
}

/// Asks again and again whether something holds that nothing announces, for at most as long as a busy machine may need.
func comesAbout(within limit: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try condition() { return true }
        Thread.sleep(forTimeInterval: 0.000_5)
    }
    return false
}

/// What a notification center posts about some objects. Waiting blocks the test's thread: a test that suspends comes back
/// only behind all the others that wait for one of a few threads, which can take minutes.
final class Posts: Sendable {
    private final class Count: Sendable { let value = Mutex(0) }

    private let count: Count
    // Set once, and only given back.
    private nonisolated(unsafe) let observer: any NSObjectProtocol

    /// How many there were so far.
    var soFar: Int { count.value.withLock { $0 } }

    init(of name: Notification.Name, about object: AnyObject) {
        let count = Count()
        self.count = count
        observer = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in
            count.value.withLock { $0 += 1 }
        }
    }

    deinit { NotificationCenter.default.removeObserver(observer) }

    /// Waits for another one than the first `count`; false if the time is up.
    func areMore(than count: Int) -> Bool { comesAbout { soFar > count } }
}
