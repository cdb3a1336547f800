#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLConfiguration: TransparentConfiguration {
    /// "SQL": that of PostgreSQL.
    public var statementLanguage: String? { "SQL" }

    /// Runs SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN on a connection of its own, in a transaction that can only read. A function that
    /// the user may call is called: connect as a user with no more rights than the store needs.
    /// - Throws: `StatementError`; `PostgreSQLError`.
    public func answer(toStatement statement: String, within limits: StatementLimits) throws -> StatementAnswer {
        let statement = try ReadingStatement(statement, nestsComments: true)
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        let milliseconds = Int64(max(limits.time / .milliseconds(1), 1))
        try connection.run("BEGIN READ ONLY")
        try connection.script("SET LOCAL statement_timeout = \(milliseconds)")
        var answer = StatementAnswer(columns: [])
        do {
            try connection.read((limits.showsPlan ? "EXPLAIN " : "") + statement.text) { columns, values in
                answer.columns = columns
                if values.isEmpty { return true }
                answer.hasMore = answer.rows.count >= limits.rows
                if answer.hasMore { return false }
                answer.rows.append(values.map { Self.value($0, limit: max(limits.bytes, 0)) })
                return true
            }
        } catch let error as PostgreSQLError {
            switch error.fault {
            case .timedOut: throw StatementError.tookTooLong(limits.time)
            case .engine(state: "25006", _, _, _, _): throw StatementError.notReadOnly
            case .engine(let state, let message, _, _, _) where ["42", "22", "0A"].contains(state.prefix(2)):
                throw message.contains("multiple commands")
                    ? StatementError.notOne : StatementError.refused(message: message)
            default: throw error
            }
        }
        return answer
    }

    private static func value(_ bytes: UnsafeRawBufferPointer?, limit: Int) -> StatementAnswer.Value {
        guard let bytes else { return .init(.null) }
        // Cut, it may end within a character.
        for dropped in 0..<4 {
            let part = bytes.prefix(limit).dropLast(bytes.count > limit ? dropped : 0)
            if let text = String(validating: part, as: UTF8.self) {
                return .init(.string(text), byteCount: bytes.count)
            }
        }
        return .init(.data(Data(bytes.prefix(limit))), byteCount: bytes.count)
    }

    /// The columns of the record's row as the server writes them, and where the row is (`ctid`).
    /// - Throws: `PostgreSQLError`.
    public func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart] {
        guard let number = record.sequenceNumber.flatMap({ Int64(exactly: $0) }) else { return [] }
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        guard try StoreMetadata.exists(connection) else { return [] }
        try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let metadata = try StoreMetadata(connection)
        let mapping = TableMapping(metadata.schema, metadata.catalog, .postgreSQL)
        guard let table = mapping.entities[record.entityName]?.table else { return [] }
        var parts: [StoredPart] = []
        try connection.read("SELECT t.ctid, t.* FROM \(SQLName.quoted(table)) t WHERE t.id = \(number)") {
            columns, values in
            parts += zip(columns, values).map { name, bytes in
                StoredPart(
                    name: name, place: table, kind: bytes == nil ? "NULL" : "",
                    bytes: bytes.map { Data($0.prefix(max(limit, 0))) } ?? Data(), byteCount: Int64(bytes?.count ?? 0))
            }
            return true
        }
        return parts
    }
}
#endif
