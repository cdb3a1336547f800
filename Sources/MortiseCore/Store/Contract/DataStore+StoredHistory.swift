// The history of a store that keeps one as an archive, for callers without models.

extension DataStore {
    /// Those of an archive, the last ones if only some are wanted; nil for a store without one.
    /// - Throws: why the history cannot be read.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        guard let archive = historyArchive else { return nil }
        var found: [ChangeSet] = []
        let isKept = try archive.readTransactions(after: number) { transaction in
            found.append(transaction)
            // Twice as many as asked for are held at most, so that none is moved more than once.
            if let last, found.count / 2 > max(last, 8) { found.removeFirst(found.count - max(last, 0)) }
            return true
        }
        if let last, found.count > last { found.removeFirst(found.count - max(last, 0)) }
        return isKept ? found : nil
    }

    /// Hands over those of an archive one after the other; of another store, all that `storedTransactions(after:last:)` returns.
    /// - Throws: why the history cannot be read; what the body throws.
    public func readStoredTransactions(
        after number: UInt64, withValues: Bool, _ body: (ChangeSet) throws -> Bool
    ) throws -> Bool {
        if let archive = historyArchive, try archive.readTransactions(after: number, body) { return true }
        guard let transactions = try storedTransactions(after: number, last: nil) else { return false }
        for transaction in transactions where try !body(transaction) { break }
        return true
    }
}

extension HistoryArchive where Self: DataStore {
    /// Where the store is, or the name of its configuration.
    public var historyLocation: String { configuration.locationOrName }
}

extension DataStore where Self: HistoryArchive {
    /// The store itself.
    public var historyArchive: (any HistoryArchive)? { self }
}

extension HistoryArchive {
    /// Hands over the transactions after a number, oldest first, until the body returns false.
    /// - Returns: false if no history is kept, or none that can be read so; the body was not called then.
    fileprivate func readTransactions(after number: UInt64, _ body: (ChangeSet) throws -> Bool) throws -> Bool {
        let bounds: HistoryBounds
        do { bounds = try historyBounds() } catch DataStoreError.unsupportedFeature { return false }
        let start = max(Int64(clamping: number), bounds.horizon)
        guard start < bounds.last else { return true }
        var isRead = false
        do {
            try readChangeSets((start + 1)...bounds.last) { entry, changes in
                isRead = true
                return try body(try entry.changeSet(changes))
            }
        } catch DataStoreError.unsupportedFeature where !isRead { return false }
        return true
    }
}

extension HistoryEntry {
    /// The changes, with who made them and when.
    fileprivate func changeSet(_ read: () throws -> ChangeSet) throws -> ChangeSet {
        var changes = kind == .stub ? ChangeSet() : try read()
        changes.author = author
        changes.commit = ChangeSet.Commit(
            number: UInt64(clamping: number), timestamp: timestamp, process: process, bundle: bundle, mark: mark)
        if kind == .erasure { changes.isErasure = true }
        if kind == .stub { changes.isIncomplete = true }
        return changes
    }
}
