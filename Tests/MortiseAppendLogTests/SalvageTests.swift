import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing
import MortiseTestSupport

struct SalvageTests {
    /// Where the frames of a log begin.
    private func frames(_ log: [UInt8]) -> [Int] {
        stride(from: 64, to: log.count - 48, by: 8).filter { log[$0..<($0 + 4)] == [0x4D, 0x46, 0x52, 0x1A] }
    }

    @Test func verificationListsEveryDamagedFrame() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        var log = try #require(disk.contents(at: logPath))
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        let places = frames(log)
        log[places[2] + 60] ^= 1
        log[places[4] + 60] ^= 1
        let other = try makeDisk(with: log)
        let result = try AppendLogStore.verify(logPath, in: other)
        let offsets = result.problems.compactMap { problem in
            if case .damagedFrame(let offset, _, _) = problem.fault { Int(offset) } else { nil }
        }
        #expect(offsets == [places[2], places[4]])
        #expect(result.transactions == 2)
    }

    @Test func salvageWritesWhatCanBeReadAndListsWhatCannot() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        var log = try #require(disk.contents(at: logPath))
        log[frames(log)[2] + 60] ^= 1
        let other = try makeDisk(with: log)
        #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
        let result = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: other)
        #expect(result.lost.count == 1)
        #expect(other.contents(at: logPath) == log)
        let found = try contents(logConfiguration(other, path: "/data/new.log"))
        #expect(found.count == result.records)
        // Only the renaming of the second transaction is lost.
        #expect(found.count == states.last?.count)
        #expect(found.contains { $0.contains("item 0") })
    }

    /// It may be damage that looks like it.
    @Test func salvageTellsOfATornEnd() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        let other = try makeDisk(with: Array(log.dropLast(20)))
        let result = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: other)
        #expect(result.lost == [] && result.tornBytes == log.count - 20 - frames(log)[4])
        #expect(try contents(logConfiguration(other, path: "/data/new.log")) == states[3])
    }

    /// Two copies of one store went on apart, and the log of one came beside the checkpoint of the other.
    @Test(arguments: [true, false])
    func verificationComparesTheRecordsOfLogAndCheckpoint(knowsItsLog: Bool) throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            context.insert(Box("both"))
            try context.save()
        }
        let log = try #require(disk.contents(at: logPath))
        let disks = try ["one", "two"].map { label in
            let copy = try makeDisk(with: log)
            let container = try openLog(logConfiguration(copy))
            let context = ModelContext(container)
            context.insert(Box(label))
            try context.save()
            try container.store(AppendLogStore.self)?.checkpoint()
            try container.close()
            #expect(try AppendLogStore.verify(logPath, in: copy).isSound)
            return copy
        }
        let checkpoint = try #require(disks[1].contents(at: logPath + ".checkpoint"))
        let mixed = try makeDisk(
            with: try #require(disks[0].contents(at: logPath)),
            checkpoint: knowsItsLog ? checkpoint : try checkpoint.withoutTail())
        let found = try AppendLogStore.verify(logPath, in: mixed)
        #expect(found.problems.map(\.path) == [logPath + ".checkpoint"], "\(found.problems)")
        #expect(
            found.problems.allSatisfy {
                knowsItsLog ? $0.fault == .checkpointOfAnother : "\($0)".contains("different records")
            })
        // A salvage says the same.
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: mixed)
        #expect(salvaged.lost == found.problems)
        #expect(try AppendLogStore.verify("/data/new.log", in: mixed).problems == [])
    }

    @Test func lostInsertionsLeaveNoReferencesBehind() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        var log = try #require(disk.contents(at: logPath))
        log[frames(log)[4] + 60] ^= 1
        let other = try makeDisk(with: log + [UInt8](repeating: 0, count: 100))
        _ = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: other)
        #expect(try contents(logConfiguration(other, path: "/data/new.log")).filter { $0.contains("blue") }.isEmpty)
        #expect(throws: FileError.self) { try AppendLogStore.salvage(logPath, to: "/data/new.log", in: other) }
    }
}
