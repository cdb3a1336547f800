import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Compactions beside saves, of this process and of others.
struct CompactionTests {
    /// The new log is short, whatever the old one was: a save in between must not be measured with the old one's length.
    @Test func aSaveDuringACompactionAsksForNoCheckpoint() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let container = try openLog(configuration)
        let context = ModelContext(container)
        let store = try #require(container.store(AppendLogStore.self))
        let item = Item(String(repeating: "a", count: 3 << 20))
        context.insert(item)
        try context.save()
        item.name = String(repeating: "b", count: 3 << 19)
        try context.save()
        func checkpoints() -> Int {
            disk.trace.count { $0.operation == .rename && $0.path.contains(".checkpoint.") }
        }
        // Those that were due before are done.
        item.name = "short"
        try context.save()
        let work = try #require(store.opened.sink?.checkpoints)
        waitUntilIdle(work)
        try store.checkpoint()
        let before = checkpoints()
        var hasSaved = false
        let dropped = try store.compact { progress in
            guard progress.completed == progress.total, !hasSaved else { return }
            hasSaved = true
            context.insert(Box("meanwhile"))
            try context.save()
        }
        #expect(dropped == 3 && hasSaved)
        waitUntilIdle(work)
        #expect(checkpoints() == before + 1)
        try container.close()
    }

    /// Who compacts has not saved since another made the file longer.
    @Test func aSharedLogThatAnotherMadeLongerIsCompacted() throws {
        let disk = try makeDisk()
        func configuration(_ process: Int32) -> AppendLogConfiguration {
            var configuration = AppendLogConfiguration(
                path: logPath, sharing: .shared, history: .keep(days: 0), in: disk.process(process))
            configuration.allocationStep = 4_096
            return configuration
        }
        let one = try openLog(configuration(100))
        let other = ModelContext(try openLog(configuration(101)))
        for number in 0..<3 {
            other.insert(Item(String(repeating: "long ", count: 2_000), count: number))
            try other.save()
        }
        try other.container.close()
        let store = try #require(one.store(AppendLogStore.self))
        #expect(try store.compact() == 3)
        let context = ModelContext(one)
        context.insert(Box("afterwards"))
        try context.save()
        try one.close()
        #expect(try contents(logConfiguration(disk)).count == 4)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }
}
