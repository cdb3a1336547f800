import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

/// What a container says of stores whose disk hangs or fails.
@Suite struct StoreHealthTests {
    private func save(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        // Labels are unique.
        for _ in 0..<10 { context.insert(Box(UUID().uuidString)) }
        try context.save()
    }

    /// Defect: health of a log waited for a write, and for the sync that ends a compaction.
    @Test(arguments: ["log", "json"], [FileError.Operation.write, .sync, .rename, .syncDirectory])
    func healthDoesNotWaitForASaveThatHangs(_ kind: String, _ operation: FileError.Operation) throws {
        let disk = SimulatedFileSystem(seed: 3)
        let configuration: any DataStoreConfiguration =
            kind == "log"
            ? AppendLogConfiguration(path: "/s.log", history: .keep(days: 0), compaction: .onCall, in: disk)
            : JSONFileConfiguration(path: "/s.json", in: disk)
        let container = try ModelContainer(for: Schema([Box.self]), configurations: [configuration])
        try save(container)
        let (hangs, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        disk.interject(of: operation) {
            hangs.signal()
            goesOn.wait()
        }
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? save(container)
            _ = try? container.compact()
            ended.signal()
        }
        // A save to a log renames nothing, but its compaction does.
        hangs.wait()
        let asked = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(container.health().map(\.status) == [.healthy])
            asked.signal()
        }
        #expect(asked.wait(timeout: .now() + 60) == .success)
        goesOn.signal()
        ended.wait()
        #expect(container.health().map(\.status) == [.healthy])
        try container.close()
    }

    @Test(arguments: ["log", "json"]) func aStoreThatTakesNoMoreSavesIsFailing(_ kind: String) throws {
        let disk = SimulatedFileSystem(seed: 3)
        let configuration: any DataStoreConfiguration =
            kind == "log"
            ? AppendLogConfiguration(path: "/s.log", in: disk) : JSONFileConfiguration(path: "/s.json", in: disk)
        let container = try ModelContainer(for: Schema([Box.self]), configurations: [configuration])
        try save(container)
        disk.inject(.fail(.io), of: .sync)
        #expect(throws: FileError.self) { try save(container) }
        let health = try #require(container.health().first)
        #expect(health.status == .failing && health.fault?.contains("sync") == true, "\(health)")
        try? container.close()
    }
}
