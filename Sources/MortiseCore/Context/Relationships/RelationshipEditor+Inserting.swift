// Models that a context takes in.

extension RelationshipEditor {
    /// Links the relationships that a model was given before it had a context.
    /// - Returns: the models without a context that it reaches.
    func connectInserted(in layout: ModelLayout) -> [any PersistentModel] {
        guard let draft = model._draft, draft.hasOthers else { return [] }
        var reached: [any PersistentModel] = []
        if let only = draft.onlyOther {
            connect(only.value, at: only.slot, in: layout, &reached)
        } else {
            for other in draft.others { connect(other.value, at: other.slot, in: layout, &reached) }
        }
        return reached
    }

    private func connect(
        _ value: Draft.Value, at slot: Int, in layout: ModelLayout, _ reached: inout [any PersistentModel]
    ) {
        switch value {
        case .model(let target?): connect(target, at: slot, in: layout, &reached)
        case .inferred(from: let owner):
            let target = owner.model
            model._draft?[slot] = target.map { .model($0) } ?? .unset
            if let target { connect(target, at: slot, in: layout, &reached) }
        case .models(let changes):
            changes.keepImplied()
            for member in changes.added { connect(member, at: slot, in: layout, &reached) }
        default: break
        }
    }

    private func connect(
        _ other: any PersistentModel, at slot: Int, in layout: ModelLayout, _ reached: inout [any PersistentModel]
    ) {
        if other._table == nil {
            reached.append(other)
        } else if !belongTogether(other, at: slot) {
            return
        }
        RelationshipEditor(other).link(model, throughInverseOf: slot, of: layout)
    }

    /// Copies a deleted model's values into its draft, so that it can become a new record. Of its related models it
    /// keeps those that still exist, or come back with it, and have no other partner.
    func thaw(in table: ModelTable, with returning: ReturningModels) {
        guard let draft = model._draft else { return }
        let layout = table.layout
        let isStored = draft.frozen != nil
        for (slot, description) in layout.record.slots.enumerated() {
            let isUnset = if case .unset = draft[slot] { true } else { false }
            if !isStored, isUnset || description.role == .attribute { continue }
            switch description.role {
            case .attribute: if isUnset { draft[slot] = .value(model._rowValue(at: slot)) }
            case .toOne:
                if case .requiredButCleared? = model._draft?[slot] { continue }
                let target = heldTarget(at: slot)
                if let target, !isFree(target, at: slot, of: layout, returning) {
                    leave(target, at: slot, of: table)
                    draft[slot] = description.property.isOptional ? .model(nil) : .requiredButCleared(last: target)
                } else {
                    draft[slot] = .model(target)
                }
            case .toManyStored, .toManyDerived:
                let changes = MemberChanges()
                for member in members(at: slot, hidingDeleted: false) {
                    if isFree(member, at: slot, of: layout, returning) {
                        changes.add(member)
                    } else {
                        leave(member, at: slot, of: table)
                    }
                }
                draft[slot] = .models(changes)
            }
        }
        draft.frozen = nil
    }

    /// Unlinks this model, which becomes a new record, from one that stays deleted, whose delete rules no longer concern it.
    private func leave(_ other: any PersistentModel, at slot: Int, of table: ModelTable) {
        guard other._flags.contains(.isDeleted), other._table?.state === table.state else {
            return
        }
        RelationshipEditor(other).unlink(model, throughInverseOf: slot, of: table.layout)
    }

    /// Whether a model may be related to this one again, which was deleted.
    private func isFree(
        _ other: any PersistentModel, at slot: Int, of layout: ModelLayout, _ returning: ReturningModels
    ) -> Bool {
        if other === model {
            // Others may have made it its own partner where it was given another here.
            return layout.inverse(of: slot, towards: model).map { model._refers(to: model, at: $0) } ?? true
        }
        if other._flags.contains(.isDeleted), !returning.contains(other) { return false }
        guard let inverse = layout.inverse(of: slot, towards: other),
            ModelLayout.of(type(of: other)).record.slots[inverse].role == .toOne,
            let partner = RelationshipEditor(other).heldTarget(at: inverse)
        else { return true }
        return partner === model || partner._flags.contains(.isDeleted)
    }
}
