#if SQLite
import CSQLite
import Foundation
import MortiseSQL

/// Copies a whole database, page by page, while others read and write it.
enum DatabaseCopy {
    /// How many pages are copied before others get a turn.
    private static let pagesAtOnce: Int32 = 1_024
    /// How many pages of a copy are kept in memory.
    private static let cachedPages = 64

    /// How many bytes a page of a database has.
    static func pageSize(_ connection: SQLiteConnection) throws -> Int64 {
        var size: Int64 = 0
        try connection.run("PRAGMA page_size") { size = $0.integer(0) }
        return size
    }

    /// Copies a database into a new file. What is saved meanwhile is in the copy or not, as a whole. The copy is one file, which can
    /// be read where none can be made beside it. It gets its name when it is whole and durable; what fails leaves nothing.
    /// - Throws: `SQLiteError`, `.exists` if there is a file of that name.
    static func write(_ source: SQLiteConnection, to path: String) throws {
        if SQLiteOpening.exists(path) { throw SQLiteError(path, .exists) }
        let new = StoreCopies.temporary(for: path)
        defer { StoreCopies.remove(new) }
        do {
            try make(source, at: new)
        } catch let error as SQLiteError where error.path == new {
            throw SQLiteError(path, error.fault)
        }
        guard try SQLiteOpening.name(new, path) else { throw SQLiteError(path, .exists) }
        do {
            try syncFolder(of: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Who may read and write a file, for one that is to have the same records; nil if there is no such file.
    static func permissions(of path: String) -> mode_t? {
        var status = stat()
        // The owner can change a copy, even of a file that is for reading only.
        return stat(path, &status) == 0 ? status.st_mode & 0o666 | 0o600 : nil
    }

    /// Makes a new file for a database, which nobody else may open who may not open the original, at no time.
    static func create(_ path: String, permissions: mode_t?) throws -> SQLiteConnection {
        guard let permissions else { return try SQLiteConnection(path, .create, busyTimeout: .zero) }
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        // SQLite says better why there can be no file.
        if file < 0 { return try SQLiteConnection(path, .create, busyTimeout: .zero) }
        // Without what the process takes away from new files.
        fchmod(file, permissions)
        close(file)
        do {
            return try SQLiteConnection(path, .readWrite, busyTimeout: .zero)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Copies a database into a new file, which is durable then. Its name is for as long as it takes to give it another.
    /// It gets the permissions of the original, which is the source's file where none is given.
    static func make(_ source: SQLiteConnection, at path: String, inPlaceOf original: String? = nil) throws {
        let target = try create(path, permissions: permissions(of: original ?? source.path))
        do {
            try target.run("PRAGMA synchronous = FULL")
            try copy(source, into: target) {}
            try target.run("PRAGMA journal_mode = DELETE")
            target.close()
            try syncWhole(path)
        } catch {
            target.close()
            StoreCopies.remove(path)
            throw error
        }
    }

    /// Replaces the content of a database, in one transaction: other connections see the old content or the new one.
    /// `check` is called when nobody else can write any more and all of the new content is on the disk but its last page; nothing is
    /// replaced yet, and what the disk may have no room for is there.
    static func copy(
        _ source: SQLiteConnection, into target: SQLiteConnection, check: () throws -> Void
    ) throws {
        // In one state: SQLite copies a source that others change from its beginning, each time.
        let isFree = sqlite3_get_autocommit(source.handle) != 0
        if isFree {
            try source.run("BEGIN")
            try source.run("SELECT count(*) FROM sqlite_master")
        }
        defer { if isFree { try? source.run("ROLLBACK") } }
        // Pages are written as they come.
        try target.run("PRAGMA cache_size = \(cachedPages)")
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            try target.check(sqlite3_errcode(target.handle))
            throw SQLiteError(target.path, .closed)
        }
        var isFinished = false
        defer { if !isFinished { sqlite3_backup_finish(backup) } }
        var isChecked = false
        var tries = 0
        var pages: Int32 = 0
        while true {
            let status = sqlite3_backup_step(backup, pages)
            switch status {
            case SQLITE_OK:
                tries = 0
                let left = sqlite3_backup_remaining(backup)
                if left <= 1, !isChecked {
                    try target.check(sqlite3_db_cacheflush(target.handle))
                    try check()
                    isChecked = true
                }
                pages = isChecked ? pagesAtOnce : min(pagesAtOnce, left - 1)
            case SQLITE_DONE:
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
