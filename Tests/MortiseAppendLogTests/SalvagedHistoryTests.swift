import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// What a salvage brings over besides records, and what it makes of records that contradict the schema.
struct SalvagedHistoryTests {
    private let newPath = "/data/new.log"

    private func history(_ configuration: AppendLogConfiguration) throws -> [DefaultHistoryTransaction] {
        try withLog(configuration) { try $0.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
    }

    /// Where the frames of a log begin.
    private func frames(_ log: [UInt8]) -> [Int] {
        stride(from: 64, to: log.count - 48, by: 8).filter { log[$0..<($0 + 4)] == [0x4D, 0x46, 0x52, 0x1A] }
    }

    private func isTold(_ transactions: [DefaultHistoryTransaction]) -> [String] {
        transactions.map { "\($0.transactionIdentifier) \($0.timestamp) \($0.author ?? "-") \($0.changes)" }
    }

    @Test func ofASoundLogNothingIsMissing() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: disk)
        #expect(result.lost == [] && result.leftOut == [] && result.transactions == 4)
        let salvaged = logConfiguration(disk, path: newPath)
        #expect(try contents(salvaged) == states.last)
        #expect(try isTold(history(salvaged)) == isTold(history(logConfiguration(disk))))
        #expect(try AppendLogStore.verify(newPath, in: disk).isSound)
        // Whoever goes on by a token finds the next save, and that alone.
        let token = try #require(history(logConfiguration(disk)).last?.token)
        let next = try withLog(salvaged) { context in
            context.insert(Box("next"))
            try context.save()
            return try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        }
        #expect(next.map(\.transactionIdentifier) == [5])
    }

    @Test func transactionsThatCanBeReadKeepTheirNumbersAndNoLostOneIsGivenAgain() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let before = try history(logConfiguration(disk))
        let last = try withLog(logConfiguration(disk)) { context in
            try context.fetch(FetchDescriptor<Box>()).compactMap(\.persistentModelID.sequenceNumber).max()
        }
        var log = try #require(disk.contents(at: logPath))
        let places = frames(log)
        log[places[2] + 60] ^= 1
        log[places[4] + 60] ^= 1
        let other = try makeDisk(with: log)
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.transactions == 2 && result.lost.count == 2)
        let salvaged = logConfiguration(other, path: newPath)
        #expect(try isTold(history(salvaged)) == isTold([before[0], before[2]]))
        let box = Box("next")
        try withLog(salvaged) { context in
            context.insert(box)
            try context.save()
        }
        let number = try #require(history(salvaged).last?.transactionIdentifier)
        #expect(number > 4)
        #expect(try #require(box.persistentModelID.sequenceNumber) > #require(last))
        #expect(try AppendLogStore.verify(newPath, in: other).isSound)
    }

    @Test func eachTransactionHasTheSchemaThatItNeeds() throws {
        let disk = try makeDisk()
        let first = try ModelContainer(for: Schema([Earlier.Note.self]), configurations: [logConfiguration(disk)])
        var context = ModelContext(first)
        context.insert(Earlier.Note("one"))
        try context.save()
        try first.close()
        func history(_ path: String) throws -> [String] {
            let container = try ModelContainer(
                for: Schema([Later.Note.self]), configurations: [logConfiguration(disk, path: path)])
            defer { try? container.close() }
            return try isTold(
                ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()))
        }
        let second = try ModelContainer(for: Schema([Later.Note.self]), configurations: [logConfiguration(disk)])
        context = ModelContext(second)
        let note = Later.Note("two", rank: 2)
        context.insert(note)
        try context.save()
        // What the earlier schema does not have.
        note.rank = 3
        try context.save()
        try second.close()
        #expect(try AppendLogStore.salvage(logPath, to: newPath, in: disk).transactions == 3)
        #expect(try history(newPath) == history(logPath))
        #expect(try AppendLogStore.verify(newPath, in: disk).isSound)
    }

    /// What follows a schema that is lost is not read under the one before it.
    @Test func nothingIsCarriedOverUnderASchemaThatWasNotItsOwn() throws {
        let disk = try makeDisk()
        for schema in [Schema([Earlier.Note.self]), Schema([Later.Note.self])] {
            let container = try ModelContainer(for: schema, configurations: [logConfiguration(disk)])
            let context = ModelContext(container)
            if schema.stored == Schema([Earlier.Note.self]).stored {
                context.insert(Earlier.Note("one"))
            } else {
                let note = try #require(try context.fetch(FetchDescriptor<Later.Note>()).first)
                note.text = "two"
            }
            try context.save()
            try container.close()
        }
        var log = try #require(disk.contents(at: logPath))
        // Schema, transaction, schema, transaction.
        #expect(frames(log).count == 4)
        log[frames(log)[2] + 60] ^= 1
        let other = try makeDisk(with: log)
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.transactions == 1 && result.lost.count == 2, "\(result)")
    }

    /// The log was cut, or an older copy of it came back; its checkpoint has all.
    @Test func aCheckpointThatIsAheadOfItsLogIsSalvaged() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let expected = try contents(logConfiguration(disk))
        let log = try #require(disk.contents(at: logPath))
        let checkpoint = disk.contents(at: logPath + ".checkpoint")
        for isZeroed in [false, true] {
            let start = frames(log)[2]
            let rest = isZeroed ? [UInt8](repeating: 0, count: log.count - start) : []
            let other = try makeDisk(with: Array(log.prefix(start)) + rest, checkpoint: checkpoint)
            #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
            #expect(try !AppendLogStore.verify(logPath, in: other).isSound)
            let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
            #expect(result.lost.count == 1 && result.transactions == 1, "\(result)")
            #expect(try contents(logConfiguration(other, path: newPath)) == expected)
            try withLog(logConfiguration(other, path: newPath)) { context in
                context.insert(Box("next"))
                try context.save()
            }
            #expect(try #require(history(logConfiguration(other, path: newPath)).last?.transactionIdentifier) > 4)
        }
    }

    /// Of a log that was compacted, too.
    @Test func whatACutLogHadBehindItsBaseIsGivenToNobody() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk, history: .keep(days: 0)))
        #expect(try store.compact() > 0)
        try store.close()
        let base = try #require(disk.contents(at: logPath)).count
        try withLog(logConfiguration(disk)) { context in
            for number in 0..<5 {
                context.insert(Box("behind \(number)"))
                try context.save()
            }
        }
        let again = try openStore(logConfiguration(disk))
        try again.checkpoint()
        try again.close()
        let log = try #require(disk.contents(at: logPath))
        let other = try makeDisk(
            with: Array(log.prefix(base)), checkpoint: disk.contents(at: logPath + ".checkpoint"))
        #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.lost.count == 1, "\(result.lost)")
        #expect(try contents(logConfiguration(other, path: newPath)) == contents(logConfiguration(disk)))
        try withLog(logConfiguration(other, path: newPath)) { context in
            context.insert(Box("next"))
            try context.save()
        }
        #expect(try #require(history(logConfiguration(other, path: newPath)).last?.transactionIdentifier) > 10)
    }

    // MARK: What another program wrote, with right checksums

    private typealias Made = (entity: String, values: [String: StoredValue])

    /// A log with a box (number 1) and an item (number 2) in it, and behind them records that none of ours would write.
    private func makeLog(
        firstNumber: UInt64 = 3, hasItem: Bool = true, _ records: (LogCatalog) throws -> [Made]
    ) throws -> SimulatedFileSystem {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        let box = Box("box")
        context.insert(box)
        if hasItem { context.insert(Item("item", box: box)) }
        try context.save()
        let catalog = LogCatalog(
            Schema([Box.self, Item.self]).stored, store: try #require(box.persistentModelID.storeIdentifier))
        let records = try records(catalog)
        var payload = ByteWriter()
        payload.fixed(UInt64(0))
        payload.byte(0)
        payload.text("process")
        payload.text("bundle")
        payload.varint(3 + UInt64(records.count))
        payload.varint(0 as UInt64)
        payload.varint(0 as UInt64)
        payload.varint(UInt64(records.count))
        for (number, record) in records.enumerated() {
            let entity = try #require(catalog.numbers[record.entity])
            payload.varint(UInt64(entity))
            payload.varint(1 as UInt64)
            payload.varint(firstNumber + UInt64(number))
            for slot in catalog.storedSlots[entity] {
                let value = record.values[catalog.layouts[entity].slots[slot].name] ?? .null
                try payload.checked(value, entity, slot, catalog)
            }
        }
        payload.byte(payloadEnd)
        let writer = try #require(container.store(AppendLogStore.self)?.opened.sink).writer
        _ = try writer.append([(.transaction, payload.bytes)], transaction: 2)
        try container.close()
        return disk
    }

    private func item(_ box: StoredValue, name: StoredValue = .string("made")) -> Made {
        let made = StoredValue.date(Date(timeIntervalSinceReferenceDate: 1))
        return ("Item", ["name": name, "made": made, "tags": .array([]), "box": box])
    }

    private func reference(_ entity: String, _ number: UInt64, _ catalog: LogCatalog) throws -> StoredValue {
        .identifier(catalog.identifier(try #require(catalog.numbers[entity]), number))
    }

    private func opens(_ disk: SimulatedFileSystem) -> Bool {
        (try? openStore(logConfiguration(disk)).close()) != nil
    }

    /// What a salvage makes of a log, which is sound.
    private func salvaged(_ disk: SimulatedFileSystem) throws -> (result: AppendLogSalvage, items: [String]) {
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: disk)
        #expect(try AppendLogStore.verify(newPath, in: disk).isSound)
        let items = try withLog(logConfiguration(disk, path: newPath)) { context in
            try context.fetch(FetchDescriptor<Item>()).map { "\($0.name) \($0.box?.label ?? "-")" }.sorted()
        }
        return (result, items)
    }

    @Test func aReferenceToARecordOfAnotherEntityIsCleared() throws {
        let disk = try makeLog { [item(try reference("Item", 2, $0)), item(.null, name: .string("other"))] }
        #expect(!opens(disk))
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
        let (result, items) = try salvaged(disk)
        #expect(result.clearedReferences == 1 && result.leftOut == [] && result.lost == [])
        #expect(items == ["item box", "made -", "other -"])
    }

    @Test func aReferenceToARecordThatIsNotThereIsListedAndCleared() throws {
        let disk = try makeLog { [item(try reference("Box", 99, $0))] }
        let problems = try AppendLogStore.verify(logPath, in: disk).problems
        #expect(problems.count == 1)
        #expect(problems.allSatisfy { "\($0)".contains("Item.box: 1 references to missing records") })
        let (result, items) = try salvaged(disk)
        #expect(result.clearedReferences == 1 && items == ["item box", "made -"])
    }

    @Test func aRecordWithoutAValueThatItMustHaveIsRefusedAndLeftOut() throws {
        let disk = try makeLog { _ in [item(.null, name: .null), item(.null)] }
        #expect(!opens(disk))
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
        let (result, items) = try salvaged(disk)
        #expect(result.leftOut.map(\.sequenceNumber) == [3] && items == ["item box", "made -"])
    }

    @Test func aRecordOfNumberZeroIsRefused() throws {
        // The first of its entity, so that its number is no earlier one's.
        let disk = try makeLog(firstNumber: 0, hasItem: false) { _ in [item(.null)] }
        #expect(!opens(disk))
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
        #expect(try salvaged(disk).items == [])
    }

    /// One pass over the records finds all of them.
    @Test func ofRecordsWithOneUniqueValueOneIsLeft() throws {
        let disk = try makeLog { _ in
            ["twice", "box", "twice", "box", "once", "twice"].map { ("Box", ["label": .string($0)]) }
        }
        #expect(!opens(disk))
        let (result, _) = try salvaged(disk)
        #expect(result.leftOut.map(\.sequenceNumber) == [4, 5, 6, 8])
        let labels = try withLog(logConfiguration(disk, path: newPath)) {
            try $0.fetch(FetchDescriptor<Box>()).map(\.label).sorted()
        }
        #expect(labels == ["box", "once", "twice"])
    }
}
