/// What a revert does about what was changed since.
public enum RevertPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing is changed, and `RevertError.conflicts` is thrown with all that is in the way.
    case refuse
    /// What is in conflict stays as it is, and the rest is reverted.
    case skip
    /// What was changed since is overruled: values come back, and records that the transaction inserted are deleted as `delete(_:)` does,
    /// with what their delete rules take. What cannot be done at all is passed over: see `RevertConflict.Reason.canBeForced`.
    case force
}

/// Something that keeps a part of a revert from being done.
public struct RevertConflict: Sendable, Hashable {
    /// Why it cannot be done.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The value, or a value of the inserted record, is another one than the transaction has written; or the partner of a one-to-one
        /// relationship has another one by now.
        case changedSince
        /// The record was deleted since.
        case deletedSince
        /// Deleting the inserted record would delete or clear something that the transaction did not insert.
        case takesOthers
        /// A required relationship would lead to a record that is gone.
        case targetGone
        /// Another record has the unique value by now.
        case notUnique
        /// The history does not have the value.
        case valueNotKept

        /// Whether `RevertPolicy.force` overrules it: `changedSince` and `takesOthers`.
        public var canBeForced: Bool { self == .changedSince || self == .takesOthers }
    }

    /// The record.
    public let record: PersistentIdentifier
    /// The property; nil where it is about the record as a whole.
    public let property: String?
    /// Why it cannot be done.
    public let reason: Reason
}

/// What a revert has come to: unsaved changes of the context.
public struct RevertReport: Sendable, Hashable {
    /// The records that have values back, in identity order.
    public internal(set) var updated: [PersistentIdentifier] = []
    /// The records that the transaction had inserted and that the next save deletes, in identity order; without those that delete rules
    /// take with them.
    public internal(set) var deleted: [PersistentIdentifier] = []
    /// The records that the transaction had deleted and that the next save inserts again, under the identifiers that they had.
    public internal(set) var inserted: [PersistentIdentifier] = []
    /// The properties that are nil, or have a member fewer, because the records that they led to are gone.
    public internal(set) var cleared: [Cleared] = []
    /// What was in the way: passed over under `RevertPolicy.skip`; under `RevertPolicy.force` overruled where that can be.
    public internal(set) var conflicts: [RevertConflict] = []

    /// A property that leads to fewer records than before the transaction.
    public struct Cleared: Sendable, Hashable {
        /// The record.
        public let record: PersistentIdentifier
        /// The property.
        public let property: String
    }
}

/// Why a context reverted nothing. Nothing has changed then.
public enum RevertError: Error, Hashable, Sendable {
    /// Under `RevertPolicy.refuse`, what is in the way.
    case conflicts([RevertConflict])
    /// The transaction removed all records, or is a migration, or some of its changes are not known.
    case notRevertible(store: String, transaction: Int64, kind: HistoryEntry.Kind)
    /// The token names no store of the container.
    case noStore(DefaultHistoryToken)
}

extension RevertError: ClassifiedStoreError {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .conflicts(let conflicts):
            "\(conflicts.count) \(conflicts.count == 1 ? "conflict keeps" : "conflicts keep") the transaction from being reverted, the "
                + "first one in \(conflicts.first.map { Self.text($0) } ?? "-"), and nothing was. Revert under the policy skip or "
                + "force."
        case .notRevertible(let store, let transaction, let kind):
            switch kind {
            case .erasure:
                "Transaction \(transaction) of the store \(store) removed all records, and its history does not have them. Restore a backup."
            case .migration:
                "Transaction \(transaction) of the store \(store) is a migration, which cannot be reverted. Restore a backup."
            case .changes, .stub:
                "The history of the store \(store) no longer has the changes of transaction \(transaction). Revert others, or restore a "
                    + "backup."
            }
        case .noStore: "The token names no store of the container. Use a token of its own history."
        }
    }

    private static func text(_ conflict: RevertConflict) -> String {
        let place = conflict.property.map { "\(conflict.record).\($0)" } ?? "\(conflict.record)"
        return "\(place) (\(conflict.reason.rawValue))"
    }

    /// `conflict` for what is in the way; otherwise `usage`.
    public var errorClass: StoreErrorClass { if case .conflicts = self { .conflict } else { .usage } }
}
