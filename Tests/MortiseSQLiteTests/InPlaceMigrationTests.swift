#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// A migration without code changes the file itself; only code needs a copy.
@Suite struct InPlaceMigrationTests {
    private let wide = [entity("Item", [("name", .string), ("size", .int64)])]
    private let narrow = [entity("Item", [("name", .string), ("note", .string)])]
    private let second = Schema.Version(2, 0, 0)

    private func filled(_ folder: TemporaryFolder) throws -> SQLiteStore {
        let store = try SQLiteStore.open(folder.path(), wide)
        try store.insert("Item", ["name": .string("a"), "size": .integer(1)])
        try store.insert("Item", ["name": .string("b")])
        try store.close()
        return store
    }

    private func schema(_ entities: [StoredEntity]) -> Schema {
        Schema(stored: StoredSchema(version: second, entities: entities))
    }

    private func begin(_ store: SQLiteStore, _ schema: Schema) throws -> any StoreMigration {
        try store.configuration.beginMigration(MigrationRequest(schemas: [schema]))
    }

    private func files(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false)).filter {
            !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }.sorted()
    }

    /// The whole file was copied, and all tokens expired.
    @Test func historyAndTokensStay() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let before = try SQLiteStore.open(folder.path(), wide)
        let token = try #require(before.historyToken(ofVersion: 1) as? DefaultHistoryToken)
        try before.close()
        let migration = try begin(store, schema(narrow))
        #expect(try migration.count(ofEntity: "Item") == 2)
        #expect(store.configuration.migrationUnderWay()?.to == second)
        #expect(throws: SQLiteError(folder.path(), .inUse)) { try SQLiteStore.open(folder.path(), wide) }
        let loss = try migration.adapt(to: schema(narrow).stored)
        #expect(loss.properties == [.init(entity: "Item", name: "size", values: 1)])
        try migration.prepare(keepingCopy: false, atMost: nil)
        #expect(!migration.isCopy && migration.keepsIdentifiers)
        try migration.commit()
        #expect(store.configuration.migrationUnderWay() == nil)
        #expect(store.configuration.newestCopy() == folder.path("store.sqlite.before-migration-1"))
        #expect((migration as? SQLiteMigration)?.copyLocation == store.configuration.newestCopy())
        let names = ["store.sqlite", "store.sqlite-lock", "store.sqlite.before-migration-1"]
        #expect(try files(folder) == names)
        let later = try SQLiteStore.open(folder.path(), narrow, version: second)
        #expect(later.schemaLoss == nil)
        #expect(try later.values("Item", "name") == [.string("a"), .string("b")])
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        descriptor.predicate = #Predicate { $0.token > token }
        #expect(try later.fetchHistory(descriptor).map(\.transactionIdentifier) == [2])
        #expect(try later.storedTransactions(after: 0, last: nil)?.count == 2)
    }

    @Test func whatIsAbandonedLeavesTheFileAsItWas() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        for isPrepared in [false, true] {
            let migration = try begin(store, schema(narrow))
            try migration.adapt(to: schema(narrow).stored)
            if isPrepared { try migration.prepare(keepingCopy: true, atMost: nil) }
            migration.abandon()
        }
        #expect(try files(folder) == ["store.sqlite", "store.sqlite-lock"])
        let same = try SQLiteStore.open(folder.path(), wide)
        #expect(try same.values("Item", "size") == [.integer(1), .null])
    }

    /// Defect: taking the lock removed what the process before had left, before it was read: every attempt was the first.
    @Test func attemptsWhoseProcessesDiedAreCounted() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let advice = URL(fileURLWithPath: folder.path() + ".mortise-migration")
        for attempt in 1...2 {
            let migration = try begin(store, schema(narrow))
            #expect(store.configuration.migrationUnderWay()?.attempt == attempt)
            let left = try Data(contentsOf: advice)
            migration.abandon()
            // As a process leaves it that dies.
            try left.write(to: advice)
        }
        let refusal = MigrationError.attemptsDied(
            store: store.configuration.name, from: Schema.Version(1, 0, 0), to: second, attempts: 2)
        #expect(throws: refusal) { try begin(store, schema(narrow)) }
        let migration = try begin(store, schema(narrow))
        #expect(store.configuration.migrationUnderWay()?.attempt == 1)
        migration.abandon()
    }

    @Test func whatTablesCannotBeBroughtToIsCopied() throws {
        let folder = try TemporaryFolder()
        let sub = StoredEntity(name: "Sub", superentity: "Base", properties: [])
        let property = StoredProperty(
            name: "size", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
        let before = [
            StoredEntity(name: "Base", properties: []),
            StoredEntity(name: "Sub", superentity: "Base", properties: [property]),
        ]
        let after = [StoredEntity(name: "Base", properties: [property]), sub]
        let store = try SQLiteStore.open(folder.path(), before)
        try store.insert("Sub", ["size": .integer(1)])
        try store.close()
        let migration = try begin(store, schema(after))
        #expect(try migration.adapt(to: schema(after).stored).isEmpty)
        #expect(migration.isCopy && store.configuration.migrationUnderWay() != nil)
        try migration.prepare(keepingCopy: false, atMost: 0)
        try migration.commit()
        #expect(store.configuration.migrationUnderWay() == nil)
        #expect(try files(folder) == ["store.sqlite", "store.sqlite-lock"])
        let later = try SQLiteStore.open(folder.path(), after, version: second)
        #expect(try later.values("Sub", "size") == [.integer(1)])
    }

    /// The lock was released and taken again, and somebody else could get it between.
    @Test func theCopyTakesOverTheLock() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let migration = try begin(store, schema(narrow))
        // Whoever takes the lock by its name gets another one, which is in use.
        unlink(folder.path() + OpeningLock.suffix)
        let other = try OpeningLock(folder.path(), isExclusive: true)
        _ = try migration.frozen(under: schema(wide))
        #expect(migration.isCopy && store.configuration.migrationUnderWay()?.to == second)
        migration.abandon()
        #expect(store.configuration.migrationUnderWay() == nil)
        other.release()
        #expect(try SQLiteStore.open(folder.path(), wide).values("Item", "name") == [.string("a"), .string("b")])
    }

    @Test func aMigrationIsAloneUntilItsCopyEnds() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let migration = try begin(store, schema(narrow))
        _ = try migration.frozen(under: schema(wide))
        #expect(throws: SQLiteError(folder.path(), .inUse)) { try SQLiteStore.open(folder.path(), wide) }
        migration.abandon()
        #expect(throws: Never.self) { try SQLiteStore.open(folder.path(), wide).close() }
    }

    /// The copy was removed, and named.
    @Test func aCopyThatDoesNotStayIsNotNamed() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let migration = try begin(store, schema(narrow))
        try migration.adapt(to: schema(narrow).stored)
        try migration.prepare(keepingCopy: true, atMost: 0)
        try migration.commit()
        #expect(migration.copyLocation == nil)
        #expect(try files(folder) == ["store.sqlite", "store.sqlite-lock"])
    }

    /// Defect: a copy that was open as a store was removed with its write-ahead log, and what was saved there from then on was lost.
    @Test(arguments: [false, true]) func aCopyThatIsInUseStays(byCopying: Bool) throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        func migrate(to schema: Schema, atMost most: Int?) throws {
            let migration = try begin(store, schema)
            if byCopying { _ = try migration.working(under: Schema(stored: migration.storedSchema)) }
            try migration.adapt(to: schema.stored)
            try migration.prepare(keepingCopy: true, atMost: most)
            try migration.commit()
        }
        try migrate(to: schema(narrow), atMost: nil)
        let copy = folder.path("store.sqlite.before-migration-1")
        let user = try SQLiteStore.open(copy, wide)
        let third = Schema(stored: StoredSchema(version: Schema.Version(3, 0, 0), entities: narrow))
        try migrate(to: third, atMost: 0)
        #expect(
            try files(folder).filter { $0.contains("before") && !$0.hasSuffix("-lock") } == [
                "store.sqlite.before-migration-1"
            ])
        try user.insert("Item", ["name": .string("c")])
        try user.close()
        let again = try SQLiteStore.open(copy, wide)
        #expect(try again.values("Item", "name") == [.string("a"), .string("b"), .string("c")])
        try again.close()
        // Once nobody has it open, it goes with the next migration.
        let fourth = Schema(stored: StoredSchema(version: Schema.Version(4, 0, 0), entities: narrow))
        try migrate(to: fourth, atMost: 0)
        #expect(try files(folder) == ["store.sqlite", "store.sqlite-lock"])
    }

    /// What a process had left that died during a migration stayed for good.
    @Test func whatADeadMigrationHasLeftIsRemovedAtTheNextOpening() throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder)
        let number = UUID().uuidString
        let left = [
            "store.sqlite.migrating", "store.sqlite.migrating-lock", "store.sqlite.mortise-migration",
            "store.sqlite.before-migration-3.\(number).new", "store.sqlite.before-migration-3.\(number).new-journal",
            "store.sqlite.\(number).new",
        ]
        let others = [
            "store.sqlite.before-migration-2", "store.sqlite.new", "store.sqlite.\(number)", "store.sqlite2.migrating",
        ]
        for name in left + others { try Data().write(to: folder.url.appending(path: name)) }
        let first = try SQLiteStore.open(folder.path(), wide)
        let after = try files(folder)
        #expect(after == (["store.sqlite", "store.sqlite-lock"] + others).sorted(), "\(after)")
        // What is there now may be somebody's work.
        for name in left { try Data().write(to: folder.url.appending(path: name)) }
        let next = try SQLiteStore.open(folder.path(), wide)
        #expect(try files(folder) == (["store.sqlite", "store.sqlite-lock"] + others + left).sorted())
        try first.close()
        try next.close()
        _ = store
    }
}
#endif
