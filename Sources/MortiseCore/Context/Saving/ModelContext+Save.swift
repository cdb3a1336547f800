import Foundation

extension ModelContext {
    /// Stores all unsaved changes: in each store all of them or none.
    ///
    /// A new record with the unique values of another updates that one, unless its `UniqueConflictPolicy` says otherwise: the older
    /// model survives and takes the values, and the new model becomes its alias without a context. Of attributes it takes all
    /// values, nil included. Relationships it only gains: the members of to-many relationships are united, and a to-one relationship
    /// that is nil in the new model stays as it is. Set it in the older model to clear it, or insert with `onConflict: .replace`.
    /// - Throws: `ModelValidationError` and `ModelContextError` before anything is stored; the store's errors. The
    ///   context and its models are then as before the call, apart from the delete rules, which were followed, and the
    ///   newer version of the store that the context may have moved to. With several stores, those saved before the
    ///   failing one stay saved, and `didSave` reports them.
    public func save() throws {
        autosave.begin()
        defer { autosave.end() }
        state.forgetAutosave()
        tracker.journal?.endEventForSave()
        try state.save()
    }
}

extension ContextState {
    func save() throws {
        var isTold = false
        func tell() {
            if !isTold, let context { NotificationCenter.default.post(name: ModelContext.willSave, object: context) }
            isTold = true
        }
        if readsPast, hasChanges { throw ModelContextError.readsPast }
        try sessions.first?.checkAuthor()
        // What follows from deletions is recorded with them, so that the store cannot be left to find it.
        if tracker?.journal != nil { propagateDeletes() }
        if try saveDeletions(tell) { return }
        try prepare()
        try tracker?.throwRefused()
        guard hasChanges else {
            tracker?.cascades = Cascades()
            // A handler of `willSave` has taken back what there was.
            if isTold { postDidSave(SavedChanges()) }
            return
        }
        tell()
        propagateDeletes()
        try throwLatched()
        try tracker?.throwRefused()
        var saved = SavedChanges()
        savedInPart = false
        // A handler may save on another thread and wait for it, so no lock is held any more.
        do {
            try notifications.deferred { try unrecorded { try saveLocked(&saved) } }
            tracker?.journal?.endSave(isDone: true)
        } catch {
            tracker?.journal?.endSave(isDone: false)
            follower?.noteSave()
            // What some of several stores have saved before another failed stays saved.
            if !saved.isEmpty {
                savedInPart = true
                postDidSave(saved)
            }
            throw error
        }
        follower?.noteSave()
        postDidSave(saved)
    }

    /// Posts `didSave`.
    func postDidSave(_ saved: SavedChanges) {
        guard let context else { return }
        NotificationCenter.default.post(
            name: ModelContext.didSave, object: context, userInfo: saved.userInfo(of: sessions))
    }

    private func saveLocked(_ saved: inout SavedChanges) throws {
        // Stores are locked in the container's order, so that two contexts saving at once cannot wait for each other.
        var locked: [StoreSession] = []
        func unlock() {
            for session in locked.reversed() { session.endSaving() }
            locked = []
        }
        defer {
            unlock()
            for session in sessions { session.beginSettling() }
        }
        for session in sessions {
            session.beginSaving()
            locked.append(session)
        }
        try checkWritable()
        var progress = SaveProgress(hasInsertions: !inserted.isEmpty)
        while try !attempt(&progress, &saved, unlock) {}
        tracker?.forgetUndoneRefusals()
    }

    /// - Throws: `ModelContextError.readOnly` if there are changes for a read-only store.
    private func checkWritable() throws {
        guard sessions.contains(where: { !$0.allowsSave }) else { return }
        for list in [inserted, changed, deleted] {
            for model in list { try model._table?.session.checkWritable() }
        }
    }

    /// Saves on top of the latest versions. Calls `unlock`, which lets other contexts save, before it waits for a
    /// deferred save. Returns false if a writer that does not share the store's lock changed the store meanwhile.
    private func attempt(
        _ progress: inout SaveProgress, _ saved: inout SavedChanges, _ unlock: () -> Void
    ) throws -> Bool {
        for session in sessions { try refresh(session) }
        try rereadChangedSnapshots()
        // What each store's part has come to when another one fails.
        var done: [StoreSession] = []
        do {
            try settleConflicts()
            try repeatDeleteRules()
            let aliases = try UniqueUpsert(state: self).resolve()
            let newcomers = newcomers(&progress)
            if !newcomers.isEmpty {
                // First, because it takes back notifications too.
                undoSettling(except: done)
                for (session, records) in newcomers { try reread(records, in: session) }
                return false
            }
            try validate()
            var idle: [StoreSession] = []
            for session in sessions {
                guard let pending = tracker?.pendingChanges(for: session, author: editingState.author),
                    !pending.changes.isEmpty
                else {
                    idle.append(session)
                    continue
                }
                // Before this store is asked: a list that could not be read would be written without its members.
                try throwListFailure()
                let outcome: SaveOutcome
                do {
                    // With several stores the next is only asked once this one's part is safe.
                    outcome = try session.commit(pending, mayDefer: sessions.count == 1)
                } catch is VersionSuperseded {
                    try progress.attempts.note(session, on: pending.changes.baseVersion)
                    undoSettling(except: done)
                    return false
                } catch let superseded as RecordsSuperseded {
                    undoSettling(except: done)
                    try reread(superseded.identifiers, in: session)
                    try progress.attempts.note(superseded, session, on: pending.changes.baseVersion)
                    return false
                }
                var version = outcome.version
                if let finish = outcome.finish {
                    unlock()
                    version = try finish()
                }
                done.append(session)
                // Before anything that may throw: it is done.
                saved.append(
                    pending.changes, by: session, outcome,
                    outcome.historyToken ?? version.flatMap { session.historyToken(ofVersion: $0.number) })
                if progress.hasInsertions {
                    // Only now: after a save that stored nothing, the identifiers of the last one still count.
                    progress.hasInsertions = false
                    settled = SettledIdentifiers()
                }
                try takeOver(pending, outcome, session, version)
                finish(aliases, in: session)
            }
            if !aliases.isEmpty {
                // All newcomers may have been kept from a store. They have other identifiers now all the same.
                if progress.hasInsertions { settled = SettledIdentifiers() }
                progress.hasInsertions = false
                for session in idle { finish(aliases, in: session) }
            }
            tracker?.saveUndo = nil
            return true
        } catch {
            undoSettling(except: done)
            throw error
        }
    }

    /// What only settling has changed and has to be read again, because the store numbers versions and has told none of these:
    /// their values are those that this context has written, and others may have written since.
    private func newcomers(
        _ progress: inout SaveProgress
    ) -> [(session: StoreSession, records: [PersistentIdentifier])] {
        var newcomers: [ObjectIdentifier: (session: StoreSession, records: [PersistentIdentifier])] = [:]
        for session in sessions where session.tellsRecordVersions {
            for model in Array(changed) + Array(deleted) {
                guard let table = model._table, table.session === session else { continue }
                let record = model.persistentModelID
                if session.isSettled(record) || session.recordVersion(of: record) != 0 { continue }
                // Once: a store may number the versions of some records only.
                guard progress.reread.insert(record).inserted else { continue }
                newcomers[ObjectIdentifier(session), default: (session, [])].records.append(record)
            }
        }
        return Array(newcomers.values)
    }

    /// Follows the rules of what is deleted here to what others have saved since.
    private func repeatDeleteRules() throws {
        // Records of a store without versions may have changed unnoticed.
        guard let tracker, !tracker.deleted.isEmpty,
            tracker.hasStaleDeletions || sessions.contains(where: { $0.version == nil })
        else { return }
        beginSettling()
        tracker.hasStaleDeletions = false
        returnMovedModels()
        let deleted = Array(tracker.deleted)
        if let journal = tracker.journal {
            journal.late(.deletion) { tracker.propagateDeletes(again: deleted) }
        } else {
            tracker.propagateDeletes(again: deleted)
        }
        try throwLatched()
    }

    /// Takes back the deletion of models that others have moved away from the deleted ones whose cascades took them. Those
    /// that were moved to another one that is deleted here go with that.
    private func returnMovedModels() {
        while let moved = tracker?.cascades.released(from: deleted), !moved.isEmpty {
            var leaders: [PersistentIdentifier: (model: any PersistentModel, record: LedRecord)] = [:]
            for model in Array(deleted) {
                guard let record = LedRecord(model) else { continue }
                for member in record.members { leaders[member] = (model, record) }
            }
            // One may have come back with another.
            for model in moved where model._flags.contains(.isDeleted) {
                if let leader = leaders[model.persistentModelID], leader.model !== model {
                    tracker?.cascades.note(model, deletedWith: leader.model, leader.record)
                } else {
                    tracker?.insert(model)
                }
            }
        }
    }

    /// Moves the context to what a save made. `version` is the one that a deferred save made.
    private func takeOver(
        _ pending: ModelChanges, _ outcome: SaveOutcome, _ session: StoreSession, _ version: (any StoreVersion)?
    ) throws {
        let changes = pending.changes
        isTakingOver = true
        var detached: [Draft] = []
        defer {
            isTakingOver = false
            for draft in detached { draft.takeBackWeakly() }
        }
        for (model, deletion) in zip(pending.deleted, changes.deleted) {
            guard let table = model._table else { continue }
            if let draft = beginDetaching(model, table: table, lastIn: session.version) { detached.append(draft) }
            table.session.forget(deletion.record)
        }
        if session.version == nil {
            let written =
                changes.inserted.requested.map { ($0.persistentIdentifier, $0.values) }
                + changes.updated.map { ($0.record, $0.values) }
            let pairs = outcome.pairs
            for (identifier, values) in written {
                var values = values
                for slot in values.indices { values[slot].remapIdentifiers(pairs) }
                session.takeWritten(pairs[identifier] ?? identifier, values)
            }
        } else if let version {
            // Not the latest: others may already have changed there what this save wrote.
            let isOwn = changes.deleted.isEmpty && version.number &- 1 == changes.baseVersion
            try refresh(session, to: version, isOwn: isOwn)
        } else {
            try refresh(session)
        }
        for (model, update) in zip(pending.updated, changes.updated) {
            model._modelState.dropSavedDraft(update.layout)
            model._modelState.flags = []
        }
        var missing: PersistentIdentifier?
        let requested = changes.inserted.requested
        var expected = 0
        for (place, model) in pending.inserted.enumerated() {
            let temporary = requested[place].persistentIdentifier
            guard let table = model._table,
                let permanent = outcome.identifier(of: temporary, at: place),
                let row = table.source.row(of: permanent, expectedAt: expected)
            else {
                missing = missing ?? temporary
                continue
            }
            expected = row + 1
            settled.add(temporary, permanent)
            if !temporary.isTemporary, temporary != permanent { successors[temporary] = permanent }
            if let present = table.adopt(model, row: row) {
                model._modelState.flags = []
                model._modelState.table = nil
                model._modelState.ensureDraft().takeBack()
                model._modelState.ensureDraft().survivor = present
            } else {
                model._modelState.settle(in: row, table.layout.record)
            }
        }
        if session.version == nil {
            for snapshot in outcome.reregistered {
                try session.put(
                    snapshot.persistentIdentifier, snapshot.values, version: snapshot.recordVersion, isWritten: true)
            }
        }
        if !successors.isEmpty { successors = successors.mapValues { settled.permanent(of: $0) ?? $0 } }
        finish(pending)
        if let missing {
            throw ModelContextError.storeContract(
                store: session.location,
                fault: "Its save returned no permanent identifier for \(missing), or one that it does not know.")
        }
    }

    /// Lets what was kept of models that were merged away lead to those that survived.
    private func finish(_ aliases: [UniqueUpsert.Merged], in session: StoreSession) {
        for (alias, identifier) in aliases {
            guard let survivor = alias._survivor, survivor._table?.session === session else { continue }
            if let identifier { settled.add(identifier, survivor.persistentModelID) }
            alias._followSurvivors()
        }
    }

    private func finish(_ pending: ModelChanges) {
        guard let tracker else { return }
        tracker.forgetInsertions(of: pending.inserted)
        for model in pending.updated { tracker.changed.remove(model) }
        for model in pending.deleted { tracker.forgetDeletion(of: model) }
        if tracker.deleted.isEmpty { tracker.cascades = Cascades() }
    }
}

/// What the attempts of one save have in common.
private struct SaveProgress {
    var attempts = SaveAttempts()
    /// The records that were read again because settling has changed them.
    var reread: Set<PersistentIdentifier> = []
    /// Whether there were new models, and no store has saved its part yet.
    var hasInsertions: Bool
}
