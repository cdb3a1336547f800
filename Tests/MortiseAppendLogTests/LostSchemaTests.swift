import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A frame with a schema is lost: what follows it is not to be read under the one before.
struct LostSchemaTests {
    /// A checkpoint has the schema then, and all that follows it can be followed.
    @Test func behindACheckpointNothingIsLostWithASchemaBeforeIt() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let container = try openLog(logConfiguration(disk))
        try container.store(AppendLogStore.self)?.checkpoint()
        let context = ModelContext(container)
        for number in 0..<5 {
            context.insert(Box("behind \(number)"))
            try context.save()
        }
        let saved = try contents(context)
        try container.close()
        var log = try #require(disk.contents(at: logPath))
        log[64 + 60] ^= 1
        let damaged = try makeDisk(with: log, checkpoint: disk.contents(at: logPath + ".checkpoint"))
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: damaged)
        // Of what is before it the history alone.
        #expect(salvaged.lost.count == 2, "\(salvaged.lost)")
        #expect(salvaged.lost.last?.fault == .schemaMissing(transactions: 4))
        #expect(try contents(logConfiguration(damaged, path: "/data/new.log")) == saved)
    }

    /// What its header says of a frame counts, where that can be read.
    @Test func aFrameOfALaterKindIsNoLostSchema() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let writer = try #require(container.store(AppendLogStore.self)?.opened.sink).writer
        let context = ModelContext(container)
        context.insert(Box("before"))
        try context.save()
        _ = try writer.append(
            [(FrameKind(rawValue: 77), [UInt8](repeating: 5, count: 30) + [payloadEnd])],
            transaction: writer.state.position.transaction)
        context.insert(Box("behind"))
        try context.save()
        let saved = try contents(context)
        try container.close()
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk)
        #expect(salvaged.lost.count == 1, "\(salvaged.lost)")
        #expect(try contents(logConfiguration(disk, path: "/data/new.log")) == saved)
    }

    /// The log with one bit of its last schema's frame changed.
    private func losingLastSchema(_ log: [UInt8]) throws -> [UInt8] {
        let header = try FileHeader(Array(log.prefix(64)), expecting: .log)
        let reader = FrameReader(
            try makeDisk(with: log).open(logPath, mode: .read), size: Int64(log.count), seed: header.seed)
        var last: Int64?
        _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
            if frame.header.kind == .schema { last = frame.position.offset }
            return true
        }
        var log = log
        log[Int(try #require(last)) + 60] ^= 1
        return log
    }

    @Test(arguments: [false, true]) func recordsOfTheSchemaThatIsLostBecomeNoOthers(hasCheckpoint: Bool) throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        if hasCheckpoint {
            let store = try openStore(logConfiguration(disk, history: .keep(days: 0)))
            #expect(try store.compact() > 0)
            try store.close()
        }
        // It stands before the others, so that they have other numbers from here on.
        let container = try ModelContainer(
            for: Schema([Ahead.self, Box.self, Item.self]), configurations: [logConfiguration(disk)])
        let context = ModelContext(container)
        for number in 0..<5 {
            context.insert(Ahead("ahead \(number)"))
            try context.save()
            context.insert(Box("box \(number)"))
            try context.save()
        }
        try container.close()
        let log = try losingLastSchema(try #require(disk.contents(at: logPath)))
        let damaged = try makeDisk(with: log, checkpoint: disk.contents(at: logPath + ".checkpoint"))
        let verified = try AppendLogStore.verify(logPath, in: damaged)
        #expect(!verified.isSound)
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: damaged)
        #expect(salvaged.lost == verified.problems)
        #expect(try contents(logConfiguration(damaged, path: "/data/new.log")) == states.last)
    }
}

final class Ahead: PersistentModel {
    var persistentBackingData: any BackingData<Ahead> = Ahead.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "label", keypath: \Ahead.label)] }
    init(backingData: any BackingData<Ahead>) { persistentBackingData = backingData }
    init(_ label: String) { self.label = label }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
}
