/// A store whose history can be read without the models.
public protocol StoredHistoryProviding: DataStore {
    /// Reads the transactions with numbers greater than `number`. The records have their names and the slots that changed;
    /// values need not be given.
    /// - Parameters:
    ///   - number: the number of the last transaction that the caller knows; 0 for all.
    ///   - last: the maximum number of transactions to return, the latest ones; nil for all.
    /// - Returns: the transactions, oldest first, each with its `commit`.
    /// - Throws: the store's error if its history cannot be read.
    func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]
}
