#if Inspector
import MortiseCore

/// Changes that were asked for and are not saved yet, with the values on which each of them is based.
package struct StagedChanges: Sendable {
    /// Who is named in the history as the author of what is saved.
    package static let author = "inspector"

    /// A new value of a property.
    package struct Assignment: Hashable, Sendable {
        package let property: String
        /// What was typed; nil for nil.
        package let text: String?
        /// The value that was shown, as JSON.
        package let base: String

        package init(property: String, text: String?, base: String) {
            self.property = property
            self.text = text
            self.base = base
        }
    }

    /// What is to happen to a record.
    package struct Edit: Hashable, Sendable {
        package let record: PersistentIdentifier
        /// By property; empty for a deletion.
        package var assignments: [Assignment] = []
        package var isDeletion = false
        /// Of a deletion: the record as it was shown.
        package var base = ""

        package init(record: PersistentIdentifier) { self.record = record }
    }

    /// In the order in which records were first changed.
    package private(set) var edits: [Edit] = []

    package init() {}

    package var isEmpty: Bool { edits.isEmpty }

    package func edit(of record: PersistentIdentifier) -> Edit? { edits.first { $0.record == record } }

    /// Adds an edit; of a record that has one already, the new one comes first property by property.
    package mutating func stage(_ edit: Edit) {
        guard let place = edits.firstIndex(where: { $0.record == edit.record }) else { return edits.append(edit) }
        if edit.isDeletion {
            edits[place] = edit
            return
        }
        edits[place].isDeletion = false
        for assignment in edit.assignments {
            edits[place].assignments.removeAll { $0.property == assignment.property }
            edits[place].assignments.append(assignment)
        }
    }

    package mutating func drop(_ record: PersistentIdentifier) { edits.removeAll { $0.record == record } }

    /// Drops what was saved. What was staged for the same records meanwhile stays.
    package mutating func drop(saved: StagedChanges) {
        for edit in saved.edits {
            guard let place = edits.firstIndex(where: { $0.record == edit.record }), edits[place] != edit else {
                drop(edit.record)
                continue
            }
            if edits[place].isDeletion || edit.isDeletion { continue }
            edits[place].assignments.removeAll { edit.assignments.contains($0) }
            if edits[place].assignments.isEmpty { edits.remove(at: place) }
        }
    }

    package mutating func dropAll() { edits = [] }
}

/// A staged change of what has changed in the store since it was shown.
package struct StagedConflict: Hashable, Sendable {
    package let record: PersistentIdentifier
    /// Nil where the record is gone, or is to be deleted and is another one now.
    package let property: String?
    /// As JSON: what was shown, what is wanted and what is stored now. Nil where there is no such value.
    package let base: String?
    package let wanted: String?
    package let now: String?
}

/// A value that was typed and cannot be stored.
package struct StagingFault: Error, Hashable, Sendable {
    package let property: String
    package let reason: String
}

/// What saving came to.
package enum StagedOutcome: Sendable {
    case saved
    /// Nothing was saved: the changes come to something else than was shown.
    case otherThanShown
    /// Nothing was saved.
    case conflicts([StagedConflict])
}
#endif
