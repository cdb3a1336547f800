import Foundation
import MortiseCore

extension StoreFault {
    /// A store that gives a record another version only for some of its changes.
    private static func numbering(
        _ id: String, _ summary: String,
        for counts: @escaping @Sendable (_ slot: RecordLayout.Slot, _ new: StoredValue, _ entity: String) -> Bool
    ) -> StoreFault {
        shared(id, summary) { steps in
            steps.countsAsChange = { old, new in
                zip(new.layout.slots.indices, zip(old.values, new.values)).contains { place, values in
                    values.0 != values.1 && counts(new.layout.slots[place], values.1, new.layout.entityName)
                }
            }
            // Long enough for another to come between what a context reads and what it saves.
            steps.beforeSaving = { _, request in
                if !request.updated.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
            }
        }
    }

    static let recordVersionKindFaults: [StoreFault] = [
        numbering("versions-without-lists", "keeps the version of a record of which only lists have changed") {
            slot, _, _ in !slot.role.isToMany
        },
        numbering("versions-without-to-ones", "keeps the version of a record of which only a reference has changed") {
            slot, _, _ in slot.role != .toOne
        },
        numbering("versions-of-values-alone", "keeps the version of a record whose values have become nil") {
            _, value, _ in !value.isNull
        },
        numbering("versions-without-coded-values", "keeps the version of a record if a coded value has changed") {
            slot, _, _ in slot.property.attribute?.kind != .coded
        },
        numbering("versions-without-data", "keeps the version of a record if only data has changed") { slot, _, _ in
            slot.property.attribute?.kind != .data
        },
        numbering("versions-of-own-properties", "keeps the version of a record if inherited properties have changed") {
            slot, _, entity in slot.declaringEntity == entity
        },
        numbering("versions-of-the-first-class", "keeps the version of a record if a subclass's properties changed") {
            slot, _, entity in slot.declaringEntity == "Animal" || !["Puppy", "Dog"].contains(entity)
        },
    ]
}
