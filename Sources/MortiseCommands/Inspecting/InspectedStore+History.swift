#if Inspector
import MortiseCore

/// Which transactions of a history a page shows.
package struct InspectedHistoryQuery: Hashable, Sendable {
    /// Only those with a smaller number.
    package var before: UInt64?
    /// Only those of this author; nil for all.
    package var author: String?
    /// Only those that touch this entity's records, or those that inherit from it.
    package var entity: String?
    /// Only those that touch the record of the entity with this key.
    package var key: String?

    package init() {}
}

/// A part of a history.
package struct InspectedHistory: Sendable {
    /// The newest first.
    package var transactions: [ChangeSet] = []
    /// The number before which the next page ends; nil if this is the last one.
    package var next: UInt64?
    /// The number of the last transaction that the store no longer has; 0 if it has all.
    package var horizon: UInt64 = 0
}

extension InspectedStore {
    /// - Parameters:
    ///   - query: which transactions.
    ///   - limit: how many at most.
    ///   - withValues: whether the values of changes are wanted, as far as the store has them.
    ///   - isRecent: whether to look at the last thousand transactions alone.
    /// - Returns: nil for a store that keeps no history.
    /// - Throws: `UnknownEntity`; what reading throws.
    package func history(
        _ query: InspectedHistoryQuery, limit: Int, withValues: Bool = false, isRecent: Bool = false
    ) throws -> InspectedHistory? {
        try read { reading in
            let store = reading.store.store
            if let entity = query.entity { try reading.text.check(entity) }
            let filter = TransactionFilter(query, reading.store.schema)
            let last = try store.storedTransactions(after: 0, last: 1)?.last?.commit?.number
            var history = InspectedHistory()
            history.horizon = try HistoryReach(store).horizon
            let newest: UInt64 = last ?? 0
            let end: UInt64 = if let before = query.before, before <= newest { max(before, 1) - 1 } else { newest }
            // Backwards, in parts that grow until the page is full.
            var width = filter.takesAll ? UInt64(limit + 1) : 1_000
            var found: [ChangeSet] = []
            while true {
                let start = end > width ? end - width : 0
                found = []
                let isKept = try store.readStoredTransactions(after: start, withValues: withValues) { transaction in
                    guard (transaction.commit?.number ?? .max) <= end else { return false }
                    if let wanted = filter(transaction) { found.append(wanted) }
                    if found.count > 2 * (limit + 1) { found.removeFirst(found.count - limit - 1) }
                    return true
                }
                guard isKept else { return nil }
                if found.count > limit || start <= history.horizon || isRecent { break }
                let (wider, overflows) = width.multipliedReportingOverflow(by: 8)
                width = overflows ? .max : wider
            }
            history.transactions = found.suffix(limit).reversed()
            if found.count > limit { history.next = history.transactions.last?.commit?.number }
            return history
        }
    }

    /// A transaction with the values that the store still has; nil if it does not have the transaction.
    /// - Throws: what reading throws.
    package func transaction(_ number: UInt64) throws -> ChangeSet? {
        guard number > 0 else { return nil }
        return try read { reading in
            var found: ChangeSet?
            _ = try reading.store.store.readStoredTransactions(after: number - 1, withValues: true) { transaction in
                found = transaction
                return false
            }
            return found?.commit?.number == number ? found : nil
        }
    }

    /// The number of the last transaction, or of a store without a history the number of records, to tell whether something has
    /// changed.
    /// - Throws: what reading throws.
    package func lastChange() throws -> String {
        try read { reading in
            let last = try reading.store.store.storedTransactions(after: 0, last: 1)
            if let last { return "\(last.last?.commit?.number ?? 0)" }
            return try "records \(reading.counts().values.reduce(0, +))"
        }
    }
}

/// The wanted part of transactions.
private struct TransactionFilter {
    private let author: String?
    private let key: String?
    private let entities: Set<String>?

    init(_ query: InspectedHistoryQuery, _ schema: StoredSchema) {
        author = query.author
        key = query.key
        entities = query.entity.map(schema.family(of:))
    }

    var takesAll: Bool { author == nil && entities == nil }

    private func wants(_ record: PersistentIdentifier) -> Bool {
        guard entities?.contains(record.entityName) ?? true else { return false }
        return key.map { ValueText.key(record) == $0 } ?? true
    }

    func callAsFunction(_ transaction: ChangeSet) -> ChangeSet? {
        if let author, transaction.author ?? "" != author { return nil }
        return entities == nil ? transaction : transaction.part(of: wants)
    }
}
#endif
