#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteStore: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The saves that the file still has, oldest first unless the descriptor sorts.
    /// - Throws: `SQLiteError`; what the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        try reading { connection, _ in
            try forEachTransaction(connection, after: 0, upTo: .max) { entry in
                let transaction = transaction(entry)
                guard try descriptor.predicate?.evaluate(transaction) ?? true else { return true }
                found.append(transaction)
                return !descriptor.sortBy.isEmpty || found.count < limit
            }
        }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return found.count > limit ? Array(found.prefix(limit)) : found
    }

    /// Deletes the matching transactions from the history. The records stay as they are.
    /// - Throws: `SQLiteError`; what the predicate throws.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let doomed = try fetchHistory(descriptor).map(\.transactionIdentifier)
        if doomed.isEmpty { return }
        try writing { connection, _ in
            try connection.run(
                "DELETE FROM mortise_history WHERE n IN (SELECT value FROM json_each(?))", [.list(doomed)])
        }
    }

    /// The token of the transaction with a number.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken([identifier: Int64(clamping: number)])
    }

    /// The transactions with greater numbers, without values.
    /// - Throws: `SQLiteError`.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        try reading { connection, moment in
            var first = Int64(clamping: number)
            if let last {
                try connection.run(
                    "SELECT min(h.n) FROM (SELECT n FROM mortise_history WHERE n > ? ORDER BY n DESC LIMIT ?) h",
                    [.integer(first), .integer(Int64(max(last, 0)))]
                ) { first = max(first, ($0.number(0) ?? .max) - 1) }
            }
            return try transactions(connection, after: first, upTo: moment.lastTransaction, withOwners: false)
        }
    }

    /// Hands over the transactions in order until the body returns false.
    private func forEachTransaction(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, _ body: (HistoryEntry) throws -> Bool
    ) throws {
        let statement = try connection.prepare(
            "SELECT h.n, h.at, h.author, h.process, h.bundle, h.changes FROM mortise_history h WHERE h.n > ? AND h.n <= ? "
                + "ORDER BY h.n")
        defer { connection.finish(statement) }
        try statement.bind([.integer(first), .integer(last)])
        while try statement.step() {
            let number = statement.integer(0)
            guard case .blob(let data)? = statement.value(5), let changes = HistoryChanges(data) else {
                throw error(
                    .damagedValue(record: "transaction \(number)", property: "changes", found: "other bytes"))
            }
            let seconds = if case .real(let seconds)? = statement.value(1) { seconds } else { 0.0 }
            let entry = HistoryEntry(
                number: number, date: Date(timeIntervalSinceReferenceDate: seconds), author: statement.text(2),
                process: statement.text(3) ?? "", bundle: statement.text(4) ?? "", changes: changes)
            if try !body(entry) { return }
        }
    }

    func transactions(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, withOwners: Bool
    ) throws -> [ChangeSet] {
        var found: [ChangeSet] = []
        try forEachTransaction(connection, after: first, upTo: last) { entry in
            found.append(
                changeSet(
                    of: entry.changes, entry.number, at: entry.date, author: entry.author, process: entry.process,
                    bundle: entry.bundle, withOwners: withOwners))
            return true
        }
        return found
    }

    private var naming: HistoryNaming { HistoryNaming(mapping, store: identifier) }

    private func transaction(_ entry: HistoryEntry) -> DefaultHistoryTransaction { naming.transaction(entry, schema) }

    /// The changes of a transaction as everybody who follows gets them. What the schema lacks is left out.
    func changeSet(
        of history: HistoryChanges, _ number: Int64, at date: Date, author: String?, process: String, bundle: String,
        withOwners: Bool
    ) -> ChangeSet {
        naming.changeSet(
            of: history, number, at: date, author: author, process: process, bundle: bundle, withOwners: withOwners)
    }
}
#endif
