public import Foundation

/// The changes of one transaction: what a context asks a store to carry out, what a store keeps as its history, and what
/// everyone who follows the store receives.
///
/// Values are given by slot where they are known: a context knows the new values of what it saves, a store that deletes many
/// records at once names only the records, and what other processes have saved mostly comes without the values before. Each record is in one of `inserted`, `updated` and `deleted` at most once
/// when a store has committed the changes.
public struct ChangeSet: Sendable {
    /// What a store adds when it commits changes.
    public struct Commit: Sendable, Hashable, Codable {
        /// The number of the transaction, which is also that of the version that it made; it grows from each transaction of
        /// a store to the next.
        public var number: UInt64
        /// When the transaction was saved, by the clock of the process that saved it.
        public var timestamp: Date
        /// The process that saved, as its identifier or name; empty if unknown.
        public var process: String
        /// The bundle identifier of that process; empty if unknown.
        public var bundle: String
        /// What tells the transaction from any other that a copy of the store, or an earlier state of it, gives the same
        /// number; nil if unknown.
        public var mark: UInt64?

        /// Makes the description of a committed transaction.
        public init(
            number: UInt64, timestamp: Date, process: String = "", bundle: String = "", mark: UInt64? = nil
        ) {
            self.number = number
            self.mark = mark
            self.timestamp = timestamp
            self.process = process
            self.bundle = bundle
        }
    }

    /// The number of the version that the changes were made on; nil for any version.
    public var baseVersion: UInt64?
    /// The author of the changes; nil if not given.
    public var author: String?
    /// The new records.
    public var inserted = Insertions()
    /// The records with new values, in the order in which they were changed.
    public var updated: [Update] = []
    /// The deleted records, including those that delete rules took.
    public var deleted: [Deletion] = []
    /// Whether all records were removed first.
    public var isErasure = false
    /// Whether more may have changed than is named here: the store carried out a change without reporting its records.
    public var isIncomplete = false
    /// How a store committed the changes; nil as long as none has.
    public var commit: Commit?

    /// Makes an empty set of changes.
    public init(baseVersion: UInt64? = nil, author: String? = nil) {
        self.baseVersion = baseVersion
        self.author = author
    }

    /// Whether nothing changes.
    public var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !isErasure && !isIncomplete
    }

    /// How many records are named.
    public var count: Int { inserted.count + updated.count + deleted.count }

    /// Leaves the records with their slots alone.
    package mutating func dropValues() {
        if inserted.hasValues { inserted = Insertions(records: inserted.records) }
        for index in updated.indices {
            updated[index].values = []
            updated[index].oldValues = []
        }
        for index in deleted.indices {
            deleted[index].values = []
            deleted[index].preserved = SlotSet()
        }
    }

    /// Makes one update of several of the same record, and forgets those of deleted records.
    package mutating func mergeUpdates() {
        if updated.isEmpty || (updated.count == 1 && deleted.isEmpty) { return }
        var places = Dictionary(deleted.lazy.map { ($0.record, -1) }, uniquingKeysWith: { first, _ in first })
        var merged: [Update] = []
        merged.reserveCapacity(updated.count)
        for update in updated {
            if let place = places[update.record] {
                if place >= 0 { merged[place].follow(with: update) }
            } else {
                places[update.record] = merged.count
                merged.append(update)
            }
        }
        updated = merged
    }
}

// MARK: - Records

extension ChangeSet {
    /// A record with new values.
    public struct Update: Sendable {
        /// The changed record.
        public var record: PersistentIdentifier
        /// The names and roles of the slots.
        public var layout: RecordLayout
        /// The slots that changed. In a committed change, those whose stored values differ.
        public var slots: SlotSet
        /// The new values by slot of `layout`; empty if they are not known. Only those of `slots` count.
        public var values: ContiguousArray<StoredValue>
        /// The values before by slot of `layout`; empty if they are not known. Only those of `slots` count.
        public var oldValues: ContiguousArray<StoredValue>

        /// Makes an update. Values that are not known are left empty.
        public init(
            record: PersistentIdentifier, layout: RecordLayout, slots: SlotSet,
            values: ContiguousArray<StoredValue> = [], oldValues: ContiguousArray<StoredValue> = []
        ) {
            self.record = record
            self.layout = layout
            self.slots = slots
            self.values = values
            self.oldValues = oldValues
        }

        /// Takes in a later update of the same record.
        fileprivate mutating func follow(with later: Update) {
            if values.isEmpty || later.values.isEmpty {
                values = []
            } else {
                for slot in later.slots.slots { values[slot] = later.values[slot] }
            }
            if oldValues.isEmpty || later.oldValues.isEmpty {
                oldValues = []
            } else {
                for slot in later.slots.slots where !slots.contains(slot) { oldValues[slot] = later.oldValues[slot] }
            }
            slots.formUnion(later.slots)
        }

        /// The names of the properties that changed, in the order of their slots.
        public var properties: [String] {
            slots.slots.compactMap { $0 < layout.slots.count ? layout.slots[$0].name : nil }
        }

        /// The new value of a slot; nil if the slot did not change, or its value is not known.
        public func value(at slot: Int) -> StoredValue? { slots.contains(slot) ? values.at(slot) : nil }

        /// The value of a slot before the change; nil if the slot did not change, or its value is not known.
        public func oldValue(at slot: Int) -> StoredValue? { slots.contains(slot) ? oldValues.at(slot) : nil }
    }

    /// A deleted record.
    public struct Deletion: Sendable {
        /// The deleted record.
        public var record: PersistentIdentifier
        /// The names and roles of the slots.
        public var layout: RecordLayout
        /// The last stored values by slot of `layout`; empty if none are known. Only those of `preserved` count.
        public var values: ContiguousArray<StoredValue>
        /// The slots whose values are in `values`.
        public var preserved: SlotSet

        /// Makes a deletion. `preserved` names the slots whose values are given.
        public init(
            record: PersistentIdentifier, layout: RecordLayout, values: ContiguousArray<StoredValue> = [],
            preserved: SlotSet = SlotSet()
        ) {
            self.record = record
            self.layout = layout
            self.values = values
            self.preserved = preserved
        }
    }

    /// New records, in the order in which they were inserted.
    ///
    /// Identifiers are temporary until a store has committed the changes, and permanent afterwards. Values may be unknown:
    /// then only `records` has elements to offer.
    public struct Insertions: Sendable {
        private var snapshots: [DefaultSnapshot] = []
        private var named: ContiguousArray<PersistentIdentifier> = []
        /// The identifiers that a store gave to the records of `snapshots`.
        private var new: NewIdentifiers?

        /// No records.
        public init() {}

        /// Records with their values.
        public init(_ snapshots: [DefaultSnapshot]) { self.snapshots = snapshots }

        /// Records whose values are not known.
        public init(records: some Sequence<PersistentIdentifier>) { named = ContiguousArray(records) }

        /// Records under the identifiers that a store has given them, in the same order.
        package init(_ snapshots: [DefaultSnapshot], new: NewIdentifiers) {
            self.snapshots = snapshots
            self.new = new
        }

        /// How many records there are.
        public var count: Int { snapshots.isEmpty ? named.count : snapshots.count }
        /// Whether there are no records.
        public var isEmpty: Bool { snapshots.isEmpty && named.isEmpty }
        /// Whether the values are known.
        public var hasValues: Bool { !snapshots.isEmpty }

        /// The identifiers of the records.
        public var records: ContiguousArray<PersistentIdentifier> {
            if let new { return new.permanent }
            return snapshots.isEmpty ? named : ContiguousArray(snapshots.map(\.persistentIdentifier))
        }

        /// The records as they were handed to the store: temporary identifiers, also in relationships.
        package var requested: [DefaultSnapshot] { snapshots }

        /// A value of `requested` with permanent identifiers.
        func stored(_ value: StoredValue) -> StoredValue {
            guard let new else { return value }
            switch value {
            case .identifier(let record): return new[record].map(StoredValue.identifier) ?? value
            case .identifiers(let records) where records.contains { new[$0] != nil }:
                return .identifiers(records.map { new[$0] ?? $0 }.sorted())
            default: return value
            }
        }

        /// The records with their values, each made as it is asked for; empty if the values are not known.
        public var values: some RandomAccessCollection<DefaultSnapshot> & Sendable {
            SnapshotsUnderNewIdentifiers(snapshots: snapshots, new: new)
        }
    }
}

/// The records of a save under their permanent identifiers, without a copy of them all.
struct SnapshotsUnderNewIdentifiers: RandomAccessCollection, Sendable {
    fileprivate let snapshots: [DefaultSnapshot]
    fileprivate let new: NewIdentifiers?

    var startIndex: Int { 0 }
    var endIndex: Int { snapshots.count }

    subscript(index: Int) -> DefaultSnapshot {
        guard let new else { return snapshots[index] }
        return snapshots[index].copy(persistentIdentifier: new.permanent[index], remappedIdentifiers: new.pairs)
    }
}

extension ContiguousArray {
    fileprivate func at(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
