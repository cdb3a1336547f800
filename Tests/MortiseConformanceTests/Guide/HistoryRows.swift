import Foundation
import MortiseCore

/// One row of a history that a store of another package keeps in a table.
struct HistoryRow {
    enum Kind: Int { case insertion, update, deletion }
    var kind: Kind
    var record: PersistentIdentifier
    /// The slots that an update has changed.
    var changed = SlotSet()
    /// The last values of a deleted record.
    var last: ContiguousArray<StoredValue> = []
}

/// Makes a transaction of rows: insertions, then updates, then deletions, each in identity order, so that who replays them meets
/// no reference to a record that is not there yet.
func transaction(
    _ number: Int64, at time: Date, by author: String?, _ rows: [HistoryRow], _ schema: Schema, store: String
) -> DefaultHistoryTransaction {
    let layouts = schema.stored.recordLayouts()
    let ordered = rows.sorted { ($0.kind.rawValue, $0.record) < ($1.kind.rawValue, $1.record) }
    let changes = ordered.enumerated().compactMap { place, row -> HistoryChange? in
        let slots = layouts[row.record.entityName]?.slots ?? []
        let change = Int64(place + 1)
        switch row.kind {
        case .insertion: return schema.insertion(of: row.record, change: change, transaction: number)
        case .update:
            let names = slots.indices.filter(row.changed.contains).map { slots[$0].name }
            return schema.update(of: row.record, properties: names, change: change, transaction: number)
        case .deletion:
            let preserved = zip(slots, row.last).filter {
                $0.0.property.attribute?.options.contains(.preserveValueOnDeletion) == true
            }
            return schema.deletion(
                of: row.record, preserved: preserved.map { (name: $0.0.name, value: $0.1) }, change: change,
                transaction: number)
        }
    }
    return DefaultHistoryTransaction(
        transactionIdentifier: number, timestamp: time, changes: changes, token: DefaultHistoryToken([store: number]),
        storeIdentifier: store, bundleIdentifier: "", processIdentifier: ProcessInfo.processInfo.processName,
        author: author)
}
