#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import SQLSupport
import PackageTestSupport
import Testing

/// Files that are damaged, of another program, or changed by somebody: every error has a type and a class, and nothing traps.
@Suite struct DamageTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64), ("weight", .double)])]

    private func errorClass(_ body: () throws -> Void) -> StoreErrorClass? {
        do {
            try body()
            return nil
        } catch {
            return (error as? any ClassifiedStoreError)?.errorClass
        }
    }

    @Test func whatIsNoStoreIsRefusedAndLeftAlone() throws {
        let folder = try TemporaryFolder()
        let contents: [(String, Data)] = [
            ("empty", Data()), ("text", Data("no database".utf8)), ("zeros", Data(count: 8_192)),
            ("header", Data("SQLite format 3\0".utf8) + Data(repeating: 0xFF, count: 4_080)),
        ]
        for (name, data) in contents {
            try data.write(to: folder.url.appending(path: name))
            #expect(errorClass { _ = try SQLiteStore.open(folder.path(name), entities) } == .damaged, "\(name)")
            #expect(try Data(contentsOf: folder.url.appending(path: name)) == data, "\(name)")
        }
        let other = try SQLiteConnection(folder.path("other"), .create, busyTimeout: .zero)
        try other.run("CREATE TABLE person (name TEXT)")
        other.close()
        #expect(throws: SQLiteError(folder.path("other"), .notAStore)) {
            try SQLiteStore.open(folder.path("other"), entities)
        }
        #expect(errorClass { _ = try SQLiteStore.open(folder.path("no/store"), entities) } != nil)
        #expect(
            errorClass {
                _ = try SQLiteStore.open(folder.path("none"), entities) {
                    $0 = SQLiteConfiguration(path: $0.path, allowsSave: false)
                }
            }
                == .missing)
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    /// Queries looked for the old value, and nothing said so.
    @Test func aDecimalWhoseKeyIsOfAnotherValueIsFoundByVerifying() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("price", .decimal), ("cost", .decimal)])])
        try store.insert("Item", ["price": .decimal(1.5)], ["price": .decimal(.nan), "cost": .decimal(-2)], [:])
        #expect(try store.configuration.verifyStore().problems == [])
        try store.pool.writing { try $0.run("UPDATE \"Item\" SET \"cost\" = '7' WHERE \"id\" = 2") }
        let problems = try store.configuration.verifyStore().problems
        #expect(problems.count == 1 && problems[0].contains("cost of record 2 of Item"))
    }

    @Test func aLaterFormatIsRefused() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.pool.writing { try $0.run("UPDATE mortise_store SET format = 2") }
        try store.close()
        #expect(throws: SQLiteError(folder.path(), .newerFormat(found: 2, known: 1))) {
            try SQLiteStore.open(folder.path(), entities)
        }
    }

    @Test func aValueThatItsKindCannotHaveIsDamageOfThatRecordAlone() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        let records = try store.insert("Item", ["name": .string("a")], ["name": .string("b")])
        for (column, value) in [
            ("size", "'text'"), ("weight", "'text'"), ("weight", "x'00'"), ("name", "x'ff'"),
            ("name", "CAST(x'ff' AS TEXT)"),
        ] {
            try store.pool.writing { try $0.run("UPDATE Item SET \(column) = \(value) WHERE id = 1") }
            let error = #expect(throws: SQLiteError.self) { try store.records(StoreQuery("Item")) }
            #expect(error?.errorClass == .damaged)
            #expect(error?.description.contains("\(column) of Item/1") == true)
            let second = QueryExpression.compare(.equal, .identifier(.variable(0)), .constant(.identifier(records[1])))
            #expect(try store.values("Item", "name", where: second).map(\.description) == ["\"b\""])
            try store.pool.writing { try $0.run("UPDATE Item SET \(column) = NULL WHERE id = 1") }
        }
        #expect(try store.records(StoreQuery("Item")).count == 2)
    }

    /// Adding 1 to what a damaged file says trapped.
    @Test func numbersThatHaveNoNextOneAreDamage() throws {
        let columns = ["nextNumber", "lastTransaction", "schemaNumber", "nextEntity", "nextProperty"]
        for column in columns {
            for value in ["9223372036854775807", "-1", "'text'", "1.5"] {
                let folder = try TemporaryFolder()
                let store = try SQLiteStore.open(folder.path(), entities)
                try store.insert("Item", ["name": .string("a")])
                try store.close()
                let connection = try SQLiteConnection(folder.path(), .readWrite, busyTimeout: .zero)
                try connection.run("UPDATE mortise_store SET \(column) = \(value)")
                connection.close()
                let error = #expect(throws: SQLiteError.self, "\(column) = \(value)") {
                    try SQLiteStore.open(folder.path(), entities).insert("Item", ["name": .string("b")])
                }
                #expect(error?.errorClass == .damaged, "\(column) = \(value)")
            }
        }
    }

    /// A row of another program took the number of the next record. The error was a conflict of the records to be saved.
    @Test func aNumberThatAnotherProgramHasTakenIsNamed() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        try store.pool.writing { try $0.run("INSERT INTO Item (ent, rv, name) SELECT ent, 1, 'b' FROM Item") }
        let problems = try store.configuration.verifyStore().problems
        #expect(problems == ["Item has the record 2, and the next one would be 2"])
        let error = #expect(throws: SQLiteError.self) { try store.insert("Item", ["name": .string("c")]) }
        #expect(error?.errorClass == .damaged && error?.description.contains("Item/2") == true)
        try store.pool.writing { try $0.run("UPDATE mortise_store SET nextNumber = 3") }
        try store.insert("Item", ["name": .string("c")])
        #expect(try store.values("Item", "name").map(\.description) == ["\"a\"", "\"b\"", "\"c\""])
    }

    /// The framework said that the store breaks its contract, and verifying found nothing.
    @Test func aRequiredValueThatIsGoneIsDamage() throws {
        let folder = try TemporaryFolder()
        let code = StoredProperty(
            name: "code", isOptional: false, content: .attribute(StoredAttribute(kind: .int64)))
        let item = StoredEntity(name: "Item", properties: [code], uniquenessConstraints: [["code"]], indices: [])
        let store = try SQLiteStore.open(folder.path(), [item])
        let records = try store.insert("Item", ["code": .integer(1)], ["code": .integer(2)])
        // In the middle of an exchange both are gone.
        let new = zip(records, [2, 1]).map { store.snapshot("Item", ["code": .integer($1)], of: $0) }
        _ = try store.save(DataStoreSaveChangesRequest(updated: new, editingState: EditingState()))
        #expect(try store.values("Item", "code").map(\.description) == ["2", "1"])
        try store.pool.writing { try $0.run("UPDATE Item SET code = NULL WHERE id = 1") }
        let error = #expect(throws: SQLiteError.self) { try store.records(StoreQuery("Item")) }
        #expect(error?.errorClass == .damaged && error?.description.contains("code of Item/1") == true)
        #expect(try store.configuration.verifyStore().problems.count == 1)
    }

    @Test func damageOfTheHistoryIsNotedAndConcernsNoRecord() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        try store.pool.writing { try $0.run("UPDATE mortise_history SET changes = x'0100ff'") }
        let report = try store.configuration.verifyStore()
        #expect(report.problems == [] && report.notes == ["Transaction 1 of the history cannot be read."])
    }

    @Test func aColumnThatSomebodyDroppedIsNamed() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        try store.pool.writing { try $0.run("ALTER TABLE Item DROP COLUMN size") }
        let error = #expect(throws: SQLiteError.self) { try store.records(StoreQuery("Item")) }
        #expect(error?.errorClass == .damaged && error?.description.contains("size") == true)
        let saving = #expect(throws: SQLiteError.self) { try store.insert("Item", ["name": .string("b")]) }
        #expect(saving?.description.contains("size") == true)
    }

    @Test func aFullDiskChangesNothingAndIsOverWhenThereIsRoom() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        var pages: Int64 = 0
        try store.pool.writing { connection in
            try connection.run("PRAGMA page_count") { pages = $0.integer(0) }
            try connection.run("PRAGMA max_page_count = \(pages)")
        }
        let large = StoredValue.string(String(repeating: "x", count: 100_000))
        #expect(
            errorClass { _ = try store.insert("Item", ["name": .string("b")], ["name": large]) } == .failedInputOutput)
        #expect(try store.values("Item", "name").map(\.description) == ["\"a\""])
        try store.pool.writing { try $0.run("PRAGMA max_page_count = 1000000") }
        try store.insert("Item", ["name": large])
        #expect(try store.records(StoreQuery("Item")).count == 2)
    }

    /// Bytes of the file, changed at random: opening, reading and saving either work or throw an error with a class.
    @Test func damagedBytesNeverTrap() throws {
        var numbers = SeededGenerator(seed: testSeed())
        let folder = try TemporaryFolder()
        let records = NodeRecords(40, store: "s", &numbers)
        var configuration = SQLiteConfiguration(path: folder.path(), durability: .none, busyTimeout: .milliseconds(50))
        configuration.schema = Schema(stored: NodeSchema.stored)
        let store = try SQLiteStore(configuration, migrationPlan: nil)
        try store.restore(records.records, ofStore: "s", nextNumber: 41)
        try store.pool.writing { try $0.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        try store.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.path()))
        let rounds = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 5_000 : 250
        var (sound, refused) = (0, 0)
        for round in 0..<rounds {
            var data = whole
            if numbers.chance(6) {
                data = data.prefix(numbers.below(data.count))
            } else {
                for _ in 0..<(1 + numbers.below(4)) {
                    data[numbers.below(data.count)] = UInt8(truncatingIfNeeded: numbers.next())
                }
            }
            let path = folder.path("damaged-\(round)")
            try data.write(to: URL(fileURLWithPath: path))
            var damaged = SQLiteConfiguration(path: path, durability: .none, busyTimeout: .milliseconds(50))
            damaged.schema = configuration.schema
            do {
                let store = try SQLiteStore(damaged, migrationPlan: nil)
                for entity in ["Node", "Box"] {
                    let lists = NodeSchema.layouts[entity]?.slots.filter(\.role.isToMany).map(\.name) ?? []
                    _ = try store.records(StoreQuery(entity, prefetch: lists))
                }
                _ = try store.storedTransactions(after: 0, last: nil)
                try store.insert("Box", ["label": .string("new"), "level": .double(1)])
                try store.close()
                sound += 1
            } catch {
                #expect(error is any ClassifiedStoreError, "\(error)")
                refused += 1
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        print("sound \(sound), refused \(refused)")
        #expect(refused > 0)
    }

    @Test func aBackupIsWholeAndTakesTheStoresPlace() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        let configuration = store.configuration
        _ = try configuration.backUpStore(to: folder.path("backup"))
        #expect(throws: SQLiteError(folder.path("backup"), .exists)) {
            try configuration.backUpStore(to: folder.path("backup"))
        }
        try store.insert("Item", ["name": .string("b")])
        #expect(throws: RestoreError.storeExists(location: folder.path())) {
            try configuration.restoreStore(from: folder.path("backup"), replacing: false) {}
        }
        try store.close()
        let report = try configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        #expect(report.problems == [])
        let restored = try SQLiteStore.open(folder.path(), entities)
        #expect(try restored.values("Item", "name").map(\.description) == ["\"a\""])
        #expect(restored.identifier == store.identifier)
        try restored.close()
        #expect(try configuration.verifyStore().problems == [])
    }
}
#endif
