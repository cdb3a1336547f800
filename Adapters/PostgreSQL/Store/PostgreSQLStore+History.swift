#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

/// The history is a table, with a row for each transaction.
extension PostgreSQLStore: HistoryProviding, HistoryArchive {
    /// The identifier of the store.
    public var historyStore: String { identifier }

    /// How far the history reaches.
    /// - Throws: `PostgreSQLError`.
    public func historyBounds() throws -> HistoryBounds {
        try reading { connection, moment in
            try bounds(connection, moment)
        }
    }

    private func bounds(_ connection: PostgreSQLConnection, _ moment: Moment) throws -> HistoryBounds {
        let found = try connection.run("SELECT s.horizon, s.\"horizonMark\", s.erasure FROM mortise_store s")
        let row = found.rows.first
        return HistoryBounds(
            horizon: row?.integer(0) ?? 0, horizonMark: row?.number(1).map { UInt64(bitPattern: $0) },
            last: moment.lastTransaction, erasure: row?.integer(2) ?? 0)
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

    /// Forgets transactions: those from the oldest on, and the values of others. The records stay as they are.
    /// - Throws: `PostgreSQLError`; `DataStoreError.unsupportedFeature` if the values have to be gone when the call returns: the server keeps
    ///   what was deleted until it cleans up.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
        if isSecure { throw DataStoreError.unsupportedFeature }
        guard allowsSave else { throw error(.readOnly) }
        try pool.using { connection in
            _ = try connection.transaction {
                let results = try connection.run([
                    // Saves wait: what they add is not to be taken for the oldest.
                    .init("SELECT 1 FROM mortise_store FOR UPDATE"), .init(Self.momentText),
                    .init(
                        "UPDATE mortise_history SET kind = \(Self.stub), changes = '' WHERE n = ANY($1::int8[])",
                        [.numbers(numbers)]),
                    .init(
                        "SELECT h.n FROM mortise_history h WHERE h.kind <> \(Self.stub) ORDER BY h.n LIMIT 1"),
                ])
                _ = try moment(results[1])
                // Stubs before the first transaction that is kept are of no use.
                let first = results[3].rows.first?.integer(0) ?? .max
                _ = try connection.run([
                    .init(
                        """
                        UPDATE mortise_store SET horizon = h.n, "horizonMark" = h.mark FROM (SELECT n, mark \
                        FROM mortise_history WHERE n < $1::int8 ORDER BY n DESC LIMIT 1) h
                        """, [.integer(first)]),
                    .init("DELETE FROM mortise_history WHERE n < $1::int8", [.integer(first)]),
                ])
            }
        }
    }

    /// How large the history is, and how far it reaches.
    /// - Throws: `PostgreSQLError`.
    public func historyStatus() throws -> HistoryStatus {
        try reading { connection, moment in
            let bounds = try bounds(connection, moment)
            let found = try connection.run(
                "SELECT count(*) FILTER (WHERE h.kind <> \(Self.stub)), coalesce(sum(length(h.changes)), 0)::int8 "
                    + "FROM mortise_history h")
            let row = found.rows.first
            let count = row?.integer(0) ?? 0
            return HistoryStatus(
                store: identifier, horizon: bounds.horizon, last: bounds.last, bytes: row?.integer(1) ?? 0,
                transactions: Int(count), holes: Int(max(0, bounds.last - bounds.horizon - count)),
                keepsOldValues: false, isRecorded: false)
        }
    }

    private static let stub = HistoryEntry.Kind.stub.rawValue

    /// Who still needs a part of the history.
    /// - Throws: `PostgreSQLError`.
    public func historyHolders() throws -> [HistoryHolder] {
        try reading { connection, _ in try holders(connection) }
    }

    private func holders(_ connection: PostgreSQLConnection) throws -> [HistoryHolder] {
        let found = try connection.run("SELECT o.name, o.holder FROM mortise_holder o")
        return try found.rows.map { row in
            let name = row.text(0).flatMap(EscapedText.text) ?? ""
            let text = row.text(1).flatMap(EscapedText.text) ?? ""
            guard let holder = try? JSONDecoder().decode(HistoryHolder.self, from: Data(text.utf8)) else {
                throw error(.damagedValue(record: "holder \(name)", property: "holder", found: text))
            }
            return holder
        }.sorted { $0.name < $1.name }
    }

    /// Changes who needs a part of the history, in one transaction. Saves wait meanwhile.
    /// - Throws: `PostgreSQLError`; what the body throws.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        guard allowsSave else { throw error(.readOnly) }
        try pool.using { connection in
            try connection.transaction {
                let results = try connection.run([
                    .init("SELECT 1 FROM mortise_store FOR UPDATE"), .init(Self.momentText),
                ])
                _ = try moment(results[1])
                let before = try holders(connection)
                var holders = before
                try body(&holders)
                if holders == before { return }
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                func texts(_ texts: [String]) -> SQLValue {
                    .array(texts.map { .text(EscapedText.escaped($0)) }, of: "text")
                }
                let coded = try holders.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
                _ = try connection.run([
                    .init("DELETE FROM mortise_holder"),
                    .init(
                        "INSERT INTO mortise_holder SELECT * FROM unnest($1::text[], $2::text[])",
                        [texts(holders.map(\.name)), texts(coded)]),
                ])
            }
        }
    }

    /// The token of the transaction with a number; without a mark where the history no longer has it.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        let number = Int64(clamping: number)
        let mark = try? reading(
            .init("SELECT h.mark FROM mortise_history h WHERE h.n = $1::int8", [.integer(number)])
        ).1.rows.first?.number(0)
        return DefaultHistoryToken(number, mark: (mark ?? nil).map { UInt64(bitPattern: $0) }, store: identifier)
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
        let changes = entry.kind == .stub ? HistoryChanges() : HistoryChanges(row.changes, below: row.next)
        guard let changes else {
            throw error(.damagedValue(record: "transaction \(entry.number)", property: "changes", found: "other bytes"))
        }
        return naming.changeSet(
            of: changes, entry.number, at: entry.timestamp, author: entry.author, process: entry.process,
            bundle: entry.bundle, mark: entry.mark, withOwners: withOwners)
    }

    /// The first rows after a number.
    private func rows(
        _ connection: PostgreSQLConnection, after first: Int64, upTo last: Int64, atMost count: Int
    ) throws -> [HistoryRow] {
        let found = try connection.run(
            "SELECT h.n, h.at, h.author, h.process, h.bundle, h.changes, "
                + "(SELECT s.\"nextNumber\" FROM mortise_store s), h.kind, h.mark FROM mortise_history h "
                + "WHERE h.n > $1::int8 AND h.n <= $2::int8 ORDER BY h.n LIMIT $3::int8",
            [.integer(first), .integer(last), .integer(Int64(count))])
        return try found.rows.map { row in
            let number = row.integer(0)
            guard case .blob(let changes)? = row.value(5),
                let kind = UInt8(exactly: row.integer(7)).flatMap(HistoryEntry.Kind.init)
            else {
                throw error(.damagedValue(record: "transaction \(number)", property: "changes", found: "other bytes"))
            }
            let seconds = if case .real(let seconds)? = row.value(1) { seconds } else { 0.0 }
            func text(_ column: Int32) -> String? { row.text(column).flatMap(EscapedText.text) }
            let entry = HistoryEntry(
                number: number, mark: row.number(8).map { UInt64(bitPattern: $0) },
                timestamp: Date(timeIntervalSinceReferenceDate: seconds), author: text(2), process: text(3) ?? "",
                bundle: text(4) ?? "",
                // A program of an earlier version names no kind.
                kind: kind == .changes && HistoryChanges.isErasure(changes) ? .erasure : kind)
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
            found += try page.filter { $0.entry.kind != .stub }.map { try changeSet(of: $0, withOwners: withOwners) }
            guard page.count == 1_000, let last = page.last else { return found }
            first = last.entry.number
        }
    }
}
#endif
