#if Tool
import MortiseCore

/// Several transactions taken together: what a record went through becomes one change, and one that came and went is left out.
struct NetChanges {
    private enum Change {
        case inserted
        case updated(ChangeSet.Update)
        case deleted(ChangeSet.Deletion)
    }

    private var all: [PersistentIdentifier: Change] = [:]
    private var isErasure = false
    private var isIncomplete = false

    /// Takes in the next transaction.
    mutating func take(_ changes: ChangeSet) {
        if changes.isErasure {
            all = [:]
            isErasure = true
        }
        if changes.isIncomplete { isIncomplete = true }
        for deletion in changes.deleted {
            if case .inserted? = all[deletion.record] {
                all[deletion.record] = nil
            } else {
                all[deletion.record] = .deleted(deletion)
            }
        }
        for update in changes.updated {
            switch all[update.record] {
            case .inserted?: break
            case .updated(let earlier)?: all[update.record] = .updated(Self.joined(earlier, update))
            case .deleted?, nil: all[update.record] = .updated(update)
            }
        }
        for record in changes.inserted.records {
            // A deletion that was undone.
            if case .deleted(let deletion)? = all[record] {
                all[record] = .updated(
                    ChangeSet.Update(record: record, layout: deletion.layout, slots: SlotSet()))
            } else {
                all[record] = .inserted
            }
        }
    }

    private static func joined(_ earlier: ChangeSet.Update, _ later: ChangeSet.Update) -> ChangeSet.Update {
        // Under another schema, slots have other meanings.
        guard earlier.layout.slots.map(\.name) == later.layout.slots.map(\.name) else { return later }
        var joined = later
        joined.slots.formUnion(earlier.slots)
        if later.values.isEmpty || earlier.values.isEmpty {
            joined.values = []
        } else {
            for slot in earlier.slots.slots where !later.slots.contains(slot) {
                joined.values[slot] = earlier.values[slot]
            }
        }
        // What each property was at first.
        if later.oldValues.isEmpty || earlier.oldValues.isEmpty {
            joined.oldValues = []
        } else {
            for slot in earlier.slots.slots {
                if let old = earlier.oldValue(at: slot), joined.oldValues.indices.contains(slot) {
                    joined.oldValues[slot] = old
                }
            }
        }
        return joined
    }

    /// The changes, in the order of their records.
    var changes: ChangeSet {
        var changes = ChangeSet()
        changes.isErasure = isErasure
        changes.isIncomplete = isIncomplete
        var inserted: [PersistentIdentifier] = []
        for (record, change) in all.sorted(by: { $0.key < $1.key }) {
            switch change {
            case .inserted: inserted.append(record)
            case .updated(let update): changes.updated.append(update)
            case .deleted(let deletion): changes.deleted.append(deletion)
            }
        }
        changes.inserted = ChangeSet.Insertions(records: inserted)
        return changes
    }
}
#endif
