/// One change of one model, in one property. A change of a relationship is one on each side.
///
/// What is changed in a context's models is changed by nothing else: setters, delete rules, the upkeep of inverses, merges and
/// the survivors of upserts all come to these. No changes in this sense are the values that a model comes with (an
/// initializer's, a batch's, those of a deleted model that is inserted again), and what is kept of one that goes.
enum Mutation {
    /// A value of an attribute, or the target of a to-one relationship.
    case set(Draft.Value)
    /// A member more of a to-many relationship.
    case add(any PersistentModel)
    /// A member fewer of a to-many relationship.
    case remove(any PersistentModel)
    /// What the deletion of a member changed is undone.
    case restore(any PersistentModel)
    /// What was added and removed before becomes the program's own: it no longer follows from the other side alone.
    case keepMembers
    /// What was changed is forgotten: the property shows what is stored.
    case forget
}

extension ChangeTracker {
    /// Changes a model, and has its context save that.
    ///
    /// A model that has outlived its context may retain a model that it is given until `holdWeaklyAfterContext` is
    /// called. That goes through all members, so a caller that adds several calls it once.
    static func apply(_ mutation: consuming Mutation, to model: any PersistentModel, at slot: Int) {
        switch mutation {
        case .set(.value(let value)): apply(stored: value, to: model, at: slot)
        case .set(let value):
            note(model, at: slot)
            if case .models = value { completeBase(of: model, at: slot) }
            model._modelState.set(value, at: slot)
        case .add(let member):
            if model._table?.isJournaled == true { journal(member, of: model, at: slot, isAdded: true) }
            if let changes = model._membersOfNew(at: slot) {
                mark(model, at: slot)
                return changes.add(member)
            }
            members(of: model, at: slot).add(member)
            noteMembers(of: model, at: slot)
        case .remove(let member):
            if model._table?.isJournaled == true { journal(member, of: model, at: slot, isAdded: false) }
            let isStored = model._mayBeStored && member._mayBeStored
            members(of: model, at: slot).remove(member, isStored: isStored)
            noteMembers(of: model, at: slot)
        case .restore(let member):
            guard case .models(let changes)? = model._draft?[slot] else { return }
            if model._table?.isJournaled == true { journal(member, of: model, at: slot, isAdded: true) }
            changes.takeBackRelease(of: member)
            mark(model, at: slot)
        case .keepMembers: members(of: model, at: slot).keepImplied()
        case .forget:
            guard let draft = model._draft else { return }
            if let table = model._table, table.isJournaled {
                journal(table)?.willSet(model, at: slot, in: table.layout)
            }
            draft[slot] = .unset
            draft.changed.remove(slot)
            draft.released.remove(slot)
            draft.settled.remove(slot)
            mark(model, at: slot)
        }
    }

    /// Sets an attribute. Setting the value that the record has changes nothing.
    static func apply<Model: PersistentModel>(stored value: consuming StoredValue, to model: Model, at slot: Int) {
        if model._row >= 0, model._hasInRow(value, at: slot) { return }
        note(model, at: slot)
        model._modelState.set(stored: value, at: slot)
    }

    /// Has the context save a model, if this is its first change. `isList` says that members are added or removed.
    private static func note<Model: PersistentModel>(_ model: Model, at slot: Int, isList: Bool = false) {
        guard let table = model._table else { return }
        if table.isJournaled, !isList { journal(table)?.willSet(model, at: slot, in: table.layout) }
        guard model._flags.isDisjoint(with: [.isChanged, .isInserted, .isDeleted]) else { return mark(model, at: slot) }
        // Without the context nothing can be saved any more, and holding the model would keep the two alive for ever.
        table.state.tracker?.noteChange(of: model)
        mark(model, at: slot)
    }

    /// Has live results look at a model again.
    @inline(__always)
    private static func mark<Model: PersistentModel>(_ model: Model, at slot: Int) {
        if model._flags.contains(.isWatched) { model._table?.state.follower?.mark(model, at: slot) }
    }

    // Kept out of line: few contexts record what changes.
    @inline(never)
    private static func journal(_ table: ModelTable) -> ChangeJournal? { table.state.tracker?.journal }

    @inline(never)
    private static func journal(
        _ member: any PersistentModel, of model: any PersistentModel, at slot: Int, isAdded: Bool
    ) {
        guard let table = model._table else { return }
        journal(table)?.willChange(member, of: model, at: slot, isAdded: isAdded)
    }

    /// The changes of a to-many relationship; creates them if the model has not changed it yet.
    private static func members(of model: any PersistentModel, at slot: Int) -> MemberChanges {
        if case .models(let changes)? = model._draft?[slot] { return changes }
        let changes = MemberChanges()
        note(model, at: slot, isList: true)
        completeBase(of: model, at: slot)
        model._modelState.set(.models(changes), at: slot)
        return changes
    }

    /// A list that was read only after the record's first change is known now.
    private static func completeBase(of model: any PersistentModel, at slot: Int) {
        let row = model._row
        guard row >= 0, let table = model._table, table.session.defersRelationships,
            let rows = table.source as? SessionRows, rows.mayDefer(slot), !rows.isUnread(row: row, slot: slot)
        else { return }
        model._draft?.base?.complete(slot, with: rows.storedForm(row: row, slot: slot))
    }

    /// The member changes are shared by reference, so the draft has to be told that they changed.
    private static func noteMembers(of model: any PersistentModel, at slot: Int) {
        note(model, at: slot, isList: true)
        model._draft?.changed.insert(slot)
        model._draft?.released.remove(slot)
    }

    /// Makes a model that has outlived its context, or was deleted, hold others of the kind weakly: two that refer to each
    /// other would be there for ever, and with them the stores of the context.
    static func holdWeaklyAfterContext(_ model: any PersistentModel) {
        guard let draft = model._draft, model._table.map(\.state.isGone) ?? (draft.frozen != nil) else { return }
        if let table = model._table {
            draft.takeBackWeakly(required: table.layout.record.requiredTargets)
        } else {
            let layout = ModelLayout.of(type(of: model))
            draft.takeBackWeakly(required: layout.record.requiredTargets) { $0._hasOutlivedContext }
        }
    }
}

extension PersistentModel {
    /// Sets a property from its accessor.
    func _write(_ value: Draft.Value, at slot: Int) {
        ChangeTracker.apply(.set(value), to: self, at: slot)
        if case .value = value { return }
        ChangeTracker.holdWeaklyAfterContext(self)
    }

    /// Like `_write`, for a stored value.
    @usableFromInline
    func _write(stored value: consuming StoredValue, at slot: Int) {
        ChangeTracker.apply(stored: value, to: self, at: slot)
    }
}
