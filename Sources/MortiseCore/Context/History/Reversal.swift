/// What takes transactions back: which values come back, which records go, which ones return, and what is in the way.
///
/// First everything is looked at and nothing changed, so that a revert that is refused leaves no trace.
struct Reversal {
    /// A slot that gets its old value back.
    struct Update {
        let model: any PersistentModel
        let layout: ModelLayout
        let slot: Int
        let old: StoredValue
        let wrote: StoredValue?
    }

    /// A record that comes back.
    struct Return {
        let layout: ModelLayout
        let values: [Int: StoredValue]
    }

    struct Place: Hashable {
        let record: PersistentIdentifier
        let slot: Int
    }

    let state: ContextState
    let policy: RevertPolicy
    private(set) var updates: [Place: Update] = [:]
    private(set) var removals: [PersistentIdentifier: (model: any PersistentModel, wrote: [Int: StoredValue])] = [:]
    private(set) var returns: [PersistentIdentifier: Return] = [:]
    private(set) var conflicts: [RevertConflict] = []
    /// Who may refer to inserted records although these know nothing of it.
    private(set) var referring: [RecordReferenceName] = []
    private var told: Set<RevertConflict> = []
    private var folded: [(changes: FoldedChanges, referring: [RecordReferenceName])] = []

    init(_ state: ContextState, _ policy: RevertPolicy) {
        self.state = state
        self.policy = policy
    }

    /// Takes in what is to be reverted of one store.
    mutating func take(_ changes: FoldedChanges, _ referring: [RecordReferenceName]) {
        folded.append((changes, referring))
    }

    /// The model of a record that is there; nil if it is gone, or deleted in this context.
    func model(_ record: PersistentIdentifier) -> (any PersistentModel)? {
        guard let model = state.model(for: record), model._table?.state === state,
            !model._flags.contains(.isDeleted)
        else { return nil }
        return model
    }

    /// What a save would write.
    func value(of model: any PersistentModel, at slot: Int, _ layout: ModelLayout) -> StoredValue {
        model._pendingValue(at: slot, role: layout.record.slots[slot].role, in: layout)
    }

    /// Finds everything that is in the way.
    /// - Throws: what reading records throws.
    mutating func findConflicts() throws {
        for (changes, names) in folded {
            state.load(changes.records.filter { $0.value.isThere }.map(\.key))
            for (record, change) in changes.records.sorted(by: { $0.key < $1.key }) { plan(record, change) }
            referring += names
        }
        var search = ReversalConflicts(self)
        try search.run()
        for place in search.dropped { updates[place] = nil }
        for record in search.kept { removals[record] = nil }
        for record in search.lost { returns[record] = nil }
        for conflict in search.found { note(conflict) }
        try state.throwLatched()
        let order = Dictionary(
            conflicts.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        conflicts.sort { ($0.record, order[$0] ?? 0) < ($1.record, order[$1] ?? 0) }
    }

    private mutating func note(_ conflict: RevertConflict) {
        if told.insert(conflict).inserted { conflicts.append(conflict) }
    }

    /// Decides what is to be done for a record, if nothing is in the way.
    private mutating func plan(_ record: PersistentIdentifier, _ change: FoldedChanges.Record) {
        guard let layout = change.model else { return }
        func conflict(_ slot: Int?, _ reason: RevertConflict.Reason) -> RevertConflict {
            RevertConflict(record: record, property: slot.map { layout.record.slots[$0].name }, reason: reason)
        }
        if !change.wasThere {
            // What is gone need not be deleted.
            if let model = model(record) { removals[record] = (model, change.new) }
            return
        }
        if !change.isThere {
            if model(record) != nil { return }
            let missing = layout.record.keptInHistory.filter { change.old[$0] == nil }
            if missing.isEmpty {
                returns[record] = Return(layout: layout, values: change.old)
            } else {
                for slot in missing { note(conflict(slot, .valueNotKept)) }
            }
            return
        }
        let slots = change.changed.slots.filter { layout.record.keptInHistory.contains($0) }
        guard let model = model(record) else {
            if !slots.isEmpty { note(conflict(nil, .deletedSince)) }
            return
        }
        for slot in slots {
            guard let old = change.old[slot] else {
                note(conflict(slot, .valueNotKept))
                continue
            }
            if old.isSame(as: value(of: model, at: slot, layout)) { continue }
            if let wrote = change.new[slot], wrote.isSame(as: old) { continue }
            updates[Place(record: record, slot: slot)] = Update(
                model: model, layout: layout, slot: slot, old: old, wrote: change.new[slot])
        }
    }
}

extension StoredValue {
    /// Whether both are identical; members of a relationship have no order.
    func isSame(as other: StoredValue) -> Bool {
        switch (self, other) {
        case (.identifiers(let mine), .identifiers(let others)): Set(mine) == Set(others)
        case (.identifiers(let members), .null), (.null, .identifiers(let members)): members.isEmpty
        default: isIdentical(to: other)
        }
    }
}
