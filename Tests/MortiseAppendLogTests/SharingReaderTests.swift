import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Readers of a log that other processes write.
struct SharingReaderTests {
    /// Also where one reader shows what has come before the other, or a fetch before the notice. Beside all other tests, each
    /// time it waits it waits for some of those, too.
    @Test func everyReaderOfALogIsToldAlsoOfWhatAFetchHasShown() throws {
        let disk = try makeDisk()
        let writing = try openLog(logConfiguration(disk.process(100)))
        let readers = try (0..<3).map { _ in try openLog(logConfiguration(disk.process(101), allowsSave: false)) }
        let posts = readers.map { Posts(of: ModelContainer.remoteChange, about: $0) }
        for round in 1...5 {
            let before = posts.map(\.soFar)
            let context = ModelContext(writing)
            context.insert(Box("round \(round)"))
            try context.save()
            #expect(try ModelContext(readers[0]).fetchCount(FetchDescriptor<Box>()) == round)
            for (number, posts) in posts.enumerated() {
                #expect(posts.areMore(than: before[number]), "reader \(number), round \(round)")
            }
        }
        for reader in readers { try reader.close() }
        try writing.close()
    }

    /// Beside one that writes alone, through saves, a checkpoint and compactions.
    @Test func aReaderFollowsWhoWrites() throws {
        let disk = try makeDisk()
        let writing = disk.process(100)
        let writer = try openLog(logConfiguration(writing, history: .keep(days: 0)))
        let context = ModelContext(writer)
        context.insert(Box("first"))
        try context.save()
        let reader = try openLog(logConfiguration(disk.process(101), allowsSave: false))
        let reading = ModelContext(reader)
        #expect(try contents(reading).count == 1)
        let store = try #require(writer.store(AppendLogStore.self))
        for round in 0..<8 {
            let held = try reading.fetch(FetchDescriptor<Box>()).first
            let box = Box("box \(round)")
            context.insert(box)
            for number in 0..<3 { context.insert(Item("item \(number)", box: box)) }
            if round == 5 { context.delete(try #require(try context.fetch(FetchDescriptor<Item>()).first)) }
            try context.save()
            #expect(held?.label == "first")
            #expect(try contents(reading) == contents(context), "round \(round)")
            switch round {
            case 1, 4: try store.checkpoint()
            // What the reader has read it need not have any more.
            case 2, 6: try store.compact()
            default: break
            }
        }
        #expect(reader.store(AppendLogStore.self)?.engine.version.inconsistencies() == [])
        // What it has not read yet is dropped from the log.
        for label in ["last", "after"] {
            context.insert(Box(label))
            try context.save()
            if label == "last" { try store.compact() }
        }
        #expect(try contents(reading) == contents(context))
        try reader.close()
        #expect(try contents(logConfiguration(disk.process(101), allowsSave: false)) == contents(context))
        try writer.close()
    }

    @Test func aReaderThatIsLeftBehindTellsOnceAndKeepsWhatItHas() throws {
        let disk = try makeDisk()
        func save(_ schema: Schema, _ body: (ModelContext) throws -> Void) throws {
            let container = try ModelContainer(for: schema, configurations: [logConfiguration(disk.process(100))])
            let context = ModelContext(container)
            try body(context)
            try context.save()
            try container.close()
        }
        let schema = Schema([Earlier.Note.self])
        try save(schema) { $0.insert(Earlier.Note("one")) }
        var configuration = logConfiguration(disk.process(101), allowsSave: false)
        configuration.schema = schema
        let reader = try AppendLogStore(configuration, migrationPlan: nil)
        let told = Mutex<[String]>([])
        let isTold = DispatchSemaphore(value: 0)
        reader.reportEvents { event in
            guard case .readerLeftBehind(_, let reason) = event else { return }
            told.withLock { $0.append(reason) }
            isTold.signal()
        }
        try save(Schema([Later.Note.self])) { $0.insert(Later.Note("two", rank: 2)) }
        #expect(isTold.wait(timeout: .now() + 60) == .success)
        // Each of these looks into the log once more.
        for name in ["three", "four", "five"] {
            try save(Schema([Later.Note.self])) { $0.insert(Later.Note(name, rank: 3)) }
            _ = reader.currentVersion
        }
        let reasons = told.withLock { $0 }
        #expect(reasons.count == 1 && reasons.allSatisfy { $0.contains("the schema changes at offset") }, "\(reasons)")
        #expect(reader.engine.version.tables["Note"]?.count == 1)
        try reader.close()
    }

    private static let swapped = (
        old: schema(1, entity("Item", textProperty("left"), textProperty("right"))),
        new: schema(2, entity("Item", textProperty("left", from: "right"), textProperty("right", from: "left")))
    )

    private func store(
        _ disk: any FileSystem, _ schema: StoredSchema, allowsSave: Bool = true
    ) throws -> AppendLogStore {
        var configuration = logConfiguration(disk, allowsSave: allowsSave, history: .keep(days: 0))
        configuration.schema = Schema(stored: schema)
        return try AppendLogStore(configuration, migrationPlan: nil)
    }

    /// Why a reader no longer follows, as its events say. One handler for the whole test: the next would miss what the one
    /// before was told.
    private final class Reasons: Sendable {
        private let told = Mutex<[String]>([])

        init(of reader: AppendLogStore) {
            reader.reportEvents { [weak self] event in
                if case .readerLeftBehind(_, let reason) = event { self?.told.withLock { $0.append(reason) } }
            }
        }

        func whenTold(_ count: Int, within seconds: TimeInterval = 20) -> [String] {
            let deadline = Date().addingTimeInterval(seconds)
            while told.withLock({ $0.count < count }), Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
            Thread.sleep(forTimeInterval: 0.3)
            return told.withLock { $0 }
        }
    }

    enum Order: CaseIterable { case compactedBefore, compactedByNewer, compactedAfter }

    /// Defect: where a compaction had replaced the file that a reader had open, it went on behind the schema of a newer
    /// program, and showed one property's values as the other's.
    @Test(arguments: Order.allCases) func aReaderAppliesNothingOfAnotherSchema(order: Order) throws {
        let disk = try makeDisk()
        let (old, new) = Self.swapped
        let made = try store(disk.process(100), old)
        try made.insert("Item", .string("L"), .string("R"), as: old)
        try made.close()
        let reader = try store(disk.process(101), old, allowsSave: false)
        let world = try SchemaWorld(.log)
        let before = try world.records(reader, old)
        if order == .compactedBefore {
            let writer = try store(disk.process(100), old)
            #expect(try writer.compact() == 1)
            try writer.close()
        }
        let writer = try store(disk.process(100), new)
        if order == .compactedByNewer { #expect(try writer.compact() == 1) }
        try writer.insert("Item", .string("R2"), .string("L2"), as: new)
        if order == .compactedAfter { #expect(try writer.compact() > 0) }
        _ = reader.currentVersion
        _ = reader.currentVersion
        #expect(try world.records(reader, old) == before)
        let reasons = Reasons(of: reader).whenTold(1)
        #expect(reasons.count == 1, "\(reasons)")
        if order != .compactedAfter {
            #expect(reasons.allSatisfy { $0.contains("the schema changes at offset") }, "\(reasons)")
        }
        try writer.insert("Item", .string("R3"), .string("L3"), as: new)
        _ = reader.currentVersion
        #expect(try world.records(reader, old) == before)
        try reader.close()
        try writer.close()
    }

    /// Defect: such a reader never followed, and nothing said so.
    @Test func aReaderOfANewerSchemaTellsWhenTheWriterGoesOn() throws {
        let disk = try makeDisk()
        let (old, new) = Self.swapped
        let writer = try store(disk.process(100), old)
        try writer.insert("Item", .string("L"), .string("R"), as: old)
        let reader = try store(disk.process(101), new, allowsSave: false)
        let world = try SchemaWorld(.log)
        let before = try world.records(reader, new)
        #expect(before["Item"]?.values.map { $0["left"] } == [.string("R")])
        let told = Reasons(of: reader)
        // A compaction alone adds nothing.
        #expect(try writer.compact() == 1)
        #expect(told.whenTold(1, within: 0.3) == [])
        try writer.insert("Item", .string("L2"), .string("R2"), as: old)
        _ = reader.currentVersion
        let reasons = told.whenTold(1)
        #expect(reasons.count == 1 && reasons.allSatisfy { $0.contains("version 1.0.0") }, "\(reasons)")
        #expect(try world.records(reader, new) == before)
        try reader.close()
        try writer.close()
    }

    enum Moment: CaseIterable { case atOnce, asFar, beyond }

    /// Defect: a reader whose log was replaced by that of a backup went on with the records of before, and passed over all that was
    /// saved since, because the transactions have numbers that it had read already. Nothing said so, and health called it healthy.
    /// Opened again beside the first, it was the same store.
    @Test(arguments: Moment.allCases, [false, true])
    func aReaderOfALogToWhichABackupIsRestoredTells(_ moment: Moment, isCompacted: Bool) throws {
        let disk = try makeDisk()
        let writing = logConfiguration(disk.process(100), history: .keep(days: 0))
        func save(_ labels: [String]) throws {
            try withLog(writing) { context in
                for label in labels {
                    context.insert(Box(label))
                    try context.save()
                }
            }
        }
        try save(["one", "two", "three"])
        if isCompacted { _ = try writing.compactStore() }
        _ = try writing.backUpStore(to: "/data/copy")
        try save(["four", "five"])
        let reading = logConfiguration(disk.process(101), allowsSave: false)
        let reader = try openLog(reading)
        let context = ModelContext(reader)
        // So that there is a last frame, and none that lies behind a checkpoint alone.
        try save(["six"])
        let before = try contents(context)
        #expect(before.count == 6)
        #expect(reader.health().map(\.status) == [.healthy])
        let told = Reasons(of: try #require(reader.store(AppendLogStore.self)))
        _ = try writing.restoreStore(from: "/data/copy", replacing: true) {}
        switch moment {
        case .atOnce: break
        case .asFar: try save(["4", "5", "6"])
        case .beyond: try save(["4", "5", "6", "7", "8"])
        }
        #expect(try contents(context) == before)
        let reasons = told.whenTold(1)
        #expect(reasons.count == 1 && reasons.allSatisfy { $0.contains("a backup") }, "\(reasons)")
        let health = try #require(reader.health().first)
        #expect(health.status == .failing && health.fault?.contains("a backup") == true, "\(health)")
        // The first is still open.
        let again = try openLog(reading)
        let restored = try contents(ModelContext(again))
        let other = try contents(logConfiguration(disk.process(102), allowsSave: false))
        #expect(restored == other)
        #expect(restored.count == 3 + (moment == .atOnce ? 0 : moment == .asFar ? 3 : 5))
        try save(["last"])
        #expect(try contents(ModelContext(again)).count == restored.count + 1)
        #expect(again.health().map(\.status) == [.healthy])
        try reader.close()
        try again.close()
    }

    /// A writer that failed may cut off what a reader has seen, and another goes on in its place.
    @Test func aReaderStaysWhereItIsWhenWhatItReadIsGone() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        let reader = try openLog(logConfiguration(disk, allowsSave: false))
        let reading = ModelContext(reader)
        let before = try contents(reading)
        // Another transaction of the same length in the place of the last, and one more behind it.
        var forged = log
        let place = try #require(log.indices.last { log[$0...].starts(with: Array("blue".utf8)) })
        forged.replaceSubrange(place..<(place + 4), with: Array("grey".utf8))
        LogMutationCheck.mend(&forged)
        let other = try makeDisk(with: forged)
        try withLog(logConfiguration(other)) { context in
            context.insert(Box("and another"))
            try context.save()
        }
        let file = try disk.open(logPath, mode: .readWrite)
        try file.truncate(to: 0)
        try file.writeAll(try #require(other.contents(at: logPath)), at: 0)
        try file.close()
        #expect(try contents(reading) == before)
        try reader.close()
    }
}
