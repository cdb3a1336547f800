import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Copies of a log that have gone their own ways. Their frames may end at the same places, and a checkpoint of one was then
/// taken for the other's: the store showed records of both, and lacked records of both.
struct OtherCopyTests {
    private let checkpointPath = logPath + ".checkpoint"

    private func add(
        _ branch: String, _ numbers: Range<Int>, _ configuration: AppendLogConfiguration,
        _ finish: (AppendLogStore) throws -> Void = { _ in }
    ) throws {
        let container = try openLog(configuration)
        let context = ModelContext(container)
        for number in numbers {
            context.insert(Box(branch + String(format: " %06d", number)))
            try context.save()
        }
        try finish(try #require(container.store(AppendLogStore.self)))
        try container.close()
    }

    /// Two disks with copies that have the same beginning, and as many saves of the same size since; the first has a checkpoint.
    private func makeCopies(
        _ history: AppendLogHistory, ownPart: Int = 20
    ) throws -> (first: SimulatedFileSystem, second: SimulatedFileSystem) {
        let first = try makeDisk()
        try add("trunk", 0..<20, logConfiguration(first, history: history)) {
            if history != .keepAll { _ = try $0.compact() }
        }
        let second = try makeDisk(
            with: try #require(first.contents(at: logPath)), checkpoint: first.contents(at: checkpointPath))
        try add("left ", 0..<ownPart, logConfiguration(first, history: history)) { try $0.checkpoint() }
        try add("right", 0..<(ownPart + 10), logConfiguration(second, history: history))
        return (first, second)
    }

    private func isOfAnother(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? AppendLogError)?.fault == .checkpointOfAnother
        }
    }

    @Test(arguments: [AppendLogHistory.keepAll, .keep(days: 0)], [1, 20, 700])
    func aCheckpointOfAnotherCopyIsRefused(history: AppendLogHistory, ownPart: Int) throws {
        let (first, second) = try makeCopies(history, ownPart: ownPart)
        let expected = try contents(logConfiguration(second))
        let mixed = try makeDisk(
            with: try #require(second.contents(at: logPath)), checkpoint: first.contents(at: checkpointPath))
        for allowsSave in [true, false] {
            #expect(isOfAnother { try openStore(logConfiguration(mixed, allowsSave: allowsSave)).close() })
        }
        #expect(isOfAnother { _ = try logConfiguration(mixed).storedSchema() })
        #expect(isOfAnother { _ = try logConfiguration(mixed).backUpStore(to: "/data/copy.log") })
        let problems = try AppendLogStore.verify(logPath, in: mixed).problems
        #expect(problems.contains { $0.fault == .checkpointOfAnother }, "\(problems)")
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: mixed)
        #expect(salvaged.lost.contains { $0.fault == .checkpointOfAnother })
        #expect(mixed.contents(at: checkpointPath) == first.contents(at: checkpointPath))
        guard history == .keepAll else { return }
        // The log has everything.
        #expect(try contents(logConfiguration(mixed, path: "/data/new.log")) == expected)
        try mixed.unlink(checkpointPath)
        #expect(try contents(logConfiguration(mixed)) == expected)
    }

    /// Its own checkpoint goes with each copy, and one that was made before they parted with both.
    @Test(arguments: [AppendLogHistory.keepAll, .keep(days: 0)])
    func aCheckpointFromBeforeTheyPartedFitsBoth(history: AppendLogHistory) throws {
        let first = try makeDisk()
        try add("trunk", 0..<20, logConfiguration(first, history: history)) {
            if history == .keepAll { try $0.checkpoint() } else { _ = try $0.compact() }
        }
        let common = try #require(first.contents(at: checkpointPath))
        let second = try makeDisk(with: try #require(first.contents(at: logPath)), checkpoint: common)
        try add("left ", 0..<20, logConfiguration(first, history: history)) { try $0.checkpoint() }
        try add("right", 0..<20, logConfiguration(second, history: history))
        let expected = try [first, second].map { try contents(logConfiguration($0)) }
        for (disk, expected) in zip([first, second], expected) {
            for checkpoint in [disk.contents(at: checkpointPath), common] {
                let mixed = try makeDisk(with: try #require(disk.contents(at: logPath)), checkpoint: checkpoint)
                #expect(try contents(logConfiguration(mixed)) == expected)
                #expect(try AppendLogStore.verify(logPath, in: mixed).problems == [])
            }
        }
    }

    /// A checkpoint makes up for frames before it that are damaged, also where it is these that it knows its log by.
    @Test func damageBeforeTheCheckpointMakesNoOtherLog() throws {
        let disk = try makeDisk()
        try add("trunk", 0..<20, logConfiguration(disk)) { try $0.checkpoint() }
        try add("later", 0..<5, logConfiguration(disk))
        let expected = try contents(logConfiguration(disk))
        var log = try #require(disk.contents(at: logPath))
        log[1_000] ^= 1
        let damaged = try makeDisk(with: log, checkpoint: disk.contents(at: checkpointPath))
        #expect(try contents(logConfiguration(damaged)) == expected)
        #expect(try !AppendLogStore.verify(logPath, in: damaged).isSound)
    }

    /// Files of programs that did not write what a checkpoint knows its log by.
    @Test func aCheckpointThatDoesNotSayIsRead() throws {
        let disk = try makeDisk()
        try add("trunk", 0..<20, logConfiguration(disk)) { try $0.checkpoint() }
        let expected = try contents(logConfiguration(disk))
        var checkpoint = try #require(disk.contents(at: checkpointPath))
        #expect(try checkpoint.withoutTail() != checkpoint)
        checkpoint = try checkpoint.withoutTail()
        let old = try makeDisk(with: try #require(disk.contents(at: logPath)), checkpoint: checkpoint)
        let store = try openStore(logConfiguration(old, allowsSave: false))
        #expect(store.recovery == nil)
        try store.close()
        #expect(try contents(logConfiguration(old)) == expected)
    }
}

extension [UInt8] {
    /// A checkpoint as programs wrote it that did not say what is before its place in the log.
    func withoutTail() throws -> [UInt8] {
        let seed = try FileHeader(Array(prefix(FileHeader.size)), expecting: .checkpoint).seed
        let end = count - CheckpointFooter.size
        var footer = try CheckpointFooter(Array(self[end...]), at: UInt64(end), seed: seed)
        footer.tail = nil
        return self[..<end] + footer.bytes(seed: seed)
    }
}
