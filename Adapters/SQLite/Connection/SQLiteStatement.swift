#if SQLite
import CSQLite
import Foundation
import MortiseSQL

/// A prepared statement of one connection.
final class SQLiteStatement {
    private unowned let connection: SQLiteConnection
    let handle: OpaquePointer
    let sql: String
    /// Whether rows are being read. Another use of the same text gets a statement of its own then.
    var isInUse = false

    init(_ connection: SQLiteConnection, _ sql: String) throws {
        self.connection = connection
        self.sql = sql
        var handle: OpaquePointer?
        try connection.check(
            sqlite3_prepare_v3(
                connection.handle, sql, Int32(sql.utf8.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
        guard let handle else {
            throw SQLiteError(connection.path, .engine(code: SQLITE_MISUSE, message: "an empty statement"))
        }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// SQLite copies what it is given before the call returns.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bind(_ values: [SQLValue]) throws {
        for (place, value) in zip(Int32(1)..., values) { try bind(value, at: place) }
    }

    func bind(_ value: SQLValue, at place: Int32) throws {
        switch value {
        case .null: try connection.check(sqlite3_bind_null(handle, place))
        case .integer(let number): try connection.check(sqlite3_bind_int64(handle, place, number))
        case .real(let number): try connection.check(sqlite3_bind_double(handle, place, number))
        case .float(let number): try bind(.real(Double(number)), at: place)
        case .bool(let value): try bind(.integer(value ? 1 : 0), at: place)
        case .decimal(let digits): try bind(.text(digits), at: place)
        case .uuid(let uuid): try bind(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }), at: place)
        case .array: try connection.check(SQLITE_MISUSE)
        case .text(var text):
            let status = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // An empty text may have no address, and would be null.
                    sqlite3_bind_text64(
                        handle, place, $0.baseAddress ?? Self.empty, UInt64($0.count), Self.copied, UInt8(SQLITE_UTF8))
                }
            }
            try connection.check(status)
        case .blob(let data):
            if data.isEmpty { return try connection.check(sqlite3_bind_zeroblob(handle, place, 0)) }
            let status = data.withUnsafeBytes {
                sqlite3_bind_blob64(handle, place, $0.baseAddress, UInt64($0.count), Self.copied)
            }
            try connection.check(status)
        }
    }

    // Never written or freed.
    nonisolated(unsafe) private static let empty = UnsafePointer(
        UnsafeMutablePointer<CChar>.allocate(capacity: 1).initialized(to: 0))

    /// Goes on to the next row.
    /// - Returns: whether there is one.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let status:
            // The statement tells more than the status, and a reset does not fail for another reason.
            try connection.check(status)
            return false
        }
    }

    /// How many rows were passed without an index since the last reset.
    var scanned: Int { Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)) }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The number in a column; nil for anything else.
    func number(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_INTEGER ? sqlite3_column_int64(handle, column) : nil
    }

    /// The text in a column; nil for anything else, and for bytes that are no text.
    func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
        return String(validating: bytes, as: UTF8.self)
    }

    /// The value in a column; nil for text that is not UTF-8.
    func value(_ column: Int32) -> SQLValue? {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: return text(column).map(SQLValue.text)
        default:
            guard let start = sqlite3_column_blob(handle, column) else { return .blob(Data()) }
            return .blob(Data(bytes: start, count: Int(sqlite3_column_bytes(handle, column))))
        }
    }
}

extension UnsafeMutablePointer {
    fileprivate func initialized(to value: Pointee) -> Self {
        initialize(to: value)
        return self
    }
}
#endif
