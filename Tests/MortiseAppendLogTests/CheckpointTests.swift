import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

struct CheckpointTests {
    private let checkpointPath = logPath + ".checkpoint"

    @Test func openingReadsTheCheckpointAndOnlyTheLogBehindIt() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let before = try contents(logConfiguration(disk))
        try withLog(logConfiguration(disk)) { context in
            context.insert(Box("behind"))
            try context.save()
        }
        // What is before the checkpoint is not looked at.
        var log = try #require(disk.contents(at: logPath))
        log[log.count / 3] ^= 1
        let other = try makeDisk(with: log, checkpoint: disk.contents(at: checkpointPath))
        let found = try contents(logConfiguration(other))
        #expect(found.count == before.count + 1)
        #expect(Set(before).isSubset(of: found))
        #expect(throws: AppendLogError.self) {
            try withLog(logConfiguration(other)) { try $0.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
        }
    }

    /// Where so much log has come that opening would have to read it.
    @Test func aCheckpointIsWrittenInTheBackground() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        let path = logPath + ".checkpoint"
        let text = String(repeating: "x", count: 1 << 20)
        for number in 0..<3 {
            context.insert(Box("\(number) " + text))
            try context.save()
        }
        let work = try #require(container.store(AppendLogStore.self)?.opened.sink?.checkpoints)
        #expect(!work.isBusy && disk.contents(at: path) == nil)
        for number in 3..<5 {
            context.insert(Box("\(number) " + text))
            try context.save()
        }
        waitUntilIdle(work)
        #expect(disk.contents(at: path) != nil)
        try container.close()
        #expect(try contents(logConfiguration(disk)).count == 5)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    @Test func closingWritesOneWhereOpeningWouldHaveToReadMuch() throws {
        let disk = try makeDisk()
        var configuration = logConfiguration(disk)
        configuration.leastReplay = 2_048
        func save(_ numbers: Range<Int>) throws {
            try withLog(configuration) { context in
                for number in numbers { context.insert(Box("box \(number)")) }
                try context.save()
            }
        }
        func checkpoint() -> [UInt8]? { disk.contents(at: logPath + ".checkpoint") }
        try save(0..<10)
        #expect(checkpoint() == nil)
        try save(10..<300)
        let first = try #require(checkpoint())
        // Nothing is behind it now, and then not enough.
        try withLog(configuration) { _ in }
        try save(300..<310)
        #expect(checkpoint() == first)
        try save(310..<1_500)
        #expect(checkpoint() != first)
        #expect(try withLog(configuration) { try $0.fetchCount(FetchDescriptor<Box>()) } == 1_500)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        // Where it fails the log has everything.
        let last = checkpoint()
        disk.inject(.fail(.noSpace), at: 1, of: .rename)
        try save(1_500..<6_000)
        #expect(checkpoint() == last)
        disk.removeFaults()
        #expect(try withLog(configuration) { try $0.fetchCount(FetchDescriptor<Box>()) } == 6_000)
        // Whoever asks for none gets none.
        let other = try makeDisk()
        configuration = AppendLogConfiguration(path: logPath, checkpoints: .onCall, in: other)
        configuration.leastReplay = 2_048
        try save(0..<600)
        #expect(other.contents(at: logPath + ".checkpoint") == nil)
    }

    /// The first save under another schema says so in the log, not a closing without any.
    @Test func closingUnderAnotherSchemaWritesNone() throws {
        let disk = try makeDisk()
        var configuration = logConfiguration(disk)
        let earlier = try ModelContainer(for: Schema([Earlier.Note.self]), configurations: [configuration])
        let context = ModelContext(earlier)
        context.insert(Earlier.Note("one"))
        try context.save()
        try earlier.close()
        let log = disk.contents(at: logPath)
        configuration.leastReplay = 1
        let later = try ModelContainer(for: Schema([Later.Note.self]), configurations: [configuration])
        #expect(try ModelContext(later).fetchCount(FetchDescriptor<Later.Note>()) == 1)
        try later.close()
        #expect(disk.contents(at: logPath) == log && disk.contents(at: logPath + ".checkpoint") == nil)
    }

    /// Nobody has stored what was ephemeral, and a checkpoint holds no record without a value that it must have.
    @Test func anAttributeThatIsStoredFromNowOnHasItsDefault() throws {
        let disk = try makeDisk()
        let between = try ModelContainer(for: Schema([Between.Note.self]), configurations: [logConfiguration(disk)])
        var context = ModelContext(between)
        context.insert(Between.Note("one", rank: 9))
        try context.save()
        try between.close()
        let later = try ModelContainer(for: Schema([Later.Note.self]), configurations: [logConfiguration(disk)])
        context = ModelContext(later)
        #expect(try context.fetch(FetchDescriptor<Later.Note>()).map(\.rank) == [5])
        try later.store(AppendLogStore.self)?.checkpoint()
        try later.close()
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        // Without one it is as new and required as any other.
        var stored = Schema([Later.Note.self]).stored
        for (number, property) in stored.entities[0].properties.enumerated() {
            guard var attribute = property.attribute else { continue }
            attribute.defaultValue = nil
            stored.entities[0].properties[number].content = .attribute(attribute)
        }
        let mapping = try SchemaMapping(from: Schema([Between.Note.self]).stored, to: stored, store: "store")
        var tally = SchemaTally()
        #expect(try mapping.loss(tally).isEmpty)
        mapping.count([.string("one"), .null], ofEntity: "Note", in: &tally)
        let difference =
            "Note.rank is required, and 1 record would have no value; give it a default value, make it optional, or fill it by a "
            + "stage of a migration plan"
        #expect(throws: EngineError.schemaMismatch(store: "store", differences: [difference])) {
            try mapping.loss(tally)
        }
    }

    @Test func aDamagedCheckpointIsReportedAndTheWholeLogReplayed() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let log = try #require(disk.contents(at: logPath))
        let checkpoint = try #require(disk.contents(at: checkpointPath))
        for bit in stride(from: 0, to: checkpoint.count * 8, by: isFullSize ? 1 : 37) {
            var flipped = checkpoint
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let other = try makeDisk(with: log, checkpoint: flipped)
            #expect(try contents(logConfiguration(other)) == states.last, "bit \(bit)")
        }
        let cut = try makeDisk(with: log, checkpoint: Array(checkpoint.dropLast()))
        let reopened = try openStore(logConfiguration(cut))
        #expect(reopened.recovery?.ignoredCheckpoint != nil)
        try reopened.close()
    }

    @Test func compactionDropsNothingUnlessItIsAskedTo() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let before = disk.contents(at: logPath)
        let store = try openStore(logConfiguration(disk))
        #expect(try store.compact() == 0)
        try store.close()
        #expect(disk.contents(at: logPath) == before)
        #expect(try contents(logConfiguration(disk)) == states.last)
    }

    @Test func compactionKeepsTheRecordsAndTheHistorySinceTheToken() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        func history(_ configuration: AppendLogConfiguration) throws -> [DefaultHistoryTransaction] {
            try withLog(configuration) { try $0.fetchHistory(HistoryDescriptor()) }
        }
        let token = try history(logConfiguration(disk))[1].token
        let configuration = logConfiguration(disk, history: .keepSince(token))
        let container = try openLog(configuration)
        let context = ModelContext(container)
        let store = try openStore(configuration)
        #expect(try store.compact() == 2)
        #expect(try contents(context) == states.last)
        context.insert(Box("after"))
        try context.save()
        try container.close()
        try store.close()
        let all = try history(configuration)
        #expect(all.map(\.transactionIdentifier) == [3, 4, 5])
        #expect(try contents(configuration).count == (states.last?.count ?? 0) + 1)
        // Again, with a log that already begins behind a checkpoint.
        let again = try openStore(configuration)
        #expect(try again.compact() == 0)
        try again.checkpoint()
        try again.close()
        #expect(try contents(configuration).count == (states.last?.count ?? 0) + 1)
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        // Now the checkpoint is needed.
        try disk.unlink(checkpointPath)
        #expect {
            try openStore(configuration)
        } throws: {
            if case .checkpointMissing = ($0 as? AppendLogError)?.fault { true } else { false }
        }
    }

    @Test func commitsDuringACompactionAreCarriedOver() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let store = try openStore(configuration)
        let container = try openLog(configuration)
        let context = ModelContext(container)
        // The first syncs of a compaction are those of the log and of the checkpoint; a save comes right before the latter.
        disk.interject(at: 2, of: .rename) {}
        nonisolated(unsafe) let unsafeContext = context
        disk.interject(at: 1, of: .rename) {
            unsafeContext.insert(Box("meanwhile"))
            do { try unsafeContext.save() } catch { Issue.record(error) }
        }
        #expect(try store.compact() == 4)
        context.insert(Box("afterwards"))
        try context.save()
        let expected = try contents(context)
        try container.close()
        try store.close()
        #expect(try contents(configuration) == expected)
        #expect(expected.contains { $0.contains("meanwhile") })
    }

    @Test(arguments: [FileError.Operation.write, .sync, .rename, .syncDirectory, .open])
    func aCompactionThatFailsAnywhereLeavesAStoreThatOpens(operation: FileError.Operation) throws {
        var fired = 0
        // Until one after the last is reached, which fails nothing.
        for number in 1...100 {
            let disk = try makeDisk()
            let states = try makeSmallLog(on: disk)
            let configuration = logConfiguration(disk, history: .keep(days: 0))
            let store = try openStore(configuration)
            let before = disk.faultsFired
            disk.inject(.fail(.noSpace), at: number, of: operation)
            let isDone = (try? store.compact()) != nil
            disk.removeFaults()
            let hasFired = disk.faultsFired > before
            try store.close()
            #expect(try contents(configuration) == states.last, "\(operation) \(number)")
            #expect(!disk.paths.contains { $0.hasSuffix(".mortise-tmp") })
            if !hasFired {
                #expect(isDone)
                break
            }
            fired += 1
        }
        #expect(fired > 0 && fired < 100)
    }
}
