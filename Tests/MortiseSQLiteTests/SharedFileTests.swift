#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import Synchronization
import PackageTestSupport
import Testing

/// Two openings of one file, as two processes have them: each has connections of its own.
@Suite struct SharedFileTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64)], unique: [["name"]])]

    @Test func aSaveOnAnOldVersionIsRefusedByName() throws {
        let folder = try TemporaryFolder()
        let (a, b) = (try SQLiteStore.open(folder.path(), entities), try SQLiteStore.open(folder.path(), entities))
        let record = try a.insert("Item", ["name": .string("x"), "size": .integer(1)])[0]
        let read = try #require(try b.records(StoreQuery("Item")).first)
        #expect(read.recordVersion == 1)
        try a.update(record, ["size": .integer(2)], version: 1)
        let error = #expect(throws: RecordsSuperseded.self) { try b.update(record, ["size": .integer(3)], version: 1) }
        #expect(error?.identifiers == [record])
        #expect(try b.values("Item", "size").map(\.description) == ["2"])
        try b.update(record, ["size": .integer(3)], version: 2)
        #expect(try a.values("Item", "size").map(\.description) == ["3"])
    }

    @Test func aUniqueValueThatAnotherHasTakenIsToldByItsRecord() throws {
        let folder = try TemporaryFolder()
        let (a, b) = (try SQLiteStore.open(folder.path(), entities), try SQLiteStore.open(folder.path(), entities))
        let record = try a.insert("Item", ["name": .string("\u{e9}")])[0]
        let error = #expect(throws: RecordsSuperseded.self) { try b.insert("Item", ["name": .string("e\u{301}")]) }
        #expect(error?.identifiers == [record])
        let own = #expect(throws: SQLiteError.self) {
            try b.insert("Item", ["name": .string("y")], ["name": .string("y")])
        }
        #expect(own?.uniqueViolation?.properties == ["name"])
        #expect(try b.records(StoreQuery("Item")).count == 1)
    }

    @Test func whatOthersSaveIsAnnouncedByName() throws {
        let folder = try TemporaryFolder()
        let a = try SQLiteStore.open(folder.path(), entities)
        let b = try SQLiteStore.open(folder.path(), entities) { $0.pollInterval = .milliseconds(10) }
        let deliveries = Mutex<[ChangeFeed.Delivery]>([])
        let arrived = DispatchSemaphore(value: 0)
        let follower = try #require(b.changeFeed).follow(.records) { delivery in
            deliveries.withLock { $0.append(delivery) }
            arrived.signal()
        }
        let record = try a.insert("Item", ["name": .string("x")])[0]
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        try a.update(record, ["size": .integer(1)])
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        let found = deliveries.withLock { $0 }
        #expect(found.count { $0.isRemote } == found.count)
        let changes = found.flatMap(\.changes)
        #expect(changes.flatMap(\.inserted.records) == [record])
        #expect(changes.flatMap(\.updated).map(\.record) == [record])
        #expect(changes.flatMap(\.updated).map(\.properties) == [["size"]])
        follower.cancel()
    }

    @Test func anotherWriterThatTakesTooLongIsAnErrorOfTheClassBusy() throws {
        let folder = try TemporaryFolder()
        let (a, b) = (try SQLiteStore.open(folder.path(), entities), try SQLiteStore.open(folder.path(), entities))
        try a.pool.writing { connection in
            try connection.transaction(writes: true) { () throws -> Void in
                let error = #expect(throws: SQLiteError.self) { try b.insert("Item", ["name": .string("x")]) }
                #expect(error?.errorClass == .busy)
                #expect(try b.records(StoreQuery("Item")).isEmpty)
            }
        }
        try b.insert("Item", ["name": .string("x")])
    }

    /// SQLite does not wait before it gives a file a write-ahead log, and a second process failed at once.
    @Test func openingWaitsForAnotherThatWritesAFileWithoutALog() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("x")])
        // A backup has no log.
        _ = try store.configuration.backUpStore(to: folder.path("copy"))
        nonisolated(unsafe) let other = try SQLiteConnection(folder.path("copy"), .readWrite, busyTimeout: .zero)
        try other.run("BEGIN IMMEDIATE")
        let isReleased = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) {
            other.close()
            isReleased.signal()
        }
        let copy = try SQLiteStore.open(folder.path("copy"), entities) { $0 = SQLiteConfiguration(path: $0.path) }
        isReleased.wait()
        #expect(try copy.values("Item", "name") == [.string("x")])
    }

    /// It was said to be closed.
    @Test func aStoreForReadingIsSaidToBeOne() throws {
        let folder = try TemporaryFolder()
        let writer = try SQLiteStore.open(folder.path(), entities)
        try writer.insert("Item", ["name": .string("x")])
        let reader = try SQLiteStore.open(folder.path(), entities) {
            $0 = SQLiteConfiguration(path: $0.path, allowsSave: false)
        }
        let error = #expect(throws: SQLiteError.self) { try reader.erase() }
        #expect(error?.errorClass == .denied && error?.description.contains("allowsSave") == true)
        #expect(throws: ModelContextError.readOnly(configuration: reader.configuration.name)) {
            try reader.removeHistory([1], secure: false)
        }
        try reader.close()
        #expect(throws: SQLiteError(folder.path(), .closed)) { try reader.erase() }
        #expect(try writer.values("Item", "name") == [.string("x")])
    }

    /// What had to be gone stayed in the log, and nobody was told.
    @Test func whatTheLogKeepsIsNotSaidToBeGone() throws {
        let folder = try TemporaryFolder()
        let (a, b) = (try SQLiteStore.open(folder.path(), entities), try SQLiteStore.open(folder.path(), entities))
        try a.insert("Item", ["name": .string("x")])
        try a.insert("Item", ["name": .string("y")])
        try b.reading { _, _ in
            try a.insert("Item", ["name": .string("z")])
            let error = #expect(throws: SQLiteError.self) { try a.removeHistory([1], secure: true) }
            #expect(error?.errorClass == .busy)
            #expect(try a.historyBounds().horizon == 0)
        }
        try a.removeHistory([1], secure: true)
        #expect(try a.historyBounds().horizon == 1)
        let log = try FileManager.default.attributesOfItem(atPath: folder.path() + "-wal")[.size] as? NSNumber
        #expect(log == 0)
    }

    /// The record that has another NaN was said to have the unique value.
    @Test func aNaNIsNotSaidToBeTaken() throws {
        let folder = try TemporaryFolder()
        let numbers = [entity("Item", [("weight", .double), ("name", .string)], unique: [["weight"], ["name"]])]
        let store = try SQLiteStore.open(folder.path(), numbers)
        let records = try store.insert("Item", ["weight": .double(.nan)], ["name": .string("x")])
        let error = #expect(throws: RecordsSuperseded.self) {
            try store.insert("Item", ["weight": .double(.nan), "name": .string("x")])
        }
        #expect(error?.identifiers == [records[1]])
    }

    /// More than a thousand records were changed by parts, and the last of a part took what the next part had not given up yet.
    @Test func aBatchShiftsUniqueValuesOfAnyNumberOfRecords() throws {
        let folder = try TemporaryFolder()
        let numbers = [entity("Item", [("code", .int64)], unique: [["code"]])]
        let store = try SQLiteStore.open(folder.path(), numbers)
        let new = (1...1_500).map { store.snapshot("Item", ["code": .integer($0)]) }
        _ = try store.save(DataStoreSaveChangesRequest(inserted: new, editingState: EditingState()))
        let code = store.property("Item", "code")
        let assignment = StoreBatch.Assignment(
            property: QueryProperty(entity: "Item", name: "code", slot: 0),
            value: .arithmetic(.add, code, .constant(.integer(1)), .int64))
        let result = try store.execute(StoreBatch(.query(StoreQuery("Item")), .update([assignment])))
        #expect(result.count == 1_500)
        #expect(try store.values("Item", "code") == (2...1_501).map { .integer($0) })
    }

    @Test func aStoreThatAnotherHasBroughtToAnotherSchemaIsRefused() throws {
        let folder = try TemporaryFolder()
        let a = try SQLiteStore.open(folder.path(), entities)
        try a.insert("Item", ["name": .string("x")])
        let more = [entity("Item", [("name", .string), ("size", .int64), ("note", .string)], unique: [["name"]])]
        let b = try SQLiteStore.open(folder.path(), more)
        #expect(try b.values("Item", "name").map(\.description) == ["\"x\""])
        #expect(throws: SQLiteError(folder.path(), .schemaChanged)) { try a.insert("Item", ["name": .string("y")]) }
        #expect(throws: SQLiteError(folder.path(), .schemaChanged)) { try a.records(StoreQuery("Item")) }
    }

    @Test func twoWritersLoseNothing() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in
            try SQLiteStore.open(folder.path(), entities) { $0 = SQLiteConfiguration(path: $0.path, durability: .none) }
        }
        let record = try stores[0].insert("Item", ["name": .string("x"), "size": .integer(0)])[0]
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let store = stores[number % 2]
            for _ in 0..<25 {
                while true {
                    do {
                        guard let read = try store.records(StoreQuery("Item")).first,
                            case .integer(let size)? = read[property: "size"]
                        else { return }
                        // The others come in between.
                        for _ in 0..<3 { _ = try store.records(StoreQuery("Item")) }
                        try store.update(record, ["size": .integer(size + 1)], version: read.recordVersion)
                        break
                    } catch is RecordsSuperseded {
                        continue
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                        return
                    }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try stores[0].values("Item", "size").map(\.description) == ["100"])
        let history = try #require(try stores[1].storedTransactions(after: 0, last: nil))
        #expect(history.compactMap(\.commit?.number) == Array(1...101))
    }
}
#endif
