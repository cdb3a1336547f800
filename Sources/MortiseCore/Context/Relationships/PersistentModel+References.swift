extension PersistentModel {
    /// Whether the record of a member of a to-many relationship leads to this model's: the members need not all be read for
    /// that. Nil where the member's record does not say.
    private func _isStoredOwner(of other: any PersistentModel, at slot: Int) -> Bool? {
        guard _row >= 0, other._row >= 0, let table = _table,
            let theirs = other._table, theirs.state === table.state,
            table.layout.record.slots[slot].role == .toManyDerived,
            let inverse = table.layout.inverse(of: slot, towards: theirs.layout),
            theirs.layout.record.slots[inverse].role == .toOne
        else { return nil }
        guard case .identifier(let owner) = other._rowValue(at: inverse) else { return false }
        return owner == persistentModelID
    }

    /// Whether a relationship of this model refers to another model, deleted or not. False where this model has no such slot:
    /// it may be of a superclass, which only a faulty store relates to the other one.
    func _refers(to other: any PersistentModel, at slot: Int) -> Bool {
        if let table = _table, slot >= table.layout.record.slots.count { return false }
        switch _draft?[slot] {
        case .model(let target)?: return target === other
        case .inferred(from: let target)?: return target.model === other
        case .requiredButCleared?: return false
        case .models(let changes)?:
            if changes.isRemoved(other) { return false }
            if changes.isAdded(other) { return true }
        default: break
        }
        return _hasStored(other, at: slot)
    }

    /// Whether this model's record leads to another one's, whatever is set here.
    func _hasStored(_ other: any PersistentModel, at slot: Int) -> Bool {
        if let has = _isStoredOwner(of: other, at: slot) ?? _isStored(other, at: slot) { return has }
        switch _rowValue(at: slot) {
        case .identifier(let identifier): return identifier == other.persistentModelID
        case .identifiers(let identifiers): return identifiers.contains(other.persistentModelID)
        default: return false
        }
    }

    /// Whether this model's record has another one among the members of a relationship; nil where that has to be read
    /// anew each time.
    func _isStored(_ member: any PersistentModel, at slot: Int) -> Bool? {
        guard _row >= 0, let table = _table, table.session.version != nil,
            table.layout.record.slots[slot].role.isToMany
        else { return nil }
        return table.state.storedMembers.contains(
            member.persistentModelID, of: ObjectIdentifier(table), table.source, _row, slot)
    }
}
