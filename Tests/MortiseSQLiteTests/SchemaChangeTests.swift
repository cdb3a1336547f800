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

    /// The column of the target's entity was there already, and stayed empty for what was saved while there was but one.
    @Test func referencesAreFoundAfterAHierarchyHasBecomeSmallerAndLarger() throws {
        let folder = try TemporaryFolder()
        let base = StoredEntity(name: "Base", properties: [])
        let owner = StoredEntity(
            name: "Owner",
            properties: [
                StoredProperty(
                    name: "one", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Base", isToMany: false)))
            ])
        func sub(_ name: String) -> StoredEntity { StoredEntity(name: name, superentity: "Base", properties: []) }
        try SQLiteStore.open(folder.path(), [base, sub("Sub"), owner]).close()
        let store = try SQLiteStore.open(folder.path(), [base, owner], version: Schema.Version(2, 0, 0))
        let target = try store.insert("Base", [:])[0]
        try store.insert("Owner", ["one": .identifier(target)], [:])
        try store.close()
        let later = try SQLiteStore.open(
            folder.path(), [base, sub("Other"), owner], version: Schema.Version(3, 0, 0))
        #expect(try later.values("Owner", "one") == [.identifier(target), .null])
        var entities: [Int64] = []
        try later.pool.reading { connection in
            try connection.run("SELECT coalesce(o.one__ent, 0) FROM Owner o ORDER BY o.id") {
                entities.append($0.integer(0))
            }
        }
        #expect(entities == [Int64(later.mapping.entities["Base"]?.number ?? 0), 0])
        let condition = QueryExpression.compare(
            .equal, later.property("Owner", "one"), .constant(.identifier(target)))
        #expect(try later.records(StoreQuery("Owner", conjuncts: [condition])).count == 1)
    }

    /// Each opening by the program that knows less made a whole copy, which stayed.
    @Test func programsOfOneVersionLeaveOneCopy() throws {
        let folder = try TemporaryFolder()
        let narrow = [entity("Item", [("name", .string)])]
        func copies() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
                .filter { $0.contains("before") }.sorted()
        }
        for number in 1...3 {
            let wide = try SQLiteStore.open(folder.path(), [item])
            try wide.insert("Item", ["name": .string("a"), "size": .integer(Int64(number))])
            try wide.close()
            try SQLiteStore.open(folder.path(), narrow).close()
            #expect(try copies() == ["store.sqlite.before-opening-\(number)"])
        }
        let copy = try SQLiteStore.open(folder.path("store.sqlite.before-opening-3"), [item]) { $0 = $0.readOnly() }
        #expect(try copy.values("Item", "size") == [.integer(1), .integer(2), .integer(3)])
    }
}
#endif
