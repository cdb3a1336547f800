extension ChangeTracker {
    func delete(_ model: any PersistentModel) {
        model._adoptInitialValues()
        guard let table = model._table, table.state === state else {
            if withdrawInsertions(of: model) { return }
            if model._table != nil {
                refuse(ModelContextError.registeredElsewhere(model: model.persistentModelID))
            } else if let survivor = model._survivor {
                delete(survivor)
            }
            return
        }
        saveUndo?.note(model)
        guard !model._flags.contains(.isDeleted) else {
            cascades.forget(model)
            return
        }
        journal?.willLeave(model)
        changed.remove(model)
        inserted.remove(model)
        if model._row >= 0 {
            keepBase(of: model)
            deleted.append(model)
        }
        model._modelState.flags = [.isDeleted, .awaitsRules]
        state?.follower?.watch(model, comesOrGoes: true)
        unpropagated.append(model)
        onChange?()
    }

    /// Deletes a model that the program names.
    func deleteNamed(_ model: any PersistentModel) {
        guard let journal, journal.passesOver else { return delete(model) }
        // What follows from a deletion is recorded if that was, and only then.
        propagateDeletes()
        delete(model)
        followRules()
    }

    /// Follows the delete rules of models deleted since the last call.
    ///
    /// - Parameter again: deleted models whose rules are followed once more, to what is stored.
    func propagateDeletes(again: [any PersistentModel] = []) {
        if let journal { journal.following { followRules(again: again) } } else { followRules(again: again) }
    }

    /// All that is to be deleted is known before anything is taken from it, so that the order of deletions decides nothing.
    private func followRules(again: [any PersistentModel] = []) {
        for model in again { cascade(from: model, to: RelationshipEditor(model).cascaded(storedOnly: true)) }
        var again = again
        repeat {
            var followed: [any PersistentModel] = []
            while let model = unpropagated.popLast() {
                guard model._flags.contains(.isDeleted) else { continue }
                cascade(from: model, to: RelationshipEditor(model).cascaded())
                followed.append(model)
            }
            // An observer of what is taken away may bring models back, or roll back.
            for model in again where model._flags.contains(.isDeleted) {
                RelationshipEditor(model).releaseRelated(storedOnly: true)
            }
            again = []
            for model in followed where model._flags.contains(.isDeleted) {
                model._modelState.flags.remove(.awaitsRules)
                RelationshipEditor(model).releaseRelated()
            }
            for model in followed where model._flags.contains(.isDeleted) && model._row < 0 {
                guard model._table != nil else { continue }
                // Never stored: the deletion is complete.
                model._modelState.table = nil
                model._draft?.takeBackWeakly()
            }
            // It may have deleted others, too.
        } while !unpropagated.isEmpty
    }

    /// Deletes what the deletion of a model takes with it.
    private func cascade(from model: any PersistentModel, to related: [any PersistentModel]) {
        let record = related.isEmpty ? nil : LedRecord(model)
        for related in related where related !== model {
            if !related._flags.contains(.isDeleted) {
                if cascades.hasReturned(related, from: model) { continue }
                delete(related)
            } else if related._table == nil || !cascades.hasTaken(related) {
                // It is gone already, or the program has deleted it itself.
                continue
            }
            cascades.note(related, deletedWith: model, record)
        }
    }
}
