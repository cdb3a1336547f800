import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogStore {
    /// The token of the transaction that made a version.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken(Int64(clamping: number), mark: engine.mark(ofVersion: number), store: identifier)
    }
}

/// The log is the history. Where its transactions are is found out once, from header to header; after that a fetch reads what it
/// returns, and 255 frames more at most.
extension AppendLogStore: HistoryProviding, HistoryArchive {
    /// The identifier of the store.
    public var historyStore: String { identifier }

    /// How far the log reaches: to the oldest transaction that no compaction has dropped.
    /// - Throws: `AppendLogError` for damage; `FileError`.
    public func historyBounds() throws -> HistoryBounds { try reading { try $1.bounds(upTo: $2, $0) } }

    /// Hands over the transactions that are published, oldest first, until the body returns false.
    /// - Throws: `AppendLogError` for damage, also before a checkpoint; what the body throws.
    public func readHistory(
        _ numbers: ClosedRange<Int64>, from earliest: Date?,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws {
        try readFrames(numbers, from: earliest) { frame, names in
            try body(try frame.entry()) { try names.changes(in: frame) }
        }
    }

    /// Hands over the change sets with the values after, oldest first, until the body returns false.
    /// - Throws: `AppendLogError` for damage, also before a checkpoint; what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws {
        try readFrames(numbers, from: nil) { frame, names in
            try body(try frame.entry()) { try names.changeSet(in: frame) }
        }
    }

    private func readFrames(
        _ numbers: ClosedRange<Int64>, from earliest: Date?, _ body: (ScannedFrame, NamesInForce) throws -> Bool
    ) throws {
        try reading { reader, known, last in
            let first = UInt64(clamping: numbers.lowerBound)
            let end = min(UInt64(clamping: numbers.upperBound), last)
            guard first <= end, let place = known.place(of: first, from: earliest) else { return }
            var names = NamesInForce(known.schemas, passed: place.schemas, schema, store: identifier)
            _ = try reader.scan(
                from: place.position, allowingGapsTo: known.base, includingUnknown: true, keepingWhole: true
            ) { frame in
                let kind = frame.header.kind
                if kind == .schema { names.next() }
                guard kind == .stub || kind.isTransaction else { return true }
                guard frame.header.transaction <= end else { return false }
                var goesOn = true
                if frame.header.transaction >= first {
                    goesOn = try body(frame, names)
                }
                if kind == .migration {
                    for part in try frame.parts() where part.header.kind == .schema { names.next() }
                }
                return goesOn
            }
        }
    }

    /// Forgets transactions, by a compaction. The records stay as they are. Files of data that nothing names are moved aside, unless
    /// this store has written them; only `compact()` removes them for good. Their values are gone from the log in any case.
    /// - Throws: `EngineError.readOnly`; as `compact()`.
    public func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
        let sink = try writable()
        let doomed = Set(numbers.map { UInt64(clamping: $0) })
        // This may be an older copy, put back for a moment: what the newer one names has to stay.
        try sink.compact(MaintenanceProgress(isStopped: sink.isStopping), dropping: .written) { transaction, _ in
            !doomed.contains(transaction)
        }
    }

    /// How large the log is, and how far it reaches.
    /// - Throws: `AppendLogError` for damage; `FileError`.
    public func historyStatus() throws -> HistoryStatus {
        try reading { reader, known, last in
            let bounds = try known.bounds(upTo: last, reader)
            return HistoryStatus(
                store: identifier, horizon: bounds.horizon, last: bounds.last,
                bytes: known.end.end - Int64(FileHeader.size), transactions: known.count,
                holes: max(0, Int(bounds.last - bounds.horizon) - known.count), keepsOldValues: false,
                isRecorded: false)
        }
    }

    /// Who still needs a part of the history: the file `PATH.holders`.
    /// - Throws: `FileError`; `HistoryDamaged` for a file of another content.
    public func historyHolders() throws -> [HistoryHolder] { try holderFile.read() }

    /// Changes the file `PATH.holders` as one step, whichever process has the log open.
    /// - Throws: `FileError`, `locked` where another process takes ten seconds for it; `HistoryDamaged`; what the body throws.
    public func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        try holderFile.update(body)
    }

    private var holderFile: HistoryHolderFile {
        HistoryHolderFile(
            beside: opened.path, of: identifier, permissions: configuration.newFilePermissions,
            in: configuration.fileSystem)
    }

    /// Runs a body with what is published of the log.
    private func reading<R>(_ body: (FrameReader, LogHistory.State, _ last: UInt64) throws -> R) throws -> R {
        opened.follow()
        let last = engine.version.number
        return try opened.history.read(upTo: last, in: configuration.fileSystem) { try body($0, $1, last) }
    }
}

extension LogHistory.State {
    fileprivate func bounds(upTo last: UInt64, _ reader: FrameReader) throws -> HistoryBounds {
        guard let horizon, horizon.number <= last else { return HistoryBounds(horizon: Int64(last), last: Int64(last)) }
        var mark: UInt64?
        if let place = horizon.stub, let header = try reader.header(at: place.offset) {
            mark = try reader.withPayload(of: header, at: place.offset) { ByteReader($0).mark } ?? nil
        }
        return HistoryBounds(horizon: Int64(horizon.number), horizonMark: mark, last: Int64(last))
    }
}

/// The schema of the frames that are read, and the names that the program's schema has for theirs.
private struct NamesInForce {
    /// What follows from each schema that has been in force. Every transaction has a copy of the names, and all share this.
    private final class Made {
        var bySchema: [Int: (catalog: LogCatalog, names: CurrentNames)] = [:]
    }
    private let steps: [StoredSchema]
    private var passed: Int
    private let schema: Schema
    private let store: String
    private let made = Made()

    init(_ steps: [StoredSchema], passed: Int, _ schema: Schema, store: String) {
        self.steps = steps
        self.passed = passed
        self.schema = schema
        self.store = store
    }

    /// The next schema begins.
    mutating func next() { passed += 1 }

    private func current() throws -> (catalog: LogCatalog, names: CurrentNames)? {
        if let known = made.bySchema[passed] { return known }
        guard steps.indices.contains(passed - 1) else { return nil }
        let stored = steps[passed - 1]
        let current = (
            catalog: LogCatalog(stored, store: store),
            names: try CurrentNames(of: stored, in: schema.stored, through: steps[passed...])
        )
        made.bySchema[passed] = current
        return current
    }

    /// The changes of a transaction, or of all parts of a migration, with their values.
    func changeSet(in frame: ScannedFrame) throws -> ChangeSet {
        var names = self
        var found = ChangeSet()
        for part in try frame.parts() {
            if part.header.kind == .schema {
                names.next()
                continue
            }
            guard let (catalog, current) = try names.current() else { continue }
            var collector = ChangeCollector(catalog: catalog, keepsValues: true)
            try part.reading { try $0.transaction(catalog, to: &collector) }
            guard let changes = collector.takeTransaction(frame.header.transaction) else { continue }
            found.append(current.translated(changes, to: schema.stored))
        }
        return found
    }

    /// The changes of a transaction, or of all parts of a migration.
    func changes(in frame: ScannedFrame) throws -> [HistoryChange] {
        var names = self
        var found = NamedChanges()
        for part in try frame.parts() {
            if part.header.kind == .schema {
                names.next()
                continue
            }
            guard let (catalog, current) = try names.current() else { continue }
            var collector = ChangeNames(catalog: catalog, names: current)
            try part.reading { try $0.transaction(catalog, to: &collector) }
            found.take(collector.changes)
        }
        return found.made(schema, transaction: Int64(clamping: frame.header.transaction))
    }
}

/// Collects the changes of one transaction, under the program's names.
private struct ChangeNames: TransactionVisitor {
    let catalog: LogCatalog
    let names: CurrentNames
    private(set) var changes = NamedChanges()

    init(catalog: LogCatalog, names: CurrentNames) {
        self.catalog = catalog
        self.names = names
    }

    private func record(_ entity: Int, _ sequence: UInt64) -> PersistentIdentifier? {
        names.record(catalog.identifier(entity, sequence))
    }

    private func name(_ entity: Int, _ slot: Int) -> String? { names.name(catalog.layouts[entity], slot) }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) {}

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) {
        guard let record = record(entity, sequence) else { return }
        let values = preserved.compactMap { slot, value in name(entity, slot).map { (name: $0, value: value) } }
        changes.deleted.append((record, values))
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ values: [(slot: Int, value: StoredValue)]) {
        guard let record = record(entity, sequence) else { return }
        changes.updated.append((record, values.compactMap { name(entity, $0.slot) }))
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) {
        if let record = record(entity, sequence) { changes.inserted.append(record) }
    }
}
