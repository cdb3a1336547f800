/// The relationships of one model: what they show, and what follows from changes. Both sides of every relationship are kept
/// in step by this type, and nowhere else.
///
/// It reads and changes single properties; how a change becomes part of a save is up to `ChangeTracker`. A slot is one of
/// the model's own entity, and `layout` the one that the slot belongs to.
struct RelationshipEditor {
    let model: any PersistentModel

    init(_ model: any PersistentModel) { self.model = model }

    /// The model at the other end of a to-one relationship. Only deleted and detached models see deleted models.
    func target(at slot: Int) -> (any PersistentModel)? {
        guard let target = heldTarget(at: slot) else { return nil }
        if target._flags.contains(.isDeleted), hidesDeleted, !isRequired(slot) { return nil }
        return target
    }

    /// As `target(at:)`, deleted models included: until a deletion is saved, they are the ones to take this model out of.
    func heldTarget(at slot: Int) -> (any PersistentModel)? {
        switch model._draft?[slot] {
        case .model(let target)?: return target
        case .requiredButCleared?: return nil
        case .inferred(from: let target)?: return target.model
        default: break
        }
        guard case .identifier(let identifier) = model._storedValue(at: slot) else { return nil }
        if let frozen = model._frozen, frozen.ignoresPendingChanges {
            return frozen.table.state.storedModels(for: [identifier]).first
        }
        return model._table?.state.model(for: identifier) ?? model._frozen?.model(for: identifier)
    }

    /// The models of a to-many relationship: the stored ones in identity order, then new ones in order of addition.
    func members(at slot: Int) -> [any PersistentModel] { members(at: slot, hidingDeleted: hidesDeleted) }

    func members(at slot: Int, hidingDeleted hides: Bool) -> [any PersistentModel] {
        let changes: MemberChanges? =
            if case .models(let changes)? = model._draft?[slot] { changes } else { nil }
        var members: [any PersistentModel] = []
        if case .identifiers(let identifiers) = model._rowValue(at: slot) {
            if let frozen = model._frozen, frozen.ignoresPendingChanges {
                return frozen.table.state.storedModels(for: identifiers)
            }
            if let table = model._table {
                members = table.state.models(for: identifiers)
            } else if let frozen = model._frozen {
                members = identifiers.compactMap { frozen.model(for: $0) }
            }
            if let changes, changes.hasRemovals { members.removeAll(where: changes.isRemoved) }
        }
        if let changes {
            let added = changes.added
            let mayBeStored = added.contains { $0._row >= 0 }
            if mayBeStored { members.removeAll(where: changes.isAdded) }
            members += added
            if mayBeStored {
                members.sort { $0.persistentModelID < $1.persistentModelID }
            }
        }
        if hides { members.removeAll { $0._flags.contains(.isDeleted) } }
        return members
    }

    /// The stored models of a relationship that its getter leaves out because they cannot be read.
    func unreadable(at slot: Int) -> [(identifier: PersistentIdentifier, error: any Error)] {
        guard let state = model._table?.state else { return [] }
        switch model._rowValue(at: slot) {
        case .identifiers(let identifiers): return state.unreadable(among: identifiers)
        case .identifier(let identifier):
            // Another target may have been set.
            if case .unset = model._draft?[slot] ?? .unset { return state.unreadable(among: [identifier]) }
            return []
        default: return []
        }
    }

    var hidesDeleted: Bool { model._table != nil && !model._flags.contains(.isDeleted) }

    func isRequired(_ slot: Int) -> Bool {
        !ModelLayout.of(type(of: model)).record.slots[slot].property.isOptional
    }

    /// Whether the model was never in a context: both sides of its relationships are kept in step all the same.
    var isNew: Bool {
        guard model._table == nil, model._flags.isDisjoint(with: [.isDeleted, .isGoing]) else {
            return false
        }
        guard let draft = model._draft else { return true }
        return draft.frozen == nil && draft.survivor == nil
    }

    /// Whether a model belongs to another context, which has refused it: nothing there follows from what happens here.
    func isForeign(_ other: any PersistentModel) -> Bool {
        guard let mine = model._table?.state, let others = other._table?.state else {
            return false
        }
        return mine !== others
    }

    /// Whether a related model leads back to this one; true where nothing leads back.
    func isMutual(with other: any PersistentModel, at slot: Int, _ layout: ModelLayout) -> Bool {
        layout.inverse(of: slot, towards: other).map { other._refers(to: model, at: $0) } ?? true
    }
}
