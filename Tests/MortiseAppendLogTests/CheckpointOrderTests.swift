import FaultWorkload
import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Checkpoints of indexes and links that were filled in every order.
///
/// A log once wrote checkpoints that it refused to read: where a key was lower than all before it, the first separator of a
/// branch was written as the search had left it, above the second.
struct CheckpointOrderTests {
    private let checkpointPath = logPath + ".checkpoint"

    // Different within the eight bytes that a node has at hand.
    private func key(_ number: Int) -> String { String(format: "%07d", number) }

    /// Opens a log, runs the body, and writes a checkpoint of what it has made: opening would sort its indexes.
    private func withCheckpoint<R>(
        _ configuration: AppendLogConfiguration, _ body: (ModelContext) throws -> R
    ) throws -> R {
        let container = try openLog(configuration)
        let result = try body(ModelContext(container))
        let store = try #require(container.store(AppendLogStore.self))
        if configuration.history == .keepAll { try store.checkpoint() } else { try store.compact() }
        try container.close()
        return result
    }

    private func insert(_ numbers: some Collection<Int>, perSave size: Int, into context: ModelContext) throws {
        for (place, number) in numbers.enumerated() {
            context.insert(Box(key(number)))
            if (place + 1) % size == 0 { try context.save() }
        }
        try context.save()
    }

    /// Looks the store up by every key, as a whole and beneath its indexes, and by `verify`.
    private func expect(
        _ numbers: [Int], _ configuration: AppendLogConfiguration, on disk: SimulatedFileSystem,
        isFromCheckpoint: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [], sourceLocation: sourceLocation)
        let container = try openLog(configuration)
        defer { try? container.close() }
        let context = ModelContext(container)
        let store = try #require(container.store(AppendLogStore.self))
        #expect(store.recovery == nil, sourceLocation: sourceLocation)
        let sorted = FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)])
        #expect(try context.fetch(sorted).map(\.label) == numbers.sorted().map(key), sourceLocation: sourceLocation)
        for number in numbers where number % 41 == 0 {
            let wanted = key(number)
            let one = FetchDescriptor<Box>(predicate: #Predicate { $0.label == wanted })
            #expect(try context.fetchCount(one) == 1, sourceLocation: sourceLocation)
        }
        #expect(store.engine.version.inconsistencies() == [], sourceLocation: sourceLocation)
        #expect((store.engine.version.packed != nil) == isFromCheckpoint, sourceLocation: sourceLocation)
    }

    /// In saves of one record, 256 is the last size at which all went well.
    @Test(arguments: [(256, 1), (257, 1), (400, 10), (400, 200), (400, 400), (3_000, 7)])
    func descendingKeysComeBack(count: Int, size: Int) throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        try withCheckpoint(configuration) { try insert((1...count).reversed(), perSave: size, into: $0) }
        try expect(Array(1...count), configuration, on: disk)
    }

    /// Opening read the root alone: the fetch by key was the first to fail.
    @Test func lowerKeysAfterManyAscendingComeBack() throws {
        let many = isFullSize ? 20_000 : 4_000
        let disk = try makeDisk()
        let configuration = logConfiguration(disk)
        try withCheckpoint(configuration) { context in
            try insert(1_000..<(1_000 + many), perSave: 5_000, into: context)
            try insert((600..<1_000).reversed(), perSave: 100, into: context)
        }
        try expect(Array(600..<(1_000 + many)), configuration, on: disk)
    }

    /// Nobody asked for a checkpoint, or for anything but the defaults.
    @Test func closingAloneWritesACheckpointThatCanBeRead() throws {
        let disk = try makeDisk()
        var configuration = AppendLogConfiguration(path: logPath, in: disk)
        configuration.leastReplay = 16_384
        configuration.allocationStep = 4_096
        try withLog(configuration) { context in
            try insert((1...400).reversed(), perSave: 1, into: context)
            for round in 0..<3 {
                for box in try context.fetch(FetchDescriptor<Box>()) { box.items.append(Item("item \(round)")) }
                try context.save()
            }
        }
        #expect(disk.contents(at: checkpointPath) != nil)
        try expect(Array(1...400), configuration, on: disk)
    }

    @Test func linksOfOwnersInDescendingOrderComeBack() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk)
        let count = 600
        try withCheckpoint(configuration) { context in
            let boxes = (0..<count).map { Box(key($0)) }
            for box in boxes { context.insert(box) }
            try context.save()
            for (number, box) in boxes.enumerated().reversed() {
                context.insert(Item("item \(number)", box: box))
                try context.save()
            }
        }
        try expect(Array(0..<count), configuration, on: disk)
        try withLog(configuration) { context in
            for box in try context.fetch(FetchDescriptor<Box>()) {
                #expect(box.items.map(\.name) == ["item \(Int(box.label) ?? -1)"])
            }
        }
    }

    /// What an earlier version wrote: 300 parcels saved one by one with descending numbers, then compacted, so that the log
    /// alone does not have them. That version refused its own file.
    @Test func aCheckpointWithAStaleFirstSeparatorIsRead() throws {
        let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
        let disk = try makeDisk()
        for suffix in ["", ".checkpoint"] {
            let file = golden.appending(path: "format-1-descending.log\(suffix)")
            try disk.install([UInt8](try Data(contentsOf: file)), at: logPath + suffix)
        }
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
        for added in 0..<3 {
            let container = try Workload.open(logConfiguration(disk))
            defer { try? container.close() }
            let context = ModelContext(container)
            let store = try #require(container.store(AppendLogStore.self))
            #expect(store.recovery == nil)
            #expect(store.engine.version.inconsistencies() == [])
            for number in (1 - added)...300 {
                let one = FetchDescriptor<Parcel>(predicate: #Predicate { $0.number == number })
                let parcel = try #require(try context.fetch(one).first)
                #expect(parcel.label == "parcel \(number)")
                #expect(number < 1 || parcel.courier?.name == "courier \(number % 3)")
            }
            let couriers = try context.fetch(FetchDescriptor<Courier>(sortBy: [SortDescriptor(\.name)]))
            #expect(couriers.map(\.parcels.count) == [100, 100, 100])
            context.insert(Parcel(number: -added, label: "parcel \(-added)"))
            try context.save()
            if added == 1 { try store.compact() }
        }
    }

    /// Keys, owners and saves in every order, with deletions, changes of keys and insertions under keys that were free
    /// again; then a checkpoint of each kind, and a look at all of it.
    @Test(arguments: 0..<(isFullSize ? 40 : 2))
    func everyOrderOfKeysAndOwnersComesBack(round: Int) throws {
        let seed = testSeed()
        var generator = TestGenerator(seed: seed)
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, history: round % 2 == 0 ? .keepAll : .keep(days: 0))
        var expected: [String] = []
        for session in 0..<3 {
            try withCheckpoint(configuration) { context in
                try disturb(context, saves: isFullSize ? 120 : 30, &generator)
                expected = try contents(context)
            }
            #expect(try AppendLogStore.verify(logPath, in: disk).problems == [], "seed \(seed), session \(session)")
            #expect(try contents(configuration) == expected, "seed \(seed), session \(session)")
            let again = try openStore(configuration)
            #expect(again.recovery == nil, "seed \(seed)")
            #expect(again.engine.version.inconsistencies() == [], "seed \(seed)")
            try again.close()
        }
        // From the log alone, where that has everything.
        guard round % 2 == 0 else { return }
        let log = try #require(disk.contents(at: logPath))
        #expect(try contents(logConfiguration(try makeDisk(with: log))) == expected, "seed \(seed)")
    }

    private func disturb(_ context: ModelContext, saves: Int, _ generator: inout TestGenerator) throws {
        // A first separator goes stale where most new keys are below all others.
        let step = [-1, -7, -1_000, 1, 0].randomElement(using: &generator) ?? 0
        var next = Int.random(in: 4_000_000...6_000_000, using: &generator)
        for _ in 0..<saves {
            let boxes = try context.fetch(FetchDescriptor<Box>())
            var taken = Set(boxes.map(\.label))
            for _ in 0..<[1, 1, 3, 20, 60].randomElement(using: &generator)! {
                next = step == 0 ? Int.random(in: 0...9_999_999, using: &generator) : max(0, next + step)
                let box = Box(key(next))
                taken.insert(box.label)
                context.insert(box)
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    context.insert(
                        Item("item \(next)", count: next % 5, box: boxes.randomElement(using: &generator) ?? box))
                }
            }
            for box in boxes.shuffled(using: &generator).prefix(Int.random(in: 0...2, using: &generator)) {
                if Bool.random(using: &generator) {
                    context.delete(box)
                } else {
                    // A key that another box has is refused, once in a few hundred programs.
                    var label = box.label
                    while taken.contains(label) { label = key(Int.random(in: 0...9_999_999, using: &generator)) }
                    taken.insert(label)
                    box.label = label
                }
            }
            try context.save()
        }
    }
}
