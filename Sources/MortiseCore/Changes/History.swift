public import Foundation

/// One save, as recorded in a store's history.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    /// The type that marks a transaction.
    associatedtype TokenType: Comparable & Hashable & Identifiable & Sendable
    /// The type that identifies a transaction in its store.
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    /// When the transaction was saved, by the clock of the process that saved it.
    var timestamp: Date { get }
    /// The changes of the transaction, each record at most once. Insertions are in the order of insertion among each other.
    var changes: [HistoryChange] { get }
    /// Marks this transaction; a fetch of history after this token begins with the next transaction.
    var token: TokenType { get }
    /// Identifies the transaction in its store.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The identifier of the store that holds the transaction.
    var storeIdentifier: String { get }
    /// The author of the saving context; nil if it had none.
    var author: String? { get }
}

/// What happened to one record in a transaction.
public enum HistoryChange: Sendable {
    /// A record was inserted.
    case insert(any HistoryInsert)
    /// A record was updated.
    case update(any HistoryUpdate)
    /// A record was deleted.
    case delete(any HistoryDelete)

    /// The changed record.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// A record that a transaction inserted.
public protocol HistoryInsert<Model>: Sendable {
    /// The model of the inserted record.
    associatedtype Model: PersistentModel
    /// The type that identifies a transaction.
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    /// The type that identifies a change in its transaction.
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    /// Identifies the change in its transaction.
    var changeIdentifier: ChangeIdentifier { get }
    /// The transaction that inserted the record.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The inserted record.
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// A record that a transaction updated.
public protocol HistoryUpdate<Model>: Sendable {
    /// The model of the updated record.
    associatedtype Model: PersistentModel
    /// The type that identifies a transaction.
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    /// The type that identifies a change in its transaction.
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    /// Names a property of the model that changed.
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    /// Identifies the change in its transaction.
    var changeIdentifier: ChangeIdentifier { get }
    /// The transaction that updated the record.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The updated record.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The properties that changed, relationships included.
    var updatedAttributes: [any PropertyUpdate] { get }
}

/// A record that a transaction deleted.
public protocol HistoryDelete<Model>: Sendable {
    /// The model of the deleted record.
    associatedtype Model: PersistentModel
    /// The type that identifies a transaction.
    associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
    /// The type that identifies a change in its transaction.
    associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
    /// Identifies the change in its transaction.
    var changeIdentifier: ChangeIdentifier { get }
    /// The transaction that deleted the record.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The deleted record.
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values that the model preserves on deletion.
    var tombstone: HistoryTombstone<Model> { get }
}

/// A position in a store's history.
public protocol HistoryToken: Codable, Comparable, Hashable, Identifiable, Sendable {
    /// The value of the token.
    associatedtype TokenType: Codable & Hashable & Sendable
    /// The value of the token; nil for the beginning of the history.
    var tokenValue: TokenType? { get }
    /// The store that the token belongs to; nil if the token does not say.
    var storeIdentifier: String? { get }
}

extension HistoryToken {
    /// The store that the token belongs to. The default is nil: the token does not say.
    public var storeIdentifier: String? { nil }
}

/// The preserved values of a deleted record, in the order of the model's properties.
///
/// Sendable without a lock: the values are `Sendable` and set once; key paths are immutable.
public struct HistoryTombstone<Model: PersistentModel>: Sequence, @unchecked Sendable {
    /// A preserved value.
    public typealias Element = Any
    let pairs: [(key: PartialKeyPath<Model>, value: any Sendable)]

    /// Makes a tombstone of preserved values by property.
    public init(_ values: [PartialKeyPath<Model>: any Sendable] = [:]) {
        guard values.count > 1 else {
            pairs = values.map { ($0.key, $0.value) }
            return
        }
        let layout = ModelLayout.of(Model.self)
        pairs = values.map { (place: layout.slot(for: $0.key) ?? .max, pair: ($0.key, $0.value)) }
            .sorted { $0.place < $1.place }.map(\.pair)
    }

    /// Iterates over the preserved values in the order of the model's properties.
    public struct Iterator: IteratorProtocol {
        /// A preserved value.
        public typealias Element = Any
        var values: Array<(key: PartialKeyPath<Model>, value: any Sendable)>.Iterator
        /// The next preserved value; nil after the last.
        public mutating func next() -> Any? { values.next()?.value }
    }

    /// The value preserved for a property; nil if it was not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? { pairs.first { $0.key == keyPath }?.value }
    /// An iterator over the preserved values.
    public func makeIterator() -> Iterator { Iterator(values: pairs.makeIterator()) }
}

/// Which transactions of a history to fetch or delete.
public struct HistoryDescriptor<TransactionType: HistoryTransaction> {
    /// Which transactions to return; nil returns all.
    public var predicate: Predicate<TransactionType>?
    /// The maximum number of transactions to return; 0 means no limit.
    public var fetchLimit: UInt64 = 0
    /// The sort keys; empty returns the transactions in the order of saving.
    public var sortBy: [SortDescriptor<TransactionType>]

    /// Describes a fetch of history in the order of saving, without a limit.
    public init(predicate: Predicate<TransactionType>? = nil) {
        self.predicate = predicate
        self.sortBy = []
    }
    /// Describes a fetch of history, without a limit.
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension HistoryDescriptor {
    /// The histories of several stores merged: sorted as requested, otherwise by time, with those of each store in
    /// their order.
    func merged(_ histories: [[TransactionType]]) -> [TransactionType] {
        let limit = fetchLimit == 0 ? Int.max : Int(clamping: fetchLimit)
        // Each for itself: not all keys compare transactions of different stores, so sorting them together could
        // confuse the order of one store's.
        let histories = sortBy.isEmpty ? histories : histories.map { $0.sorted(using: sortBy) }
        var merged: [TransactionType] = []
        var places = histories.map(\.startIndex)
        while merged.count < limit {
            let next = histories.indices.filter { places[$0] < histories[$0].endIndex }
                .min { precedes(histories[$0][places[$0]], histories[$1][places[$1]]) }
            guard let next else { break }
            merged.append(histories[next][places[next]])
            places[next] += 1
        }
        return merged
    }

    private func precedes(_ left: TransactionType, _ right: TransactionType) -> Bool {
        for key in sortBy {
            let result = key.compare(left, right)
            if result != .orderedSame { return result == .orderedAscending }
        }
        return sortBy.first?.order == .reverse ? left.timestamp > right.timestamp : left.timestamp < right.timestamp
    }
}

/// A store that keeps a history of its saves.
public protocol HistoryProviding {
    /// The type of the store's transactions.
    associatedtype HistoryType: HistoryTransaction
    /// The type of the store's transactions.
    static var historyType: HistoryType.Type { get }
    /// The matching transactions, oldest first unless the descriptor sorts.
    /// - Throws: the store's errors; what evaluating the descriptor's predicate throws.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    /// Deletes the matching transactions from the history, for good. Their numbers and tokens are not used again.
    /// - Throws: the store's errors.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
