#if SQLite
import CSQLite
import Foundation
import MortiseSQL

/// Copies a whole database, page by page, while others read and write it.
enum DatabaseCopy {
    /// How many pages are copied before others get a turn.
    private static let pagesAtOnce: Int32 = 1_024

    /// How many bytes a page of a database has.
    static func pageSize(_ connection: SQLiteConnection) throws -> Int64 {
        var size: Int64 = 0
        try connection.run("PRAGMA page_size") { size = $0.integer(0) }
        return size
    }

    /// Copies a database into a new file. What is saved meanwhile is in the copy or not, as a whole. The copy is one file, which can
    /// be read where none can be made beside it.
    static func write(_ source: SQLiteConnection, to path: String) throws {
        if SQLiteOpening.exists(path) {
            throw SQLiteError(path, .exists)
        }
        let target = try SQLiteConnection(path, .create, busyTimeout: .zero)
        do {
            try target.run("PRAGMA synchronous = FULL")
            try copy(source, into: target) {}
            try target.run("PRAGMA journal_mode = DELETE")
            target.close()
            try sync(path)
        } catch {
            target.close()
            unlink(path)
            throw error
        }
    }

    /// Replaces the content of a database, in one transaction: other connections see the old content or the new one.
    /// `check` is called when nobody else can write any more, and nothing is replaced yet.
    static func copy(
        _ source: SQLiteConnection, into target: SQLiteConnection, check: () throws -> Void
    ) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            try target.check(sqlite3_errcode(target.handle))
            throw SQLiteError(target.path, .closed)
        }
        var isFinished = false
        defer { if !isFinished { sqlite3_backup_finish(backup) } }
        var isChecked = false
        var tries = 0
        while true {
            let status = sqlite3_backup_step(backup, isChecked ? pagesAtOnce : 1)
            switch status {
            case SQLITE_OK, SQLITE_DONE:
                tries = 0
                if !isChecked {
                    try check()
                    isChecked = true
                }
                if status == SQLITE_OK { continue }
                isFinished = true
                try target.check(sqlite3_backup_finish(backup))
                return
            case SQLITE_BUSY, SQLITE_LOCKED:
                tries += 1
                if tries > 500 { try target.check(status) }
                // Nothing tells when the other one is done.
                sqlite3_sleep(10)
            default: try target.check(status)
            }
        }
    }

    /// Makes a new file and its name durable.
    private static func sync(_ path: String) throws {
        try syncWhole(path)
        try syncFolder(of: path)
    }

    /// Makes the names in the folder of a file durable.
    static func syncFolder(of path: String) throws {
        try syncWhole(URL(fileURLWithPath: path).deletingLastPathComponent().path(percentEncoded: false))
    }

    private static func syncWhole(_ path: String) throws {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return }
        let status = fsync(file)
        close(file)
        if status != 0 {
            throw SQLiteError(path, .engine(code: SQLITE_IOERR, message: "the file cannot be made durable"))
        }
    }
}
#endif
