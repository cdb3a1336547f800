public import Foundation

/// How much of a history is kept. What exceeds any of the limits is dropped from the oldest transaction on, unless it is younger
/// than `atLeast`, or a holder needs it.
public struct HistoryRetention: Sendable, Hashable, Codable {
    /// Nothing younger is dropped, whatever the limits say; nil for no such time.
    public var atLeast: Duration?
    /// How old a transaction may become; nil for any age.
    public var age: Duration?
    /// How many transactions are kept; nil for any number.
    public var transactions: Int?
    /// How many bytes are kept; nil for any number.
    public var bytes: Int64?

    /// Sets limits; nil is none.
    public init(
        atLeast: Duration? = nil, age: Duration? = nil, transactions: Int? = nil, bytes: Int64? = nil
    ) {
        self.atLeast = atLeast
        self.age = age
        self.transactions = transactions
        self.bytes = bytes
    }

    /// Everything is kept.
    public static let unlimited = HistoryRetention()
    /// Nothing is kept.
    public static let none = HistoryRetention(transactions: 0)

    /// Whether no limit is set.
    public var isUnlimited: Bool { age == nil && transactions == nil && bytes == nil }

    /// Whether the oldest of some transactions exceeds a limit.
    /// - Parameters:
    ///   - count: how many transactions there are.
    ///   - size: how many bytes they take.
    ///   - saved: when the oldest was saved.
    ///   - now: the time.
    /// - Returns: whether the oldest exceeds a limit, and is old enough to go.
    public func drops(oldestOf count: Int, taking size: Int64, saved: Date, at now: Date) -> Bool {
        let elapsed = now.timeIntervalSince(saved)
        if let atLeast, elapsed < atLeast.timeInterval { return false }
        if let transactions, count > transactions { return true }
        if let bytes, size > bytes { return true }
        if let age, elapsed > age.timeInterval { return true }
        return false
    }
}

/// How large a store's history is, and how far it reaches.
public struct HistoryStatus: Sendable, Hashable, Codable {
    /// The identifier of the store.
    public var store: String
    /// The number after which the history begins: 0 if it has everything.
    public var horizon: Int64
    /// The number of the last transaction; the horizon if there is none.
    public var last: Int64
    /// How many bytes the history takes, as far as that is known.
    public var bytes: Int64
    /// How many transactions are kept, stubs not counted.
    public var transactions: Int
    /// How many transactions after the horizon were deleted or lost.
    public var holes: Int
    /// Whether updates and deletions have the values before.
    public var keepsOldValues: Bool
    /// Whether the container records the history while it is open: the store keeps none, and tokens expire with the container.
    public var isRecorded: Bool

    /// Describes a history.
    public init(
        store: String, horizon: Int64, last: Int64, bytes: Int64, transactions: Int, holes: Int, keepsOldValues: Bool,
        isRecorded: Bool
    ) {
        self.store = store
        self.horizon = horizon
        self.last = last
        self.bytes = bytes
        self.transactions = transactions
        self.holes = holes
        self.keepsOldValues = keepsOldValues
        self.isRecorded = isRecorded
    }
}
