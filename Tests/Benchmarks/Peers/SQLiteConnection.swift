#if BenchmarkPeers
import Foundation
import GRDBSQLite

/// SQLite through its C interface, with statements prepared once: what a careful program in C would do.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// - Throws: `SQLiteFailure`.
    init(path: String) throws {
        var handle: OpaquePointer?
        let status = sqlite3_open_v2(
            path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let handle else { throw SQLiteFailure(status: status, sql: "open \(path)") }
        self.handle = handle
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    func execute(_ sql: String) throws {
        let status = sqlite3_exec(handle, sql, nil, nil, nil)
        if status != SQLITE_OK { throw SQLiteFailure(status: status, sql: sql) }
    }

    func statement(_ sql: String) throws -> OpaquePointer {
        if let known = statements[sql] {
            sqlite3_reset(known)
            return known
        }
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw SQLiteFailure(status: status, sql: sql) }
        statements[sql] = statement
        return statement
    }

    /// The rows of a query for `SELECT *` of trips.
    func trips(_ statement: OpaquePointer) -> [TripValues] {
        var trips: [TripValues] = []
        while sqlite3_step(statement) == SQLITE_ROW { trips.append(Self.trip(statement)) }
        return trips
    }

    func number(_ statement: OpaquePointer) -> Int {
        // Until then it reads what there was.
        defer { sqlite3_reset(statement) }
        return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : -1
    }

    static func bind(_ text: String, _ place: Int32, _ statement: OpaquePointer) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                // Copied by SQLite, as the string ends before the statement runs.
                _ = sqlite3_bind_text(
                    statement, place, bytes.baseAddress, Int32(bytes.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
        }
    }

    func insert(_ values: TripValues) throws {
        let statement = try statement(
            "INSERT INTO trip (\(Peers.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        withUnsafeBytes(of: values.id.uuid) { bytes in
            _ = sqlite3_bind_blob(
                statement, 1, bytes.baseAddress, 16, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
        Self.bind(values.name, 2, statement)
        Self.bind(values.destination, 3, statement)
        sqlite3_bind_double(statement, 4, values.startDate.timeIntervalSinceReferenceDate)
        sqlite3_bind_double(statement, 5, values.endDate.timeIntervalSinceReferenceDate)
        sqlite3_bind_double(statement, 6, values.price)
        sqlite3_bind_int64(statement, 7, Int64(values.rating))
        sqlite3_bind_int(statement, 8, values.isFavourite ? 1 : 0)
        Self.bind(values.note, 9, statement)
        sqlite3_bind_int64(statement, 10, Int64(values.traveler))
        let status = sqlite3_step(statement)
        if status != SQLITE_DONE { throw SQLiteFailure(status: status, sql: "insert") }
    }

    private static func trip(_ statement: OpaquePointer) -> TripValues {
        func text(_ column: Int32) -> String {
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(
                decoding: UnsafeBufferPointer(start: sqlite3_column_text(statement, column), count: count),
                as: UTF8.self)
        }
        func date(_ column: Int32) -> Date {
            Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, column))
        }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        if let bytes = sqlite3_column_blob(statement, 1) { uuid = bytes.loadUnaligned(as: uuid_t.self) }
        return TripValues(
            id: UUID(uuid: uuid), name: text(2), destination: text(3), startDate: date(4), endDate: date(5),
            price: sqlite3_column_double(statement, 6), rating: Int(sqlite3_column_int64(statement, 7)),
            isFavourite: sqlite3_column_int(statement, 8) != 0, note: text(9),
            traveler: Int(sqlite3_column_int64(statement, 10)))
    }
}

struct SQLiteFailure: Error, CustomStringConvertible {
    let status: Int32
    let sql: String
    var description: String { "SQLite: status \(status) for \(sql)" }
}
#endif
