import Foundation
import MortiseCore
import Synchronization

/// A state of a reference store as rows. A row is a record's number, less one.
final class ReferenceVersion: StoreVersion {
    /// What a version shows, without the store that shows it, which keeps the latest.
    final class Contents: Sendable {
        let state: ReferenceStorage.State
        let number: UInt64
        fileprivate let entities: [String: [UInt64: DefaultSnapshot]]
        fileprivate let index: InverseIndex

        init(_ state: ReferenceStorage.State, number: UInt64? = nil) {
            self.number = number ?? state.version
            self.state = state
            let ordered = state.ordered
            var entities: [String: [UInt64: DefaultSnapshot]] = [:]
            for (number, record) in ordered {
                entities[record.persistentIdentifier.entityName, default: [:]][number] = record
            }
            self.entities = entities
            index = InverseIndex(ordered.map(\.value))
        }
    }

    let work: ReferenceWork
    private let contents: Contents
    private let isLatest: Bool

    var state: ReferenceStorage.State { contents.state }
    var number: UInt64 { contents.number }
    private var entities: [String: [UInt64: DefaultSnapshot]] { contents.entities }
    private var index: InverseIndex { contents.index }

    init(_ contents: Contents, _ work: ReferenceWork) {
        self.contents = contents
        self.work = work
        isLatest = false
    }

    /// Creates a version of a state. `isLatest` says that the store keeps this state as long as the version is used,
    /// which only a caller that holds the storage's lock can know.
    init(_ state: ReferenceStorage.State, _ work: ReferenceWork, isLatest: Bool = false) {
        contents = Contents(state)
        self.work = work
        self.isLatest = isLatest
    }

    func rows(ofEntity name: String) -> RowSource? {
        guard let layout = work.layouts[name] else { return work.steps.knowsEveryEntity ? RowSource() : nil }
        return ReferenceRows(
            records: entities[name] ?? [:], endRow: Int(state.nextNumber) - 1, version: state.version,
            layout: layout, index: index, work: work, isLatest: isLatest)
    }

    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier? {
        guard let layout = work.layouts[name], layout.uniqueConstraints.indices.contains(constraint) else { return nil }
        if values.contains(where: \.isNull), !work.steps.findsNull { return nil }
        let slots = layout.uniqueConstraints[constraint]
        let found = (entities[name] ?? [:]).sorted { $0.key < $1.key }.map(\.value).first { record in
            zip(slots, values).allSatisfy { work.steps.uniqueMatch(record.values[$0], $1) }
        }
        return found?.persistentIdentifier
    }
}

/// One entity's rows of a version.
///
/// @unchecked Sendable: all state is immutable.
final class ReferenceRows: RowSource, @unchecked Sendable {
    private let records: [UInt64: DefaultSnapshot]
    private let last: Int
    private let version: UInt64
    private let layout: RecordLayout
    /// The slots that follow from other records.
    private let derived: [Int]
    private let index: InverseIndex
    private let work: ReferenceWork
    private let isLatest: Bool

    init(
        records: [UInt64: DefaultSnapshot], endRow: Int, version: UInt64, layout: RecordLayout, index: InverseIndex,
        work: ReferenceWork, isLatest: Bool
    ) {
        self.version = version
        self.isLatest = isLatest
        if work.steps.numbersRowsAnew {
            let anew = records.sorted { $0.key < $1.key }.enumerated().map { (UInt64($0.offset) + 1, $0.element.value) }
            self.records = Dictionary(anew, uniquingKeysWith: { first, _ in first })
        } else {
            self.records = records
        }
        self.last = endRow
        self.layout = layout
        derived = work.outline(of: layout).derived
        self.index = index
        self.work = work
    }

    /// Whether the latest state is shown in place of this one.
    private var isForgotten: Bool {
        if isLatest { return false }
        if work.steps.readsLive { return true }
        guard let limit = work.steps.forgetsAfter else { return false }
        return work.storage.state.withLock { $0.version } > version + limit
    }

    override var endRow: Int { last }
    override var count: Int { records.count }
    override func contains(row: Int) -> Bool { records[UInt64(row) + 1] != nil }
    override func identifier(ofRow row: Int) -> PersistentIdentifier {
        records[UInt64(row) + 1]?.persistentIdentifier ?? super.identifier(ofRow: row)
    }
    override func row(of identifier: PersistentIdentifier) -> Int? {
        if work.steps.numbersRowsAnew {
            return records.first { $0.value.persistentIdentifier == identifier }.map { Int($0.key) - 1 }
        }
        guard let number = identifier.sequenceNumber, let record = records[number],
            work.steps.findsByNumber || record.persistentIdentifier == identifier
        else { return nil }
        return Int(number) - 1
    }
    override func value(row: Int, slot: Int) -> StoredValue {
        let number = UInt64(row) + 1
        let live = isForgotten ? work.storage.state.withLock { $0.records[number] } : nil
        guard slot < layout.slots.count, let record = live ?? records[number] else { return .null }
        if derived.contains(slot),
            let members = work.members(of: record.persistentIdentifier, layout.slots[slot], index)
        {
            return members
        }
        return slot < record.values.count ? record.values[slot] : .null
    }
}

/// Rows whose values are seen otherwise by filters.
///
/// @unchecked Sendable: all state is immutable.
final class SeenRows: RowSource, @unchecked Sendable {
    private let base: RowSource
    private let see: @Sendable (StoredValue) -> StoredValue

    init(_ base: RowSource, _ see: @escaping @Sendable (StoredValue) -> StoredValue) {
        self.base = base
        self.see = see
    }

    override var endRow: Int { base.endRow }
    override var count: Int { base.count }
    override func contains(row: Int) -> Bool { base.contains(row: row) }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { base.identifier(ofRow: row) }
    override func row(of identifier: PersistentIdentifier) -> Int? { base.row(of: identifier) }
    override func value(row: Int, slot: Int) -> StoredValue { see(base.value(row: row, slot: slot)) }
}
