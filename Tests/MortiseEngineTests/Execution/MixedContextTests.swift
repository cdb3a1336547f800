import Foundation
import MortiseInMemory
import Synchronization
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// The same with contexts on a store in memory, as programs do it.
@Suite struct MixedContextTests {
    private static func container() throws -> ModelContainer {
        try ModelContainer(for: Schema([Note.self]), configurations: [InMemoryConfiguration("notes")])
    }

    private static func insert(_ count: Int, batch: Int, into context: ModelContext) {
        for number in 0..<count {
            context.insert(Note(batch: batch, amount: Double(number), text: "note \(number % 300)"))
        }
    }

    /// A million records at full size.
    @Test func aContextBesideOneGreatSaveSeesNothingOrAllOfIt() async throws {
        let container = try Self.container()
        let (few, count) = (100, MixedWorkTests.Size.current.records)
        let context = ModelContext(container)
        Self.insert(few, batch: 0, into: context)
        try context.save()
        let progress = MixedWorkTests.Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                let context = ModelContext(container)
                Self.insert(count, batch: 1, into: context)
                try await progress.save { try context.save() }
            }
            group.addTask {
                try await progress.lookUntilDone { try Self.look(ModelContext(container), few, count) }
            }
            try await group.waitForAll()
        }
        #expect(progress.looksBesideSaves.load(ordering: .relaxed) > 0)
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == few + count)
    }

    /// Each question is of one version; the next may be of a later one.
    private static func look(_ context: ModelContext, _ few: Int, _ count: Int) throws {
        func check(_ found: Int) throws {
            try MixedWorkTests.check(found == few || found == few + count, "\(found) of \(few + count)")
        }
        try check(try context.fetchCount(FetchDescriptor<Note>()))
        try check(try context.fetchCount(FetchDescriptor<Note>(predicate: #Predicate { $0.amount >= 0 })))
        let (number, sum) = try context.aggregate(FetchDescriptor<Note>(), .count, .sum(\.amount))
        func total(_ count: Int) -> Double { Double(count) * Double(count - 1) / 2 }
        let sums = [few: total(few), few + count: total(few) + total(count)]
        try MixedWorkTests.check(sums[number] == sum, "\(number) with the sum \(sum)")
        let text = "note 7"
        var last = FetchDescriptor<Note>(
            predicate: #Predicate { $0.text == text }, sortBy: [SortDescriptor(\.amount, order: .reverse)])
        last.fetchLimit = 1
        let greatest = try context.fetch(last).first?.amount
        let expected = Double((count - 8) / 300 * 300 + 7)
        try MixedWorkTests.check(greatest == 7 || greatest == expected, "\(greatest ?? -1) as the greatest")
        // Batch 1 is there as a whole or not at all, through the index.
        let new = try context.fetchCount(FetchDescriptor<Note>(predicate: #Predicate { $0.batch == 1 }))
        try MixedWorkTests.check(new == 0 || new == count, "\(new) of \(count)")
    }

    /// Many saves of a few records, while contexts read, each record of a batch changed by a save of its own.
    @Test func contextsBesideManySavesSeeWholeBatches() async throws {
        let container = try Self.container()
        let (batchSize, saves) = (20, MixedWorkTests.Size.current.saves / 4)
        let progress = MixedWorkTests.Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { progress.isDone.store(true, ordering: .releasing) }
                let context = ModelContext(container)
                for batch in 0..<saves {
                    Self.insert(batchSize, batch: batch, into: context)
                    try context.save()
                    if batch % 3 == 2 {
                        try context.delete(model: Note.self, where: #Predicate { $0.batch == batch })
                        try context.save()
                    }
                    await Task.yield()
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    let context = ModelContext(container)
                    repeat {
                        #expect(try context.fetchCount(FetchDescriptor<Note>()) % batchSize == 0)
                        for (_, (count, sum)) in try context.aggregate(
                            FetchDescriptor<Note>(), by: \.batch, .count, .sum(\.amount))
                        {
                            #expect(count == batchSize && sum == Double(batchSize * (batchSize - 1) / 2))
                        }
                        progress.looks.add(1, ordering: .relaxed)
                        await Task.yield()
                    } while !progress.isDone.load(ordering: .acquiring)
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try ModelContext(container).fetchCount(FetchDescriptor<Note>()) == batchSize * (saves - saves / 3))
    }
}

/// Written by hand, since tests of the engine are built without macros.
final class Note: PersistentModel {
    var persistentBackingData: any BackingData<Note> = Note.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "batch", keypath: \Note.batch), .init(name: "amount", keypath: \Note.amount),
            .init(name: "text", keypath: \Note.text),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Note>([\.batch], [\.text])),
        ]
    }
    init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
    init(batch: Int, amount: Double, text: String) {
        self.batch = batch
        self.amount = amount
        self.text = text
    }

    var batch: Int {
        get { getValue(forKey: \.batch) }
        set { setValue(forKey: \.batch, to: newValue) }
    }
    var amount: Double {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
}
