import Foundation

extension ModelContext {
    /// Stores all unsaved changes: in each store all of them or none.
    ///
    /// A new record with the unique values of another updates that one: the older model survives and takes the values,
    /// and the new model becomes its alias without a context. Of attributes it takes all values, nil included.
    /// Relationships it only gains: the members of to-many relationships are united, and a to-one relationship that is
    /// nil in the new model stays as it is. Set it in the older model to clear it.
    /// - Throws: `ModelValidationError` and `ModelContextError` before anything is stored; the store's errors. The
    ///   context and its models are then as before the call, apart from the delete rules, which were followed, and the
    ///   newer version of the store that the context may have moved to. With several stores, those saved before the
    ///   failing one stay saved, and `didSave` reports them.
    public func save() throws {
        autosave.begin()
        defer { autosave.end() }
        state.forgetAutosave()
        try state.save()
    }
}

extension ContextState {
    func save() throws {
        try prepare()
        try throwRefused()
        guard hasChanges else {
            unsaved?.cascades = Cascades()
            return
        }
        if let context { NotificationCenter.default.post(name: ModelContext.willSave, object: context) }
        propagateDeletes()
        try throwLatched()
        try throwRefused()
        var report = SaveReport()
        // A handler may save on another thread and wait for it, so no lock is held any more.
        do {
            try withDeferredNotifications { try saveLocked(&report) }
        } catch {
            // What some of several stores have saved before another failed stays saved.
            if !report.isEmpty { postDidSave(report) }
            throw error
        }
        postDidSave(report)
    }

    /// Posts `didSave`.
    func postDidSave(_ report: SaveReport) {
        guard let context else { return }
        NotificationCenter.default.post(
            name: ModelContext.didSave, object: context, userInfo: report.userInfo(of: bindings))
    }

    private func saveLocked(_ report: inout SaveReport) throws {
        // Stores are locked in the container's order, so that two contexts saving at once cannot wait for each other.
        var locked: [AnyStore] = []
        func unlock() {
            for store in locked.reversed() { store.saveLock.unlock() }
            locked = []
        }
        defer { unlock() }
        for binding in bindings {
            binding.store.saveLock.lock()
            locked.append(binding.store)
        }
        try checkWritable()
        var progress = SaveProgress(hasInsertions: !inserted.isEmpty)
        while try !attempt(&progress, &report, unlock) {}
        forgetUndoneRefusals()
    }

    /// - Throws: `ModelContextError.readOnly` if there are changes for a read-only store.
    private func checkWritable() throws {
        guard bindings.contains(where: { !$0.store.allowsSave }) else { return }
        for list in [inserted, changed, deleted] {
            for model in list { try model._modelState.table?.binding.checkWritable() }
        }
    }

    /// Saves on top of the latest versions. Calls `unlock`, which lets other contexts save, before it waits for a
    /// deferred save. Returns false if a writer that does not share the store's lock changed the store meanwhile.
    private func attempt(
        _ progress: inout SaveProgress, _ report: inout SaveReport, _ unlock: () -> Void
    ) throws -> Bool {
        for binding in bindings { try refresh(binding) }
        try rereadChangedSnapshots()
        // What each store's part has come to when another one fails.
        var saved: [StoreBinding] = []
        do {
            try settleConflicts()
            try repeatDeleteRules()
            let aliases = try UniqueUpsert(state: self).resolve()
            try validate()
            for binding in bindings {
                let changes = pendingChanges(for: binding)
                guard !changes.isEmpty else { continue }
                let outcome: SaveOutcome
                do {
                    // With several stores the next is only asked once this one's part is safe.
                    outcome = try binding.store.save(changes, for: self, mayDefer: bindings.count == 1)
                } catch is VersionSuperseded {
                    try progress.attempts.note(binding, on: changes.baseVersion)
                    undoSettling(except: saved)
                    return false
                }
                var version = outcome.version
                if let finish = outcome.finish {
                    unlock()
                    version = try finish()
                }
                saved.append(binding)
                if progress.hasInsertions {
                    // Only now: after a save that stored nothing, the identifiers of the last one still count.
                    progress.hasInsertions = false
                    settled = SettledIdentifiers()
                }
                try takeOver(changes, outcome, binding, version, &report)
                finish(aliases, in: binding)
            }
            saveUndo = nil
            return true
        } catch {
            undoSettling(except: saved)
            throw error
        }
    }

    /// Follows the rules of what is deleted here to what others have saved since.
    private func repeatDeleteRules() throws {
        // Records of a store without versions may have changed unnoticed.
        guard !deleted.isEmpty, hasStaleDeletions || bindings.contains(where: { $0.version == nil }) else { return }
        beginSettling()
        hasStaleDeletions = false
        returnMovedModels()
        propagateDeletes(again: Array(deleted))
        try throwLatched()
    }

    /// Takes back the deletion of models that others have moved away from the deleted ones whose cascades took them. Those
    /// that were moved to another one that is deleted here go with that.
    private func returnMovedModels() {
        while let moved = unsaved?.cascades.released(from: deleted), !moved.isEmpty {
            var leaders: [PersistentIdentifier: (model: any PersistentModel, record: LedRecord)] = [:]
            for model in Array(deleted) {
                guard let record = LedRecord(model) else { continue }
                for member in record.members { leaders[member] = (model, record) }
            }
            // One may have come back with another.
            for model in moved where model._modelState.flags.contains(.isDeleted) {
                if let leader = leaders[model.persistentModelID], leader.model !== model {
                    unsaved?.cascades.note(model, deletedWith: leader.model, leader.record)
                } else {
                    insert(model)
                }
            }
        }
    }

    private func pendingChanges(for binding: StoreBinding) -> PendingChanges {
        let isVersioned = binding.version != nil
        func records(_ models: ModelList) -> [PendingRecord] {
            models.compactMap { model in
                guard let table = model._modelState.table, table.binding === binding else { return nil }
                return record(of: model, in: table, onlyChanged: isVersioned)
            }
        }
        var changes = PendingChanges(
            updated: records(changed), deleted: records(deleted), baseVersion: binding.version?.number)
        changes.inserted.reserveCapacity(inserted.count)
        changes.models.reserveCapacity(inserted.count)
        for model in inserted {
            guard let table = model._modelState.table, table.binding === binding else { continue }
            changes.inserted.append(insertion(of: model, in: table, isVersioned))
            changes.models.append(model)
        }
        return changes
    }

    private func insertion(of model: any PersistentModel, in table: ModelTable, _ isVersioned: Bool) -> DefaultSnapshot
    {
        let layout = table.layout
        if layout.record.ephemeralSlots.isEmpty, let draft = model._modelState.draft, let identifier = draft.identifier,
            let values = insertedValues(draft, layout, isVersioned)
        {
            return DefaultSnapshot(persistentIdentifier: identifier, layout: layout.record, values: values)
        }
        let record = record(of: model, in: table, onlyChanged: isVersioned)
        return DefaultSnapshot(
            persistentIdentifier: record.identifier, layout: layout.record, values: record.values)
    }

    /// The values of most new models, which have at most one relationship that is written: without going through them.
    private func insertedValues(
        _ draft: Draft, _ layout: ModelLayout, _ isVersioned: Bool
    ) -> ContiguousArray<StoredValue>? {
        let slots = layout.record.slots
        guard draft.hasOthers else { return isVersioned ? draft.record(of: slots.count) : nil }
        guard let only = draft.onlyOther, isVersioned else { return nil }
        switch (only.value, slots[only.slot].role) {
        case (.model(let target), .toOne):
            var value = StoredValue.null
            // A deleted target counts as nil, as in the getter.
            if let target,
                !slots[only.slot].property.isOptional || !target._modelState.flags.contains(.isDeleted)
            {
                value = .identifier(target.persistentModelID)
            }
            return draft.record(of: slots.count, (only.slot, value))
        case (.models, .toManyDerived): return draft.record(of: slots.count, (only.slot, .null))
        default: return nil
        }
    }

    private func record(of model: any PersistentModel, in table: ModelTable, onlyChanged: Bool) -> PendingRecord {
        let layout = table.layout
        let draft = model._modelState.draft
        let isNew = model._modelState.row < 0
        let changed = draft?.changed ?? SlotSet()
        let slots = layout.record.slots
        var values = ContiguousArray<StoredValue>(repeating: .null, count: slots.count)
        let hasEphemeral = !layout.record.ephemeralSlots.isEmpty
        for slot in slots.indices where isNew || !onlyChanged || changed.contains(slot) {
            if isNew, !hasEphemeral, let value = draft?.plainValue(at: slot) {
                values[slot] = value
                continue
            }
            let role = slots[slot].role
            if onlyChanged, role == .toManyDerived { continue }
            values[slot] = model._pendingValue(at: slot, role: role, in: layout)
        }
        return PendingRecord(
            model: model, identifier: model.persistentModelID, layout: layout, values: values, changed: changed)
    }

    /// Moves the context to what a save made. `version` is the one that a deferred save made.
    private func takeOver(
        _ changes: PendingChanges, _ outcome: SaveOutcome, _ binding: StoreBinding, _ version: (any StoreVersion)?,
        _ report: inout SaveReport
    ) throws {
        isTakingOver = true
        var detached: [Draft] = []
        defer {
            isTakingOver = false
            for draft in detached { draft.takeBackWeakly() }
        }
        for record in changes.deleted {
            report.deleted.append(record.identifier)
            guard let model = record.model, let table = model._modelState.table else { continue }
            if let draft = beginDetaching(model, table: table, lastIn: binding.version) { detached.append(draft) }
            (table.source as? SnapshotRows)?.remove(record.identifier)
        }
        if binding.version == nil {
            let written =
                zip(changes.models, changes.inserted).map { ($0, $1.persistentIdentifier, $1.values) }
                + changes.updated.compactMap { record in record.model.map { ($0, record.identifier, record.values) } }
            let pairs = outcome.pairs
            for (model, identifier, values) in written {
                guard let table = model._modelState.table, let rows = table.source as? SnapshotRows else { continue }
                var values = values
                for slot in values.indices { values[slot].remapIdentifiers(pairs) }
                rows.put(pairs[identifier] ?? identifier, values)
            }
        } else if let version {
            // Not the latest: others may already have changed there what this save wrote.
            let isOwn = changes.deleted.isEmpty && version.number &- 1 == changes.baseVersion
            try refresh(binding, to: version, isOwn: isOwn)
        } else {
            try refresh(binding)
        }
        for record in changes.updated {
            report.updated.append(record.identifier)
            record.model?._modelState.dropSavedDraft(record.layout.record)
            record.model?._modelState.flags = []
        }
        var missing: PersistentIdentifier?
        report.inserted.reserveCapacity(report.inserted.count + changes.models.count)
        var expected = 0
        for (place, model) in changes.models.enumerated() {
            let temporary = changes.inserted[place].persistentIdentifier
            guard let table = model._modelState.table,
                let permanent = outcome.identifier(of: temporary, at: place),
                let row = table.source.row(of: permanent, expectedAt: expected)
            else {
                missing = missing ?? temporary
                continue
            }
            expected = row + 1
            report.inserted.append(permanent)
            settled.add(temporary, permanent)
            if let present = table.adopt(model, row: row) {
                model._modelState.flags = []
                model._modelState.table = nil
                model._modelState.ensureDraft().takeBack()
                model._modelState.ensureDraft().survivor = present
            } else {
                model._modelState.settle(in: row, table.layout.record)
            }
        }
        for (identifier, values) in outcome.reregistered {
            if let table = table(named: identifier.entityName), table.source is SnapshotRows {
                try put(identifier, values, into: table)
            }
        }
        if let token = outcome.historyToken ?? version.flatMap({ binding.store.historyToken(ofVersion: $0.number) }) {
            report.historyTokens[binding.store.identifier] = token
        }
        finish(changes)
        if let missing {
            throw ModelContextError.storeContract(
                store: binding.store.identifier,
                fault: "Its save returned no permanent identifier for \(missing), or one that it does not know.")
        }
    }

    /// Lets what was kept of models that were merged away lead to those that survived.
    private func finish(_ aliases: [UniqueUpsert.Merged], in binding: StoreBinding) {
        for (alias, identifier) in aliases {
            guard let survivor = alias._survivor, survivor._modelState.table?.binding === binding else { continue }
            if let identifier { settled.add(identifier, survivor.persistentModelID) }
            alias._followSurvivors()
        }
    }

    private func finish(_ changes: PendingChanges) {
        clearInserted(changes.models)
        for model in changes.updated.lazy.compactMap(\.model) { removeChanged(model) }
        for model in changes.deleted.lazy.compactMap(\.model) { forgetDeletion(of: model) }
        if deleted.isEmpty { unsaved?.cascades = Cascades() }
    }
}

extension PersistentModel {
    /// The value that a save writes; relationships as identifiers.
    func _pendingValue(at slot: Int, role: RecordLayout.Role, in layout: ModelLayout) -> StoredValue {
        switch role {
        case .attribute:
            if layout.record.slots[slot].property.attribute?.options.contains(.ephemeral) == true { return .null }
            if case .transformable(let value)? = _modelState.draft?[slot] {
                return layout.transformed(value, at: slot) ?? .null
            }
            return _modelState.storedValue(at: slot)
        case .toOne:
            if case .unset = _modelState.draft?[slot] ?? .unset { return _modelState.storedValue(at: slot) }
            return _target(at: slot).map { .identifier($0.persistentModelID) } ?? .null
        case .toManyStored, .toManyDerived:
            let members = _members(at: slot)
            // What cannot be shown was not taken out.
            let identifiers = members.map(\.persistentModelID) + _unreadable(at: slot).map(\.identifier)
            // A model that was merged away has the identifier of the one that may be a member already.
            guard members.contains(where: { $0._survivor != nil }) else { return .identifiers(identifiers) }
            var seen = Set<PersistentIdentifier>()
            return .identifiers(identifiers.filter { seen.insert($0).inserted })
        }
    }
}

/// What the attempts of one save have in common.
private struct SaveProgress {
    var attempts = SaveAttempts()
    /// Whether there were new models, and no store has saved its part yet.
    var hasInsertions: Bool
}

/// What a save did, for its notification.
struct SaveReport {
    var inserted: [PersistentIdentifier] = []
    var updated: [PersistentIdentifier] = []
    var deleted: [PersistentIdentifier] = []
    var historyTokens: [String: any HistoryToken] = [:]
    /// Whether a store changed records without reporting which.
    var isIncomplete = false

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !isIncomplete }

    func userInfo(of bindings: [StoreBinding]) -> [AnyHashable: Any] {
        var generations: [String: UInt64] = [:]
        for binding in bindings { generations[binding.store.identifier] = binding.version?.number }
        var info = Self.places.mapValues { place -> Any in
            switch place {
            case .inserted: inserted
            case .updated: updated
            case .deleted: deleted
            case .generations: generations
            }
        }
        if !historyTokens.isEmpty { info[ModelContext.NotificationKey.historyTokens.rawValue] = historyTokens }
        if isIncomplete { info[ModelContext.NotificationKey.invalidatedAllIdentifiers.rawValue] = true }
        return info
    }

    private enum Place: Sendable { case inserted, updated, deleted, generations }

    // Never written, and its keys are strings.
    //
    // A save takes tens of microseconds, and hashing these again for every one of them took a sixth of that.
    nonisolated(unsafe) private static let places: [AnyHashable: Place] = [
        ModelContext.NotificationKey.insertedIdentifiers.rawValue: .inserted,
        ModelContext.NotificationKey.updatedIdentifiers.rawValue: .updated,
        ModelContext.NotificationKey.deletedIdentifiers.rawValue: .deleted,
        ModelContext.NotificationKey.queryGeneration.rawValue: .generations,
    ]
}

/// The identifiers that the records of a context's last save had before it, so that what was kept of them still leads
/// somewhere.
struct SettledIdentifiers {
    private var temporary: [PersistentIdentifier] = []
    private var permanent: [PersistentIdentifier] = []
    private var index: [PersistentIdentifier: Int]?

    mutating func add(_ temporary: PersistentIdentifier, _ permanent: PersistentIdentifier) {
        self.temporary.append(temporary)
        self.permanent.append(permanent)
    }

    /// The identifier that a record got in place of a temporary one.
    mutating func permanent(of identifier: PersistentIdentifier) -> PersistentIdentifier? {
        if temporary.isEmpty { return nil }
        // Made only for those who ask.
        if index == nil {
            index = Dictionary(zip(temporary, temporary.indices), uniquingKeysWith: { first, _ in first })
        }
        return index?[identifier].map { permanent[$0] }
    }
}
