public import Foundation
public import MortiseCore
import MortiseEngine

/// The history is in the file `NAME.history`, which `HISTORY.md` describes. What is wrong with it concerns these calls alone.
extension JSONFileStore: HistoryProviding, HistoryArchive {
    /// The token of the transaction that made a version, for one that this store has saved.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        file?.history?.token(ofVersion: number, mark: engine.mark(ofVersion: number))
    }

    /// The identifier of the store.
    public var historyStore: String { identifier }

    /// How far the history reaches.
    /// - Throws: `HistoryDamaged`; `FileError`; `DataStoreError.unsupportedFeature` where the configuration keeps none.
    public func historyBounds() throws -> HistoryBounds { try history().reading { index, _ in index.bounds } }

    /// Hands over the transactions, oldest first, until the body returns false.
    /// - Throws: `HistoryDamaged`; `FileError`; what the body throws.
    public func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws {
        try readFrames(
            numbers, from: earliest,
            as: { [schema] in NamedChanges($0, $1).made(schema, transaction: $2) }, body)
    }

    /// Hands over the change sets with the values before and after, oldest first, until the body returns false.
    /// - Throws: `HistoryDamaged`; `FileError`; what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws {
        try readFrames(
            numbers, from: nil, as: { [schema] changes, names, _ in names.translated(changes, to: schema.stored) }, body
        )
    }

    private func readFrames<Changes>(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        as make: @escaping (ChangeSet, CurrentNames, _ transaction: Int64) -> Changes,
        _ body: (HistoryEntry, () throws -> Changes) throws -> Bool
    ) throws {
        let history = try history()
        try history.reading { index, reader in
            guard var reader, let place = index.place(of: numbers.lowerBound, from: earliest) else { return }
            let first = max(numbers.lowerBound, index.bounds.horizon + 1)
            var offset = place.offset
            var passed = place.schemas
            var names: CurrentNames?
            while offset < index.end {
                guard let frame = try reader.frame(at: offset) else {
                    throw reader.damage(offset, "no frame begins there")
                }
                let start = offset
                offset += Int64(HistoryFrame.size) + frame.length
                if frame.kind == .schema {
                    passed += 1
                    names = nil
                }
                guard frame.kind.entryKind != nil, frame.number >= first else { continue }
                guard frame.number <= numbers.upperBound else { return }
                let stored =
                    index.schemas.indices.contains(passed - 1)
                    ? index.schemas[passed - 1] : StoredSchema(version: .init(1, 0, 0), entities: [])
                let bytes = try reader.payload(of: frame, at: start)
                var parts = ChangeBytesReader(bytes, under: stored, ofStore: identifier)
                func reading<R>(_ body: (inout ChangeBytesReader) throws(ChangeBytesFault) -> R) throws -> R {
                    do throws(ChangeBytesFault) {
                        return try body(&parts)
                    } catch {
                        throw reader.damage(start, "transaction \(frame.number) cannot be read: \(error.reason)")
                    }
                }
                let origin = try reading { (parts) throws(ChangeBytesFault) in try parts.origin() }
                guard let entry = frame.entry(origin) else { continue }
                let following = index.schemas.dropFirst(passed)
                let goesOn = try body(entry) {
                    let current = try names ?? CurrentNames(of: stored, in: schema.stored, through: following)
                    names = current
                    var changes = ChangeSet()
                    try reading { (parts) throws(ChangeBytesFault) in try parts.changes(into: &changes) }
                    return make(changes, current, frame.number)
                }
                if !goesOn { return }
            }
        }
    }

    /// Forgets transactions, by writing the history again without them.
    /// - Throws: `EngineError.readOnly`; `EngineError.latched`; `HistoryDamaged`; `FileError`.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
        guard allowsSave else { throw EngineError.readOnly(store: locationOrIdentifier) }
        let history = try history()
        try file?.whileNothingIsWritten { try history.remove(numbers) }
    }

    /// How large the history is, and how far it reaches.
    /// - Throws: `HistoryDamaged`; `FileError`; `DataStoreError.unsupportedFeature` where the configuration keeps none.
    public func historyStatus() throws -> HistoryStatus {
        try history().reading { index, _ in
            HistoryStatus(
                store: identifier, horizon: index.bounds.horizon, last: index.bounds.last, bytes: index.end,
                transactions: index.count, holes: index.stubs, keepsOldValues: true, isRecorded: false)
        }
    }

    /// Who still needs a part of the history: the file `NAME.holders`.
    /// - Throws: `FileError`; `HistoryDamaged` for a file of another content.
    public func historyHolders() throws -> [HistoryHolder] { try history().holderFile.read() }

    /// Changes the file `NAME.holders` as one step, whichever process has the store open.
    /// - Throws: `FileError`, `locked` where another process takes ten seconds for it; `HistoryDamaged`; what the body throws.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        try history().holderFile.update(body)
    }

    private func history() throws -> JSONHistory {
        _ = currentVersion
        guard let history = file?.history else { throw DataStoreError.unsupportedFeature }
        return history
    }
}
