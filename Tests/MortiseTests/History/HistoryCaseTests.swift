import Foundation
import Mortise
import PackageTestSupport
import Synchronization
import Testing

private enum BeforeHues {
    enum Tint: String, Codable { case red, violet }

    @Model final class Medal {
        @Attribute(.preserveValueOnDeletion) var tint: Tint
        @Attribute(.preserveValueOnDeletion) var name: String

        init(_ tint: Tint, _ name: String) { (self.tint, self.name) = (tint, name) }
    }
}

private enum AfterHues {
    enum Tint: String, Codable { case red }

    @Model final class Medal {
        @Attribute(.preserveValueOnDeletion) var tint: Tint
        @Attribute(.preserveValueOnDeletion) var name: String

        init(_ tint: Tint, _ name: String) { (self.tint, self.name) = (tint, name) }
    }
}

/// What a reader of the history meets in the life of a store: backups that come back, holders that are forgotten, others that advance
/// them, and models that have changed.
@Suite struct HistoryCaseTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// H5: the store gives the numbers again that the reader has seen.
    @Test(arguments: [HistoryStore.json, .log]) func aTokenFromAfterABackupExpiresWhenItIsRestored(
        _ store: HistoryStore
    ) throws {
        var container = try store.container(folder)
        var context = ModelContext(container)
        for number in 0..<10 { try context.saveParcels(by: "\(number)") }
        let backedUp = try #require(try context.history().last).token
        let backup = folder.path("backup")
        try container.backUp(to: backup)
        for number in 0..<5 { try context.saveParcels(by: "lost \(number)") }
        let seen = try #require(try context.history().last).token
        try container.close()
        try container.restore(from: backup, replacing: true)
        container = try store.container(folder)
        context = ModelContext(container)
        // The numbers are not enough yet.
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: seen) }
        for number in 0..<8 { try context.saveParcels(by: "new \(number)") }
        // Now the store has a transaction of that number: another one.
        #expect(try context.history().count == 18)
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: seen) }
        #expect(try context.authors(after: backedUp) == (0..<8).map { "new \($0)" })
        try container.close()
    }

    /// H13: nobody advances the holder, and the history stays within its lag.
    @Test func anAbandonedHolderDoesNotFillTheMemory() throws {
        let most: Int64 = 100_000
        let container = try ModelContainer(
            for: Schema([Parcel.self, Storehouse.self]),
            configurations: [InMemoryConfiguration(history: HistoryRetention(transactions: 10))])
        let context = ModelContext(container)
        try context.saveParcels(by: "a")
        let seen = try container.holdHistory("abandoned", maximumLag: most).token
        var largest: Int64 = 0
        for number in 0..<10_000 {
            context.insert(Parcel("\(number)"))
            try context.save()
            if number % 100 == 0 { largest = max(largest, try container.historyStatus().first?.bytes ?? 0) }
        }
        // It was held for as long as that was allowed.
        #expect(largest > most / 2 && largest < most * 2, "\(largest)")
        #expect(try container.historyHolders.map(\.state) == [.lost])
        #expect(throws: HistoryHolderError.lost(name: "abandoned")) {
            try container.advanceHistory("abandoned", to: seen)
        }
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: seen) }
        #expect(try context.history().count <= 20)
    }

    /// A holder that still holds keeps one that is too far behind from being lost: nothing that it needs is gone.
    @Test func nobodyIsLostWhereAnotherHolds() throws {
        let container = try ModelContainer(
            for: Schema([Parcel.self, Storehouse.self]),
            configurations: [InMemoryConfiguration(history: HistoryRetention(transactions: 2))])
        let context = ModelContext(container)
        try context.saveParcels(by: "a")
        try container.holdHistory("lazy", maximumLag: 1)
        try container.holdHistory("steady")
        for number in 0..<20 { try context.saveParcels(by: "\(number)") }
        #expect(try container.historyHolders.map(\.state) == [.active, .active])
        #expect(try context.history().count == 20)
        try container.releaseHistory("steady")
        try context.saveParcels(by: "last")
        #expect(try container.historyHolders.map(\.state) == [.lost])
    }

    /// H14: the largest token counts, in whatever order they come.
    @Test(arguments: HistoryStore.allCases) func advancingAtOnceEndsWithTheLatest(_ store: HistoryStore) throws {
        let container = try store.container(folder)
        let context = ModelContext(container)
        for number in 0..<24 { try context.saveParcels(by: "\(number)") }
        let tokens = try context.history().map(\.token)
        try container.holdHistory("sync", after: tokens[0])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for place in stride(from: tokens.count - 1 - thread, through: 0, by: -4) {
                do { try container.advanceHistory("sync", to: tokens[place]) } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try container.historyHolders.map(\.token) == [tokens[23]])
        #expect(try container.historyHolders.map(\.token.marks) == [tokens[23].marks])
    }

    /// H25: a case that the enum no longer has.
    @Test(arguments: [HistoryStore.json, .log]) func anUnknownCaseIsMissingInATombstone(_ store: HistoryStore) throws {
        var container = try ModelContainer(
            for: Schema([BeforeHues.Medal.self]), configurations: [store.configuration(folder)])
        var context = ModelContext(container)
        let medals = [BeforeHues.Medal(.violet, "first"), BeforeHues.Medal(.red, "second")]
        for medal in medals { context.insert(medal) }
        try context.save()
        for medal in medals { context.delete(medal) }
        try context.save()
        try container.close()
        container = try ModelContainer(
            for: Schema([AfterHues.Medal.self]), configurations: [store.configuration(folder)])
        context = ModelContext(container)
        let deletions = try #require(try context.history().last).changes.compactMap { change in
            if case .delete(let deletion) = change { deletion as? DefaultHistoryDelete<AfterHues.Medal> } else { nil }
        }
        #expect(deletions.map { $0.tombstone[\.name] as? String } == ["first", "second"])
        #expect(deletions.map { $0.tombstone[\.tint] as? AfterHues.Tint } == [nil, .red])
        #expect(deletions.map { Array($0.tombstone).count } == [1, 2])
        // What is stored has it.
        var tints: [StoredValue?] = []
        func read(_ transaction: ChangeSet) -> Bool {
            for deletion in transaction.deleted {
                let slot = deletion.layout.slot(named: "tint")
                tints.append(slot.flatMap { deletion.values.indices.contains($0) ? deletion.values[$0] : nil })
            }
            return true
        }
        if store == .json {
            _ = try container.store(JSONFileStore.self)?.readStoredTransactions(after: 1, withValues: true, read)
        } else {
            _ = try container.store(AppendLogStore.self)?.readStoredTransactions(after: 1, withValues: true, read)
        }
        #expect(tints == [.string("violet"), .string("red")])
        try container.close()
    }
}
