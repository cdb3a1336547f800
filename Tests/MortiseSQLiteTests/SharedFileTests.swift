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
