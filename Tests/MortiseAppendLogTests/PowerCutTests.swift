import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// What every power cut leaves of a workload with saves, a checkpoint, a compaction and reopening.
struct PowerCutTests {
    /// The states of a store, each with the operation after which it was acknowledged.
    private struct Run {
        let disk: SimulatedFileSystem
        var states: [[String]] = [[]]
        /// For each state but the first, how many operations were done when its save began and when it returned.
        var saves: [(began: Int, returned: Int)] = []

        /// The states that a crash after an operation may leave: from the last acknowledged to the one in the making.
        func allowed(after operation: Int) -> ClosedRange<Int> {
            let acknowledged = saves.count { $0.returned <= operation }
            return acknowledged...max(acknowledged, saves.count { $0.began <= operation })
        }
    }

    /// - Parameter seam: what the store sees of the disk.
    private func run(
        seed: UInt64, durability: AppendLogDurability = .full, faults: (SimulatedFileSystem) -> Void = { _ in },
        seam: (SimulatedFileSystem) -> any FileSystem = { $0 }
    ) throws -> Run {
        let disk = try makeDisk(seed: seed)
        var run = Run(disk: disk)
        let configuration = logConfiguration(seam(disk), durability: durability, history: .keep(days: 0))
        func save(_ context: ModelContext) throws {
            let began = disk.operationCount
            let state = try contentsWithPending(context)
            do {
                try context.save()
                run.saves.append((began, disk.operationCount))
            } catch is FileError {
                // Nobody was promised anything.
                run.saves.append((began, .max))
            }
            run.states.append(state)
        }
        faults(disk)
        for round in 0..<3 {
            let container = try openLog(configuration)
            let context = ModelContext(container)
            for number in 0..<2 {
                let box = Box("box \(round) \(number)")
                context.insert(box)
                context.insert(Item(String(repeating: "x", count: 700 * number + 10), box: box))
                try save(context)
            }
            let store = try openStore(configuration)
            let sink = try #require(store.opened.sink)
            if round == 0 { try? sink.checkpoint() }
            if let item = try context.fetch(FetchDescriptor<Item>()).first { context.delete(item) }
            try save(context)
            if round == 1 {
                _ = try? sink.compact(MaintenanceProgress(isStopped: { false }), dropping: .everything) { _, _ in false
                }
            }
            if round == 2 {
                // Long enough to be written from where it is, behind its header.
                context.insert(Item(String(repeating: "last", count: 1_300)))
                try save(context)
            }
            try container.close()
            try store.close()
        }
        return run
    }

    /// Labels and names alone: identifiers of what is not saved yet are not known.
    private func contentsWithPending(_ context: ModelContext) throws -> [String] {
        let boxes = try context.fetch(FetchDescriptor<Box>()).map { "\($0.label) \($0.items.map(\.name).sorted())" }
        return (boxes + (try context.fetch(FetchDescriptor<Item>()).map { "\($0.name) \($0.box?.label ?? "-")" }))
            .sorted()
    }

    /// What is wrong with the disks that crashes of a run leave; nil after the last of them.
    private func firstFault(of run: Run, limit: Int = isFullSize ? 3 : 1) throws -> (fault: String?, images: Int) {
        var images = 0
        var fault: String?
        run.disk.forEachCrash(limit: limit) { image in
            guard fault == nil else { return }
            images += 1
            do {
                let allowed = run.allowed(after: image.operation)
                var found = try withLog(logConfiguration(image.fileSystem), contentsWithPending)
                guard run.states[allowed].contains(found) else {
                    let index = run.states.firstIndex(of: found).map(String.init) ?? "none of the states"
                    fault = "operation \(image.operation), \(image.loss): \(index) where \(allowed) may be"
                    return
                }
                // What was recovered is there for good, and the store goes on.
                try withLog(logConfiguration(image.fileSystem)) { context in
                    context.insert(Box("after"))
                    try context.save()
                    found = try contentsWithPending(context)
                }
                let again = image.fileSystem.crashed(after: .max, losing: .unsynced)
                if try withLog(logConfiguration(again), contentsWithPending) != found {
                    fault = "operation \(image.operation), \(image.loss): lost after recovery"
                }
            } catch let error as AppendLogError where error.fault == .logMissing {
                fault = "operation \(image.operation), \(image.loss): \(error)"
            } catch {
                fault = "operation \(image.operation), \(image.loss): \(error)"
            }
        }
        return (fault, images)
    }

    @Test func everyPowerCutLeavesAllThatWasAcknowledgedAndNothingHalf() throws {
        let run = try run(seed: testSeed())
        let (fault, images) = try firstFault(of: run)
        #expect(fault == nil)
        #expect(images > (isFullSize ? 300 : 100))
    }

    @Test func relaxedDurabilityLosesTheLatestSavesAndNeverMore() throws {
        var run = try run(seed: testSeed(), durability: .none)
        // Nothing is promised, so every state up to the one in the making may come back.
        run.saves = run.saves.map { ($0.began, .max) }
        let (fault, _) = try firstFault(of: run, limit: isFullSize ? 2 : 1)
        #expect(fault == nil)
    }

    @Test(arguments: [BrokenFileSystem.Mistake.skipsDirectorySync, .skipsFileSync])
    func aStoreOnABrokenSeamIsFoundOut(mistake: BrokenFileSystem.Mistake) throws {
        let run = try run(seed: 1, seam: { BrokenFileSystem($0, mistake: mistake) })
        #expect(try firstFault(of: run).fault != nil)
    }

    @Test func aSyncTriedTwiceIsFoundOut() throws {
        let faults = { (disk: SimulatedFileSystem) in disk.inject(.fail(.io), at: 3, of: .sync) }
        let isFound = try (1...8 as ClosedRange<UInt64>).contains { seed in
            let run = try run(
                seed: seed, faults: faults, seam: { BrokenFileSystem($0, mistake: .retriesFailedSync) })
            return try firstFault(of: run).fault != nil
        }
        #expect(isFound)
    }

    @Test func ignoredShortWritesAreFoundOut() throws {
        let run = try? run(
            seed: 1, faults: { $0.inject(.shorten(to: 100), at: 4, of: .write, times: 1_000) },
            seam: { BrokenFileSystem($0, mistake: .ignoresShortWrites) })
        // The store itself notices: the file has not the length that it should.
        if let run { #expect(try firstFault(of: run).fault != nil) }
    }
}
