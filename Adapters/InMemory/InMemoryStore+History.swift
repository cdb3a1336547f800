public import Foundation
public import MortiseCore
import MortiseEngine

/// The history is in memory, as long as the store or its `InMemoryStorage` lives, and no longer than the configuration's `history` says.
extension InMemoryStore: HistoryProviding, HistoryArchive {
    /// The token of the transaction that made a version.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken(Int64(clamping: number), mark: engine.mark(ofVersion: number), store: identifier)
    }

    /// The identifier of the store.
    public var historyStore: String { identifier }
    /// How far the history reaches.
    public func historyBounds() throws -> HistoryBounds { recorder.bounds }
    /// Hands over the transactions, oldest first, until the body returns false.
    /// - Throws: what the body throws.
    public func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws { try readHistory(of: recorder, under: schema, numbers, body) }
    /// Hands over the change sets, oldest first, until the body returns false.
    /// - Throws: what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws { try recorder.readChangeSets(numbers, body) }
    /// Forgets transactions.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws { recorder.remove(numbers) }
    /// How large the history is, and how far it reaches.
    public func historyStatus() throws -> HistoryStatus { recorder.status }
    /// Who still needs a part of the history.
    public func historyHolders() throws -> [HistoryHolder] { recorder.holders }
    /// Changes who needs a part of the history.
    /// - Throws: what the body throws.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        try recorder.updateHolders(body)
    }
}
