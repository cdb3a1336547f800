public import Foundation

/// One save as a store's history keeps it.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    associatedtype TokenType: Comparable & Hashable & Identifiable & Sendable
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    var timestamp: Date { get }
    var changes: [HistoryChange] { get }
    var token: TokenType { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var storeIdentifier: String { get }
    var author: String? { get }
}

/// What happened to one record in a transaction.
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

public protocol HistoryInsert<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

public protocol HistoryUpdate<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var updatedAttributes: [any PropertyUpdate] { get }
}

public protocol HistoryDelete<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values that the model preserves on deletion.
    var tombstone: HistoryTombstone<Model> { get }
}

/// A place in a store's history.
public protocol HistoryToken: Codable, Comparable, Hashable, Identifiable, Sendable {
    associatedtype TokenType: Codable & Hashable & Sendable
    var tokenValue: TokenType? { get }
    var storeIdentifier: String? { get }
}

extension HistoryToken {
    public var storeIdentifier: String? { nil }
}

/// The preserved values of a deleted record.
///
/// Sendable without a lock: the values are `Sendable` and set once; key paths are immutable.
public struct HistoryTombstone<Model: PersistentModel>: Sequence, @unchecked Sendable {
    public typealias Element = Any
    private let values: [PartialKeyPath<Model>: any Sendable]

    public init(_ values: [PartialKeyPath<Model>: any Sendable] = [:]) { self.values = values }

    public struct Iterator: IteratorProtocol {
        public typealias Element = Any
        var values: Dictionary<PartialKeyPath<Model>, any Sendable>.Values.Iterator
        public mutating func next() -> Any? { values.next() }
    }

    /// The value preserved for a property; nil where it was not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? { values[keyPath] }
    public func makeIterator() -> Iterator { Iterator(values: values.values.makeIterator()) }
}

/// Which transactions of a history to fetch or delete.
public struct HistoryDescriptor<TransactionType: HistoryTransaction> {
    public var predicate: Predicate<TransactionType>?
    /// The largest number of transactions to return; 0 is no limit.
    public var fetchLimit: UInt64 = 0
    public var sortBy: [SortDescriptor<TransactionType>]

    public init(predicate: Predicate<TransactionType>? = nil) {
        self.predicate = predicate
        self.sortBy = []
    }
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// A store that keeps a history of its saves.
public protocol HistoryProviding {
    associatedtype HistoryType: HistoryTransaction
    static var historyType: HistoryType.Type { get }
    /// The transactions that match, oldest first unless the descriptor sorts.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    /// Forgets the transactions that match.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
