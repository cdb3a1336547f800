import MortiseCore

/// Collects what a transaction of a log changed: which records, which of their slots, and the values on request.
struct ChangeCollector: TransactionVisitor {
    private let catalog: LogCatalog
    private let tellsValues: Bool
    /// Not for a transaction that names more records than come with values.
    private var keepsValues: Bool
    private var count = 0
    private var changes: ChangeSet?
    private var inserted: [DefaultSnapshot] = []
    private var insertedRecords: ContiguousArray<PersistentIdentifier> = []

    init(catalog: LogCatalog, keepsValues: Bool) {
        self.catalog = catalog
        tellsValues = keepsValues
        self.keepsValues = keepsValues
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) {
        var changes = ChangeSet(author: origin.author)
        changes.isErasure = isErasure
        changes.commit = .init(
            number: 0, timestamp: origin.timestamp, process: origin.process, bundle: origin.bundle)
        self.changes = changes
        inserted = []
        insertedRecords = []
        count = 0
        keepsValues = tellsValues
    }

    private mutating func note() {
        count += 1
        guard keepsValues, count > ChangeFeed.valueLimit else { return }
        keepsValues = false
        changes?.dropValues()
        insertedRecords = ContiguousArray(inserted.map(\.persistentIdentifier))
        inserted = []
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) {
        note()
        let deletion = ChangeSet.Deletion(
            record: catalog.identifier(entity, sequence), layout: catalog.layouts[entity],
            values: values(preserved, entity), preserved: SlotSet(keepsValues ? preserved.map(\.slot) : []))
        changes?.deleted.append(deletion)
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) {
        note()
        let update = ChangeSet.Update(
            record: catalog.identifier(entity, sequence), layout: catalog.layouts[entity],
            slots: SlotSet(changes.map(\.slot)), values: values(changes, entity))
        self.changes?.updated.append(update)
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) {
        note()
        let record = catalog.identifier(entity, sequence)
        if keepsValues {
            inserted.append(
                DefaultSnapshot(persistentIdentifier: record, layout: catalog.layouts[entity], values: values))
        } else {
            insertedRecords.append(record)
        }
    }

    private func values(
        _ pairs: [(slot: Int, value: StoredValue)], _ entity: Int
    ) -> ContiguousArray<StoredValue> {
        if !keepsValues || pairs.isEmpty { return [] }
        var values = ContiguousArray<StoredValue>(repeating: .null, count: catalog.layouts[entity].slots.count)
        for (slot, value) in pairs { values[slot] = value }
        return values
    }

    /// What was collected since the transaction began, under its number; nil if none has begun.
    mutating func takeTransaction(_ number: UInt64) -> ChangeSet? {
        var found = changes.take()
        found?.commit?.number = number
        found?.inserted =
            keepsValues
            ? ChangeSet.Insertions(inserted.sorted { $0.persistentIdentifier < $1.persistentIdentifier })
            : ChangeSet.Insertions(records: insertedRecords.sorted())
        inserted = []
        insertedRecords = []
        return found
    }
}
