#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// A file whose history has no marks, as earlier versions of this library made it.
@Suite struct OlderTablesTests {
    private let entities = [entity("Item", [("name", .string)])]

    /// A file with an insertion, an erasure and another insertion, of which the first transaction is forgotten.
    private func make(_ folder: TemporaryFolder) throws {
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("gone")])
        try store.insert("Item", ["name": .string("gone")])
        try store.erase()
        try store.insert("Item", ["name": .string("a")])
        try store.close()
        let connection = try SQLiteConnection(folder.path(), .readWrite, busyTimeout: .zero)
        defer { connection.close() }
        for text in [
            "DELETE FROM mortise_history WHERE n = 1", "DROP TABLE mortise_holder",
            "ALTER TABLE mortise_history DROP COLUMN kind", "ALTER TABLE mortise_history DROP COLUMN mark",
            "ALTER TABLE mortise_store DROP COLUMN horizon", "ALTER TABLE mortise_store DROP COLUMN horizonMark",
            "ALTER TABLE mortise_store DROP COLUMN erasure",
        ] {
            try connection.run(text)
        }
    }

    /// Every save failed with an error of SQLite.
    @Test func aWriterBringsThemToThePresentForm() throws {
        let folder = try TemporaryFolder()
        try make(folder)
        #expect(throws: SQLiteError(folder.path(), .olderFormat)) {
            try SQLiteStore.open(folder.path(), entities) { $0 = $0.readOnly() }
        }
        for _ in 0..<2 { try SQLiteStore.open(folder.path(), entities).close() }
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("b")])
        let bounds = try store.historyBounds()
        #expect(bounds.horizon == 1 && bounds.last == 5 && bounds.erasure == 3)
        #expect(try store.storedTransactions(after: 0, last: nil)?.compactMap { $0.commit?.number } == [2, 3, 4, 5])
        var kinds: [HistoryEntry.Kind] = []
        var marks: Set<UInt64> = []
        try store.readHistory(1...9, from: nil) { entry, _ in
            kinds.append(entry.kind)
            marks.insert(entry.mark ?? 0)
            return true
        }
        #expect(kinds == [.changes, .erasure, .changes, .changes] && marks.count == 4)
        try store.updateHistoryHolders { $0 = [] }
        try store.close()
        let reader = try SQLiteStore.open(folder.path(), entities) { $0 = $0.readOnly() }
        #expect(try reader.values("Item", "name") == [.string("a"), .string("b")])
        #expect(try store.configuration.verifyStore().problems == [])
    }
}
#endif
