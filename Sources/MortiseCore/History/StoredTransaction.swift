public import Foundation

/// A transaction of a store's history by names, for programs that have never seen the models.
public struct StoredTransaction: Sendable, Hashable {
    public struct Update: Sendable, Hashable {
        public let record: PersistentIdentifier
        /// The names of the properties that changed.
        public let properties: [String]

        public init(record: PersistentIdentifier, properties: [String]) {
            self.record = record
            self.properties = properties
        }
    }

    /// Grows from each transaction to the next.
    public let number: UInt64
    public let timestamp: Date
    public let author: String?
    /// The process that saved; empty where that is not known.
    public let process: String
    /// Whether all records were removed.
    public let isErasure: Bool
    public let inserted: [PersistentIdentifier]
    public let updated: [Update]
    public let deleted: [PersistentIdentifier]

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
    /// The transactions behind a number, oldest first.
    /// - Parameter last: only so many of the latest.
    func storedTransactions(after number: UInt64, last: Int?) throws -> [StoredTransaction]
}
