#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import Testing

/// The history of a store on SQLite as change sets.
@Suite struct ChangeSetHistoryTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64)])]

    @Test func theHistoryHasTheNamesOfWhatChangedAndNoValues() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        let record = try store.insert("Item", ["name": .string("x"), "size": .integer(1)])[0]
        try store.update(record, ["size": .integer(2)], version: 1)
        var found: [(number: Int64, changes: ChangeSet)] = []
        try store.readChangeSets(1...9) { entry, changes in
            found.append((entry.number, try changes()))
            return true
        }
        #expect(found.map(\.number) == [1, 2])
        #expect(Array(found[0].changes.inserted.records) == [record] && !found[0].changes.inserted.hasValues)
        let update = try #require(found[1].changes.updated.first)
        #expect(update.record == record && update.properties.contains("size") && update.values.isEmpty)
        var count = 0
        try store.readChangeSets(1...9) { _, _ in
            count += 1
            return false
        }
        #expect(count == 1)
        try store.readChangeSets(2...2) { entry, _ in
            #expect(entry.number == 2)
            return true
        }
    }

    /// Bug: it was said to be closed.
    @Test func aStoreThatIsOpenForReadingOnlySaysSo() throws {
        typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("x")])
        let reader = try SQLiteStore.open(folder.path(), entities) {
            $0 = SQLiteConfiguration("reader", path: $0.path, allowsSave: false)
        }
        #expect(try reader.fetchHistory(Descriptor()).count == 1)
        #expect(throws: ModelContextError.readOnly(configuration: "reader")) {
            try reader.deleteHistory(Descriptor())
        }
        #expect(throws: ModelContextError.readOnly(configuration: "reader")) {
            try reader.updateHistoryHolders { _ in }
        }
        #expect(try reader.historyHolders().isEmpty)
        #expect(try store.fetchHistory(Descriptor()).count == 1)
    }

    @Test func timesAndNumbersLeaveOutWhatCannotMatch() throws {
        typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        for number in 0..<4 { try store.insert("Item", ["name": .string("\(number)")]) }
        let connection = try SQLiteConnection(folder.path(), .readWrite, busyTimeout: .seconds(5))
        // The clock was set back before the third one.
        for (number, time) in [(1, 100.0), (2, 300.0), (3, 200.0), (4, 250.0)] {
            try connection.run("UPDATE mortise_history SET at = ? WHERE n = ?", [.real(time), .integer(Int64(number))])
        }
        connection.close()
        func numbers(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> [Int64] {
            try store.fetchHistory(Descriptor(predicate: predicate)).map(\.transactionIdentifier)
        }
        let time = Date(timeIntervalSinceReferenceDate: 250)
        let first = DefaultHistoryToken([store.identifier: 1])
        #expect(try numbers(#Predicate { $0.timestamp > time }) == [2])
        #expect(try numbers(#Predicate { $0.timestamp >= time }) == [2, 4])
        #expect(try numbers(#Predicate { $0.token > first && $0.timestamp >= time }) == [2, 4])
        #expect(try numbers(#Predicate { $0.timestamp < time }) == [1, 3])
        #expect(try numbers(#Predicate { $0.timestamp > time && $0.transactionIdentifier > 2 }) == [])
    }
}
#endif
