#if SQLite
import CSQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// A store stays with the file that it has opened.
@Suite struct StoreFileTests {
    private let entities = [entity("Item", [("name", .string)])]

    /// A connection that was opened after the process had gone to another folder read the file of the same name there.
    @Test func aRelativePathIsThatOfTheFolderInWhichTheStoreWasOpened() throws {
        let folder = try TemporaryFolder()
        let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in "../" }.joined()
        let store = try SQLiteStore.open(up + folder.path().dropFirst(), entities)
        #expect(store.pool.path.hasPrefix("/"))
        try store.insert("Item", ["name": .string("a")])
        #expect(try store.values("Item", "name").map(\.description) == ["\"a\""])
        #expect(FileManager.default.fileExists(atPath: folder.path()))
    }

    /// Saves went on into the file that was gone, and later connections for reading into the new one.
    @Test func whatWasPutInThePlaceOfTheFileIsNotTheStore() throws {
        let folder = try TemporaryFolder()
        let other = try SQLiteStore.open(folder.path("other"), entities)
        try other.insert("Item", ["name": .string("b")], ["name": .string("c")])
        try other.close()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        #expect(throws: Never.self) { try store.checkHealth() }
        #expect(rename(folder.path("other"), folder.path()) == 0)
        let replaced = SQLiteError(folder.path(), .replaced)
        #expect(throws: replaced) { try store.checkHealth() }
        #expect(throws: replaced) { try store.insert("Item", ["name": .string("lost")]) }
        let known = try store.pool.take()
        #expect(throws: replaced) { try store.pool.take() }
        store.pool.put(known)
    }

    @Test func nothingIsSavedInAFileThatWasRemoved() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        unlink(folder.path())
        #expect(throws: SQLiteError(folder.path(), .missing)) { try store.insert("Item", ["name": .string("lost")]) }
        #expect(throws: SQLiteError(folder.path(), .missing)) { try store.checkHealth() }
    }

    /// The lock could be held by none but the user who had made it.
    @Test func whoMayWriteTheFileMayHoldItsLock() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(folder.path(), entities).close()
        unlink(folder.path() + OpeningLock.suffix)
        chmod(folder.path(), 0o660)
        try SQLiteStore.open(folder.path(), entities).close()
        var status = stat()
        #expect(stat(folder.path() + OpeningLock.suffix, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
    }

    /// The file that takes the content of a store with pages of another size was made with SQLite's own, and refused.
    @Test func aMigrationKeepsTheSizeOfPages() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities) { $0.pageSize = 16_384 }
        try store.insert("Item", ["name": .string("a")])
        try store.close()
        var sibling = try store.configuration.sibling()
        sibling.schema = store.schema
        let copy = try SQLiteStore(sibling, migrationPlan: nil)
        try copy.insert("Item", ["name": .string("b")])
        try copy.close()
        try store.configuration.replace(with: sibling, keepingCopy: false)
        let migrated = try SQLiteStore.open(folder.path(), entities)
        #expect(try migrated.values("Item", "name").map(\.description) == ["\"b\""])
    }

    /// Opening waited for somebody to write into the pipe.
    @Test func whatIsNoFileIsNoStore() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path(), 0o600) == 0)
        for allowsSave in [true, false] {
            #expect(throws: SQLiteError(folder.path(), .notAStore)) {
                try SQLiteStore.open(folder.path(), entities) { if !allowsSave { $0 = $0.readOnly() } }
            }
        }
        #expect(throws: SQLiteError(folder.path(), .notAStore)) {
            try SQLiteConfiguration(path: folder.path()).storedSchema()
        }
    }

    @Test func aTableOfAnotherProgramIsNamedWhenTheStoreIsOpened() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.pool.writing { try $0.run("CREATE TABLE Box (size INTEGER)") }
        try store.close()
        let error = #expect(throws: SQLiteError.self) {
            try SQLiteStore.open(folder.path(), entities + [entity("Box", [("size", .int64)])])
        }
        #expect(error?.errorClass == .conflict && error?.description.contains("table Box") == true)
        try SQLiteStore.open(folder.path(), entities).close()
    }

    private func permissions(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// Everybody could read copies of a store that only its owner may read.
    @Test func copiesHaveThePermissionsOfTheStore() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        try store.close()
        for mode: mode_t in [0o600, 0o660, 0o666] {
            chmod(folder.path(), mode)
            let backup = folder.path("backup-\(mode)")
            _ = try store.configuration.backUpStore(to: backup)
            #expect(permissions(backup) == mode)
            let copy = try StoreCopies.keep(of: store.configuration, asWrittenAt: folder.path())
            #expect(permissions(copy) == mode)
            var sibling = try store.configuration.sibling()
            sibling.schema = store.schema
            try SQLiteStore(sibling, migrationPlan: nil).close()
            #expect(permissions(sibling.path) == mode)
            store.configuration.discard(sibling)
        }
        chmod(folder.path("backup-\(mode_t(0o600))"), 0o666)
        chmod(folder.path(), 0o600)
        try Data("damaged, and no database of SQLite".utf8).write(to: URL(fileURLWithPath: folder.path()))
        chmod(folder.path(), 0o600)
        _ = try store.configuration.restoreStore(from: folder.path("backup-\(mode_t(0o600))"), replacing: true) {}
        #expect(permissions(folder.path()) == 0o600)
        #expect(try SQLiteStore.open(folder.path(), entities).values("Item", "name") == [.string("a")])
    }

    /// An opening failed while another process held the lock for a moment, to remove what a dead one had left.
    @Test func anOpeningWaitsForALockThatIsHeldForAMoment() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(folder.path(), entities).close()
        let lock = try OpeningLock(folder.path(), isExclusive: true)
        Thread.detachNewThread {
            usleep(50_000)
            lock.release()
        }
        #expect(throws: Never.self) { try SQLiteStore.open(folder.path(), entities).close() }
        let other = try OpeningLock(folder.path(), isExclusive: true)
        #expect(throws: SQLiteError(folder.path(), .inUse)) { try SQLiteStore.open(folder.path(), entities) }
        other.release()
    }

    /// The next number was one more than the greatest there is.
    @Test func aCopyWithTheGreatestNumberIsNoCopyOfTheLibrary() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.close()
        try Data().write(to: folder.url.appending(path: "store.sqlite.before-migration-\(Int.max)"))
        let copy = try StoreCopies.keep(of: store.configuration, asWrittenAt: folder.path())
        #expect(copy == folder.path("store.sqlite.before-migration-1"))
        #expect(StoreCopies(of: folder.path()).newest == copy)
    }
}
#endif
