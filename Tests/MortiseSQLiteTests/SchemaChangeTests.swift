#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// What becomes of records when a file is opened with another schema.
@Suite struct SchemaChangeTests {
    private let item = entity("Item", [("name", .string), ("size", .int64)])
    private let box = entity("Box", [("size", .int64)])

    /// The file was opened, and the records were there again with the next schema that had the entity, though other stores drop them.
    @Test func recordsThatTheSchemaLacksAreRefusedAtAnEqualVersion() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [item, box])
        try store.insert("Box", ["size": .integer(1)])
        try store.insert("Item", ["name": .string("a")])
        try store.close()
        let error = #expect(throws: MigrationError.self) { try SQLiteStore.open(folder.path(), [item]) }
        guard case .unnamedEntities(_, _, let entities)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(entities == [SchemaLoss.Entity(name: "Box", records: 1)])
        let whole = try SQLiteStore.open(folder.path(), [item, box])
        #expect(try whole.values("Box", "size").map(\.description) == ["1"])
        try whole.close()
        let narrow = try SQLiteStore.open(folder.path(), [item]) { $0.dropping = ["Box"] }
        #expect(try narrow.values("Item", "name").map(\.description) == ["\"a\""])
        try narrow.close()
        let later = try SQLiteStore.open(folder.path(), [item, box])
        #expect(try later.records(StoreQuery("Box")).isEmpty)
        try later.insert("Box", ["size": .integer(2)])
        #expect(try later.values("Box", "size").map(\.description) == ["2"])
        try later.close()
        #expect(try later.configuration.verifyStore().problems == [])
    }

    @Test func aPropertyThatComesBackHasNoValues() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [item])
        try store.insert("Item", ["name": .string("a"), "size": .integer(1)])
        try store.close()
        let narrow = [entity("Item", [("name", .string)])]
        try SQLiteStore.open(folder.path(), narrow, version: Schema.Version(2, 0, 0)).close()
        let later = try SQLiteStore.open(folder.path(), [item], version: Schema.Version(3, 0, 0))
        #expect(try later.values("Item", "size") == [.null])
        try later.insert("Item", ["name": .string("b"), "size": .integer(2)])
        #expect(try later.values("Item", "size") == [.null, .integer(2)])
    }

    /// A program that does not know a property took its values away from one of the same version that does.
    @Test func programsOfOneVersionOpenTheStoreInTurn() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [item])
        try store.insert("Item", ["name": .string("a"), "size": .integer(1)])
        try store.close()
        let narrow = try SQLiteStore.open(folder.path(), [entity("Item", [("name", .string)])])
        #expect(narrow.schemaLoss?.properties == [.init(entity: "Item", name: "size", values: 1)])
        try narrow.insert("Item", ["name": .string("b")])
        try narrow.close()
        let wide = try SQLiteStore.open(folder.path(), [item])
        #expect(try wide.values("Item", "size") == [.integer(1), .null])
    }
}
#endif
