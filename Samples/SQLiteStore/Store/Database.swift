#if SQLite
import CSQLite
import Foundation
public import MortiseCore

/// A connection to a file of SQLite. The container calls a store from one thread at a time, so that it needs no lock.
final class Database {
    private let path: String
    private var handle: OpaquePointer?
    /// How many rows the latest statement has passed while it read a whole table.
    private(set) var scanned = 0

    init(_ path: String, isNew: Bool = false) throws {
        self.path = path
        // Only a new store makes its file: SQLite takes an empty one for a new database, but a store's file has been cut then.
        try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | (isNew ? SQLITE_OPEN_CREATE : 0), nil))
        try check(sqlite3_busy_timeout(handle, 5_000))
        // Others read while one writes, and every commit waits for the disk; the default of some builds does not.
        try run("PRAGMA journal_mode = WAL")
        try run("PRAGMA synchronous = FULL")
        for (index, kind) in StorageKind.allCases.enumerated() {
            // The framework itself compares what is kept as text, by what it means: "é" is equal to "e" with an accent.
            try check(
                sqlite3_create_collation_v2(
                    handle, kind.rawValue, SQLITE_UTF8, UnsafeMutableRawPointer(bitPattern: index + 1),
                    { context, leftCount, left, rightCount, right in
                        let kind = StorageKind.allCases[Int(bitPattern: context) - 1]
                        let values = [(left, leftCount), (right, rightCount)].map { start, count in
                            let bytes = UnsafeRawBufferPointer(start: start, count: Int(count))
                            return StoredValue(text: String(decoding: bytes, as: UTF8.self), as: kind) ?? .null
                        }
                        return Int32(ValueSemantics.sortOrder(values[0], values[1]).rawValue)
                    }, nil))
        }
    }

    deinit { close() }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Makes the file of a new store under another name, which it keeps until its table is there: no other process finds half
    /// of it. Unlike a move, a link never replaces what another process has made meanwhile.
    static func create(_ path: String, _ statement: String) throws {
        let new = "\(path)-\(UUID())"
        defer { unlink(new) }
        try Database(new, isNew: true).run(statement)
        if link(new, path) != 0, errno != EEXIST { throw SQLiteStoreError(.denied, "\(path) cannot be made: \(errno)") }
    }

    /// Runs a body as one transaction. One that writes waits for other writers before it reads what it is going to change.
    func transaction<R>(writes: Bool = true, _ body: () throws -> R) throws -> R {
        try run(writes ? "BEGIN IMMEDIATE" : "BEGIN")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // Fails where SQLite has rolled back by itself.
            try? run("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement with texts as parameters, and hands each row of its result to a body, as texts by column.
    func run(_ sql: String, _ values: [String?] = [], row: ([String: String]) throws -> Void = { _ in }) throws {
        if handle == nil { throw SQLiteStoreError(.unsupported, "\(path) is closed") }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        // Until then it holds its lock.
        defer { sqlite3_finalize(statement) }
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, text) in zip(Int32(1)..., values) {
            guard let text else { continue }
            try check(sqlite3_bind_text64(statement, index, text, UInt64(text.utf8.count), copies, UInt8(SQLITE_UTF8)))
        }
        while true {
            let status = sqlite3_step(statement)
            scanned = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
            if status == SQLITE_DONE { return }
            if status != SQLITE_ROW { try check(status) }
            var found: [String: String] = [:]
            for column in 0..<sqlite3_column_count(statement) {
                guard let start = sqlite3_column_text(statement, column) else { continue }
                let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
                found[String(cString: sqlite3_column_name(statement, column))] = String(decoding: bytes, as: UTF8.self)
            }
            try row(found)
        }
    }

    private func check(_ status: Int32) throws {
        let errorClass: StoreErrorClass
        switch status & 0xFF {
        case SQLITE_OK: return
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: errorClass = .busy
        case SQLITE_PERM, SQLITE_AUTH, SQLITE_READONLY: errorClass = .denied
        case SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_NOMEM: errorClass = .failedInputOutput
        case SQLITE_TOOBIG: errorClass = .unsupported
        default: errorClass = .damaged
        }
        throw SQLiteStoreError(errorClass, "SQLite cannot use \(path): \(String(cString: sqlite3_errmsg(handle)))")
    }
}

/// Why a file is not opened, read or written.
public struct SQLiteStoreError: ClassifiedStoreError, CustomStringConvertible {
    public let errorClass: StoreErrorClass
    public let description: String
    init(_ errorClass: StoreErrorClass, _ text: String) { (self.errorClass, description) = (errorClass, text + ".") }
}
#endif
