#if SQLite
import Foundation
import MortiseCore
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
}
#endif
