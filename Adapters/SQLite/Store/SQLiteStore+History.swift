#if SQLite
import CSQLite
import Foundation
public import MortiseCore
import MortiseSQL

/// The history is a table, with a row for each transaction.
extension SQLiteStore: HistoryProviding, HistoryArchive {
    /// The identifier of the store.
    public var historyStore: String { identifier }

    /// How far the history reaches.
    /// - Throws: `SQLiteError`.
    public func historyBounds() throws -> HistoryBounds { try reading { connection, _ in try bounds(connection) } }

    private func bounds(_ connection: SQLiteConnection) throws -> HistoryBounds {
        var bounds = HistoryBounds(horizon: 0, last: 0)
        try connection.run("SELECT s.horizon, s.horizonMark, s.lastTransaction, s.erasure FROM mortise_store s") {
            row in
            bounds = HistoryBounds(
                horizon: row.integer(0), horizonMark: row.number(1).map { UInt64(bitPattern: $0) },
                last: row.integer(2), erasure: row.integer(3))
        }
        return bounds
    }

    /// Hands over the transactions, oldest first, until the body returns false.
    /// - Throws: `SQLiteError`; what the body throws.
    public func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws {
        try reading { connection, _ in
            try forEachRow(
                connection, after: max(numbers.lowerBound, 1) - 1, upTo: numbers.upperBound, from: earliest
            ) { row in
                try body(row.entry) {
                    let changes = changeSet(of: try changes(row), row.entry, withOwners: false)
                    return schema.historyChanges(of: changes, transaction: row.entry.number)
                }
            }
        }
    }

    /// Hands over the change sets without values, oldest first, until the body returns false.
    /// - Throws: `SQLiteError`; what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws {
        try reading { connection, _ in
            try forEachRow(connection, after: max(numbers.lowerBound, 1) - 1, upTo: numbers.upperBound) { row in
                try body(row.entry) { changeSet(of: try changes(row), row.entry, withOwners: false) }
            }
        }
    }

    /// Forgets transactions. Where the values have to be gone, the pages that had them are overwritten, and the log is emptied.
    /// - Throws: `SQLiteError`, of the class `busy` where somebody reads what the log has to keep for so long. Nothing is forgotten then,
    ///   unless the reader came in between: then the transactions are forgotten, and their values leave the file with a later checkpoint.
    ///   `ModelContextError.readOnly`.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
        try checkAllowsSave()
        try pool.writing { connection in
            if isSecure {
                try emptyLog(connection)
                try connection.run("PRAGMA secure_delete = ON")
            }
            defer { if isSecure { try? connection.run("PRAGMA secure_delete = OFF") } }
            try connection.transaction(writes: true) {
                try check(connection)
                try connection.run(
                    "UPDATE mortise_history SET kind = \(Self.stub), changes = x'' "
                        + "WHERE n IN (SELECT value FROM json_each(?))", [.list(numbers)])
                // Stubs before the first transaction that is kept are of no use.
                var first = Int64.max
                try connection.run(
                    "SELECT h.n FROM mortise_history h WHERE h.kind <> \(Self.stub) ORDER BY h.n LIMIT 1"
                ) { first = $0.integer(0) }
                try connection.run(
                    "SELECT h.n, h.mark FROM mortise_history h WHERE h.n < ? ORDER BY h.n DESC LIMIT 1",
                    [.integer(first)]
                ) { row in
                    try connection.run(
                        "UPDATE mortise_store SET horizon = ?, horizonMark = ?",
                        [.integer(row.integer(0)), .integer(row.integer(1))])
                }
                try connection.run("DELETE FROM mortise_history WHERE n < ?", [.integer(first)])
            }
            if isSecure { try emptyLog(connection) }
        }
    }

    /// Writes the log into the file, and leaves nothing in it.
    private func emptyLog(_ connection: SQLiteConnection) throws {
        // SQLite says in a row that it could not.
        var isRefused = false
        try connection.run("PRAGMA wal_checkpoint(TRUNCATE)") { isRefused = $0.integer(0) != 0 }
        if isRefused {
            throw error(
                .engine(code: SQLITE_BUSY, message: "the log keeps what it has, since somebody reads an earlier state"))
        }
    }

    /// A store that is open for reading only has no connection that writes.
    private func checkAllowsSave() throws {
        if !allowsSave { throw ModelContextError.readOnly(configuration: configuration.name) }
    }

    private static let stub = HistoryEntry.Kind.stub.rawValue

    /// How large the history is, and how far it reaches.
    /// - Throws: `SQLiteError`.
    public func historyStatus() throws -> HistoryStatus {
        try reading { connection, _ in
            let bounds = try bounds(connection)
            var (count, stubs, bytes) = (0, 0, Int64(0))
            try connection.run(
                "SELECT count(*), coalesce(sum(h.kind = \(Self.stub)), 0), coalesce(sum(length(h.changes)), 0) "
                    + "FROM mortise_history h"
            ) { row in
                (count, stubs, bytes) = (Int(row.integer(0)), Int(row.integer(1)), row.integer(2))
            }
            return HistoryStatus(
                store: identifier, horizon: bounds.horizon, last: bounds.last, bytes: bytes,
                transactions: count - stubs, holes: stubs, keepsOldValues: false, isRecorded: false)
        }
    }

    /// Who still needs a part of the history.
    /// - Throws: `SQLiteError`.
    public func historyHolders() throws -> [HistoryHolder] {
        try reading { connection, _ in try holders(connection) }
    }

    private func holders(_ connection: SQLiteConnection) throws -> [HistoryHolder] {
        var found: [HistoryHolder] = []
        try connection.run("SELECT o.name, o.holder FROM mortise_holder o ORDER BY o.name") { row in
            guard let holder = try? JSONDecoder().decode(HistoryHolder.self, from: Data((row.text(1) ?? "").utf8))
            else {
                throw error(
                    .damagedValue(record: "holder \(row.text(0) ?? "")", property: "holder", found: row.text(1) ?? ""))
            }
            found.append(holder)
        }
        return found
    }

    /// Changes who needs a part of the history, in one transaction.
    /// - Throws: `SQLiteError`; `ModelContextError.readOnly`; what the body throws.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        try checkAllowsSave()
        try writing { connection, _ in
            let before = try holders(connection)
            var holders = before
            try body(&holders)
            if holders == before { return }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try connection.run("DELETE FROM mortise_holder")
            for holder in holders {
                try connection.run(
                    "INSERT INTO mortise_holder VALUES (?, ?)",
                    [.text(holder.name), .text(String(decoding: try encoder.encode(holder), as: UTF8.self))])
            }
        }
    }

    /// The token of the transaction with a number; without a mark where the history no longer has it.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        let mark = try? reading { connection, _ in
            var mark: UInt64?
            try connection.run(
                "SELECT h.mark FROM mortise_history h WHERE h.n = ?", [.integer(Int64(clamping: number))]
            ) { mark = UInt64(bitPattern: $0.integer(0)) }
            return mark
        }
        return DefaultHistoryToken(Int64(clamping: number), mark: mark ?? nil, store: identifier)
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

    /// One row of the history, whose changes are not looked at yet.
    private struct HistoryRow {
        let entry: HistoryEntry
        let changes: Data
        /// No record has this number or a greater one.
        let next: Int64
    }

    private func changes(_ row: HistoryRow) throws -> HistoryChanges {
        if row.entry.kind == .stub { return HistoryChanges() }
        guard let changes = HistoryChanges(row.changes, below: row.next) else {
            throw error(
                .damagedValue(record: "transaction \(row.entry.number)", property: "changes", found: "other bytes"))
        }
        return changes
    }

    /// Hands over the rows in order until the body returns false.
    private func forEachRow(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, from earliest: Date? = nil,
        _ body: (HistoryRow) throws -> Bool
    ) throws {
        let statement = try connection.prepare(
            "SELECT h.n, h.at, h.author, h.process, h.bundle, h.kind, h.mark, h.changes, "
                + "(SELECT s.nextNumber FROM mortise_store s) FROM mortise_history h "
                + "WHERE h.n > ? AND h.n <= ? AND h.at >= ? ORDER BY h.n")
        defer { connection.finish(statement) }
        try statement.bind([
            .integer(first), .integer(last), .real(earliest?.timeIntervalSinceReferenceDate ?? -.infinity),
        ])
        while try statement.step() {
            let number = statement.integer(0)
            guard case .blob(let changes)? = statement.value(7),
                let kind = UInt8(exactly: statement.integer(5)).flatMap(HistoryEntry.Kind.init)
            else {
                throw error(
                    .damagedValue(record: "transaction \(number)", property: "changes", found: "other bytes"))
            }
            let seconds = if case .real(let seconds)? = statement.value(1) { seconds } else { 0.0 }
            let entry = HistoryEntry(
                number: number, mark: UInt64(bitPattern: statement.integer(6)),
                timestamp: Date(timeIntervalSinceReferenceDate: seconds), author: statement.text(2),
                process: statement.text(3) ?? "", bundle: statement.text(4) ?? "", kind: kind)
            let row = HistoryRow(entry: entry, changes: changes, next: statement.number(8) ?? .max)
            if try !body(row) { return }
        }
    }

    /// The transactions that the history still has.
    func transactions(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, withOwners: Bool
    ) throws -> [ChangeSet] {
        var found: [ChangeSet] = []
        try forEachRow(connection, after: first, upTo: last) { row in
            if row.entry.kind == .stub { return true }
            found.append(changeSet(of: try changes(row), row.entry, withOwners: withOwners))
            return true
        }
        return found
    }

    /// The changes of a transaction as everybody who follows gets them. What the schema lacks is left out.
    /// With owners, it names records of which only derived lists have changed.
    func changeSet(
        of history: HistoryChanges, _ entry: HistoryEntry, withOwners: Bool
    ) -> ChangeSet {
        HistoryNaming(mapping, store: identifier).changeSet(
            of: history, entry.number, at: entry.timestamp, author: entry.author, process: entry.process,
            bundle: entry.bundle, mark: entry.mark, withOwners: withOwners)
    }
}
#endif
