import Foundation

// Deletions that the store follows up itself: what goes with a deleted record is not looked at here, model by model.

extension ContextState {
    /// Saves what is deleted in a store that follows delete rules, if nothing else has changed and nobody has seen yet what the rules
    /// come to. The outcome is that of following them here.
    ///
    /// Models of records that go with others leave the context as they do when others have deleted them, which they show alike.
    /// `tellsOfSave` tells those who want to know of a save before it begins, unless nothing can be done here.
    /// - Returns: false if nothing was saved, and rules have to be followed here.
    /// - Throws: the store's errors; the rules were then followed.
    func saveDeletions(_ tellsOfSave: () -> Void) throws -> Bool {
        guard storeOfDeletions != nil else { return false }
        try container.checkOpen()
        try throwLatched()
        try tracker?.throwRefused()
        tellsOfSave()
        // Handlers may have looked, or changed something.
        guard let session = storeOfDeletions, let tracker else { return false }
        let models = Array(tracker.deleted)
        var saved = SavedChanges()
        var isStored = false
        savedInPart = false
        do {
            let isDone = try notifications.deferred {
                try session.saving { try delete(models, in: session, &saved, &isStored) }
            }
            guard isDone else { return false }
        } catch {
            if isStored {
                // What failed came after it.
                savedInPart = true
                follower?.noteSave()
                postDidSave(saved)
            } else {
                propagateDeletes()
            }
            throw error
        }
        if saved.historyTokens.isEmpty, let number = session.version?.number,
            let token = session.historyToken(ofVersion: number)
        {
            saved.note(token, of: session.identifier)
        }
        tracker.forgetUndoneRefusals()
        follower?.noteSave()
        postDidSave(saved)
        return true
    }

    /// - Returns: false if others have changed the store meanwhile, or if it cannot do it after all.
    private func delete(
        _ models: [any PersistentModel], in session: StoreSession, _ saved: inout SavedChanges,
        _ isStored: inout Bool
    ) throws -> Bool {
        // On what others have saved, their changes are settled first.
        guard let version = session.version, session.latest?.number == version.number else { return false }
        let batch = StoreBatch(
            .records(models.map(\.persistentModelID)), .delete, author: editingState.author,
            baseVersion: version.number)
        let result: StoreBatchResult
        do {
            result = try session.execute(batch)
        } catch is VersionSuperseded {
            return false
        } catch is RecordsSuperseded {
            return false
        } catch DataStoreError.unsupportedFeature {
            return false
        }
        isStored = true
        var changes = result.changes
        changes.updated += losses(by: changes)
        saved.append(changes, by: session)
        isTakingOver = true
        var detached: [Draft] = []
        defer {
            isTakingOver = false
            for draft in detached { draft.takeBackWeakly() }
        }
        tracker?.unpropagated = []
        for model in models {
            guard let table = model._table else { continue }
            let identifier = model.persistentModelID
            if let draft = beginDetaching(model, table: table, lastIn: version) { detached.append(draft) }
            session.forget(identifier)
        }
        tracker?.forgetInsertions(of: [])
        tracker?.cascades = Cascades()
        try refresh(session)
        return true
    }

    /// The records that stay and lose deleted ones on their side of a relationship, which a store keeps on the other side, as far as
    /// the store has not named them: a save names them, too.
    private func losses(by changes: ChangeSet) -> [ChangeSet.Update] {
        var known = Set(changes.deleted.map(\.record))
        known.formUnion(changes.updated.lazy.map(\.record))
        var found: [ChangeSet.Update] = []
        var slots: [ObjectIdentifier: [(slot: Int, isToMany: Bool, inverse: String)]] = [:]
        for deletion in changes.deleted {
            guard let table = table(of: deletion.record), let row = table.source.row(of: deletion.record) else {
                continue
            }
            let related =
                slots[ObjectIdentifier(table)]
                ?? table.layout.record.slots.enumerated().compactMap { slot, description in
                    guard let relationship = description.property.relationship, relationship.deleteRule != .cascade,
                        let inverse = relationship.inverse
                    else { return nil }
                    return (slot, relationship.isToMany, inverse)
                }
            slots[ObjectIdentifier(table)] = related
            for (slot, isToMany, inverse) in related {
                func note(_ record: PersistentIdentifier) {
                    guard known.insert(record).inserted, let other = self.table(of: record)?.layout.record,
                        let place = other.slot(named: inverse)
                    else { return }
                    found.append(ChangeSet.Update(record: record, layout: other, slots: SlotSet([place])))
                }
                if isToMany {
                    table.source.identifiers(row: row, slot: slot).forEach(note)
                } else if let target = table.source.identifier(row: row, slot: slot) {
                    note(target)
                }
            }
        }
        return found
    }

    /// The store of the deleted models, if it can follow all of their rules; nil otherwise, and where rules have been followed here.
    private var storeOfDeletions: StoreSession? {
        guard let tracker, let first = tracker.unpropagated.first?._table, tracker.inserted.isEmpty,
            tracker.changed.isEmpty, tracker.deletedElsewhere.isEmpty, !tracker.hasStaleDeletions,
            tracker.unpropagated.count == tracker.deleted.count, repeatable == nil, !container.verifiesPushDown
        else { return nil }
        let session = first.session
        guard session.version != nil, session.allowsSave, session.followsDeleteRules,
            session.capabilities.contains(.batchUpdate)
        else { return nil }
        var tables: [ModelTable] = []
        for model in tracker.deleted {
            guard model._row >= 0, model._flags.contains(.awaitsRules), let table = model._table,
                table.session === session, model._draft?.changed.isEmpty ?? true
            else { return nil }
            if !tables.contains(where: { $0 === table }) { tables.append(table) }
        }
        return canFollowRules(ofAll: tables.map(\.layout)) ? session : nil
    }

    /// Whether some of the records may take others with them, and nothing that only models are asked stands in the way of that.
    private func canFollowRules(ofAll deleted: [ModelLayout]) -> Bool {
        let schema = container.schema
        var pending = deleted
        var seen = Set(deleted.map(\.entityName))
        var cascades = false
        while let layout = pending.popLast() {
            // A record that no model can show keeps its owner from being deleted.
            guard let table = table(named: layout.entityName), !table.verifiesRows else { return false }
            for (slot, description) in layout.record.slots.enumerated() {
                guard let relationship = description.property.relationship else { continue }
                // Of relationships that share an inverse, only models know which of them holds a record.
                if layout.hasBounds(slot) || !layout.sharingSlots[slot].isEmpty { return false }
                if relationship.deleteRule.keepsReferences { return false }
                if relationship.deleteRule.deletesRelated {
                    cascades = true
                    for name in schema.stored.subtree(of: relationship.destination) where seen.insert(name).inserted {
                        guard let reached = schema.layouts[name] else { return false }
                        pending.append(reached)
                    }
                    continue
                }
                // The error for a record that has to have this one is the framework's.
                guard let name = relationship.inverse, let other = schema.layouts[relationship.destination]?.record,
                    let inverse = other.slot(named: name)
                else { continue }
                if other.slots[inverse].role == .toOne, !other.slots[inverse].property.isOptional { return false }
            }
        }
        return cascades
    }
}
