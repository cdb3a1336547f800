/// A change of one record by the names of its properties, with the other sides of its one-to-one relationships: both sides of these
/// are stored, and have to lead to each other.
struct PairedChange {
    private struct Change {
        let layout: RecordLayout
        var values: ContiguousArray<StoredValue>
        var slots: SlotSet
        var isNew = false
    }

    private let store: any VersionedDataStore
    private let version: any StoreVersion
    private let layouts: [String: RecordLayout]
    private var changes: [PersistentIdentifier: Change] = [:]
    /// In the order in which they are needed first.
    private var order: [PersistentIdentifier] = []

    init(in store: any VersionedDataStore, _ layouts: [String: RecordLayout]) {
        self.store = store
        self.layouts = layouts
        version = store.currentVersion
    }

    /// - Throws: `MigrationRecordError.wouldLackPartner`, `.noSuchRecord`; why a record cannot be read.
    mutating func insert(
        _ record: PersistentIdentifier, _ layout: RecordLayout, _ values: ContiguousArray<StoredValue>, _ slots: SlotSet
    ) throws {
        note(record, Change(layout: layout, values: values, slots: slots, isNew: true))
        for slot in slots.slots { try pair(record, layout, slot, values[slot], before: .null) }
    }

    /// - Throws: as `insert(_:_:_:_:)`.
    mutating func update(
        _ record: PersistentIdentifier, _ layout: RecordLayout, _ values: ContiguousArray<StoredValue>, _ slots: SlotSet
    ) throws {
        note(record, Change(layout: layout, values: values, slots: slots))
        for slot in slots.slots where layout.slots[slot].role == .toOne {
            try pair(record, layout, slot, values[slot], before: try value(of: record, slot: slot))
        }
    }

    @discardableResult
    func save(editing state: EditingState) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        func snapshots(isNew: Bool) -> [(DefaultSnapshot, SlotSet)] {
            order.compactMap { record in
                changes[record].flatMap { change in
                    change.isNew == isNew
                        ? (
                            DefaultSnapshot(
                                persistentIdentifier: record, layout: change.layout, values: change.values),
                            change.slots
                        ) : nil
                }
            }
        }
        let updated = snapshots(isNew: false)
        return try store.save(
            DataStoreSaveChangesRequest(
                inserted: snapshots(isNew: true).map(\.0), updated: updated.map(\.0), editingState: state,
                changedSlots: updated.map(\.1)))
    }

    private mutating func note(_ record: PersistentIdentifier, _ change: Change) {
        if changes.updateValue(change, forKey: record) == nil { order.append(record) }
    }

    private mutating func pair(
        _ record: PersistentIdentifier, _ layout: RecordLayout, _ slot: Int, _ value: StoredValue, before: StoredValue
    ) throws {
        guard layout.slots[slot].role == .toOne, !value.isIdentical(to: before),
            let relationship = layout.slots[slot].property.relationship, let inverse = relationship.inverse
        else { return }
        if case .identifier(let former) = before { try set(.null, of: former, inverse, ifIs: record) }
        guard case .identifier(let partner) = value else { return }
        guard let other = layouts[partner.entityName], let back = other.slot(named: inverse),
            other.slots[back].role == .toOne
        else { return }
        if case .identifier(let rival) = try self.value(of: partner, slot: back), rival != record {
            try set(.null, of: rival, layout.slots[slot].name, ifIs: partner)
        }
        try set(.identifier(record), of: partner, inverse, ifIs: nil)
    }

    /// Sets one side, if it leads where it is thought to lead.
    private mutating func set(
        _ value: StoredValue, of record: PersistentIdentifier, _ name: String, ifIs expected: PersistentIdentifier?
    ) throws {
        guard let layout = layouts[record.entityName], let slot = layout.slot(named: name),
            layout.slots[slot].role == .toOne
        else { return }
        if let expected, try !self.value(of: record, slot: slot).isIdentical(to: .identifier(expected)) { return }
        if value.isNull, !layout.slots[slot].property.isOptional {
            throw MigrationRecordError.wouldLackPartner(record: record, property: name)
        }
        if changes[record] == nil {
            note(
                record,
                Change(
                    layout: layout, values: ContiguousArray(repeating: .null, count: layout.slots.count),
                    slots: SlotSet()))
        }
        changes[record]?.values[slot] = value
        changes[record]?.slots.insert(slot)
    }

    /// The value as it is, or as it is to be.
    private func value(of record: PersistentIdentifier, slot: Int) throws -> StoredValue {
        if let change = changes[record], change.isNew { return change.values[slot] }
        guard let rows = version.rows(ofEntity: record.entityName), let row = rows.row(of: record) else {
            throw MigrationRecordError.noSuchRecord(record)
        }
        return try rows.readValue(row: row, slot: slot)
    }
}
