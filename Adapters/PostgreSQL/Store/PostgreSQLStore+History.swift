#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLStore: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The saves that the store still has, oldest first unless the descriptor sorts.
    /// - Throws: `PostgreSQLError`; what the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        try reading { connection, _ in
            found = []
            try forEachTransaction(connection, after: 0, upTo: .max) { entry in
                let transaction = naming.transaction(entry, schema)
                guard try descriptor.predicate?.evaluate(transaction) ?? true else { return true }
                found.append(transaction)
                return !descriptor.sortBy.isEmpty || found.count < limit
            }
        }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return found.count > limit ? Array(found.prefix(limit)) : found
    }

    /// Deletes the matching transactions from the history. The records stay as they are.
    /// - Throws: `PostgreSQLError`; what the predicate throws.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        guard allowsSave else { throw error(.readOnly) }
        let doomed = try fetchHistory(descriptor).map(\.transactionIdentifier)
        if doomed.isEmpty { return }
        try pool.using { connection in
            _ = try connection.transaction {
                _ = try moment(connection.run(Self.momentText))
                try connection.run("DELETE FROM mortise_history WHERE n = ANY($1::int8[])", [.numbers(doomed)])
            }
        }
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

    /// Hands over the transactions in order until the body returns false.
    private func forEachTransaction(
        _ connection: PostgreSQLConnection, after first: Int64, upTo last: Int64, _ body: (HistoryRow) throws -> Bool
    ) throws {
        var first = first
        while true {
            let found = try connection.run(
                "SELECT h.n, h.at, h.author, h.process, h.bundle, h.changes, "
                    + "(SELECT s.\"nextNumber\" FROM mortise_store s) FROM mortise_history h WHERE h.n > $1::int8 AND h.n <= $2::int8 ORDER BY h.n LIMIT 1000",
                [.integer(first), .integer(last)])
            for row in found.rows {
                first = row.integer(0)
                guard case .blob(let data)? = row.value(5),
                    let changes = HistoryChanges(data, below: row.number(6) ?? .max)
                else {
                    throw error(
                        .damagedValue(record: "transaction \(first)", property: "changes", found: "other bytes"))
                }
                let seconds = if case .real(let seconds)? = row.value(1) { seconds } else { 0.0 }
                func text(_ column: Int32) -> String? { row.text(column).flatMap(EscapedText.text) }
                let entry = HistoryRow(
                    number: first, date: Date(timeIntervalSinceReferenceDate: seconds), author: text(2),
                    process: text(3) ?? "", bundle: text(4) ?? "", changes: changes)
                if try !body(entry) { return }
            }
            if found.count < 1_000 { return }
        }
    }

    func transactions(
        _ connection: PostgreSQLConnection, after first: Int64, upTo last: Int64, withOwners: Bool
    ) throws -> [ChangeSet] {
        var found: [ChangeSet] = []
        try forEachTransaction(connection, after: first, upTo: last) { entry in
            found.append(
                naming.changeSet(
                    of: entry.changes, entry.number, at: entry.date, author: entry.author, process: entry.process,
                    bundle: entry.bundle, withOwners: withOwners))
            return true
        }
        return found
    }
}
#endif
