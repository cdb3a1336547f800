#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import Testing

/// With `pinsReads` all plans of one scope are answered from one state of the file.
@Suite struct PinnedReadTests {
    private let folder: TemporaryFolder
    private let entities = [entity("Item", [("n", .int64)])]

    init() throws { folder = try TemporaryFolder() }

    private func open(pins: Bool = true) throws -> SQLiteStore {
        try SQLiteStore.open(folder.path(), entities) { $0.pinsReads = pins }
    }

    private func numbers(_ store: SQLiteStore, _ scope: ReadScope?) throws -> [StoredValue] {
        var plan = store.plan(StoreQuery("Item"))
        plan.scope = scope
        return try store.rows(for: plan).snapshots.compactMap { $0[property: "n"] }
    }

    @Test func aScopeKeepsItsStateUntilTheNextOneOrTheEndOfItsContext() throws {
        let (store, other) = (try open(), try open(pins: false))
        let state = EditingState()
        try store.insert("Item", ["n": .integer(1)])
        let first = ReadScope(context: state.id, number: 1)
        #expect(try numbers(store, first) == [.integer(1)])
        try other.insert("Item", ["n": .integer(2)])
        try store.insert("Item", ["n": .integer(3)])
        #expect(try numbers(store, first) == [.integer(1)])
        let all: [StoredValue] = [.integer(1), .integer(2), .integer(3)]
        #expect(try numbers(store, nil) == all)
        #expect(try numbers(store, ReadScope(context: UUID(), number: 1)) == all)
        #expect(try numbers(store, ReadScope(context: state.id, number: 2)) == all)
        try other.insert("Item", ["n": .integer(4)])
        store.invalidateState(for: state)
        #expect(try numbers(store, ReadScope(context: state.id, number: 2)) == all + [.integer(4)])
    }

    @Test(arguments: [false, true]) func aCursorOutlivesItsScope(isSorted: Bool) throws {
        let (store, other) = (try open(), try open(pins: false))
        for n in 1...4 { try store.insert("Item", ["n": .integer(Int64(n))]) }
        let context = UUID()
        var query = StoreQuery("Item")
        if isSorted { query.order = [StoreQuery.Order(store.property("Item", "n"), isAscending: false)] }
        var plan = store.plan(query)
        plan.scope = ReadScope(context: context, number: 1)
        let cursor = try store.cursor(for: plan)
        var found = try cursor.next(atMost: 1)
        for record in try other.records(StoreQuery("Item")) {
            try other.update(record.persistentIdentifier, ["n": .integer(0)], version: record.recordVersion)
        }
        #expect(try numbers(store, ReadScope(context: context, number: 2)) == Array(repeating: .integer(0), count: 4))
        while case let portion = try cursor.next(atMost: 2), !portion.isEmpty { found += portion }
        let values = found.compactMap { $0[property: "n"] }
        #expect(values == (isSorted ? [4, 3, 2, 1] : [1, 2, 3, 4]).map { .integer($0) })
    }

    @Test func onlyAStoreThatPinsClaimsIt() throws {
        #expect(try open().capabilities.contains(.readConsistency))
        #expect(try !open(pins: false).capabilities.contains(.readConsistency))
        let configuration = SQLiteConfiguration(path: folder.path())
        #expect(configuration.readOnly().pinsReads && !configuration.following().pinsReads)
    }

    @Test func aClosedStoreGivesUpItsStates() throws {
        let store = try open()
        try store.insert("Item", ["n": .integer(1)])
        let scope = ReadScope(context: UUID(), number: 1)
        _ = try numbers(store, scope)
        try store.close()
        #expect(throws: SQLiteError.self) { try numbers(store, scope) }
        // Nobody holds the file any more: the last connection that closes takes the log away.
        #expect(!FileManager.default.fileExists(atPath: folder.path("store.sqlite-wal")))
    }
}
#endif
