import Foundation
import MortiseCore
import MortiseEngine

@testable import MortiseAppendLog

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

/// Numbers from a seed, the same on every platform.
struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

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

/// The seed of a random test: `MORTISE_TEST_SEED`, or a new one. It is printed.
func testSeed(_ test: String = #function) -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
    print("\(test): MORTISE_TEST_SEED=\(seed)")
    return seed
}

/// Waits for background work that is under way or about to begin; none begins by itself.
func waitUntilIdle(_ work: BackgroundWork) {
    while work.isBusy { Thread.sleep(forTimeInterval: 0.000_5) }
}
