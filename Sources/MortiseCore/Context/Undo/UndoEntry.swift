/// One change of one model, with what takes it back. A change of a relationship is one on each side.
struct UndoEntry {
    enum Change {
        /// An attribute or a to-one relationship was set. `new` is nil until the step is closed.
        case value(slot: Int, old: Draft.Value, new: Draft.Value?)
        /// A to-many relationship has a member more.
        case added(slot: Int, any PersistentModel)
        /// A to-many relationship has a member fewer.
        case removed(slot: Int, any PersistentModel)
        /// The new members of a to-many relationship were in that order.
        case order(slot: Int, [any PersistentModel])
        /// The model came into the context, or its deletion was taken back.
        case entered
        /// The model was deleted, or has left the context.
        case left(LeftModel)
    }

    let model: any PersistentModel
    var change: Change

    var slot: Int? {
        switch change {
        case .value(let slot, _, _), .added(let slot, _), .removed(let slot, _), .order(let slot, _): slot
        case .entered, .left: nil
        }
    }

    /// The models at the other end of what it changes.
    var others: [any PersistentModel] {
        switch change {
        case .value(_, .model(let old), let new):
            if case .model(let new)? = new { [old, new].compactMap { $0 } } else { [old].compactMap { $0 } }
        case .value(_, _, .model(let new)?): [new].compactMap { $0 }
        case .added(_, let member), .removed(_, let member): [member]
        default: []
        }
    }

    /// About how much memory it takes.
    var bytes: Int {
        var bytes = MemoryLayout<UndoEntry>.stride
        switch change {
        case .value(_, let old, let new):
            if case .value(let value) = old { bytes += value.approximateBytes }
            if case .value(let value)? = new { bytes += value.approximateBytes }
        case .order(_, let members): bytes += members.count * 16
        case .left(let last): bytes += last.bytes
        default: break
        }
        return bytes
    }
}

/// A model as it was when it was deleted or left its context.
final class LeftModel {
    let table: ModelTable
    /// Of a model that was never stored: all that it had. Serves once.
    let unsaved: (draft: Draft, content: Draft.Content)?
    /// Of a stored one: what is written if its record has to be made anew.
    let values: [(slot: Int, value: Draft.Value)]
    let identifier: PersistentIdentifier

    init?(_ model: any PersistentModel) {
        guard let table = model._table else { return nil }
        self.table = table
        identifier = model.persistentModelID
        if model._row < 0, let draft = model._draft {
            unsaved = (draft, draft.content)
            values = []
            return
        }
        unsaved = nil
        let editor = RelationshipEditor(model)
        values = table.layout.record.slots.enumerated().map { slot, description in
            switch description.role {
            case .attribute:
                switch model._draft?[slot] {
                case nil, .unset?: (slot, .value(model._rowValue(at: slot)))
                case let value?: (slot, value)
                }
            case .toOne: (slot, .model(editor.heldTarget(at: slot)))
            case .toManyStored, .toManyDerived:
                (slot, .models(MemberChanges(adding: editor.members(at: slot, hidingDeleted: false))))
            }
        }
    }

    var bytes: Int {
        values.reduce(200) { sum, value in
            switch value.value {
            case .value(let stored): sum + 16 + stored.approximateBytes
            case .models(let changes): sum + 16 + changes.added.count * 40
            default: sum + 32
            }
        }
    }
}

extension PersistentModel {
    /// What an attribute or a to-one relationship shows, as a draft holds it: of a stored model always a value.
    func _shownValue(at slot: Int, in layout: ModelLayout) -> Draft.Value {
        if layout.record.slots[slot].role == .toOne {
            switch _draft?[slot] {
            case nil, .unset?: return _row >= 0 ? .model(RelationshipEditor(self).heldTarget(at: slot)) : .unset
            case .inferred(from: let target)?: return .model(target.model)
            case let value?: return value
            }
        }
        switch _draft?[slot] {
        case nil, .unset?: return _row >= 0 ? .value(_rowValue(at: slot)) : .unset
        case .transformable(let value)?:
            return layout.transformed(value, at: slot).map(Draft.Value.value) ?? .transformable(value)
        case let value?: return value
        }
    }
}

extension Draft.Value {
    /// Whether both show the same. Values that cannot be stored are compared by their kind alone.
    func shows(_ other: Draft.Value) -> Bool {
        switch (self, other) {
        case (.value(let mine), .value(let others)): mine.isIdentical(to: others)
        case (.model(let mine), .model(let others)):
            mine === others || mine?._survivor ?? mine === others?._survivor ?? others
        case (.unset, .value(.null)), (.value(.null), .unset), (.unset, .unset): true
        case (.unset, .model(nil)), (.model(nil), .unset): true
        case (.transformable, .transformable), (.unencodable, .unencodable): true
        case (.requiredButCleared(let mine), .requiredButCleared(let others)): mine === others
        default: false
        }
    }
}
