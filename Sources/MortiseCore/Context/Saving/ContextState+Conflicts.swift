extension ContextState {
    /// Settles conflicting changes of the context and the store before a save.
    /// - Throws: `SaveConflict` under the policy `error`; `ModelContextError.noSuchModel` for a changed record that is gone.
    func settleConflicts() throws {
        if changed.isEmpty, deleted.isEmpty, tracker?.deletedElsewhere.isEmpty ?? true { return }
        let policy = context?.mergePolicy ?? .propertyWise
        if let gone = tracker?.deletedElsewhere.min() {
            guard policy == .storeWins else { throw ModelContextError.noSuchModel(gone) }
            beginSettling()
            tracker?.deletedElsewhere = []
        }
        for model in Array(changed) { try settle(model, policy, isDeletion: false) }
        for model in Array(deleted) { try settle(model, policy, isDeletion: true) }
    }

    private func settle(_ model: any PersistentModel, _ policy: MergePolicy, isDeletion: Bool) throws {
        guard let table = model._table, let draft = model._draft, let base = draft.base else {
            return
        }
        // Each property that was changed here is written, and no other.
        if policy == .propertyWise { return }
        let row = model._row
        let slots = base.slotsChanged(in: table.source, row: row, table.layout.record)
        guard !slots.isEmpty else { return }
        switch policy {
        case .error:
            throw SaveConflict(
                entity: table.layout.entityName, model: model.persistentModelID,
                properties: try slots.map { slot in
                    let description = table.layout.record.slots[slot]
                    return .init(
                        name: description.name, base: try base.value(slot),
                        stored: try table.source.readValue(row: row, slot: slot),
                        unsaved: draft.changed.contains(slot)
                            ? model._pendingValue(at: slot, role: description.role, in: table.layout) : nil)
                }, isDeletion: isDeletion)
        case .storeWins:
            beginSettling()
            // A model may have been changed before it was deleted.
            if isDeletion { tracker?.insert(model) }
            model._dropChanges(table.layout)
        case .objectWins:
            guard !isDeletion else { return }
            beginSettling()
            for slot in slots where !draft.changed.contains(slot) {
                model._restore(try base.value(slot), at: slot, role: table.layout.record.slots[slot].role)
            }
        case .propertyWise: break
        }
    }

    /// A store of snapshots is asked what its records are now, so that a save writes back what others have changed.
    func rereadChangedSnapshots() throws {
        for session in sessions { session.beginSettling() }
        if changed.isEmpty, deleted.isEmpty { return }
        var touched: [ObjectIdentifier: (table: ModelTable, identifiers: [PersistentIdentifier])] = [:]
        for model in Array(changed) + Array(deleted) {
            guard let table = model._table, table.session.version == nil else { continue }
            touched[ObjectIdentifier(table), default: (table, [])].identifiers.append(model.persistentModelID)
        }
        for (table, identifiers) in touched.values {
            try reread(identifiers, in: table.session)
            table.session.settle(on: identifiers)
        }
        try settleSnapshots()
    }

    /// Reads records of a store without versions again. Models of those that are gone leave the context.
    func reread(_ records: [PersistentIdentifier], in session: StoreSession) throws {
        if session.version != nil { return }
        var known: [ObjectIdentifier: (table: ModelTable, identifiers: [PersistentIdentifier])] = [:]
        for record in records {
            guard let table = table(of: record), table.session === session else { continue }
            known[ObjectIdentifier(table), default: (table, [])].identifiers.append(record)
        }
        for (table, identifiers) in known.values {
            let present = try session.load(identifiers, as: table.layout.type)
            for identifier in identifiers where !present.contains(identifier) {
                if let row = table.source.row(of: identifier), let model = table.registered(row: row) {
                    detach(model, table: table)
                }
                session.forget(identifier)
            }
        }
    }

    /// Settles what others have changed on the other side of relationships that were set here, as moving to a newer version
    /// does for stores that have versions. The records that others have set there are read first.
    func settleSnapshots() throws {
        if changed.isEmpty, deleted.isEmpty { return }
        var others: [ObjectIdentifier: (table: ModelTable, identifiers: [PersistentIdentifier])] = [:]
        for model in Array(changed) + Array(deleted) {
            guard let table = model._table, table.session.version == nil,
                let draft = model._draft
            else { continue }
            for slot in draft.changed.slots where table.layout.record.slots[slot].role == .toOne {
                let stored = model._rowValue(at: slot)
                guard case .identifier(let identifier) = stored, try draft.base?.value(slot) != stored,
                    let other = self.table(of: identifier), other.session.version == nil
                else { continue }
                others[ObjectIdentifier(other), default: (other, [])].identifiers.append(identifier)
            }
        }
        for (table, identifiers) in others.values {
            try table.session.load(identifiers, as: table.layout.type)
        }
        for session in sessions where session.version == nil { settlePartners(in: session) }
    }
}

extension PersistentModel {
    /// Undoes every change to this model; relationships are restored on both sides.
    func _dropChanges(_ layout: ModelLayout) {
        let change = ValueChange(droppingDraftOf: self, layout: layout)
        change?.willSet()
        _table?.forgetValues()
        for slot in _draft?.changed.slots ?? [] {
            let role = layout.record.slots[slot].role
            if role == .attribute {
                ChangeTracker.apply(.forget, to: self, at: slot)
            } else if role != .toManyDerived {
                _restore(_rowValue(at: slot), at: slot, role: role)
            }
        }
        change?.didSet()
    }

    fileprivate func _restore(_ value: StoredValue, at slot: Int, role: RecordLayout.Role) {
        let state = _table?.state
        switch (role, value) {
        case (.attribute, _): _write(.value(value), at: slot)
        case (.toOne, .identifier(let target)): RelationshipEditor(self).setTarget(state?.model(for: target), at: slot)
        case (.toOne, _): RelationshipEditor(self).setTarget(nil, at: slot)
        case (_, .identifiers(let members)):
            RelationshipEditor(self).setMembers(state?.models(for: members) ?? [], at: slot)
        default: RelationshipEditor(self).setMembers([], at: slot)
        }
    }
}
