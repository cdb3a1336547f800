import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// The device begins with what was appended before anybody waits for it.
struct StartWritingTests {
    private func operations(of disk: SimulatedFileSystem, _ body: () throws -> Void) rethrows -> [FileError.Operation] {
        let before = disk.trace.count
        try body()
        let kinds: Set<FileError.Operation> = [.write, .startWriting, .sync]
        return disk.trace[before...].filter { $0.path == logPath && kinds.contains($0.operation) }.map(\.operation)
    }

    @Test func aSaverWhoIsAloneHasTheDeviceBeginAndThenWaits() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("first"))
            try context.save()
            for name in ["second", "third"] {
                context.insert(Item(name))
                let operations = try operations(of: disk) { try context.save() }
                #expect(operations == [.write, .startWriting, .sync])
            }
        }
    }

    @Test(arguments: [AppendLogDurability.none, .batched(.seconds(3_600))])
    func whoDoesNotWaitLeavesTheDeviceAlone(durability: AppendLogDurability) throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk, durability: durability)) { context in
            context.insert(Item("first"))
            let operations = try operations(of: disk) { try context.save() }
            #expect(operations.contains(.write) && !operations.contains(.startWriting))
        }
    }

    /// What the system says then, it does not say again when it is asked to sync. What was written may be on the disk, whole, or not.
    @Test func aDeviceThatCannotBeginFailsTheSaveAndLatchesTheLog() throws {
        var found: Set<[String]> = []
        for seed in UInt64(1)...20 {
            let disk = try makeDisk(seed: seed)
            let container = try openLog(logConfiguration(disk))
            let context = ModelContext(container)
            context.insert(Item("before"))
            try context.save()
            context.insert(Item("lost"))
            disk.inject(.fail(.io), of: .startWriting)
            let error = #expect(throws: FileError.self) { try context.save() }
            #expect(error?.operation == .startWriting && error?.outcomeIsUnknown == true)
            let next = #expect(throws: EngineError.self) { try context.save() }
            if case .latched = next {} else { Issue.record("\(String(describing: next))") }
            #expect(try ModelContext(container).fetch(FetchDescriptor<Item>()).map(\.name) == ["before"])
            try? container.close()
            let names = try withLog(logConfiguration(disk.crashed(after: .max, losing: .unsynced))) { context in
                try context.fetch(FetchDescriptor<Item>()).map(\.name)
            }
            found.insert(names)
        }
        #expect(found == [["before"], ["before", "lost"]])
    }

    /// A schema that the log does not have yet is written with the first save, and with no checkpoint before it.
    @Test func aFirstSaveUnderASchemaIsToldOfADeviceThatCannotBegin() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("before"))
            try context.save()
        }
        var configuration = logConfiguration(disk)
        let schema = Schema([Box.self, Item.self, Earlier.Note.self])
        configuration.schema = schema
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        disk.inject(.fail(.io), of: .startWriting)
        try store.checkpoint()
        let error = #expect(throws: FileError.self) {
            try store.insert("Note", .string("new"), as: schema.stored)
        }
        #expect(error?.operation == .startWriting)
        #expect(throws: EngineError.self) { try store.checkpoint() }
        try? store.close()
    }

    /// While one of several waits, what others append is not begun: they share the sync that follows.
    @Test func thoseWhoShareASyncDoNotHaveTheDeviceBegin() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        disk.slowSyncs(to: 0.002)
        let group = DispatchGroup()
        for writer in 0..<8 {
            group.enter()
            Thread.detachNewThread {
                let context = ModelContext(container)
                for number in 0..<10 {
                    context.insert(Item("\(writer) \(number)"))
                    do { try context.save() } catch { Issue.record(error) }
                }
                group.leave()
            }
        }
        group.wait()
        let begun = disk.trace.count { $0.operation == .startWriting }
        #expect(begun < 40, "80 saves began \(begun) times")
        try container.close()
        #expect(try contents(logConfiguration(disk)).count == 80)
    }
}
