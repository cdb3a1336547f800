public import Foundation

/// A transaction in the history of this framework's own stores.
public struct DefaultHistoryTransaction: HistoryTransaction {
    /// The number of a transaction; later ones have higher numbers.
    public typealias TransactionIdentifier = Int64
    /// The token that marks a transaction of this type.
    public typealias TokenType = DefaultHistoryToken
    /// A transaction is identified by its number within its store.
    public typealias ID = Int64

    /// The transaction's number.
    public var id: Int64 { transactionIdentifier }
    /// When the transaction was saved, by the clock of the process that saved it.
    public let timestamp: Date
    /// The changes of the transaction, each record at most once. Insertions are in the order of insertion among each other.
    public let changes: [HistoryChange]
    /// Marks this transaction; a fetch of history after this token begins with the next transaction.
    public let token: DefaultHistoryToken
    /// The number of the transaction in its store.
    public let transactionIdentifier: Int64
    /// The identifier of the store that holds the transaction.
    public let storeIdentifier: String
    /// The bundle identifier of the program that saved; empty if it has none.
    public let bundleIdentifier: String
    /// The name of the process that saved.
    public let processIdentifier: String
    /// The author of the saving context; nil if it had none.
    public let author: String?

    /// Makes a transaction. Stores call this when they read their history.
    public init(
        transactionIdentifier: Int64, timestamp: Date, changes: [HistoryChange], token: DefaultHistoryToken,
        storeIdentifier: String, bundleIdentifier: String, processIdentifier: String, author: String?
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.timestamp = timestamp
        self.changes = changes
        self.token = token
        self.storeIdentifier = storeIdentifier
        self.bundleIdentifier = bundleIdentifier
        self.processIdentifier = processIdentifier
        self.author = author
    }

    /// Two transactions are equal if store and number are.
    public static func == (lhs: DefaultHistoryTransaction, rhs: DefaultHistoryTransaction) -> Bool {
        lhs.transactionIdentifier == rhs.transactionIdentifier && lhs.storeIdentifier == rhs.storeIdentifier
    }
    /// Hashes the store's identifier and the transaction's number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transactionIdentifier)
        hasher.combine(storeIdentifier)
    }
}

/// A record that a transaction inserted.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
    /// The type of transaction numbers.
    public typealias TransactionIdentifier = Int64
    /// The type of change numbers.
    public typealias ChangeIdentifier = Int64
    /// The number of the change within its transaction.
    public let changeIdentifier: Int64
    /// The number of the transaction that made the change.
    public let transactionIdentifier: Int64
    /// The inserted record.
    public let changedPersistentIdentifier: PersistentIdentifier

    /// Makes an insertion.
    public init(changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
    }
}

/// A record that a transaction updated.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
    /// The type of transaction numbers.
    public typealias TransactionIdentifier = Int64
    /// The type of change numbers.
    public typealias ChangeIdentifier = Int64
    /// A property that changed.
    public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    /// The number of the change within its transaction.
    public let changeIdentifier: Int64
    /// The number of the transaction that made the change.
    public let transactionIdentifier: Int64
    /// The updated record.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The properties that changed, relationships included.
    public let updatedAttributes: [any PropertyUpdate]

    /// Makes an update.
    public init(
        changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier,
        updatedAttributes: [any PropertyUpdate]
    ) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
        self.updatedAttributes = updatedAttributes
    }

    /// Two updates are equal if record, numbers and changed properties are.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier && lhs.transactionIdentifier == rhs.transactionIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}

/// A record that a transaction deleted.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
    /// The type of transaction numbers.
    public typealias TransactionIdentifier = Int64
    /// The type of change numbers.
    public typealias ChangeIdentifier = Int64
    /// The number of the change within its transaction.
    public let changeIdentifier: Int64
    /// The number of the transaction that made the change.
    public let transactionIdentifier: Int64
    /// The deleted record.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// The values that the model preserves on deletion.
    public let tombstone: HistoryTombstone<Model>

    /// Makes a deletion.
    public init(
        changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier,
        tombstone: HistoryTombstone<Model>
    ) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
        self.tombstone = tombstone
    }

    /// Two deletions are equal if record and numbers are.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier && lhs.transactionIdentifier == rhs.transactionIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}
