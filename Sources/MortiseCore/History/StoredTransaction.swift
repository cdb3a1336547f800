public import Foundation

/// A transaction of a store's history by names, for programs without the models.
public struct StoredTransaction: Sendable, Hashable {
    /// A record that the transaction updated.
    public struct Update: Sendable, Hashable {
        /// The updated record.
        public let record: PersistentIdentifier
        /// The names of the properties that changed.
        public let properties: [String]

        /// Makes an update of the named properties.
        public init(record: PersistentIdentifier, properties: [String]) {
            self.record = record
            self.properties = properties
        }
    }

    /// The transaction's number, which grows from each transaction to the next.
    public let number: UInt64
    /// When the transaction was saved, by the clock of the process that saved it.
    public let timestamp: Date
    /// The author of the saving context; nil if it had none.
    public let author: String?
    /// The process that saved; empty if unknown.
    public let process: String
    /// Whether the transaction removed all records.
    public let isErasure: Bool
    /// The inserted records.
    public let inserted: [PersistentIdentifier]
    /// The updated records, with the names of the changed properties.
    public let updated: [Update]
    /// The deleted records.
    public let deleted: [PersistentIdentifier]

    /// Makes a transaction. Stores call this when they read their history.
    public init(
        number: UInt64, timestamp: Date, author: String?, process: String, isErasure: Bool,
        inserted: [PersistentIdentifier], updated: [Update], deleted: [PersistentIdentifier]
    ) {
        self.number = number
        self.timestamp = timestamp
        self.author = author
        self.process = process
        self.isErasure = isErasure
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }
}

/// A store whose history can be read without the models.
public protocol StoredHistoryProviding: DataStore {
    /// Reads the transactions with numbers greater than `number`.
    /// - Parameters:
    ///   - number: the number of the last transaction that the caller knows; 0 for all.
    ///   - last: the maximum number of transactions to return, the latest ones; nil for all.
    /// - Returns: the transactions, oldest first.
    /// - Throws: the store's error if its history cannot be read.
    func storedTransactions(after number: UInt64, last: Int?) throws -> [StoredTransaction]
}
