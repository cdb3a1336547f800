import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// A version that nobody reads goes, if not at once then with the next save.
struct VersionLifetimeTests {
    private func insert(_ labels: [String], into store: AppendLogStore) throws -> [PersistentIdentifier] {
        let layout = try #require(store.engine.catalog.layouts["Box"])
        let snapshots = labels.map { label in
            DefaultSnapshot(
                persistentIdentifier: Box(label).persistentModelID, layout: layout,
                values: [.string(label), .identifiers([])])
        }
        let result = try store.save(DataStoreSaveChangesRequest(inserted: snapshots, editingState: EditingState()))
        return Array(result.remappedIdentifiers.values)
    }

    private func delete(_ identifiers: [PersistentIdentifier], from store: AppendLogStore) throws {
        let layout = try #require(store.engine.catalog.layouts["Box"])
        let snapshots = identifiers.map {
            DefaultSnapshot(persistentIdentifier: $0, layout: layout, values: [.null, .null])
        }
        _ = try store.save(DataStoreSaveChangesRequest(deleted: snapshots, editingState: EditingState()))
    }

    @Test func theNextSaveLetsGoOfTheVersionBeforeTheLatest() throws {
        let store = try openStore(logConfiguration(try makeDisk()))
        for label in ["a", "b"] { _ = try insert([label], into: store) }
        weak let old = store.engine.version
        for label in ["c", "d"] { _ = try insert([label], into: store) }
        #expect(old == nil)
        try store.close()
    }

    /// What it had may be large.
    @Test func aDeletionLetsGoAtOnce() throws {
        let store = try openStore(logConfiguration(try makeDisk()))
        let all = try insert((0..<300).map { "\($0)" }, into: store)
        weak let first = store.engine.version
        _ = try insert(["later"], into: store)
        weak let second = store.engine.version
        try delete(all, from: store)
        #expect(first == nil && second == nil)
        try store.close()
    }

    /// The last chunk of a table is copied with all that it has.
    @Test func aVersionWithLongValuesIsNotKept() throws {
        let store = try openStore(logConfiguration(try makeDisk()))
        _ = try insert([String(repeating: "x", count: 2 << 20)], into: store)
        weak let old = store.engine.version
        _ = try insert(["short"], into: store)
        #expect(old == nil)
        try store.close()
    }

    @Test func closingLetsGoOfAllButTheLatest() throws {
        let store = try openStore(logConfiguration(try makeDisk()))
        _ = try insert(["a"], into: store)
        weak let old = store.engine.version
        _ = try insert(["b"], into: store)
        try store.close()
        #expect(old == nil)
        #expect(store.engine.version.number == 2)
    }
}
