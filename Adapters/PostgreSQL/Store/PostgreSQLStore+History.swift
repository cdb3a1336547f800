#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

/// The history is a table, with a row for each transaction. Numbers follow one another, so that what was deleted is known by its absence, and
/// tokens from before it have expired. Transactions have no marks, and nobody can hold them.
extension PostgreSQLStore: HistoryProviding, HistoryArchive {
    /// The identifier of the store.
    public var historyStore: String { identifier }

    /// How far the history reaches.
    /// - Throws: `PostgreSQLError`.
    public func historyBounds() throws -> HistoryBounds {
        try reading { connection, moment in
            let found = try connection.run("SELECT min(h.n) FROM mortise_history h")
            let first = found.rows.first?.number(0)
            return HistoryBounds(
                horizon: first.map { max($0, 1) - 1 } ?? moment.lastTransaction, last: moment.lastTransaction)
        }
    }

    /// Hands over the transactions, oldest first, until the body returns false.
    /// - Throws: `PostgreSQLError`; what the body throws.
    public func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws {
        try forEachRow(numbers) { row in
            try body(row.entry) {
                schema.historyChanges(of: try changeSet(of: row, withOwners: false), transaction: row.entry.number)
            }
        }
    }

    /// Hands over the change sets without values, oldest first, until the body returns false.
    /// - Throws: `PostgreSQLError`; what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws {
        try forEachRow(numbers) { row in try body(row.entry) { try changeSet(of: row, withOwners: false) } }
    }

    /// Forgets transactions. The records stay as they are.
    /// - Throws: `PostgreSQLError`; `DataStoreError.unsupportedFeature` if the values have to be gone when the call returns: the server keeps
    ///   what was deleted until it cleans up.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
        if isSecure { throw DataStoreError.unsupportedFeature }
        guard allowsSave else { throw error(.readOnly) }
        try pool.using { connection in
            _ = try connection.transaction {
                _ = try moment(connection.run(Self.momentText))
                try connection.run("DELETE FROM mortise_history WHERE n = ANY($1::int8[])", [.numbers(numbers)])
            }
        }
    }

    /// How large the history is, and how far it reaches.
    /// - Throws: `PostgreSQLError`.
    public func historyStatus() throws -> HistoryStatus {
        try reading { connection, moment in
            let found = try connection.run(
                "SELECT count(*), coalesce(sum(length(h.changes)), 0)::int8, min(h.n) FROM mortise_history h")
            let row = found.rows.first
            let count = row?.integer(0) ?? 0
            let horizon = row?.number(2).map { max($0, 1) - 1 } ?? moment.lastTransaction
            return HistoryStatus(
                store: identifier, horizon: horizon, last: moment.lastTransaction, bytes: row?.integer(1) ?? 0,
                transactions: Int(count), holes: Int(max(0, moment.lastTransaction - horizon - count)),
                keepsOldValues: false, isRecorded: false)
        }
    }

    /// None.
    public func historyHolders() throws -> [HistoryHolder] { [] }

    /// - Throws: `DataStoreError.unsupportedFeature`.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        throw DataStoreError.unsupportedFeature
    }

    /// The token of the transaction with a number.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken([identifier: Int64(clamping: number)])
    }

    /// The transactions with greater numbers, without values.
    /// - Throws: `PostgreSQLError`.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        try reading { connection, moment in
            var first = Int64(clamping: number)
            if let last {
                let found = try connection.run(
                    "SELECT min(h.n) FROM (SELECT n FROM mortise_history WHERE n > $1::int8 ORDER BY n DESC "
                        + "LIMIT $2::int8) h", [.integer(first), .integer(Int64(max(last, 0)))])
                first = max(first, (found.rows.first?.number(0) ?? .max) - 1)
            }
            return try transactions(connection, after: first, upTo: moment.lastTransaction, withOwners: false)
        }
    }

    var naming: HistoryNaming { HistoryNaming(mapping, store: identifier) }

    /// One row of the history, whose changes are not looked at yet.
    private struct HistoryRow {
        let entry: HistoryEntry
        let changes: Data
        /// Above the numbers of all records that the store has had.
        let next: Int64
    }

    /// The changes of a transaction as everybody who follows gets them. What the schema lacks is left out.
    private func changeSet(of row: HistoryRow, withOwners: Bool) throws -> ChangeSet {
        let entry = row.entry
        guard let changes = HistoryChanges(row.changes, below: row.next) else {
            throw error(.damagedValue(record: "transaction \(entry.number)", property: "changes", found: "other bytes"))
        }
        return naming.changeSet(
            of: changes, entry.number, at: entry.timestamp, author: entry.author, process: entry.process,
            bundle: entry.bundle, withOwners: withOwners)
    }

    /// The first rows after a number.
    private func rows(
        _ connection: PostgreSQLConnection, after first: Int64, upTo last: Int64, atMost count: Int
    ) throws -> [HistoryRow] {
        let found = try connection.run(
            "SELECT h.n, h.at, h.author, h.process, h.bundle, h.changes, "
                + "(SELECT s.\"nextNumber\" FROM mortise_store s) FROM mortise_history h WHERE h.n > $1::int8 AND h.n <= $2::int8 ORDER BY h.n LIMIT $3::int8",
            [.integer(first), .integer(last), .integer(Int64(count))])
        return try found.rows.map { row in
            let number = row.integer(0)
            guard case .blob(let changes)? = row.value(5) else {
                throw error(.damagedValue(record: "transaction \(number)", property: "changes", found: "other bytes"))
            }
            let seconds = if case .real(let seconds)? = row.value(1) { seconds } else { 0.0 }
            func text(_ column: Int32) -> String? { row.text(column).flatMap(EscapedText.text) }
            let entry = HistoryEntry(
                number: number, mark: nil, timestamp: Date(timeIntervalSinceReferenceDate: seconds), author: text(2),
                process: text(3) ?? "", bundle: text(4) ?? "",
                kind: HistoryChanges.isErasure(changes) ? .erasure : .changes)
            return HistoryRow(entry: entry, changes: changes, next: row.number(6) ?? .max)
        }
    }

    /// Hands over the rows in order until the body returns false. Not while they are read, which is done again where a connection is lost.
    private func forEachRow(_ numbers: ClosedRange<Int64>, _ body: (HistoryRow) throws -> Bool) throws {
        var first = max(numbers.lowerBound, 1) - 1
        // Few at first, for who needs no more.
        var size = 16
        while true {
            let page = try reading { connection, _ in
                try rows(connection, after: first, upTo: numbers.upperBound, atMost: size)
            }
            for row in page where try !body(row) { return }
            guard page.count == size, let last = page.last else { return }
            first = last.entry.number
            size = min(size * 2, 1_024)
        }
    }

    func transactions(
        _ connection: PostgreSQLConnection, after first: Int64, upTo last: Int64, withOwners: Bool
    ) throws -> [ChangeSet] {
        var found: [ChangeSet] = []
        var first = first
        while true {
            let page = try rows(connection, after: first, upTo: last, atMost: 1_000)
            found += try page.map { try changeSet(of: $0, withOwners: withOwners) }
            guard page.count == 1_000, let last = page.last else { return found }
            first = last.entry.number
        }
    }
}
#endif
