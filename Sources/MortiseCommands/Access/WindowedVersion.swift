#if Tool
import Foundation
import MortiseCore
import Synchronization

/// The records of a store that hands out snapshots, in identity order. It keeps their identifiers alone, and reads the values
/// again, one window of records at a time: fast in identity order, slow in any other.
///
/// All reads have one scope, which a store that claims `StoreCapability.readConsistency` answers from one state of its storage.
/// A record that is gone all the same when its window is read is an error of `check()`.
///
/// @unchecked Sendable: the tool reads a store on one thread at a time, and ends its state there.
final class WindowedVersion: StoreVersion, @unchecked Sendable {
    let number: UInt64 = 0
    private let tables: [String: WindowedRows]
    private var end: (() -> Void)?

    private init(_ tables: [String: WindowedRows], end: @escaping () -> Void) {
        self.tables = tables
        self.end = end
    }

    deinit { endState() }

    /// Ends the store's state. What is not in a window cannot be relied on afterwards.
    func endState() {
        end?()
        end = nil
    }

    /// Nil for a store that does not claim read consistency, or does not select records by their identifiers.
    /// - Throws: what the store throws; `ToolError.unsupported` for a store with its own type of snapshots.
    static func of<S: QueryableDataStore>(
        _ store: S, _ schema: StoredSchema, _ layouts: [String: RecordLayout], name: String
    ) throws -> WindowedVersion? {
        guard store.capabilities.contains(.readConsistency) else { return nil }
        let selection = RecordSelection(store, name: name)
        let made = Result { try tables(selection, schema, layouts) }
        guard let tables = try? made.get() else {
            selection.end()
            // Nil is not an error.
            _ = try made.get()
            return nil
        }
        return WindowedVersion(tables) { selection.end() }
    }

    /// Nil if the store does not select records by their identifiers.
    private static func tables<S: QueryableDataStore>(
        _ selection: RecordSelection<S>, _ schema: StoredSchema, _ layouts: [String: RecordLayout]
    ) throws -> [String: WindowedRows]? {
        var tables: [String: WindowedRows] = [:]
        for entity in schema.entities {
            guard let layout = layouts[entity.name] else { continue }
            let identifiers = try selection.identifiers(ofEntity: entity.name)
            if !identifiers.isEmpty, try !selection.selects(identifiers.prefix(WindowedRows.window)) { return nil }
            let lists = layout.slots.filter(\.role.isToMany).map(\.name)
            tables[entity.name] = WindowedRows(identifiers, layout) { try selection.records($0, lists: lists) }
        }
        return tables
    }

    func rows(ofEntity name: String) -> RowSource? { tables[name] }

    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier? { nil }

    func check() throws {
        for table in tables.values { try table.check() }
    }

    /// Reads every record once.
    /// - Throws: what prevents reading one.
    func readThrough() throws {
        for table in tables.values {
            for row in stride(from: 0, to: table.endRow, by: WindowedRows.window) {
                _ = table.value(row: row, slot: 0)
                try table.check()
            }
        }
    }
}

/// The records of one entity in identity order, numbered from zero.
///
/// @unchecked Sendable as its superclass: what changes is behind a lock.
private final class WindowedRows: RowSource, @unchecked Sendable {
    static let window = 1_000
    typealias Read = (ArraySlice<PersistentIdentifier>) throws -> [DefaultSnapshot]

    private struct State {
        /// The last used first. Two, because a copy is compared and completed while relationships are looked at.
        var windows: [(number: Int, records: [DefaultSnapshot?])] = []
        var failure: (any Error)?
    }

    private let identifiers: [PersistentIdentifier]
    private let layout: RecordLayout
    private let read: Read
    private let state = Mutex(State())

    init(_ identifiers: [PersistentIdentifier], _ layout: RecordLayout, _ read: @escaping Read) {
        self.identifiers = identifiers
        self.layout = layout
        self.read = read
    }

    override var endRow: Int { identifiers.count }
    override var count: Int { identifiers.count }
    override func contains(row: Int) -> Bool { identifiers.indices.contains(row) }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { identifiers[row] }

    override func row(of identifier: PersistentIdentifier) -> Int? {
        var (low, high) = (0, identifiers.count)
        while low < high {
            let middle = (low + high) / 2
            if identifiers[middle] < identifier { low = middle + 1 } else { high = middle }
        }
        return low < identifiers.count && identifiers[low] == identifier ? low : nil
    }

    override func value(row: Int, slot: Int) -> StoredValue {
        guard let record = record(row), layout.slots.indices.contains(slot),
            let place = record.layout === layout ? slot : record.layout.slot(named: layout.slots[slot].name)
        else { return .null }
        return record.values[place]
    }

    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func record(_ row: Int) -> DefaultSnapshot? {
        guard identifiers.indices.contains(row) else { return nil }
        return state.withLock { state in
            let (number, place) = row.quotientAndRemainder(dividingBy: Self.window)
            if let known = state.windows.firstIndex(where: { $0.number == number }) {
                if known > 0 { state.windows.swapAt(0, known) }
                return state.windows[0].records[place]
            }
            let start = number * Self.window
            let wanted = identifiers[start..<min(start + Self.window, identifiers.count)]
            var records: [DefaultSnapshot?] = Array(repeating: nil, count: wanted.count)
            do {
                let found = Dictionary(
                    try read(wanted).map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
                records = wanted.map { found[$0] }
                if let gone = zip(wanted, records).first(where: { $1 == nil }) {
                    throw ToolError.changedMeanwhile(record: "\(gone.0)")
                }
            } catch {
                state.failure = state.failure ?? error
            }
            state.windows = [(number, records)] + state.windows.prefix(1)
            return records[place]
        }
    }
}
#endif
