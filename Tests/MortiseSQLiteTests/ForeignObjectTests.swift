#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// What other programs have made in a file goes through a migration that copies the records, or the migration is refused.
@Suite struct ForeignObjectTests {
    private let second = Schema.Version(2, 0, 0)
    private let size = StoredProperty(
        name: "size", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
    private let old = StoredProperty(
        name: "old", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))

    /// The property goes to another entity of the hierarchy: the records are copied.
    private func migrated(
        _ folder: TemporaryFolder, _ objects: [String], _ body: (SQLiteStore, any StoreMigration, Schema) throws -> Void
    ) throws {
        let before = [
            StoredEntity(name: "Base", properties: [old]),
            StoredEntity(name: "Sub", superentity: "Base", properties: [size]),
        ]
        let after = [
            StoredEntity(name: "Base", properties: [size]),
            StoredEntity(name: "Sub", superentity: "Base", properties: []),
        ]
        let store = try SQLiteStore.open(folder.path(), before)
        try store.insert("Sub", ["size": .integer(1)])
        try store.pool.writing { connection in for object in objects { try connection.run(object) } }
        try store.close()
        let schema = Schema(stored: StoredSchema(version: second, entities: after))
        let migration = try store.configuration.beginMigration(MigrationRequest(schemas: [schema]))
        defer { migration.abandon() }
        try body(store, migration, schema)
    }

    private func names(_ folder: TemporaryFolder) throws -> [String] {
        let connection = try SQLiteConnection(folder.path(), .readOnly, busyTimeout: .zero)
        var found: [String] = []
        try connection.run("SELECT m.name FROM sqlite_master m WHERE m.name GLOB 'other_*' ORDER BY m.name") {
            found.append($0.text(0) ?? "")
        }
        return found
    }

    /// They were gone.
    @Test func viewsIndexesAndTriggersStay() throws {
        let folder = try TemporaryFolder()
        let objects = [
            "CREATE VIEW other_sizes AS SELECT \"id\", \"size\" FROM \"Base\"",
            "CREATE INDEX other_size ON \"Base\" (\"size\")",
            "CREATE TRIGGER other_change AFTER UPDATE ON \"Base\" BEGIN SELECT 1; END",
        ]
        try migrated(folder, objects) { _, migration, schema in
            try migration.adapt(to: schema.stored)
            #expect(migration.isCopy)
            try migration.prepare(keepingCopy: false, atMost: 0)
            try migration.commit()
        }
        #expect(try names(folder) == ["other_change", "other_size", "other_sizes"])
        let later = try SQLiteStore.open(
            folder.path(),
            [
                StoredEntity(name: "Base", properties: [size]),
                StoredEntity(name: "Sub", superentity: "Base", properties: []),
            ], version: second)
        #expect(try later.values("Sub", "size") == [.integer(1)])
        var sizes: [Int64] = []
        try later.pool.reading { try $0.run("SELECT o.size FROM other_sizes o") { sizes.append($0.integer(0)) } }
        #expect(sizes == [1])
    }

    @Test func whatDoesNotFitIsRefusedByName() throws {
        let folder = try TemporaryFolder()
        try migrated(folder, ["CREATE INDEX other_old ON \"Base\" (old, size)"]) { _, migration, schema in
            try migration.adapt(to: schema.stored)
            let error = #expect(throws: SQLiteError.self) { try migration.prepare(keepingCopy: false, atMost: 0) }
            #expect(error?.description.contains("other_old") == true && error?.errorClass == .conflict)
        }
        #expect(try names(folder) == ["other_old"])
    }

    /// SQLite makes them without a look at what they name, and saves failed later.
    @Test(arguments: [
        "CREATE VIEW other_view AS SELECT old FROM \"Base\"",
        "CREATE TRIGGER other_trigger AFTER UPDATE ON \"Base\" WHEN new.old > 1 BEGIN SELECT 1; END",
    ])
    func viewsAndTriggersThatNameWhatIsGoneAreRefused(_ object: String) throws {
        let folder = try TemporaryFolder()
        try migrated(folder, [object]) { _, migration, schema in
            try migration.adapt(to: schema.stored)
            let error = #expect(throws: SQLiteError.self) { try migration.prepare(keepingCopy: false, atMost: 0) }
            #expect(error?.description.contains("other_") == true && error?.errorClass == .conflict)
        }
        #expect(try names(folder).count == 1)
    }

    /// They went with all that they held.
    @Test func tablesAreRefusedByName() throws {
        let folder = try TemporaryFolder()
        try migrated(folder, ["CREATE TABLE other_notes (text TEXT)"]) { _, migration, schema in
            let error = #expect(throws: SQLiteError.self) { try migration.adapt(to: schema.stored) }
            #expect(error?.description.contains("other_notes") == true && error?.errorClass == .conflict)
        }
        #expect(try names(folder) == ["other_notes"])
    }
}
#endif
