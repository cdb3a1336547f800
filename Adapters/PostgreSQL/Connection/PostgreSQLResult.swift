#if PostgreSQL
import CPostgreSQL
import Foundation
import MortiseSQL

/// What a statement has returned.
final class PostgreSQLResult {
    let handle: OpaquePointer?
    /// How many rows there are.
    let count: Int
    private let types: [UInt32]

    init(_ handle: OpaquePointer?) {
        self.handle = handle
        count = Int(PQntuples(handle))
        types = (0..<PQnfields(handle)).map { PQftype(handle, $0) }
    }

    deinit { PQclear(handle) }

    /// How many rows the statement has changed.
    var changed: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The rows.
    var rows: [PostgreSQLRow] { (0..<count).map { PostgreSQLRow(result: self, number: Int32($0)) } }

    fileprivate func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
        if PQgetisnull(handle, row, column) != 0 { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    fileprivate func type(_ column: Int32) -> UInt32 {
        types.indices.contains(Int(column)) ? types[Int(column)] : 0
    }
}

/// A row of a result, which it keeps alive.
struct PostgreSQLRow {
    let result: PostgreSQLResult
    let number: Int32

    func isNull(_ column: Int32) -> Bool { PQgetisnull(result.handle, number, column) != 0 }

    /// The value in a column; nil for one that is of no type that a store has.
    func value(_ column: Int32) -> SQLValue? {
        guard let bytes = result.bytes(number, column) else { return .null }
        return BinaryCoding.value(bytes, type: result.type(column))
    }

    /// The number in a column; nil for anything else.
    func number(_ column: Int32) -> Int64? {
        if case .integer(let number)? = value(column) { number } else { nil }
    }

    /// The number in a column; 0 for anything else.
    func integer(_ column: Int32) -> Int64 { number(column) ?? 0 }

    /// The text in a column; nil for anything else.
    func text(_ column: Int32) -> String? {
        if case .text(let text)? = value(column) { text } else { nil }
    }

    func bool(_ column: Int32) -> Bool? {
        if case .bool(let holds)? = value(column) { holds } else { nil }
    }
}
#endif
