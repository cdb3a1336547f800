import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

struct AppendLogStoreTests {
    @Test func whatWasSavedIsThereAfterReopening() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        #expect(try contents(logConfiguration(disk)) == states.last)
        #expect(try contents(logConfiguration(disk, allowsSave: false)) == states.last)
    }

    @Test func erasureStaysAndNumbersAreNotUsedAgain() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let container = try openLog(logConfiguration(disk))
        try container.erase()
        try container.close()
        try withLog(logConfiguration(disk)) { context in
            #expect(try contents(context).isEmpty)
            let box = Box("new")
            context.insert(box)
            try context.save()
            #expect(box.persistentModelID.sequenceNumber ?? 0 > 5)
        }
    }

    @Test func aSecondProcessIsRefusedWithTheHoldersNumberAndMayRead() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        defer { try? store.close() }
        let other = disk.process(77)
        #expect {
            try openStore(logConfiguration(other))
        } throws: {
            ($0 as? FileError)?.reason == .locked(holder: disk.processID)
        }
        #expect(try contents(logConfiguration(other, allowsSave: false)) == states.last)
    }

    @Test func oneFileHasOneStoreInAProcess() throws {
        let disk = try makeDisk()
        let first = try openStore(logConfiguration(disk))
        let second = try openStore(logConfiguration(disk))
        #expect(first.engine === second.engine)
        #expect(throws: EngineError.openWithOtherOptions(path: logPath)) {
            try openStore(logConfiguration(disk, durability: .none))
        }
        try first.close()
        #expect(throws: EngineError.openWithOtherOptions(path: logPath)) {
            try openStore(logConfiguration(disk, durability: .none))
        }
        try second.close()
        try openStore(logConfiguration(disk, durability: .none)).close()
    }

    /// As from another process.
    @Test func aProcessReadsBesideItsOwnWriter() throws {
        let disk = try makeDisk()
        func add(_ label: String, to container: ModelContainer) throws {
            let context = ModelContext(container)
            context.insert(Box(label))
            try context.save()
        }
        let writer = try openLog(logConfiguration(disk))
        try add("first", to: writer)
        let reader = try openLog(logConfiguration(disk, allowsSave: false))
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Box>()) == 1)
        try add("second", to: writer)
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Box>()) == 2)
        try writer.close()
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Box>()) == 2)
        let again = try openLog(logConfiguration(disk))
        try add("third", to: again)
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Box>()) == 3)
        try reader.close()
        try add("fourth", to: again)
        try again.close()
        #expect(try contents(logConfiguration(disk)).count == 4)
    }

    /// Closing cuts off the zeros that were allocated ahead.
    @Test func aWriterMayCloseWhileAReaderOpens() throws {
        // Before each read of an opening in turn.
        for number in 1...12 {
            let disk = try makeDisk()
            let writer = try openLog(logConfiguration(disk))
            let context = ModelContext(writer)
            for number in 0..<20 {
                context.insert(Box("\(number)"))
                try context.save()
            }
            disk.interject(at: number, of: .read) { try? writer.close() }
            #expect(try contents(logConfiguration(disk.process(2), allowsSave: false)).count == 20, "\(number)")
            disk.removeFaults()
            try? writer.close()
        }
    }

    @Test func aSchemaThatNoReaderWouldTakeIsRefusedBeforeAnythingIsSaved() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = disk.contents(at: logPath)
        let store = try openStore(logConfiguration(disk))
        let present = store.engine.version.catalog.schema
        try store.close()
        let properties = (0..<64).map {
            StoredProperty(name: "p\($0)", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
        }
        let wide = (0..<256).map { StoredEntity(name: "Z\($0)", properties: properties) }
        let many = (0..<4_096).map { StoredEntity(name: "Z\($0)", properties: []) }
        for entities in [wide, many] {
            let schema = StoredSchema(version: present.version, entities: present.entities + entities)
            for path in [logPath, "/data/new.log"] {
                let opening = LogOpening(logConfiguration(disk, path: path), path: path, schema: schema)
                #expect {
                    try opening.open()
                } throws: {
                    if case .schemaTooLarge = ($0 as? AppendLogError)?.fault { true } else { false }
                }
            }
            let fitting = StoredSchema(version: present.version, entities: entities)
            var bytes = try LogCatalog(fitting, store: UUID().uuidString).schemaPayload()
            let read = try bytes.withUnsafeMutableBytes { raw in
                var reader = ByteReader(UnsafeRawBufferPointer(raw))
                return try reader.schema()
            }
            #expect(read.entities.count == entities.count)
        }
        #expect(disk.contents(at: logPath) == log && disk.contents(at: "/data/new.log") == nil)
        #expect(try contents(logConfiguration(disk)) == states.last)
    }

    @Test(arguments: [FileError.Operation.write, .sync])
    func aFailedWriteOrSyncLatchesUntilReopened(operation: FileError.Operation) throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Box("one"))
        try context.save()
        context.insert(Box("two"))
        disk.inject(.fail(.io), of: operation)
        #expect(throws: FileError.self) { try context.save() }
        #expect {
            try context.save()
        } throws: {
            if case .latched = $0 as? EngineError { true } else { false }
        }
        #expect(context.hasChanges)
        try container.close()
        try withLog(logConfiguration(disk)) { context in
            context.insert(Box("three"))
            try context.save()
            let labels = try context.fetch(FetchDescriptor<Box>()).map(\.label)
            #expect(labels == ["one", "three"] || labels == ["one", "two", "three"])
        }
    }

    @Test func whatAFailedSyncLostIsNotBelievedAfterReopening() throws {
        for seed in 0..<40 as Range<UInt64> {
            let disk = try makeDisk(seed: seed)
            try withLog(logConfiguration(disk)) { context in
                context.insert(Item(String(repeating: "a", count: 2_000)))
                disk.inject(.fail(.io), of: .sync)
                #expect(throws: FileError.self) { try context.save() }
            }
            try withLog(logConfiguration(disk)) { context in
                context.insert(Box("acknowledged"))
                try context.save()
            }
            let after = disk.crashed(after: .max, losing: .unsynced)
            #expect(try contents(logConfiguration(after)).contains { $0.contains("acknowledged") })
        }
    }

    @Test func aFullDiskLosesNothingAndTheStoreGoesOnAfterwards() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        disk.limits.capacity = (disk.contents(at: logPath)?.count ?? 0) + 200
        context.insert(Item(String(repeating: "b", count: 10_000)))
        #expect { try context.save() } throws: { ($0 as? FileError)?.reason == .noSpace }
        try container.close()
        disk.limits.capacity = nil
        #expect(try contents(logConfiguration(disk)) == states.last)
    }

    @Test func shortWritesAndInterruptionsChangeNothing() throws {
        let disk = try makeDisk()
        disk.inject(.shorten(to: 700), of: .write, times: 100)
        disk.inject(.fail(.interrupted), at: 3, of: .write)
        let states = try makeSmallLog(on: disk)
        disk.removeFaults()
        // Some writes fell short, and one was interrupted.
        #expect(disk.faultsFired > 2)
        #expect(try contents(logConfiguration(disk)) == states.last)
    }

    @Test func aReplacedDeletedOrTruncatedFileIsNoticedBeforeTheNextCommit() throws {
        for change in 0..<3 {
            let disk = try makeDisk()
            let container = try openLog(logConfiguration(disk))
            let context = ModelContext(container)
            context.insert(Box("one"))
            try context.save()
            switch change {
            case 0: try disk.unlink(logPath)
            case 1:
                try disk.install([1, 2, 3], at: "/data/other")
                try disk.rename("/data/other", to: logPath)
            default:
                let file = try disk.open(logPath, mode: .readWrite)
                try file.truncate(to: 100)
            }
            let before = disk.contents(at: logPath)
            context.insert(Box("two"))
            #expect {
                try context.save()
            } throws: {
                if case .changed = ($0 as? FileError)?.reason { true } else { false }
            }
            #expect(disk.contents(at: logPath) == before)
        }
    }

    @Test func batchedSavesAreOnTheDiskAfterClosing() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk, durability: .batched(.seconds(60)))) { context in
            context.insert(Box("one"))
            try context.save()
            #expect(
                try contents(logConfiguration(disk.crashed(after: .max, losing: .unsynced), durability: .full)).isEmpty)
        }
        let after = disk.crashed(after: .max, losing: .unsynced)
        #expect(try contents(logConfiguration(after)).count == 1)
    }

    @Test func aChangedSchemaIsWrittenWithTheNextCommitAndFollowedFromThereOn() throws {
        let disk = try makeDisk()
        func with(_ type: any PersistentModel.Type, _ body: (ModelContext) throws -> Void) throws {
            let container = try ModelContainer(for: Schema([type]), configurations: [logConfiguration(disk)])
            try body(ModelContext(container))
            try container.close()
        }
        try with(Earlier.Note.self) { context in
            context.insert(Earlier.Note("old"))
            try context.save()
        }
        let before = disk.contents(at: logPath)?.count
        for _ in 0..<2 {
            try with(Later.Note.self) { context in
                let notes = try context.fetch(FetchDescriptor<Later.Note>())
                #expect(notes.map(\.rank) == [5])
            }
            #expect(disk.contents(at: logPath)?.count == before)
        }
        try with(Later.Note.self) { context in
            context.insert(Later.Note("new", rank: 7))
            try context.save()
        }
        try with(Later.Note.self) { context in
            let notes = try context.fetch(FetchDescriptor<Later.Note>())
            #expect(notes.map(\.rank) == [5, 7])
        }
        // Back again: the property is dropped, its values with it.
        try with(Earlier.Note.self) { context in
            let notes = try context.fetch(FetchDescriptor<Earlier.Note>())
            #expect(notes.map(\.text) == ["old", "new"])
        }
    }

    @Test func removedLogWithACheckpointLeftIsNoEmptyStore() throws {
        let disk = try makeDisk()
        try disk.install([1], at: logPath + ".checkpoint")
        #expect(throws: AppendLogError(path: logPath, fault: .logMissing)) { try openStore(logConfiguration(disk)) }
    }
}
