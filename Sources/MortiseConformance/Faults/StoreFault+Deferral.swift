import Foundation
import MortiseCore

extension StoreFault {
    /// Stores that leave out lists, or read for a context, wrongly.
    static let deferralFaults: [StoreFault] = [
        shared("leaves-out-what-is-named", "leaves out a many-to-many list that the query names") { steps in
            steps.leavesOutNamed = { $0.name == "people" || $0.name == "projects" }
        },
        shared("leaves-out-named-inverses", "leaves out a list with a to-one inverse that the query names") { steps in
            steps.leavesOutNamed = { $0.name == "pupils" }
        },
        shared("empty-in-place-of-left-out", "returns empty lists for those that it has not read") { steps in
            steps.leftOut = { _ in .identifiers([]) }
        },
        shared("takes-null-for-empty", "empties the lists of a record that is updated without them") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                var merged = merge(old, new, slots)
                var values = merged.values
                for (place, slot) in merged.layout.slots.enumerated() where slot.role.isToMany {
                    if new.values[place].isNull { values[place] = .identifiers([]) }
                }
                merged = DefaultSnapshot(
                    persistentIdentifier: merged.persistentIdentifier, layout: merged.layout, values: values)
                return merged
            }
        },
        shared("reads-the-latest", "answers every read from the latest state, and claims one state for a scope") {
            $0.scope = { _ in nil }
        },
        shared("never-moves-on", "answers a context for ever from the state that it read first") { steps in
            steps.scope = { ReadScope(context: $0.context, number: 0) }
        },
        shared("cursors-read-the-latest", "reads each portion of a cursor from the latest state") {
            $0.cursorsReadLatest = true
        },
        shared("moves-on-with-others", "keeps one state for all contexts") { steps in
            let one = UUID()
            steps.scope = { ReadScope(context: one, number: $0.number) }
        },
    ]
}
