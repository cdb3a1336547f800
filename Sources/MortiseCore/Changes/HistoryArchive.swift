public import Foundation

/// A transaction of a history, without its changes.
public struct HistoryEntry: Hashable, Sendable {
    /// What is kept of a transaction.
    public enum Kind: UInt8, Sendable, Codable {
        /// Its changes.
        case changes
        /// That it removed all records. Tokens from before it expire: what it deleted is not named.
        case erasure
        /// That it brought the store to another version of its models, and the changes that code of the plan made.
        case migration
        /// Nothing but this entry: its changes were deleted from the history.
        case stub
    }

    /// The number of the transaction.
    public var number: Int64
    /// The mark of the transaction; nil if it has none, because an earlier version of the library wrote it.
    public var mark: UInt64?
    /// When the transaction was saved, by the clock of the process that saved it.
    public var timestamp: Date
    /// The author of the saving context; nil if it had none.
    public var author: String?
    /// The process that saved; empty if unknown.
    public var process: String
    /// The bundle identifier of that process; empty if it has none.
    public var bundle: String
    /// What is kept of it.
    public var kind: Kind

    /// Describes a transaction.
    public init(
        number: Int64, mark: UInt64?, timestamp: Date, author: String?, process: String = "", bundle: String = "",
        kind: Kind = .changes
    ) {
        self.number = number
        self.mark = mark
        self.timestamp = timestamp
        self.author = author
        self.process = process
        self.bundle = bundle
        self.kind = kind
    }

    /// Describes a committed transaction; nil if none is known to have committed the changes.
    public init?(of changes: ChangeSet, kind: Kind? = nil) {
        guard let commit = changes.commit else { return nil }
        self.init(
            number: Int64(clamping: commit.number), mark: commit.mark, timestamp: commit.timestamp,
            author: changes.author, process: commit.process, bundle: commit.bundle,
            kind: kind ?? (changes.isErasure ? .erasure : .changes))
    }

    /// The transaction with the given changes.
    func transaction(of store: String, _ changes: [HistoryChange] = []) -> DefaultHistoryTransaction {
        DefaultHistoryTransaction(
            transactionIdentifier: number, timestamp: timestamp, changes: changes,
            token: DefaultHistoryToken(number, mark: mark, store: store), storeIdentifier: store,
            bundleIdentifier: bundle, processIdentifier: process, author: author)
    }
}

/// How far a history reaches.
public struct HistoryBounds: Hashable, Sendable {
    /// The number after which it begins: 0 if it has everything, otherwise that of the last transaction that is gone.
    public var horizon: Int64
    /// The mark of the transaction of that number; nil if unknown.
    public var horizonMark: UInt64?
    /// The number of the last transaction; the horizon if there is none.
    public var last: Int64
    /// The number of the last transaction that removed all records, as far as it is known; 0 for none.
    public var erasure: Int64

    /// Describes how far a history reaches.
    public init(horizon: Int64, horizonMark: UInt64? = nil, last: Int64, erasure: Int64 = 0) {
        self.horizon = horizon
        self.horizonMark = horizonMark
        self.last = last
        self.erasure = erasure
    }
}

/// A history of entries that are read one after the other. A store that keeps one gets `HistoryProviding` from it: predicates,
/// bounds, order, limit, and tokens that have expired.
public protocol HistoryArchive {
    /// The identifier of the store.
    var historyStore: String { get }

    /// What errors call the store: where it is, such as a path. The default is that of the configuration of a `DataStore`, and the
    /// identifier for others.
    var historyLocation: String { get }

    /// How far the history reaches now.
    /// - Throws: why it cannot be read.
    func historyBounds() throws -> HistoryBounds

    /// Hands over the entries with numbers in a range, oldest first, until the body returns false. Numbers in between that are
    /// missing count as lost.
    /// - Parameters:
    ///   - numbers: the numbers of the entries.
    ///   - earliest: entries before this time may be left out; nil asks for all.
    ///   - body: gets an entry, and a function that reads its changes, which is called at most once and within the body.
    /// - Throws: why the history cannot be read; what the body throws.
    func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool) throws

    /// Hands over the entries with numbers in a range and what the history has of their changes, oldest first, until the body returns
    /// false: with the values before and after as far as it keeps them, under the names that the program's models have now. Records and
    /// properties that the models no longer have are left out. Numbers in between that are missing count as lost. The default throws
    /// `DataStoreError.unsupportedFeature`.
    /// - Parameters:
    ///   - numbers: the numbers of the entries.
    ///   - body: gets an entry, and a function that reads its changes, which is called at most once and within the body.
    /// - Throws: why the history cannot be read; what the body throws.
    func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool) throws

    /// Forgets transactions for good. Those from the oldest on go, and the history begins after them; of others a stub stays.
    /// - Parameters:
    ///   - numbers: the numbers of the transactions, ascending.
    ///   - isSecure: whether their values have to be gone from the storage when the call returns.
    /// - Throws: why they could not be forgotten. The history is as it was then, unless only their values are still in the storage.
    func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws

    /// How large the history is, and how far it reaches.
    /// - Throws: why it cannot be read.
    func historyStatus() throws -> HistoryStatus

    /// Who still needs a part of the history.
    /// - Throws: why that cannot be read.
    func historyHolders() throws -> [HistoryHolder]

    /// Changes who needs a part of the history: reads, changes and keeps as one step.
    /// - Throws: why that cannot be kept; what the body throws. Nothing has changed then.
    func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws
}

extension HistoryArchive {
    /// The identifier of the store.
    public var historyLocation: String { historyStore }

    /// - Throws: `DataStoreError.unsupportedFeature`.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws { throw DataStoreError.unsupportedFeature }
}

extension HistoryArchive where Self: HistoryProviding, HistoryType == DefaultHistoryTransaction {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The matching transactions, oldest first unless the descriptor sorts.
    /// - Throws: `SwiftDataError.historyTokenExpired` where the predicate asks for what comes after a token and some of it is gone; why the
    ///   history cannot be read; what evaluating the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try transactions(matching: descriptor) }

    /// Deletes the matching transactions from the history, for good.
    /// - Throws: `HistoryHeld` where somebody needs one of them; why the history cannot be read or changed; what evaluating the predicate
    ///   throws. Nothing was deleted then.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        _ = try deleteTransactions(matching: descriptor)
    }
}
