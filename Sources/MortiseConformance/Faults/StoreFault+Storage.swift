import Foundation
import MortiseCore

extension StoreFault {
    private static func committing(
        _ id: String, _ summary: String,
        _ commit:
            @escaping @Sendable (ReferenceStorage.State, ReferenceStorage.State, inout ReferenceStorage.State) -> Void
    ) -> StoreFault {
        StoreFault(id, summary) { $0.commit = commit }
    }

    static let storageFaults: [StoreFault] = [
        committing("writes-at-closing", "writes nothing before it is closed") { _, _, _ in },
        committing("acknowledges-before-writing", "writes a save when the next one comes") { old, _, durable in
            durable = old
        },
        committing("writes-insertions", "writes new records and no updates before it is closed") { old, new, durable in
            durable.nextNumber = new.nextNumber
            for (number, record) in new.records where old.records[number] == nil { durable.records[number] = record }
            for number in old.records.keys where new.records[number] == nil { durable.records[number] = nil }
        },
        committing("deletes-at-closing", "deletes records when it is closed") { _, new, durable in
            let gone = durable.records.filter { new.records[$0.key] == nil }
            durable = new
            durable.records.merge(gone) { record, _ in record }
        },
        committing("counts-at-closing", "writes its counter of identifiers when it is closed") { _, new, durable in
            durable = new
            durable.nextNumber = (new.records.keys.max() ?? 0) + 1
        },
        StoreFault("erases-at-closing", "writes an erasure when it is closed") { $0.commitErasure = { _, _ in } },
        committing("drops-the-first-after-many", "loses the oldest record when it has written for long") {
            _, new, durable in
            durable = new
            if new.version > 150, let first = durable.records.keys.min() { durable.records[first] = nil }
        },
        StoreFault("writes-in-place", "changes its records in place, one after the other") { $0.writesInPlace = true },
        StoreFault("passes-over-failed-writes", "takes a save for done whose writing failed") {
            $0.swallowsFailedWrites = true
        },
        StoreFault("shows-what-was-not-written", "shows a save whose writing failed until it is closed") {
            $0.keepsUnwritten = true
        },
        StoreFault("is-closed-by-a-failure", "is closed by a failed write, and says nothing of the kind") { steps in
            steps.closesOnFailure = true
            steps.explain = { error in
                if case .closed = error { ReferenceStoreError.refused } else { error }
            }
        },
        StoreFault("writes-before-checking", "writes a save before it knows whether it can be done") { steps in
            steps.writesBeforeChecking = true
        },
        StoreFault("writes-what-is-unsaved", "writes a record more than it was given") { steps in
            steps.commit = { _, new, durable in
                durable = new
                if let last = new.records.filter({ $0.value.persistentIdentifier.entityName == "Entry" })
                    .max(by: { $0.key < $1.key })
                {
                    durable.records[new.nextNumber] = DefaultSnapshot(
                        persistentIdentifier: .numbered(
                            new.nextNumber, storeIdentifier: last.value.persistentIdentifier.storeIdentifier ?? "",
                            entityName: "Entry"), layout: last.value.layout, values: last.value.values)
                    durable.nextNumber += 1
                }
            }
        },
        StoreFault("stays-locked", "cannot be opened a third time after it was not closed") { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                state.debris.openings += 1
                if state.debris.openings > 2 { throw ReferenceStoreError.refused }
                try adopt(schema, layouts, &state)
            }
        },
        StoreFault("loses-relationships", "writes no relationships before it is closed") { steps in
            steps.commit = { _, new, durable in
                durable = new
                for (number, record) in new.records {
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated() where slot.role == .toOne {
                        values[place] = .null
                    }
                    durable.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
    ]
}
