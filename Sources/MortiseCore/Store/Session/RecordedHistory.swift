import Foundation

/// The history that a container records for a store that keeps none.
struct RecordedHistory: HistoryArchive {
    let recorder: HistoryRecorder
    let schema: Schema
    let historyLocation: String

    var historyStore: String { recorder.store }
    func historyBounds() throws -> HistoryBounds { recorder.bounds }
    func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws { try readHistory(of: recorder, under: schema, numbers, body) }
    func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws { try recorder.readChangeSets(numbers, body) }
    func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws { recorder.remove(numbers) }
    func historyStatus() throws -> HistoryStatus { recorder.status }
    func historyHolders() throws -> [HistoryHolder] { recorder.holders }
    func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        try recorder.updateHolders(body)
    }
}
