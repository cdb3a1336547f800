import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Salvage of logs whose records are in a checkpoint alone.
struct CompactedSalvageTests {
    private let checkpointPath = logPath + ".checkpoint"
    private let newPath = "/data/new.log"

    private static func name(_ number: Int) -> String { "an item with a longer name \(number)" }

    private func insert(_ numbers: Range<Int>, on disk: SimulatedFileSystem) throws {
        try withLog(logConfiguration(disk)) { context in
            var box: Box?
            for number in numbers {
                if number % 100 == 0 || box == nil {
                    let made = Box("box \(number)")
                    context.insert(made)
                    box = made
                }
                context.insert(Item(Self.name(number), count: number, tags: ["t"], box: box))
            }
            try context.save()
        }
    }

    private func compact(_ disk: SimulatedFileSystem, _ history: AppendLogHistory = .keep(days: 0)) throws {
        let store = try openStore(logConfiguration(disk, history: history))
        #expect(try store.compact() > 0)
        try store.close()
    }

    private func footer(_ checkpoint: [UInt8]) throws -> CheckpointFooter {
        try CheckpointFooter(
            Array(checkpoint.suffix(64)), at: UInt64(checkpoint.count - 64),
            seed: try FileHeader(Array(checkpoint.prefix(64)), expecting: .checkpoint).seed)
    }

    /// The disk with one byte of the checkpoint changed.
    private func damaged(_ disk: SimulatedFileSystem, at place: Int) throws -> SimulatedFileSystem {
        var bytes = try #require(disk.contents(at: checkpointPath))
        bytes[place] ^= 0x20
        return try makeDisk(with: try #require(disk.contents(at: logPath)), checkpoint: bytes)
    }

    private func place(of text: String, on disk: SimulatedFileSystem) throws -> Int {
        let bytes = try #require(disk.contents(at: checkpointPath))
        let marker = Array(text.utf8)
        return try #require(bytes.indices.first { bytes[$0...].starts(with: marker) })
    }

    /// The numbers of the items, ascending.
    /// - Parameter mayLackNames: whether the strings that records share are among what cannot be read.
    private func items(
        _ disk: SimulatedFileSystem, _ path: String, mayLackNames: Bool = false
    ) throws -> [Int] {
        let store = try openStore(logConfiguration(disk, path: path))
        #expect(store.engine.version.inconsistencies() == [])
        try store.close()
        return try withLog(logConfiguration(disk, path: path)) { context in
            try context.fetch(FetchDescriptor<Item>()).compactMap { item in
                let isRight = item.name == Self.name(item.count ?? -1) || item.name == "behind"
                #expect(isRight || (mayLackNames && item.name.isEmpty))
                return item.count
            }.sorted()
        }
    }

    @Test func oneDamagedChunkCostsItsOwnRecordsOnly() throws {
        let disk = try makeDisk()
        try insert(0..<1_000, on: disk)
        try compact(disk)
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("behind", count: 5_000))
            let doomed = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.count == 10 }))
            for item in doomed { context.delete(item) }
            // Changes a record that is lost, too.
            let lost = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.count == 990 }))
            for item in lost { item.name = "behind" }
            try context.save()
        }
        let place = try place(of: Self.name(901), on: disk)
        let other = try damaged(disk, at: place)
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.lost.contains { $0.path == checkpointPath })
        let found = try items(other, newPath)
        // The last chunk has the rows from 768 on.
        #expect(found == (0..<768).filter { $0 != 10 } + [5_000])
        let boxes = try withLog(logConfiguration(other, path: newPath)) { try $0.fetchCount(FetchDescriptor<Box>()) }
        #expect(boxes == 10)
        #expect(result.records == found.count + boxes)
        #expect(try !AppendLogStore.verify(logPath, in: other).isSound)
    }

    @Test func whatTheHistoryHasOfADamagedChunkIsTakenFromThere() throws {
        let disk = try makeDisk()
        try insert(0..<300, on: disk)
        try insert(300..<400, on: disk)
        let token = try withLog(logConfiguration(disk)) {
            try $0.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())[0].token
        }
        try compact(disk, .keepSince(token))
        let other = try damaged(disk, at: try place(of: Self.name(350), on: disk))
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(!result.lost.isEmpty)
        #expect(try items(other, newPath) == Array(0..<256) + Array(300..<400))
    }

    @Test func whateverByteIsDamagedMostIsThere() throws {
        let disk = try makeDisk()
        try insert(0..<600, on: disk)
        try compact(disk)
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("behind", count: 5_000))
            try context.save()
        }
        let footer = try footer(try #require(disk.contents(at: checkpointPath)))
        for place in stride(from: FileHeader.size + 5, to: Int(footer.offset), by: Int(footer.offset) / 40) {
            let other = try damaged(disk, at: place)
            let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
            let found = try items(other, newPath, mayLackNames: !result.lost.isEmpty)
            #expect(found.count >= 601 - 256 && found.last == 5_000, "byte \(place): \(found.count)")
            let all = try withLog(logConfiguration(other, path: newPath)) {
                try $0.fetchCount(FetchDescriptor<Box>()) + $0.fetchCount(FetchDescriptor<Item>())
            }
            #expect(result.records == all)
            #expect(!result.lost.isEmpty || found.count == 601, "byte \(place)")
        }
    }

    @Test func withoutDirectoryTheTransactionsBehindItAreThere() throws {
        let disk = try makeDisk()
        try insert(0..<300, on: disk)
        try compact(disk)
        let compacted = try makeDisk(
            with: try #require(disk.contents(at: logPath)), checkpoint: disk.contents(at: checkpointPath))
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("behind", count: 5_000))
            try context.save()
        }
        for offset in [Int(try footer(try #require(disk.contents(at: checkpointPath))).offset) + 3, -20] {
            func place(_ disk: SimulatedFileSystem) throws -> Int {
                offset < 0 ? try #require(disk.contents(at: checkpointPath)).count + offset : offset
            }
            let other = try damaged(disk, at: try place(disk))
            let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
            #expect(result.records == 1 && !result.lost.isEmpty)
            #expect(try items(other, newPath) == [5_000])
            // With nothing at all to be read there is no new store.
            let nothing = try damaged(compacted, at: try place(compacted))
            #expect(throws: AppendLogError.self) {
                try AppendLogStore.salvage(logPath, to: newPath, in: nothing)
            }
            #expect(nothing.contents(at: newPath) == nil)
        }
    }

    @Test func aCheckpointThatNamesAnotherLogOfTheStoreIsFollowedByItsTransaction() throws {
        let disk = try makeDisk()
        try insert(0..<50, on: disk)
        try insert(50..<100, on: disk)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let checkpoint = try #require(disk.contents(at: checkpointPath))
        try compact(disk)
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item("behind", count: 5_000))
            try context.save()
        }
        let other = try makeDisk(with: try #require(disk.contents(at: logPath)), checkpoint: checkpoint)
        #expect(throws: AppendLogError.self) { try contents(logConfiguration(other)) }
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.lost.map(\.fault) == [.checkpointOfAnother])
        #expect(try items(other, newPath) == Array(0..<100) + [5_000])
    }

    /// Two boxes of one label, because the change of the first one's was lost; the second goes, and what refers to it
    /// must not go on doing so.
    @Test func whatRefersToARecordThatIsTakenOutForUniquenessIsCleared() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            let first = Box("a")
            context.insert(first)
            try context.save()
            first.label = "b"
            try context.save()
            let second = Box("a")
            context.insert(second)
            context.insert(Item("of the second", box: second))
            try context.save()
        }
        var log = try #require(disk.contents(at: logPath))
        let frames = stride(from: 64, to: log.count - 48, by: 8)
            .filter { log[$0..<($0 + 4)] == [0x4D, 0x46, 0x52, 0x1A] }
        log[frames[2] + 60] ^= 1
        let other = try makeDisk(with: log)
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.leftOut.count == 1)
        #expect(result.clearedReferences == 1)
        let store = try openStore(logConfiguration(other, path: newPath))
        #expect(store.engine.version.inconsistencies() == [])
        try store.close()
        let (unboxed, labels) = try withLog(logConfiguration(other, path: newPath)) { context in
            let unboxed = try context.fetch(FetchDescriptor<Item>()).map { $0.box == nil }
            return (unboxed, try context.fetch(FetchDescriptor<Box>()).map(\.label))
        }
        #expect(unboxed == [true] && labels == ["a"])
    }
}
