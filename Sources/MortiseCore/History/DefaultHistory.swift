public import Foundation

/// A transaction in the history of this framework's own stores.
public struct DefaultHistoryTransaction: HistoryTransaction {
    public typealias TransactionIdentifier = Int64
    public typealias TokenType = DefaultHistoryToken
    public typealias ID = Int64

    public var id: Int64 { transactionIdentifier }
    public let timestamp: Date
    public let changes: [HistoryChange]
    public let token: DefaultHistoryToken
    public let transactionIdentifier: Int64
    public let storeIdentifier: String
    public let bundleIdentifier: String
    public let processIdentifier: String
    public let author: String?

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

    /// Two transactions are the same when store and number are.
    public static func == (lhs: DefaultHistoryTransaction, rhs: DefaultHistoryTransaction) -> Bool {
        lhs.transactionIdentifier == rhs.transactionIdentifier && lhs.storeIdentifier == rhs.storeIdentifier
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transactionIdentifier)
        hasher.combine(storeIdentifier)
    }
}

/// A place in the history of one or more stores: for each store the number of the last transaction seen.
public struct DefaultHistoryToken: HistoryToken, Comparable, Hashable, Identifiable, Sendable, Codable {
    public typealias TokenType = [String: Int64]
    public typealias ID = Int

    public var tokenValue: [String: Int64]?
    public var id: Int { hashValue }
    /// The store whose history this is a place in; nil for a token over several.
    public var storeIdentifier: String? { tokenValue?.count == 1 ? tokenValue?.keys.first : nil }

    public init(_ tokenValue: [String: Int64]) { self.tokenValue = tokenValue }

    /// Earlier in the history of one store; tokens of different stores are ordered by store identifier.
    public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        let left = (lhs.tokenValue ?? [:]).sorted { $0.key < $1.key }
        let right = (rhs.tokenValue ?? [:]).sorted { $0.key < $1.key }
        return left.lexicographicallyPrecedes(right) { ($0.key, $0.value) < ($1.key, $1.value) }
    }
}

public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier

    public init(changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
    }
}

public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64
    public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let updatedAttributes: [any PropertyUpdate]

    public init(
        changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier,
        updatedAttributes: [any PropertyUpdate]
    ) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
        self.updatedAttributes = updatedAttributes
    }

    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier && lhs.transactionIdentifier == rhs.transactionIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}

public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable {
    public typealias TransactionIdentifier = Int64
    public typealias ChangeIdentifier = Int64
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let tombstone: HistoryTombstone<Model>

    public init(
        changeIdentifier: Int64, transactionIdentifier: Int64, changed: PersistentIdentifier,
        tombstone: HistoryTombstone<Model>
    ) {
        self.changeIdentifier = changeIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.changedPersistentIdentifier = changed
        self.tombstone = tombstone
    }

    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.changeIdentifier == rhs.changeIdentifier && lhs.transactionIdentifier == rhs.transactionIdentifier
            && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changeIdentifier)
        hasher.combine(changedPersistentIdentifier)
    }
}
