import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Saves that are on the disk some time after they return.
struct BatchedTests {
    private static func isLatched(_ error: any Error) -> Bool {
        if case .latched = error as? EngineError { true } else { false }
    }

    @Test func aSaveIsOnTheDiskAfterTheIntervalWithoutClosingOrSavingAgain() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk, durability: .batched(.milliseconds(20)))) { context in
            for label in ["one", "two"] {
                context.insert(Box(label))
                try context.save()
                let isThere = try comesAbout {
                    let after = disk.crashed(after: .max, losing: .unsynced)
                    return try contents(logConfiguration(after)).contains { $0.contains(" \(label) ") }
                }
                #expect(isThere, "\(label) is not on the disk")
            }
        }
    }

    @Test func aSyncThatFailsInTheBackgroundLatchesTheStoreUntilItIsReopened() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, durability: .batched(.milliseconds(20)))
        try withLog(configuration) { context in
            context.insert(Box("zero"))
            try context.save()
        }
        let container = try openLog(configuration)
        let context = ModelContext(container)
        disk.inject(.fail(.io), of: .sync)
        context.insert(Box("one"))
        try context.save()
        // The sync is in the background, so the next save that comes after it tells.
        var error: (any Error)?
        let hasFailed = comesAbout {
            context.insert(Box("more \(disk.operationCount)"))
            do { try context.save() } catch let thrown { error = thrown }
            return error != nil
        }
        #expect(hasFailed && error.map(Self.isLatched) == true, "\(String(describing: error))")
        #expect(context.hasChanges)
        let written = disk.operationCount
        #expect(throws: EngineError.self) { try context.save() }
        #expect(!disk.trace[written...].contains { [.write, .sync].contains($0.operation) && $0.path == logPath })
        // What nobody has synced is not promised, so closing says so.
        #expect(throws: EngineError.self) { try container.close() }
        try withLog(configuration) { context in
            #expect(try context.fetch(FetchDescriptor<Box>()).map(\.label).contains("zero"))
            context.insert(Box("after"))
            try context.save()
        }
        let after = disk.crashed(after: .max, losing: .unsynced)
        #expect(try contents(logConfiguration(after)).contains { $0.contains(" after ") })
    }

    @Test func aPowerCutTakesTheLatestSavesOnlyAndNoneThatWasSynced() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, durability: .batched(.seconds(600)))
        let container = try openLog(configuration)
        let context = ModelContext(container)
        let store = try #require(container.store(AppendLogStore.self))
        var synced: [(operation: Int, saves: Int)] = []
        for number in 1...9 {
            context.insert(Box("box \(number)"))
            context.insert(Item("item \(number)"))
            try context.save()
            if number % 4 == 0 {
                try store.opened.sink?.writer.syncAll()
                synced.append((disk.operationCount, number))
            }
        }
        #expect(synced.count == 2)
        var (images, lost) = (0, 0)
        try disk.forEachCrash { image in
            images += 1
            guard image.fileSystem.contents(at: logPath) != nil else { return }
            let found = try withLog(logConfiguration(image.fileSystem)) { context in
                (
                    try context.fetch(FetchDescriptor<Box>()).map(\.label),
                    try context.fetch(FetchDescriptor<Item>()).map(\.name)
                )
            }
            let count = found.0.count
            #expect(found.0 == (1...9).prefix(count).map { "box \($0)" }, "\(image.operation), \(image.loss)")
            #expect(found.1 == (1...9).prefix(count).map { "item \($0)" }, "\(image.operation), \(image.loss)")
            let promised = synced.last { $0.operation <= image.operation }?.saves ?? 0
            #expect(count >= promised, "\(image.operation), \(image.loss)")
            if image.operation == disk.operationCount, count < 9 { lost += 1 }
        }
        #expect(images > 50)
        // Otherwise nothing was batched.
        #expect(lost > 0)
        try container.close()
    }

    @Test func aSharedLogIsSyncedBeforeOthersBuildOnIt() throws {
        let disk = try makeDisk()
        var configuration = AppendLogConfiguration(
            path: logPath, sharing: .shared, durability: .batched(.seconds(600)), in: disk)
        configuration.allocationStep = 4_096
        try withLog(configuration) { context in
            context.insert(Box("one"))
            try context.save()
            let after = disk.crashed(after: .max, losing: .unsynced)
            #expect(try contents(logConfiguration(after)).count == 1)
        }
    }
}
