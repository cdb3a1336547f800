import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

struct LogHistoryTests {
    @Test func everySaveIsATransactionWithItsChangesInOrder() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        try withLog(logConfiguration(disk)) { context in
            context.author = "Ada"
            let item = try #require(try context.fetch(FetchDescriptor<Item>()).first)
            item.name = "by Ada"
            item.tags = ["z"]
            try context.save()
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            #expect(history.map(\.transactionIdentifier) == [1, 2, 3, 4, 5])
            #expect(history.map(\.author) == [nil, nil, nil, nil, "Ada"])
            #expect(history.map(\.changes.count) == [4, 1, 2, 2, 1])
            #expect(history.map(\.token) == history.map(\.token).sorted())
            guard case .insert(let first) = history[0].changes[0] else { return #expect(Bool(false)) }
            #expect(first is DefaultHistoryInsert<Box>)
            guard case .update(let update) = history[4].changes[0], let update = update as? DefaultHistoryUpdate<Item>
            else { return #expect(Bool(false)) }
            #expect(update.changedPersistentIdentifier == item.persistentModelID)
            let updated: [PartialKeyPath<Item>] = update.updatedAttributes.map { $0 }
            #expect(updated == [\Item.name, \Item.tags])
        }
    }

    @Test func preservedValuesOfDeletedRecordsAreInTheTombstone() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        try withLog(logConfiguration(disk)) { context in
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            let deletions = history[2].changes.compactMap { change in
                if case .delete(let delete) = change { delete as? DefaultHistoryDelete<Item> } else { nil }
            }
            #expect(deletions.count == 1)
            #expect(deletions.first?.tombstone[\.name] as? String == "item 1")
            #expect(deletions.first?.tombstone[\.count] == nil)
        }
    }

    @Test func predicateLimitAndOrderAreFollowed() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        try withLog(logConfiguration(disk)) { context in
            let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            let token = all[1].token
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
            #expect(try context.fetchHistory(descriptor).count == 2)
            descriptor.fetchLimit = 1
            #expect(try context.fetchHistory(descriptor) == [all[2]])
            descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
            #expect(try context.fetchHistory(descriptor) == [all[3]])
        }
    }

    @Test func deletedHistoryIsGoneAndTheRecordsStay() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        try withLog(logConfiguration(disk)) { context in
            try context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.transactionIdentifier == 2 }))
            #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 3)
            context.insert(Box("more"))
            try context.save()
        }
        try withLog(logConfiguration(disk)) { context in
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            #expect(history.map(\.transactionIdentifier) == [1, 3, 4, 5])
            #expect(try contents(context).count == (states.last?.count ?? 0) + 1)
        }
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }
}
