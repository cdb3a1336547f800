import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

struct BackupTests {
    @Test(arguments: [false, true]) func aBackupHoldsEverythingThatWasSavedBefore(hasCheckpoint: Bool) throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let store = try openStore(configuration)
        if hasCheckpoint { try store.compact() }
        try store.backup(to: "/data/copy.log")
        #expect(throws: FileError.self) { try store.backup(to: "/data/copy.log") }
        try store.close()
        // A backup is worth something when the store is gone.
        try disk.unlink(logPath)
        #expect(try contents(logConfiguration(disk, path: "/data/copy.log")) == states.last)
        #expect(try AppendLogStore.verify("/data/copy.log", in: disk).isSound)
    }

    @Test func savesDuringABackupAreInItWholeOrNotAtAll() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        let before = try contents(context)
        var isSaved = false
        try store.backup(to: "/data/copy.log") { _ in
            if isSaved { return }
            isSaved = true
            context.insert(Box("meanwhile"))
            try context.save()
        }
        #expect(isSaved)
        let after = try contents(context)
        let copy = try contents(logConfiguration(disk, path: "/data/copy.log"))
        #expect(copy == before || copy == after)
        try container.close()
        try store.close()
        #expect(try contents(logConfiguration(disk)) == after)
        #expect(after.count == before.count + 1)
    }

    @Test func whoeverReportsCanStopABackupAndACompaction() throws {
        struct Enough: Error {}
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let store = try openStore(configuration)
        try store.checkpoint()
        let paths = disk.paths
        let log = disk.contents(at: logPath)
        #expect(throws: Enough.self) { try store.backup(to: "/data/copy.log") { _ in throw Enough() } }
        for stop in 1...8 {
            var reports: [AppendLogProgress] = []
            #expect(throws: Enough.self) {
                try store.compact {
                    reports.append($0)
                    if reports.count == stop { throw Enough() }
                }
            }
            #expect(reports.map(\.completed) == reports.map(\.completed).sorted())
            #expect(reports.allSatisfy { $0.completed <= $0.total })
        }
        #expect(disk.paths.filter { !$0.hasPrefix("/data/copy.log.lock") } == paths)
        #expect(disk.contents(at: logPath) == log)
        var last: AppendLogProgress?
        try store.compact { last = $0 }
        #expect(last?.completed == last?.total)
        try store.close()
        #expect(try contents(configuration) == states.last)
    }

    @Test(arguments: [FileError.Operation.write, .sync, .rename, .syncDirectory, .open, .read])
    func aBackupThatFailsLeavesTheStoreAloneAndCanBeTriedAgain(operation: FileError.Operation) throws {
        var fired = 0
        // Until one after the last is reached, which fails nothing.
        for number in 1...100 {
            let disk = try makeDisk()
            let states = try makeSmallLog(on: disk)
            let store = try openStore(logConfiguration(disk))
            try store.checkpoint()
            let before = disk.faultsFired
            disk.inject(.fail(.noSpace), at: number, of: operation)
            let isDone = (try? store.backup(to: "/data/copy.log")) != nil
            disk.removeFaults()
            if disk.faultsFired == before {
                #expect(isDone)
                try store.close()
                break
            }
            fired += 1
            if !isDone { try store.backup(to: "/data/copy.log") }
            try store.close()
            #expect(try contents(logConfiguration(disk, path: "/data/copy.log")) == states.last)
            #expect(try contents(logConfiguration(disk)) == states.last)
        }
        #expect(fired > 0 && fired < 100)
    }

    /// A log with a checkpoint and something behind it, that nobody has open.
    private func closedLog() throws -> (log: [UInt8], checkpoint: [UInt8], contents: [String]) {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk, history: .keep(days: 0)))
        try store.compact()
        try store.close()
        let expected = try withLog(logConfiguration(disk)) { context in
            context.insert(Box("behind the checkpoint"))
            try context.save()
            return try contents(context)
        }
        return (
            try #require(disk.contents(at: logPath)), try #require(disk.contents(at: logPath + ".checkpoint")), expected
        )
    }

    @Test func aBackupOfALogThatIsNotOpenFailsAtAnyOperationAndCanBeTriedAgain() throws {
        let (log, checkpoint, expected) = try closedLog()
        var failures = 0
        var number = 1
        while true {
            let disk = try makeDisk(with: log, checkpoint: checkpoint)
            let configuration = logConfiguration(disk)
            disk.inject(.fail(.noSpace), at: number)
            let isDone = (try? configuration.backUpStore(to: "/data/copy.log")) != nil
            let isOver = disk.operationCount < number
            disk.removeFaults()
            if !isDone {
                failures += 1
                #expect(disk.contents(at: "/data/copy.log") == nil, "operation \(number)")
                #expect(disk.contents(at: "/data/copy.log.checkpoint") == nil, "operation \(number)")
                _ = try configuration.backUpStore(to: "/data/copy.log")
            }
            #expect(try contents(logConfiguration(disk, path: "/data/copy.log")) == expected)
            // Opening the copy has swept what could not be removed.
            #expect(!disk.paths.contains { $0.contains("mortise-tmp") }, "operation \(number): \(disk.paths)")
            #expect(disk.contents(at: logPath) == log)
            #expect(throws: FileError.self) { try configuration.backUpStore(to: "/data/copy.log") }
            if isOver { break }
            number += 1
        }
        #expect(failures > 20)
    }

    @Test func aCrashInABackupOfALogThatIsNotOpenLeavesTheWholeCopyOrNoLog() throws {
        let (log, checkpoint, expected) = try closedLog()
        let disk = try makeDisk(with: log, checkpoint: checkpoint)
        let start = disk.operationCount
        _ = try logConfiguration(disk).backUpStore(to: "/data/copy.log")
        var (without, with) = (0, 0)
        try disk.forEachCrash(in: start...disk.operationCount) { (image: SimulatedFileSystem.CrashImage) throws in
            let after = image.fileSystem
            #expect(after.contents(at: logPath) == log)
            guard after.contents(at: "/data/copy.log") != nil else {
                without += 1
                #expect(image.operation < disk.operationCount, "\(image.loss)")
                return
            }
            with += 1
            #expect(try AppendLogStore.verify("/data/copy.log", in: after).isSound, "\(image.operation), \(image.loss)")
            #expect(try contents(logConfiguration(after, path: "/data/copy.log")) == expected)
            #expect(!after.paths.contains { $0.contains("mortise-tmp") }, "\(image.operation), \(image.loss)")
        }
        #expect(without > 10 && with > 0, "\(without), \(with)")
    }
}
