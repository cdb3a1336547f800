/// Changes that a context asks a store to carry out, and the models that show them: for each record of the change set one
/// at the same index, or none at all where records are written without models.
///
/// For a versioned store, values that did not change are null in the change set, and so are derived relationships.
struct ModelChanges {
    var changes: ChangeSet
    var inserted: [any PersistentModel] = []
    var updated: [any PersistentModel] = []
    var deleted: [any PersistentModel] = []
}

/// The result of a commit, whatever the store's type.
struct SaveOutcome {
    private let remapped: [PersistentIdentifier: PersistentIdentifier]
    private let new: NewIdentifiers?
    /// The permanent identifiers by the temporary ones.
    var pairs: [PersistentIdentifier: PersistentIdentifier] { new?.pairs ?? remapped }

    init<Snapshot>(_ result: DataStoreSaveChangesResult<Snapshot>) {
        new = result.new
        remapped = result.new == nil ? result.remappedIdentifiers : [:]
        historyToken = result.historyToken
        reregistered = []
    }

    /// The permanent identifier of a new record, which is at that index of the request; nil if the store gave none.
    func identifier(of temporary: PersistentIdentifier, at place: Int) -> PersistentIdentifier? {
        guard let new else { return remapped[temporary] }
        return place < new.permanent.count ? new.permanent[place] : nil
    }

    /// The changes under the identifiers that the store gave to new records.
    func committed(_ changes: ChangeSet) -> ChangeSet {
        var committed = changes
        if let new {
            committed.inserted = ChangeSet.Insertions(changes.inserted.requested, new: new)
        } else if !changes.inserted.isEmpty {
            committed.inserted = ChangeSet.Insertions(records: changes.inserted.records.compactMap { remapped[$0] })
        }
        return committed
    }

    /// As `committed(_:)`, with the records that the store has changed on its own account.
    func named(_ changes: ChangeSet) -> ChangeSet {
        var named = committed(changes)
        for snapshot in reregistered {
            named.updated.append(
                .init(
                    record: snapshot.persistentIdentifier, layout: snapshot.layout,
                    slots: SlotSet(snapshot.values.indices)))
        }
        if !reregistered.isEmpty { named.mergeUpdates() }
        return named
    }

    /// Like `named(_:)`, but leaves out records in which nothing changed except to-many sides derived from other records, which a
    /// store may forget to name.
    func surelyNamed(_ changes: ChangeSet) -> ChangeSet {
        var named = named(changes)
        named.updated.removeAll { update in
            !update.slots.isEmpty && update.slots.slots.allSatisfy { update.layout.slots[$0].role == .toManyDerived }
        }
        return named
    }

    /// As `committed(_:)`, with the values under those identifiers too, as the store has set them.
    func committedWithValues(_ changes: ChangeSet) -> ChangeSet {
        let pairs = pairs
        var set = Dictionary(reregistered.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { $1 })
        var committed = changes
        committed.inserted = ChangeSet.Insertions(
            changes.inserted.requested.map { snapshot in
                let record = pairs[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
                return set.removeValue(forKey: record)
                    ?? snapshot.copy(persistentIdentifier: record, remappedIdentifiers: pairs)
            })
        for index in committed.updated.indices {
            for slot in committed.updated[index].values.indices {
                committed.updated[index].values[slot].remapIdentifiers(pairs)
            }
            if let snapshot = set.removeValue(forKey: committed.updated[index].record) {
                committed.updated[index].take(snapshot)
            }
        }
        // Records that the store has changed on its own account.
        for snapshot in reregistered where set[snapshot.persistentIdentifier] != nil {
            committed.updated.append(
                .init(
                    record: snapshot.persistentIdentifier, layout: snapshot.layout,
                    slots: SlotSet(snapshot.values.indices), values: snapshot.values))
        }
        return committed
    }

    /// Values that the store set differently than requested.
    var reregistered: [DefaultSnapshot]
    /// The place of the save in the store's history, where the store tells it.
    let historyToken: (any HistoryToken)?
    /// The version that the save made, if it is already known.
    var version: (any StoreVersion)?
    /// The place of the commit among those that are posted in place of the store; nil if no other one can have come between.
    var turn: Announcements.Turn?
    /// Waits for the rest of a deferred save; see `DeferredSave.finish()`.
    var finish: (@Sendable () throws -> (any StoreVersion)?)?
}

extension ChangeSet.Update {
    /// Takes the values that a store has set in place of those that it was given.
    fileprivate mutating func take(_ snapshot: DefaultSnapshot) {
        for slot in snapshot.values.indices where slot < values.count && layout.slots[slot].role != .toManyDerived {
            if !values[slot].isIdentical(to: snapshot.values[slot]) { slots.insert(slot) }
        }
        values = snapshot.values
    }
}
