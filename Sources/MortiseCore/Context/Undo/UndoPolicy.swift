/// What a context records for undo, and what an undo does about changes of others.
public struct UndoPolicy: Sendable, Hashable {
    /// What an undo or redo does with a value that was changed since, by other contexts and processes, by a merge, or
    /// while nothing was recorded.
    public enum ForeignChange: String, Sendable, Hashable, Codable, CaseIterable {
        /// It stays, and `ModelContext.lastUndo` tells. Both sides of a relationship stay together.
        case keepOthers
        /// The old value comes back. If others have stored another, the next save treats that by the context's
        /// `mergePolicy`.
        case restore
        /// Nothing is undone, the step stays, and `UndoError.changedByOthers` is thrown; by the next fetch or save
        /// where the manager was asked and not the context.
        case refuse
    }

    /// Whether changes are recorded while the context has no undo manager; false at first. `ModelContext.undo()` undoes
    /// them.
    public var recordsWithoutManager: Bool
    /// About how many bytes the recorded values may take: beyond it the oldest steps of the context are forgotten. The
    /// latest step stays whatever its size. 64 MiB at first.
    public var memoryLimit: Int
    /// What happens to values that others have changed.
    public var onForeignChange: ForeignChange

    /// Makes a policy.
    public init(
        recordsWithoutManager: Bool = false, memoryLimit: Int = 64 << 20, onForeignChange: ForeignChange = .keepOthers
    ) {
        self.recordsWithoutManager = recordsWithoutManager
        self.memoryLimit = memoryLimit
        self.onForeignChange = onForeignChange
    }
}

/// What a context's last undo or redo has come to.
public struct UndoReport: Sendable, Hashable {
    /// Something that was left as it is.
    public struct Skipped: Sendable, Hashable {
        /// Why it was left.
        public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
            /// The value, or the record that would have been deleted, was changed since.
            case changedByOthers
            /// The record was deleted by others.
            case deletedByOthers
            /// The record that the relationship led to is gone. An optional relationship is nil then.
            case targetGone
        }
        /// The record.
        public let model: PersistentIdentifier
        /// The property; nil where it is about the record as a whole.
        public let property: String?
        /// Why it was left.
        public let reason: Reason
    }

    /// Whether it was a redo.
    public let isRedo: Bool
    /// The records that have got values back, have come back, or have gone. Each once, in no order.
    public internal(set) var restored: [PersistentIdentifier]
    /// What was left as it is.
    public internal(set) var skipped: [Skipped]

    /// This one and another one that came before it, of the same undo.
    func following(_ other: UndoReport?) -> UndoReport {
        guard let other else { return self }
        var both = other
        let known = Set(other.restored)
        both.restored += restored.filter { !known.contains($0) }
        both.skipped += skipped
        return both
    }
}

/// Why a context undid or redid nothing. Nothing has changed then.
public enum UndoError: Error, Hashable, Sendable {
    /// `undo()` or `redo()` was called while the context's undo manager undoes or redoes.
    case insideUndo
    /// A group that was opened by hand is open.
    case groupIsOpen(level: Int)
    /// Under `UndoPolicy.ForeignChange.refuse`, what was changed or deleted by others. The step can still be undone.
    case changedByOthers([UndoReport.Skipped])
}

extension UndoError: ClassifiedStoreError {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .insideUndo: "An undo or redo is at work, and nothing was undone. Call it after that has returned."
        case .groupIsOpen(let level):
            "Expected grouping level 1 or 0 of the undo manager, found \(level), and nothing was undone. Close the groups first."
        case .changedByOthers(let skipped):
            "Others have changed \(skipped.count) of the values since, the first one in \(skipped.first.map { "\($0.model)" } ?? "-"), "
                + "and nothing was undone. Undo under the policy keepOthers or restore."
        }
    }

    /// `usage`; `conflict` for what others have changed.
    public var errorClass: StoreErrorClass {
        if case .changedByOthers = self { .conflict } else { .usage }
    }
}
