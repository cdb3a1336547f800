#if SQLite
import CSQLite
import Foundation
import MortiseSQL
import Synchronization

/// The connections of one open store: one that writes, and as many as are needed at a time that read.
final class ConnectionPool: @unchecked Sendable {
    // @unchecked: a connection is in one place at a time: among the idle ones under a lock, or with the thread that took it.
    /// From the root of the file system: the current folder may change while the store is open.
    let path: String
    private let file: FileIdentity
    private let busyTimeout: Duration
    private let cacheBytes: Int
    private let mostIdle: Int
    private let writeLock = NSRecursiveLock()
    private var writer: SQLiteConnection?
    private let isForReading: Bool
    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }
    private let lock = NSLock()
    private var readers = Readers()

    /// Without a writer for a store that is open for reading only.
    /// - Throws: `SQLiteError` if there is no file any more.
    init(_ path: String, writer: SQLiteConnection?, busyTimeout: Duration, cacheBytes: Int, readers: Int) throws {
        self.path = path
        file = try FileIdentity(path)
        self.writer = writer
        isForReading = writer == nil
        self.busyTimeout = busyTimeout
        self.cacheBytes = cacheBytes
        mostIdle = readers
    }

    /// A connection that reads; give it back by `put(_:)`.
    func take() throws -> SQLiteConnection {
        let found: SQLiteConnection? = try lock.withLock {
            if readers.isClosed { throw SQLiteError(path, .closed) }
            return readers.idle.popLast()
        }
        if let found { return found }
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
        try checkFile()
        try connection.run("PRAGMA query_only = ON")
        try connection.run("PRAGMA cache_size = -\(cacheBytes / 1_024)")
        return connection
    }

    /// Makes sure that the path still leads to the file that was opened: what is saved in another one, or in none, is lost.
    func checkFile() throws {
        if try FileIdentity(path) != file { throw SQLiteError(path, .replaced) }
    }

    func put(_ connection: SQLiteConnection) {
        let isKept = lock.withLock {
            if readers.isClosed || readers.idle.count >= mostIdle { return false }
            readers.idle.append(connection)
            return true
        }
        if !isKept { connection.close() }
    }

    /// Reads with one of the connections.
    func reading<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        let connection = try take()
        do {
            let result = try body(connection)
            put(connection)
            return result
        } catch {
            put(connection)
            throw error
        }
    }

    /// Writes with the one connection that does, one thread at a time.
    func writing<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        writeLock.lock()
        defer { writeLock.unlock() }
        guard let writer else {
            if !isForReading || lock.withLock({ readers.isClosed }) { throw SQLiteError(path, .closed) }
            throw SQLiteError(
                path,
                .engine(
                    code: SQLITE_READONLY, message: "the store is open for reading only: open it with allowsSave"))
        }
        try checkFile()
        return try body(writer)
    }

    func close() {
        let idle = lock.withLock {
            readers.isClosed = true
            defer { readers.idle = [] }
            return readers.idle
        }
        for connection in idle { connection.close() }
        writeLock.lock()
        writer?.close()
        writer = nil
        writeLock.unlock()
    }
}

/// Tells a file from any other, whatever its path.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// The file to which a path leads.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { throw SQLiteError(path, .missing) }
            throw SQLiteError(
                path,
                .engine(
                    code: errno == EACCES ? SQLITE_PERM : SQLITE_IOERR,
                    message: "the file cannot be looked at: \(String(cString: strerror(errno)))"))
        }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
#endif
