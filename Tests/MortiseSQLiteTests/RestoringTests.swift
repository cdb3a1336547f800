#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import PackageTestSupport
import Synchronization
import Testing

/// A backup takes the place of its store as a whole, and of no store that somebody has open.
@Suite struct RestoringTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64)])]

    private func backedUp(_ folder: TemporaryFolder) throws -> SQLiteStore {
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        _ = try store.configuration.backUpStore(to: folder.path("backup"))
        try store.insert("Item", ["name": .string("b")])
        return store
    }

    /// Records went away under a store that was open, and what it saved then failed.
    @Test func aStoreThatIsOpenIsNotReplaced() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        #expect(throws: SQLiteError(folder.path(), .inUse)) {
            try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        }
        #expect(try store.values("Item", "name").map(\.description) == ["\"a\"", "\"b\""])
        try store.close()
        _ = try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {
            #expect(throws: SQLiteError(folder.path(), .inUse)) { try SQLiteStore.open(folder.path(), entities) }
        }
        let restored = try SQLiteStore.open(folder.path(), entities)
        #expect(try restored.values("Item", "name").map(\.description) == ["\"a\""])
    }

    /// A backup began again with each save between two of its parts, and did not end before the saves did. Verifying took the number
    /// of a record that was inserted meanwhile for one too many.
    @Test func backingUpAndVerifyingEndWhileOthersSave() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        let large = StoredValue.string(String(repeating: "large ", count: 100_000))
        for _ in 0..<32 { try store.insert("Item", ["name": large]) }
        let state = Mutex((isWanted: true, isTooLate: false, failure: String?.none))
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let end = Date(timeIntervalSinceNow: 60)
            do {
                while state.withLock({ $0.isWanted }) {
                    try store.insert("Item", ["name": .string("small")])
                    if Date() < end { continue }
                    state.withLock { $0.isTooLate = true }
                    break
                }
            } catch {
                state.withLock { $0.failure = "\(error)" }
            }
            isDone.signal()
        }
        let backup = Result { try store.configuration.backUpStore(to: folder.path("backup")) }
        var problems: [String] = []
        for _ in 0..<20 { problems += (try? store.configuration.verifyStore().problems) ?? ["an error"] }
        state.withLock { $0.isWanted = false }
        isDone.wait()
        #expect(throws: Never.self) { try backup.get() }
        #expect(state.withLock { !$0.isTooLate && $0.failure == nil })
        #expect(problems == [])
        let copy = SQLiteConfiguration(path: folder.path("backup"), allowsSave: false)
        #expect(try copy.verifyStore().problems == [])
    }

    /// The lock was beside the link, where nobody else looked for it.
    @Test func aStoreThatIsOpenByALinkIsNotReplaced() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: folder.path())
        let linked = try SQLiteStore.open(folder.path("link"), entities)
        #expect(throws: SQLiteError(folder.path(), .inUse)) {
            try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        }
        #expect(try linked.values("Item", "name") == [.string("a"), .string("b")])
    }

    /// A reader that has the file open heard nothing until the restored store had as many transactions as the one before.
    @Test func aReaderHearsOfAStoreThatWasRestored() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        let reader = try SQLiteStore.open(folder.path(), entities) {
            $0 = SQLiteConfiguration(path: $0.path, allowsSave: false)
            $0.pollInterval = .milliseconds(10)
        }
        let deliveries = Mutex<[ChangeFeed.Delivery]>([])
        let arrived = DispatchSemaphore(value: 0)
        let follower = try #require(reader.changeFeed).follow(.records) { delivery in
            deliveries.withLock { $0.append(delivery) }
            arrived.signal()
        }
        try store.close()
        _ = try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        #expect(deliveries.withLock { $0 }.flatMap(\.changes).map(\.isIncomplete) == [true])
        let record = try SQLiteStore.open(folder.path(), entities).insert("Item", ["name": .string("c")])[0]
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        #expect(deliveries.withLock { $0 }.flatMap(\.changes).flatMap(\.inserted.records) == [record])
        follower.cancel()
    }

    private func bytes(_ path: String) throws -> Int64 {
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// The pages were written after other stores had been replaced, and a full disk left this one as it was.
    @Test func whatTheDiskMayHaveNoRoomForIsWrittenBeforeTheStoreIsReady() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        for number in 0..<200 {
            try store.insert("Item", ["name": .string(String(repeating: "\(number) ", count: 1_000))])
        }
        _ = try store.configuration.backUpStore(to: folder.path("backup"))
        try store.insert("Item", ["name": .string("later")])
        _ = try store.compactStore()
        try store.close()
        let size = try bytes(folder.path("backup"))
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {
                #expect(try bytes(folder.path() + "-wal") > size - 16_384)
                throw Stop()
            }
        }
        let same = try SQLiteStore.open(folder.path(), entities)
        #expect(try same.records(StoreQuery("Item")).count == 201)
        try same.close()
        _ = try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        let restored = try SQLiteStore.open(folder.path(), entities)
        #expect(try restored.records(StoreQuery("Item")).count == 200)
    }

    /// A copy that was made where there is no room reported that there was no error.
    @Test func aCopyThatHasNoRoomSaysSoAndLeavesNothing() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string(String(repeating: "x", count: 100_000))])
        try store.close()
        let source = try SQLiteConnection(folder.path(), .readOnly, busyTimeout: .zero)
        let target = try SQLiteConnection(folder.path("copy"), .create, busyTimeout: .zero)
        try target.run("PRAGMA max_page_count = 4")
        let error = #expect(throws: SQLiteError.self) { try DatabaseCopy.copy(source, into: target) {} }
        target.close()
        source.close()
        #expect(error?.description.contains("full") == true && error?.description.contains("not an error") == false)
    }

    /// A copy was made under its own name, so that half of one was taken for the newest.
    @Test func aCopyGetsItsNameWhenItIsWhole() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let source = try SQLiteConnection(folder.path(), .readOnly, busyTimeout: .zero)
        defer { source.close() }
        try Data("other".utf8).write(to: folder.url.appending(path: "copy"))
        #expect(throws: SQLiteError(folder.path("copy"), .exists)) {
            try DatabaseCopy.write(source, to: folder.path("copy"))
        }
        let copies = StoreCopies(of: folder.path())
        #expect(try copies.keep(source) == folder.path("store.sqlite.before-migration-1"))
        #expect(try copies.keep(source) == folder.path("store.sqlite.before-migration-2"))
        copies.remove(exceptNewest: 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
        #expect(names.filter { $0.contains("before") } == ["store.sqlite.before-migration-2"])
        #expect(names.filter { $0.contains(".new") } == [])
    }

    /// The copy stayed, and each attempt made another one.
    @Test func aReplacementThatFailsLeavesNoCopy() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let sibling = try store.configuration.sibling()
        #expect(throws: SQLiteError.self) { try store.configuration.replace(with: sibling, keepingCopy: true) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
        #expect(names.filter { $0.contains("before") } == [])
    }

    /// The log of the old file was gone, and the error was that of the damage.
    @Test func aDamagedFileThatCannotBeReplacedKeepsItsLog() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        unlink(folder.path())
        // No file takes the place of a folder.
        try FileManager.default.createDirectory(atPath: folder.path(), withIntermediateDirectories: false)
        try Data("log".utf8).write(to: folder.url.appending(path: "store.sqlite-wal"))
        let error = #expect(throws: SQLiteError.self) {
            try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        }
        #expect(error?.description.contains("cannot be replaced") == true)
        #expect(try String(contentsOfFile: folder.path() + "-wal", encoding: .utf8) == "log")
    }

    @Test func aBackupWithAProblemIsRefused() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let backup = try SQLiteConnection(folder.path("backup"), .readWrite, busyTimeout: .zero)
        try backup.run("UPDATE Item SET size = 'text'")
        backup.close()
        let error = #expect(throws: RestoreError.self) {
            try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        }
        guard case .damagedBackup(_, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("size of Item/1"))
        let kept = try SQLiteStore.open(folder.path(), entities)
        #expect(try kept.values("Item", "name").map(\.description) == ["\"a\"", "\"b\""])
    }

    @Test func theStoreIsNoBackupOfItself() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        #expect(symlink(folder.path(), folder.path("link")) == 0)
        #expect(throws: RestoreError.backupIsStore(path: folder.path("link"))) {
            try store.configuration.restoreStore(from: folder.path("link"), replacing: true) {}
        }
    }

    /// Reading a backup made files beside it, which is impossible where nothing can be written.
    @Test func aBackupIsOneFile() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let restored = SQLiteConfiguration(path: folder.path("restored"))
        _ = try restored.restoreStore(from: folder.path("backup"), replacing: false) {}
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
        #expect(names.filter { $0.hasPrefix("backup") } == ["backup"])
        #expect(names.filter { $0.hasPrefix("restored") } == ["restored"])
        let opened = try SQLiteStore.open(folder.path("restored"), entities)
        #expect(try opened.values("Item", "name").map(\.description) == ["\"a\""])
        #expect(try opened.insert("Item", ["name": .string("c")]).count == 1)
    }

    @Test func aBackupWithPagesOfAnotherSizeTakesTheStoresPlace() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let other = try SQLiteConnection(folder.path(), .readWrite, busyTimeout: .zero)
        for text in ["journal_mode = DELETE", "page_size = 16384"] { try other.run("PRAGMA \(text)") }
        try other.run("VACUUM")
        try other.run("PRAGMA journal_mode = WAL")
        other.close()
        _ = try store.configuration.restoreStore(from: folder.path("backup"), replacing: true) {}
        let restored = try SQLiteStore.open(folder.path(), entities)
        #expect(try restored.values("Item", "name").map(\.description) == ["\"a\""])
    }

    /// A crash in the middle left half of a store where there had been none.
    @Test func aStoreThatIsMissingIsThereWhole() throws {
        let folder = try TemporaryFolder()
        let store = try backedUp(folder)
        try store.close()
        let path = folder.path("restored")
        func new() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
                .filter { $0.hasPrefix("restored.") && $0.hasSuffix(".new") }
        }
        _ = try SQLiteConfiguration(path: path).restoreStore(from: folder.path("backup"), replacing: false) {
            #expect(!FileManager.default.fileExists(atPath: path))
            let copies = try new()
            #expect(copies.count == 1)
        }
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try new().isEmpty)
    }
}
#endif
