#if SQLite && os(Linux)
import CSQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import SQLSupport
import Synchronization
import Testing

/// The locks of a file system that fail, as some in networks do.
private enum FailingLocks {
    /// The folder whose files cannot be locked, and the error.
    static let failing = Mutex<(folder: String, error: Int32)?>(nil)

    private static let call: @convention(c) (Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
        file, command, value in
        if [F_SETLK, F_SETLKW, F_GETLK].contains(command) {
            if let (folder, error) = failing.withLock({ $0 }) {
                var path = [CChar](repeating: 0, count: 1_024)
                let count = readlink("/proc/self/fd/\(file)", &path, 1_023)
                if count > 0,
                    String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self).contains(folder)
                {
                    errno = error
                    return -1
                }
            }
            return value.map { fcntl(file, command, $0) } ?? -1
        }
        return fcntl(file, command, Int32(truncatingIfNeeded: Int(bitPattern: value)))
    }

    /// Has SQLite lock by way of it. What is not told to fail works as before, so that it may stay.
    static let areInstalled: Bool = {
        guard let system = sqlite3_vfs_find("unix"), let set = system.pointee.xSetSystemCall else { return false }
        return set(system, "fcntl", unsafeBitCast(call, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
    }()
}

@Suite struct LockAndLogTests {
    private let entities = [entity("Item", [("name", .string), ("size", .int64)])]

    @Test func aFileSystemWhoseLocksFailIsAnErrorAndHarmsNothing() throws {
        try #require(FailingLocks.areInstalled)
        // One after the other: the system's functions are those of the process.
        for code in [EIO, ENOLCK] { try failLocks(code) }
    }

    private func failLocks(_ code: Int32) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        try store.insert("Item", ["name": .string("a")])
        // Another process has none of the connections that hold their locks already.
        try store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.path()))
        FailingLocks.failing.withLock { $0 = (folder.url.lastPathComponent, code) }
        defer { FailingLocks.failing.withLock { $0 = nil } }
        let error = #expect(throws: SQLiteError.self) { try SQLiteStore.open(folder.path(), entities) }
        #expect(error?.errorClass == (code == EIO ? .failedInputOutput : .busy))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path())) == before)
        FailingLocks.failing.withLock { $0 = nil }
        let again = try SQLiteStore.open(folder.path(), entities)
        FailingLocks.failing.withLock { $0 = (folder.url.lastPathComponent, code) }
        let saving = #expect(throws: SQLiteError.self) { try again.insert("Item", ["name": .string("b")]) }
        #expect(saving.map { [.failedInputOutput, .busy].contains($0.errorClass) } == true)
        FailingLocks.failing.withLock { $0 = nil }
        try again.insert("Item", ["name": .string("c")])
        #expect(try again.values("Item", "name") == [.string("a"), .string("c")])
    }

    /// A cursor in identity order holds no state of the file while it pauses: the log is emptied meanwhile.
    @Test func aCursorThatPausesDoesNotHoldTheLog() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities) {
            $0 = SQLiteConfiguration(path: folder.path(), durability: .none, walLimit: 1 << 20)
        }
        for number in 0..<100 { try store.insert("Item", ["name": .string("n\(number)"), "size": .integer(0)]) }
        let cursor = try store.cursor(for: store.plan(StoreQuery("Item")))
        var found = try cursor.next(atMost: 50).count
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        let text = String(repeating: "x", count: 4_000)
        var most = 0
        for number in 0..<(isFull ? 10_000 : 700) {
            try store.insert("Item", ["name": .string(text), "size": .integer(Int64(number))])
            let log = try FileManager.default.attributesOfItem(atPath: folder.path("store.sqlite-wal"))[.size] as? Int
            most = max(most, log ?? 0)
        }
        while case let portion = try cursor.next(atMost: 50), !portion.isEmpty { found += portion.count }
        #expect(found == 100)
        // SQLite empties its log when it has a thousand pages; the limit is for what is left of a larger one.
        print("the log had \(most) bytes at most")
        #expect(most < 8 << 20)
    }
}
#endif
