#if SQLite
import CSQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteConfiguration: TransparentConfiguration {
    /// "SQL": that of SQLite.
    public var statementLanguage: String? { "SQL" }

    /// Runs SELECT, WITH, VALUES or EXPLAIN on a connection of its own that can only read, and cannot attach other files. `PRAGMA` is
    /// not run; its functions, such as `pragma_table_info`, are. Functions that make large values (`printf`, `replace`, `instr`, `zeroblob`,
    /// `randomblob`) are refused, and so are values above 16 MiB and more than 200 columns.
    /// - Throws: `StatementError`; `SQLiteError`.
    public func answer(toStatement statement: String, within limits: StatementLimits) throws -> StatementAnswer {
        let statement = try ReadingStatement(statement, nestsComments: false)
        let connection = try lookingConnection()
        defer { connection.close() }
        sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 16 << 20)
        sqlite3_limit(connection.handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(connection.handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
        // One call of these can take days, or all memory, before the time limit is looked at.
        sqlite3_set_authorizer(
            connection.handle,
            { _, action, _, name, _, _ in
                guard action == SQLITE_FUNCTION, let name else { return SQLITE_OK }
                let large = ["instr", "randomblob", "zeroblob", "printf", "format", "replace"]
                return large.contains(String(cString: name).lowercased()) ? SQLITE_DENY : SQLITE_OK
            }, nil)
        try connection.run("PRAGMA query_only = ON")
        return try TypedStatement(connection, statement.text, limits).answer()
    }

    /// The columns of the record's row. Numbers are given as their eight bytes, the most significant first.
    /// - Throws: `SQLiteError`.
    public func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart] {
        guard let number = record.sequenceNumber.flatMap({ Int64(exactly: $0) }) else { return [] }
        let connection = try lookingConnection()
        defer { connection.close() }
        return try connection.transaction(writes: false) {
            let metadata = try StoreMetadata(connection)
            let mapping = TableMapping(metadata.schema, metadata.catalog)
            guard let table = mapping.entities[record.entityName]?.table else { return [] }
            var parts: [StoredPart] = []
            try connection.run("SELECT t.* FROM \(SQLName.quoted(table)) t WHERE t.id = ?", [.integer(number)]) { row in
                for column in 0..<sqlite3_column_count(row.handle) {
                    let name = sqlite3_column_name(row.handle, column).map { String(cString: $0) } ?? ""
                    let (kind, bytes, count) = row.storedForm(column, limit: limit)
                    parts.append(
                        StoredPart(name: name, place: table, kind: kind, bytes: bytes, byteCount: Int64(count)))
                }
            }
            return parts
        }
    }

    private func lookingConnection() throws -> SQLiteConnection {
        guard SQLiteOpening.exists(path) else { throw SQLiteError(path, .missing) }
        return try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
    }
}

/// A statement of one use that a person has typed.
private final class TypedStatement {
    private let connection: SQLiteConnection
    private let handle: OpaquePointer
    private let limits: StatementLimits

    init(_ connection: SQLiteConnection, _ text: String, _ limits: StatementLimits) throws {
        self.connection = connection
        self.limits = limits
        let text = limits.showsPlan ? "EXPLAIN QUERY PLAN " + text : text
        var found: OpaquePointer?
        let isAlone = try text.withCString { start in
            var tail: UnsafePointer<CChar>?
            try Self.check(connection, sqlite3_prepare_v3(connection.handle, start, -1, 0, &found, &tail), limits)
            return tail.map { Self.isEmpty(String(cString: $0), connection) } ?? true
        }
        guard let found else { throw StatementError.notOne }
        handle = found
        guard isAlone else { throw StatementError.notOne }
        guard sqlite3_stmt_readonly(found) != 0 else { throw StatementError.notReadOnly }
        guard sqlite3_column_count(found) <= 200 else {
            throw StatementError.refused(message: "it has more than 200 columns")
        }
        guard sqlite3_bind_parameter_count(found) == 0 else {
            throw StatementError.refused(message: "it has a parameter; write the value itself")
        }
    }

    deinit { sqlite3_finalize(handle) }

    /// Whether a text has no statement: SQLite prepares nothing then.
    private static func isEmpty(_ text: String, _ connection: SQLiteConnection) -> Bool {
        var found: OpaquePointer?
        let status = sqlite3_prepare_v3(connection.handle, text, -1, 0, &found, nil)
        sqlite3_finalize(found)
        return status == SQLITE_OK && found == nil
    }

    /// SQLite asks it now and then whether to go on.
    private final class Deadline: Sendable {
        let end: ContinuousClock.Instant
        init(_ end: ContinuousClock.Instant) { self.end = end }
    }

    func answer() throws -> StatementAnswer {
        let deadline = Deadline(.now + limits.time)
        let context = Unmanaged.passRetained(deadline)
        sqlite3_progress_handler(
            connection.handle, 50,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().end < .now ? 1 : 0
            }, context.toOpaque())
        defer {
            sqlite3_progress_handler(connection.handle, 0, nil, nil)
            context.release()
        }
        let columns = sqlite3_column_count(handle)
        var answer = StatementAnswer(
            columns: (0..<columns).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" })
        while true {
            let status = sqlite3_step(handle)
            if status == SQLITE_DONE { return answer }
            if status != SQLITE_ROW { try Self.check(connection, status, limits) }
            if answer.rows.count >= limits.rows {
                answer.hasMore = true
                return answer
            }
            answer.rows.append((0..<columns).map { value($0) })
        }
    }

    private func value(_ column: Int32) -> StatementAnswer.Value {
        let row = RowPointer(handle: handle)
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .init(.null)
        case SQLITE_INTEGER: return .init(.integer(sqlite3_column_int64(handle, column)))
        case SQLITE_FLOAT: return .init(.double(sqlite3_column_double(handle, column)))
        case SQLITE_TEXT:
            let (bytes, count) = row.bytes(column, limit: limits.bytes)
            // Cut, it may end within a character.
            for dropped in 0..<min(4, bytes.count + 1) {
                if let text = String(validating: bytes.dropLast(count > bytes.count ? dropped : 0), as: UTF8.self) {
                    return .init(.string(text), byteCount: count)
                }
            }
            return .init(.data(bytes), byteCount: count)
        default:
            let (bytes, count) = row.bytes(column, limit: limits.bytes)
            return .init(.data(bytes), byteCount: count)
        }
    }

    private static func check(_ connection: SQLiteConnection, _ status: Int32, _ limits: StatementLimits) throws {
        if status == SQLITE_OK { return }
        if status & 0xFF == SQLITE_INTERRUPT { throw StatementError.tookTooLong(limits.time) }
        let message = sqlite3_errmsg(connection.handle).map { String(cString: $0) } ?? ""
        switch status & 0xFF {
        case SQLITE_ERROR, SQLITE_AUTH, SQLITE_RANGE, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_CONSTRAINT:
            throw StatementError.refused(message: message)
        case SQLITE_READONLY: throw StatementError.notReadOnly
        default: try connection.check(status)
        }
    }
}

/// The row that a statement is at.
private struct RowPointer {
    let handle: OpaquePointer

    /// The bytes of a text or of data, as far as they are wanted, and how many there are.
    func bytes(_ column: Int32, limit: Int) -> (Data, Int) {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        guard let start, count > 0 else { return (Data(), 0) }
        return (Data(bytes: start, count: min(count, max(limit, 0))), count)
    }
}

extension SQLiteStatement {
    /// What is in a column: the kind that SQLite stores it as, its bytes as far as they are wanted, and how many there are.
    fileprivate func storedForm(_ column: Int32, limit: Int) -> (kind: String, bytes: Data, count: Int) {
        func number(_ bits: UInt64) -> Data { withUnsafeBytes(of: bits.bigEndian) { Data($0.prefix(max(limit, 0))) } }
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return ("NULL", Data(), 0)
        case SQLITE_INTEGER:
            return ("INTEGER", number(UInt64(bitPattern: sqlite3_column_int64(handle, column))), 8)
        case SQLITE_FLOAT: return ("REAL", number(sqlite3_column_double(handle, column).bitPattern), 8)
        case let type:
            let (bytes, count) = RowPointer(handle: handle).bytes(column, limit: limit)
            return (type == SQLITE_TEXT ? "TEXT" : "BLOB", bytes, count)
        }
    }
}
#endif
