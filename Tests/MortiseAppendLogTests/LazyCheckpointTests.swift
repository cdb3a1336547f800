import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Checkpoints that are read piece by piece.
struct LazyCheckpointTests {
    private let checkpointPath = logPath + ".checkpoint"

    /// A log with so many items in boxes of fifty, and a checkpoint of it.
    private func makeLog(
        _ count: Int, on disk: SimulatedFileSystem, history: AppendLogHistory = .keepAll
    ) throws {
        let configuration = logConfiguration(disk, history: history)
        try withLog(configuration) { context in
            var box = Box("box 0")
            for number in 0..<count {
                if number % 50 == 0 {
                    box = Box("box \(number / 50)")
                    context.insert(box)
                }
                context.insert(Item(Self.name(number), count: number, tags: ["t\(number % 3)"], box: box))
            }
            try context.save()
        }
        let store = try openStore(configuration)
        if case .keepAll = history { try store.checkpoint() } else { try store.compact() }
        try store.close()
    }

    private static func name(_ number: Int) -> String {
        number % 2 == 0 ? "item \(number)" : "an item with a longer name \(number)"
    }

    private func readCount(_ disk: SimulatedFileSystem, _ body: () throws -> Void) rethrows -> Int {
        let before = disk.trace.count
        try body()
        return disk.trace.dropFirst(before).count { $0.operation == .read && $0.path == checkpointPath }
    }

    @Test func openingAndOneLookUpReadAFewRegionsHoweverManyThereAre() throws {
        var counts: [Int] = []
        for size in [500, 8_000] {
            let disk = try makeDisk()
            try makeLog(size, on: disk)
            let wanted = "box \(size / 100)"
            let opening = try readCount(disk) {
                try withLog(logConfiguration(disk)) { context in
                    let found = try context.fetch(
                        FetchDescriptor<Box>(predicate: #Predicate { $0.label == wanted }))
                    #expect(found.map(\.label) == [wanted])
                    #expect(found.first?.items.count == 50)
                }
            }
            counts.append(opening)
        }
        #expect(counts[1] <= counts[0] + 4, "\(counts)")
    }

    @Test func whatIsSavedBehindACheckpointIsThereWithIndexesAndLinks() throws {
        let disk = try makeDisk()
        try makeLog(2_000, on: disk)
        var generator = TestGenerator(seed: testSeed())
        for round in 0..<4 {
            let expected = try withLog(logConfiguration(disk)) { context in
                let items = try context.fetch(FetchDescriptor<Item>())
                let boxes = try context.fetch(FetchDescriptor<Box>())
                for number in 0..<100 {
                    let item = items[Int(generator.next() % UInt64(items.count))]
                    switch generator.next() % 4 {
                    case 0: item.name = "renamed \(round) \(number)"
                    case 1: item.box = boxes[Int(generator.next() % UInt64(boxes.count))]
                    case 2: item.count = nil
                    default: context.insert(Item("new \(round) \(number)", box: boxes[number % boxes.count]))
                    }
                }
                for item in items.suffix(30 * round) { context.delete(item) }
                if let box = boxes.last { context.delete(box) }
                boxes[round].label = "label \(round)"
                try context.save()
                return try contents(context)
            }
            // From the checkpoint and the log behind it, from the log alone, and from a checkpoint of what the former made.
            #expect(try contents(logConfiguration(disk)) == expected)
            let log = try #require(disk.contents(at: logPath))
            let alone = try makeDisk(with: log)
            #expect(try contents(logConfiguration(alone)) == expected)
            let replayed = try openStore(logConfiguration(alone))
            #expect(replayed.engine.version.inconsistencies() == [])
            try replayed.close()
            let store = try openStore(logConfiguration(disk))
            #expect(store.engine.version.inconsistencies() == [])
            if round % 2 == 1 { try store.checkpoint() }
            try store.close()
            #expect(try contents(logConfiguration(disk)) == expected)
            #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
        }
    }

    @Test func deletedRowsAreLeftOutOnceTheyAreMany() throws {
        let disk = try makeDisk()
        try makeLog(3_000, on: disk)
        let expected = try withLog(logConfiguration(disk)) { context in
            for item in try context.fetch(FetchDescriptor<Item>()).prefix(2_500) { context.delete(item) }
            try context.save()
            return try contents(context)
        }
        let before = try #require(disk.contents(at: checkpointPath)).count
        let store = try openStore(logConfiguration(disk))
        #expect(store.engine.version.isSparse)
        try store.checkpoint()
        try store.close()
        #expect(try #require(disk.contents(at: checkpointPath)).count < before / 3)
        let again = try openStore(logConfiguration(disk))
        #expect(!again.engine.version.isSparse)
        #expect(again.engine.version.inconsistencies() == [])
        try again.close()
        #expect(try contents(logConfiguration(disk)) == expected)
    }

    @Test func everyFlippedBitIsAnErrorOfThatFileOrChangesNothing() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let store = try openStore(configuration)
        try store.compact()
        try store.close()
        let expected = try contents(configuration)
        let log = try #require(disk.contents(at: logPath))
        let checkpoint = try #require(disk.contents(at: checkpointPath))
        var errors = 0
        let step = isFullSize ? 1 : 37
        for bit in stride(from: 0, to: checkpoint.count * 8, by: step) {
            var flipped = checkpoint
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let other = try makeDisk(with: log, checkpoint: flipped)
            do {
                let found = try contents(logConfiguration(other))
                #expect(found == expected, "bit \(bit)")
            } catch let error as AppendLogError {
                #expect(error.path == checkpointPath)
                errors += 1
            }
            #expect(other.contents(at: checkpointPath) == flipped)
            #expect(
                try !AppendLogStore.verify(logPath, in: other).isSound || contents(logConfiguration(other)) == expected)
        }
        #expect(errors > checkpoint.count * 8 / step * 7 / 10)
    }

    /// A getter cannot throw, and a save must not write what a getter made up.
    @Test func damageThatIsMetLaterFailsTheNextFetchAndTheNextSave() throws {
        let disk = try makeDisk()
        try makeLog(2_000, on: disk, history: .keep(days: 0))
        var bytes = try #require(disk.contents(at: checkpointPath))
        // Somewhere in the last third of the items' chunks.
        let marker = Array("an item with a longer name 1901".utf8)
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: marker) }, "the name lies in a chunk's heap")
        bytes[place] ^= 0x20
        let log = try #require(disk.contents(at: logPath))
        let other = try makeDisk(with: log, checkpoint: bytes)
        let container = try openLog(logConfiguration(other))
        let context = ModelContext(container)
        // What does not touch it works.
        var boxes = try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == "box 3" }))
        #expect(boxes.first?.items.first?.name == Self.name(150))
        boxes = try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == "box 38" }))
        let box = try #require(boxes.first)
        _ = box.items.map(\.name)
        box.label = "changed"
        #expect {
            try context.save()
        } throws: {
            if case .damagedRegion = ($0 as? AppendLogError)?.fault { true } else { false }
        }
        #expect(throws: AppendLogError.self) { try context.fetch(FetchDescriptor<Box>()) }
        try container.close()
        #expect(other.contents(at: logPath) == log)
        #expect(other.contents(at: checkpointPath) == bytes)
    }

    @Test func anUnreadableMediumIsAnErrorOfTheFetchThatMeetsIt() throws {
        let disk = try makeDisk()
        try makeLog(2_000, on: disk, history: .keep(days: 0))
        let container = try openLog(logConfiguration(disk))
        disk.inject(.fail(.io), of: .read)
        #expect(throws: FileError.self) { try ModelContext(container).fetch(FetchDescriptor<Item>()) }
        disk.removeFaults()
        try container.close()
        #expect(try contents(logConfiguration(disk)).count == 2_040)
    }

    @Test func aDictionaryIsReadWhenItsStringsAre() throws {
        let disk = try makeDisk()
        try makeLog(2_000, on: disk, history: .keep(days: 0))
        var bytes = try #require(disk.contents(at: checkpointPath))
        // Two bytes of length and the first of the names.
        let marker: [UInt8] = [6, 0] + Array("item 0".utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: marker) })
        bytes[place + 7] ^= 1
        let log = try #require(disk.contents(at: logPath))
        let other = try makeDisk(with: log, checkpoint: bytes)
        try withLog(logConfiguration(other)) { context in
            let boxes = try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == "box 3" }))
            #expect(boxes.count == 1)
            #expect {
                try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.name == "item 0" }))
            } throws: {
                if case .damagedRegion = ($0 as? AppendLogError)?.fault { true } else { false }
            }
        }
        #expect(try !AppendLogStore.verify(logPath, in: other).isSound)
    }

    @Test func theSchemaIsKnownWithoutLookingThroughTheLog() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk)
        func save(_ model: any PersistentModel, _ schema: Schema) throws {
            let container = try ModelContainer(for: schema, configurations: [configuration])
            let context = ModelContext(container)
            context.insert(model)
            try context.save()
            try container.close()
        }
        let (earlier, later) = (Schema([Earlier.Note.self]), Schema([Later.Note.self]))
        try save(Earlier.Note("first"), earlier)
        try save(Earlier.Note("second"), earlier)
        #expect(try configuration.storedSchema() == earlier.stored)
        var opened = configuration
        opened.schema = earlier
        let store = try AppendLogStore(opened, migrationPlan: nil)
        try store.checkpoint()
        try store.close()
        // Before the checkpoint nothing is looked at.
        var log = try #require(disk.contents(at: logPath))
        let text = try #require(log.indices.first { log[$0...].starts(with: Array("first".utf8)) })
        log[text] ^= 1
        let checkpoint = disk.contents(at: checkpointPath)
        let damaged = try makeDisk(with: log, checkpoint: checkpoint)
        #expect(try logConfiguration(damaged).storedSchema() == earlier.stored)
        // Behind it a later schema counts.
        try save(Later.Note("third", rank: 3), later)
        #expect(try configuration.storedSchema() == later.stored)
        log = try #require(disk.contents(at: logPath))
        #expect(try logConfiguration(try makeDisk(with: log)).storedSchema() == later.stored)
    }
}
