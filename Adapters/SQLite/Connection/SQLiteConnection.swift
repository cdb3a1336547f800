#if SQLite
import CSQLite
import Foundation
import MortiseSQL

/// A connection to a file of SQLite. One thread uses it at a time.
final class SQLiteConnection {
    let path: String
    private(set) var handle: OpaquePointer?
    private var statements: [String: SQLiteStatement] = [:]
    /// The texts of `statements`, the one used last at the end.
    private var recent: [String] = []
    /// How many statements were prepared; the others were found.
    private(set) var prepared = 0

    /// How many statements are kept.
    private static let mostStatements = 256
    /// Longer texts come once.
    private static let longestKept = 16_384

    enum Mode {
        case readWrite, readOnly, create
    }

    init(_ path: String, _ mode: Mode, busyTimeout: Duration) throws {
        self.path = path
        if mode != .create { try Self.checkFile(path) }
        let flags =
            switch mode {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
            }
        do {
            let fixed = mode == .readOnly ? Self.fixedName(path) : nil
            try check(
                sqlite3_open_v2(
                    fixed ?? path, &handle,
                    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (fixed == nil ? 0 : SQLITE_OPEN_URI), nil))
            let milliseconds = busyTimeout / .milliseconds(1)
            try check(sqlite3_busy_timeout(handle, Int32(min(max(milliseconds, 0), 3_600_000))))
            // What a file says of itself is not trusted.
            try check(mortise_sqlite_defend(handle))
            try check(mortise_sqlite_distrust(handle))
            try run("PRAGMA cell_size_check = ON")
            try run("PRAGMA foreign_keys = ON")
        } catch {
            close()
            throw error
        }
    }

    /// Refuses what is no regular file, whose opening might wait for ever, and one that the user may not read. It is not opened for that:
    /// closing it would take SQLite's locks away.
    private static func checkFile(_ path: String) throws {
        var status = stat()
        var code: Int32 = 0
        if stat(path, &status) != 0 {
            code = errno
        } else if status.st_mode & S_IFMT != S_IFREG {
            throw SQLiteError(path, .notAStore)
        } else if faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 {
            code = errno
        }
        if code == 0 { return }
        if code == ENOENT || code == ENOTDIR { throw SQLiteError(path, .missing) }
        throw SQLiteError(path, .engine(code: .ofSystem(code), message: "the file cannot be read: \(systemText(code))"))
    }

    /// The name by which SQLite reads a file that nobody can change, without making others beside it: one that has no log, on a file
    /// system that is mounted for reading only. Nil for any other file.
    private static func fixedName(_ path: String) -> String? {
        var system = statvfs()
        guard statvfs(path, &system) == 0, system.f_flag & UInt(ST_RDONLY) != 0 else { return nil }
        var status = stat()
        if stat(path + "-wal", &status) == 0 { return nil }
        let plain = CharacterSet(charactersIn: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return path.addingPercentEncoding(withAllowedCharacters: plain).map { "file:\($0)?immutable=1" }
    }

    deinit { close() }

    func close() {
        statements = [:]
        recent = []
        // With statements that somebody still holds, it goes when they do.
        sqlite3_close_v2(handle)
        handle = nil
    }

    func check(_ status: Int32) throws {
        if status == SQLITE_OK { return }
        // The connection may know of another error, or of none: a backup tells its own.
        var (code, message) = (status, String(cString: sqlite3_errstr(status)))
        if let handle, sqlite3_extended_errcode(handle) & 0xFF == status & 0xFF {
            let own = String(cString: sqlite3_errmsg(handle))
            code = sqlite3_extended_errcode(handle)
            if own != String(cString: sqlite3_errstr(SQLITE_OK)) { message = own }
        }
        // SQLite says of many files that they cannot be opened or read, and leaves it to the system to say why.
        if let handle, code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_IOERR {
            let number = sqlite3_system_errno(handle)
            let known = Int32.ofSystem(number)
            if known == SQLITE_PERM || known == SQLITE_FULL {
                (code, message) = (known, "\(message): \(systemText(number))")
            }
        }
        throw SQLiteError(path, .engine(code: code, message: message))
    }

    // MARK: Statements

    /// A statement that is ready to be given its values. It is in use until `finish(_:)`.
    func prepare(_ sql: String) throws -> SQLiteStatement {
        if handle == nil { throw SQLiteError(path, .closed) }
        if let known = statements[sql], !known.isInUse {
            if recent.last != sql, let place = recent.lastIndex(of: sql) {
                recent.remove(at: place)
                recent.append(sql)
            }
            known.isInUse = true
            return known
        }
        let statement = try SQLiteStatement(self, sql)
        prepared += 1
        statement.isInUse = true
        if statements[sql] == nil, sql.utf8.count <= Self.longestKept {
            statements[sql] = statement
            recent.append(sql)
            if recent.count > Self.mostStatements { statements[recent.removeFirst()] = nil }
        }
        return statement
    }

    func finish(_ statement: SQLiteStatement) {
        statement.reset()
        statement.isInUse = false
    }

    /// Runs a statement and hands over each row.
    func run(_ sql: String, _ values: [SQLValue] = [], row: (SQLiteStatement) throws -> Void = { _ in }) throws {
        let statement = try prepare(sql)
        defer { finish(statement) }
        try statement.bind(values)
        while try statement.step() { try row(statement) }
    }

    /// How many rows the latest change has changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Runs a body as one transaction. One that writes waits for other writers before it reads what it is going to change.
    func transaction<R>(writes: Bool, _ body: () throws -> R) throws -> R {
        try run(writes ? "BEGIN IMMEDIATE" : "BEGIN")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // SQLite may have rolled back by itself.
            if let handle, sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }
}
#endif
