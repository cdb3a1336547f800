#if PostgreSQL
import Foundation
import MortiseCore
import SQLSupport
import Testing

@testable import MortisePostgreSQL

/// Marks, holders and stubs of a history on PostgreSQL.
@Suite(.enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct HistoryTests {
    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
    private let items = [entity("Item", [("name", .string)])]

    private func insert(_ names: String..., into store: PostgreSQLStore) throws {
        for name in names { try store.insert("Item", ["name": .string(name)]) }
    }

    private func transactions(of store: PostgreSQLStore) throws -> [DefaultHistoryTransaction] {
        try store.fetchHistory(Descriptor())
    }

    private func numbers(of store: PostgreSQLStore, after token: DefaultHistoryToken) throws -> [Int64] {
        try store.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).map(\.transactionIdentifier)
    }

    private func run(_ space: TestSpace, _ texts: String...) throws {
        try space.configuration().connected { connection in for text in texts { try connection.run(text) } }
    }

    @Test func everyTransactionHasAMarkThatItsTokensHave() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        let context = EditingState()
        let result = try store.save(
            DataStoreSaveChangesRequest(
                inserted: [store.snapshot("Item", ["name": .string("a")])], editingState: context))
        try insert("b", into: store)
        let found = try transactions(of: store)
        #expect(Set(found.compactMap { $0.token.marks[store.identifier] }).count == 2)
        let token = try #require(result.historyToken as? DefaultHistoryToken)
        #expect(token == found[0].token && token.marks == found[0].token.marks)
        let again = try #require(store.historyToken(ofVersion: 2) as? DefaultHistoryToken)
        #expect(again == found[1].token && again.marks == found[1].token.marks)
        // A save that changes nothing has made no transaction of its own.
        let empty = try store.save(DataStoreSaveChangesRequest<DefaultSnapshot>(editingState: context))
        #expect(try numbers(of: store, after: #require(empty.historyToken as? DefaultHistoryToken)) == [])
    }

    /// H5. Defect: the reader took what the restored store saved under the same numbers for what it had seen.
    @Test func aTokenFromAfterADumpExpiresWhenItIsRestored() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        try insert("a", "b", into: store)
        let dumped = try #require(try transactions(of: store).last).token
        let tables = ["mortise_store", "mortise_history", "mortise_saves", "\"Item\""]
        for table in tables {
            try run(space, "CREATE TABLE \(table.replacing("\"", with: ""))_dump AS SELECT * FROM \(table)")
        }
        try insert("c", "d", into: store)
        let seen = try #require(try transactions(of: store).last).token
        for table in tables {
            let dump = table.replacing("\"", with: "") + "_dump"
            try run(space, "DELETE FROM \(table)", "INSERT INTO \(table) SELECT * FROM \(dump)")
        }
        #expect(throws: SwiftDataError.historyTokenExpired) { try numbers(of: store, after: seen) }
        try insert("e", "f", "g", into: store)
        #expect(throws: SwiftDataError.historyTokenExpired) { try numbers(of: store, after: seen) }
        #expect(try numbers(of: store, after: dumped) == [3, 4, 5])
    }

    @Test func aHolderKeepsWhatItHasNotSeen() throws {
        let space = try TestSpace()
        let (store, other) = (try space.open(items), try space.open(items))
        try insert("a", "b", "c", into: store)
        let first = try transactions(of: store)[0].token
        let name = "sync\u{0}é"
        try other.updateHistoryHolders { $0 = [HistoryHolder(name, token: first, maximumLag: 9)] }
        let holders = try store.historyHolders()
        #expect(holders.map(\.name) == [name] && holders.map(\.token.marks) == [first.marks])
        #expect(throws: HistoryHeld(store: store.historyLocation, holders: [name])) {
            try store.deleteHistory(Descriptor())
        }
        #expect(try transactions(of: store).count == 3)
        try store.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= first }))
        #expect(try numbers(of: store, after: first) == [2, 3])
        // Nothing is changed where the body throws.
        #expect(throws: CancellationError.self) {
            try store.updateHistoryHolders { holders in
                holders = []
                throw CancellationError()
            }
        }
        #expect(try store.deleteTransactions(matching: Descriptor(), forced: true) == 2)
        #expect(try other.historyHolders().map(\.state) == [.lost])
        let reader = try space.open(items) { $0 = $0.readOnly() }
        #expect(try reader.historyHolders().count == 1)
        #expect(throws: PostgreSQLError.self) { try reader.updateHistoryHolders { $0 = [] } }
        #expect(try store.historyHolders().count == 1)
    }

    /// Defect: what was deleted in the middle let every token from before it expire, also for who would not have asked for it.
    @Test func aStubStaysOfWhatIsDeletedInTheMiddle() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        for author in ["app", "import", "app", "import", "app"] {
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: [store.snapshot("Item", ["name": .string(author)])],
                    editingState: EditingState(author: author)))
        }
        let first = try transactions(of: store)[0].token
        try store.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "import" }))
        let app = Descriptor(predicate: #Predicate { $0.token > first && $0.author == "app" })
        #expect(try store.fetchHistory(app).map(\.transactionIdentifier) == [3, 5])
        #expect(throws: SwiftDataError.historyTokenExpired) { try numbers(of: store, after: first) }
        #expect(try store.storedTransactions(after: 0, last: nil)?.compactMap { $0.commit?.number } == [1, 3, 5])
        let status = try store.historyStatus()
        #expect(status.transactions == 3 && status.holes == 2 && status.horizon == 0 && status.last == 5)
        // The next prefix takes the stubs along.
        let third: Int64 = 3
        try store.deleteHistory(Descriptor(predicate: #Predicate { $0.transactionIdentifier <= third }))
        #expect(try store.historyStatus().horizon == 4)
        try store.erase()
        #expect(try store.historyBounds().erasure == 6)
        try insert("after", into: store)
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try numbers(of: store, after: DefaultHistoryToken([store.identifier: 5]))
        }
    }

    /// A store whose history has no marks, as earlier versions of this library made it, and a program of that version that still saves.
    @Test func tablesOfEarlierVersionsGetWhatTheyLack() throws {
        let space = try TestSpace()
        let old = try space.open(items)
        try insert("a", "b", into: old)
        try old.erase()
        try insert("c", into: old)
        try old.close()
        try run(
            space, "DELETE FROM mortise_history WHERE n = 1", "DROP TABLE mortise_holder",
            "ALTER TABLE mortise_history DROP COLUMN kind, DROP COLUMN mark",
            "ALTER TABLE mortise_store DROP COLUMN horizon, DROP COLUMN \"horizonMark\", DROP COLUMN erasure")
        #expect(throws: PostgreSQLError(try space.configuration().location, .olderFormat)) {
            try space.open(items) { $0 = $0.readOnly() }
        }
        let store = try space.open(items)
        let bounds = try store.historyBounds()
        #expect(bounds.horizon == 1 && bounds.erasure == 3 && bounds.last == 4)
        // As a program of that version writes it.
        try run(
            space, "INSERT INTO mortise_history VALUES (5, 0, NULL, '', '', '\\x010100000000')",
            "UPDATE mortise_store SET \"lastTransaction\" = 5")
        try insert("d", into: store)
        var entries: [HistoryEntry] = []
        try store.readHistory(1...9, from: nil) { entry, _ in
            entries.append(entry)
            return true
        }
        #expect(entries.map(\.number) == [2, 3, 4, 5, 6])
        #expect(entries.map(\.kind) == [.changes, .erasure, .changes, .erasure, .changes])
        #expect(Set(entries.map(\.mark)).count == 5 && !entries.contains { $0.mark == nil })
        try store.updateHistoryHolders { $0 = [] }
        try space.open(items).close()
        #expect(try space.open(items) { $0 = $0.readOnly() }.values("Item", "name") == [.string("c"), .string("d")])
    }

    /// H36: numbers are in the order of the commits, so that nothing comes behind a token that a reader has.
    @Test func aTransactionThatTakesLongComesBeforeLaterNumbers() throws {
        let space = try TestSpace()
        let store = try space.open(items, "&lockTimeout=10s")
        try insert("first", into: store)
        var seen = try #require(try transactions(of: store).last).token
        let hasNumber = DispatchSemaphore(value: 0)
        let isDone = DispatchGroup()
        let configuration = try space.configuration()
        // What a save of another process does, with a while between its number and its commit.
        DispatchQueue.global().async(group: isDone) {
            defer { hasNumber.signal() }
            try? configuration.connected { connection in
                try connection.run("BEGIN")
                try connection.run("UPDATE mortise_store SET \"lastTransaction\" = \"lastTransaction\" + 1")
                try connection.run(
                    "INSERT INTO mortise_history VALUES (2, 0, NULL, 'slow', '', '\\x010000000000')")
                hasNumber.signal()
                Thread.sleep(forTimeInterval: 0.3)
                try connection.run("COMMIT")
            }
        }
        hasNumber.wait()
        var found: [DefaultHistoryTransaction] = []
        for number in 0..<20 {
            try insert("\(number)", into: store)
            let token = seen
            let new = try store.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
            found += new
            seen = new.last?.token ?? seen
        }
        isDone.wait()
        #expect(found.map(\.transactionIdentifier) == Array(2...22))
        #expect(found.first?.processIdentifier == "slow")
    }
}
#endif
