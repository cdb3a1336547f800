// Both sides of every relationship are kept in step here, and nowhere else.

extension PersistentModel {
    /// The model at the other end of a to-one relationship. Only deleted and detached models see deleted models.
    func _target(at slot: Int) -> (any PersistentModel)? {
        guard let target = _heldTarget(at: slot) else { return nil }
        if target._modelState.flags.contains(.isDeleted), _hidesDeleted, !_isRequired(slot) { return nil }
        return target
    }

    /// As `_target(at:)`, deleted models included: until a deletion is saved, they are the ones to take this model out of.
    fileprivate func _heldTarget(at slot: Int) -> (any PersistentModel)? {
        switch _modelState.draft?[slot] {
        case .model(let target)?: return target
        case .requiredButCleared?: return nil
        case .inferred(from: let target)?: return target.model
        default: break
        }
        guard case .identifier(let identifier) = _modelState.storedValue(at: slot) else { return nil }
        if let frozen = _modelState.frozen, frozen.ignoresPendingChanges {
            return frozen.table.state.storedModels(for: [identifier]).first
        }
        return _modelState.table?.state.model(for: identifier) ?? _modelState.frozen?.model(for: identifier)
    }

    private var _hidesDeleted: Bool { _modelState.table != nil && !_modelState.flags.contains(.isDeleted) }

    private func _isRequired(_ slot: Int) -> Bool {
        !ModelLayout.of(type(of: self)).record.slots[slot].property.isOptional
    }

    /// The models of a to-many relationship: the stored ones in identity order, then new ones in order of addition.
    func _members(at slot: Int) -> [any PersistentModel] { _members(at: slot, hidingDeleted: _hidesDeleted) }

    private func _members(at slot: Int, hidingDeleted hides: Bool) -> [any PersistentModel] {
        let changes: MemberChanges? = if case .models(let changes)? = _modelState.draft?[slot] { changes } else { nil }
        var members: [any PersistentModel] = []
        if case .identifiers(let identifiers) = _modelState.rowValue(at: slot) {
            if let frozen = _modelState.frozen, frozen.ignoresPendingChanges {
                return frozen.table.state.storedModels(for: identifiers)
            }
            if let table = _modelState.table {
                members = table.state.models(for: identifiers)
            } else if let frozen = _modelState.frozen {
                members = identifiers.compactMap { frozen.model(for: $0) }
            }
            if let changes, changes.hasRemovals { members.removeAll(where: changes.isRemoved) }
        }
        if let changes {
            let added = changes.added
            let mayBeStored = added.contains { $0._modelState.row >= 0 }
            if mayBeStored { members.removeAll(where: changes.isAdded) }
            members += added
            if mayBeStored {
                members.sort { $0.persistentModelID < $1.persistentModelID }
            }
        }
        if hides { members.removeAll { $0._modelState.flags.contains(.isDeleted) } }
        return members
    }

    /// The stored models of a relationship that its getter leaves out because they cannot be read.
    func _unreadable(at slot: Int) -> [(identifier: PersistentIdentifier, error: any Error)] {
        guard let state = _modelState.table?.state else { return [] }
        switch _modelState.rowValue(at: slot) {
        case .identifiers(let identifiers): return state.unreadable(among: identifiers)
        case .identifier(let identifier):
            // Another target may have been set.
            if case .unset = _modelState.draft?[slot] ?? .unset { return state.unreadable(among: [identifier]) }
            return []
        default: return []
        }
    }

    func _setTarget(_ target: (any PersistentModel)?, at slot: Int) {
        if _modelState.flags.contains(.isGoing) { return _modelState.set(.model(target), at: slot) }
        let old = _heldTarget(at: slot)
        if let old, let target, old === target {
            // What is set here is kept here.
            if case .inferred? = _modelState.draft?[slot] { _write(.model(target), at: slot) }
            return
        }
        if old == nil, target == nil, _holdsNothing(at: slot) { return }
        _write(.model(target), at: slot)
        guard let layout = _modelState.table?.layout else {
            let layout = ModelLayout.of(type(of: self))
            if let old, _isNew, old._isNew { old._unlink(self, throughInverseOf: slot, of: layout, isSet: true) }
            if let target { _linkDetached(target, at: slot, of: layout) }
            return
        }
        if let old { old._unlink(self, throughInverseOf: slot, of: layout, isSet: true) }
        if let target {
            if target._modelState.table == nil { _modelState.table?.state.insert(target) }
            guard _belongTogether(target, at: slot) else { return }
            target._link(self, throughInverseOf: slot, of: layout)
        }
    }

    /// Whether a to-one relationship without target was left so, or is stored so.
    private func _holdsNothing(at slot: Int) -> Bool {
        switch _modelState.draft?[slot] {
        case .model(nil)?: true
        case nil, .unset?: _modelState.row >= 0 && _modelState.rowValue(at: slot).isNull
        default: false
        }
    }

    /// Does what follows from this model, which has no context, holding another: the other's context takes it in, or the
    /// other holds it as well.
    private func _linkDetached(_ other: any PersistentModel, at slot: Int, of layout: ModelLayout) {
        if let state = other._modelState.table?.state {
            if !_modelState.flags.contains(.isDeleted) { state.insert(self) }
        } else if _isNew, other._isNew {
            other._link(self, throughInverseOf: slot, of: layout)
        }
    }

    /// Used by macro expansions: links the models that an initializer gave to properties, as setting the properties
    /// afterwards would.
    public func _linkInitialValues() {
        _adoptInitialValues()
        guard _modelState.table == nil, let draft = _modelState.draft, draft.hasOthers else { return }
        let layout = ModelLayout.of(type(of: self))
        for other in draft.others {
            switch other.value {
            case .model(let target?): _linkDetached(target, at: other.slot, of: layout)
            case .models(let changes):
                for member in changes.added { _linkDetached(member, at: other.slot, of: layout) }
            default: break
            }
            // The context that has taken this model in has linked the rest.
            if _modelState.table != nil { return }
        }
    }

    /// Adds new members after those that there are, where nothing else is set: what `append` comes to, once for each
    /// member.
    /// - Returns: false where that is not what is set.
    private func _appendMembers(_ models: [any PersistentModel], at slot: Int) -> Bool {
        guard case .models(let changes)? = _modelState.draft?[slot] else { return false }
        let held = _members(at: slot, hidingDeleted: false)
        guard models.count > held.count, zip(held, models).allSatisfy({ $0 === $1 }),
            models[held.count...].allSatisfy({ !$0._mayBeStored })
        else { return false }
        let layout = ModelLayout.of(type(of: self))
        changes.keepImplied()
        for model in models[held.count...] where !changes.isAdded(model) { _addLinked(model, at: slot, layout) }
        _holdWeaklyAfterContext()
        return true
    }

    /// Adds one of several members. What follows from a context that has gone is left to the caller, once for all.
    private func _addLinked(_ model: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        _memberChanges(at: slot).add(model)
        _markChanged(slot)
        // Each time, because one member's context may have taken this model in.
        guard _modelState.table != nil else { return _linkDetached(model, at: slot, of: layout) }
        if model._modelState.table == nil { _modelState.table?.state.insert(model) }
        if _belongTogether(model, at: slot) { model._link(self, throughInverseOf: slot, of: layout) }
    }

    /// Adds to the members that there are.
    func _addMembers(_ models: [any PersistentModel], at slot: Int) {
        let layout = ModelLayout.of(type(of: self))
        _memberChanges(at: slot).keepImplied()
        for model in models { _addLinked(model, at: slot, layout) }
    }

    func _setMembers(_ models: [any PersistentModel], at slot: Int) {
        if _modelState.flags.contains(.isGoing) { return _setMembersOfGoing(models, at: slot) }
        if _appendMembers(models, at: slot) { return }
        let held = _members(at: slot, hidingDeleted: false)
        let hides = _hidesDeleted
        let wanted = Set(models.map { ObjectIdentifier($0) })
        let layout = ModelLayout.of(type(of: self))
        var present = Set<ObjectIdentifier>()
        var leaving: [any PersistentModel] = []
        for model in held {
            let isHidden = hides && model._modelState.flags.contains(.isDeleted)
            let isWanted = wanted.contains(ObjectIdentifier(model))
            if isWanted || !isHidden { present.insert(ObjectIdentifier(model)) }
            // What was deleted for good is in nobody's way, unless it belonged to another context, which refuses it.
            let isGone = model._modelState.table == nil
            if !isWanted, !isHidden || isGone || model._isBound(by: slot, of: layout) { leaving.append(model) }
        }
        // Setting what is there, in whatever order, changes nothing.
        if _modelState.row >= 0, leaving.isEmpty, wanted.isSubset(of: present) { return }
        if case .models? = _modelState.draft?[slot] {
        } else {
            _write(.models(MemberChanges()), at: slot)
        }
        for model in leaving {
            _memberChanges(at: slot).remove(model, isStored: _mayBeStored && model._mayBeStored)
            _markChanged(slot)
            if _modelState.table != nil || (_isNew && model._isNew) {
                model._unlink(self, throughInverseOf: slot, of: layout, isSet: true)
            }
        }
        // What is set here is kept here.
        _memberChanges(at: slot).keepImplied()
        for model in models where present.insert(ObjectIdentifier(model)).inserted {
            _addLinked(model, at: slot, layout)
        }
        _holdWeaklyAfterContext()
    }

    /// Shows other members in what is left of `deinit`. Nothing follows from that elsewhere.
    private func _setMembersOfGoing(_ models: [any PersistentModel], at slot: Int) {
        let changes = MemberChanges()
        for model in _members(at: slot, hidingDeleted: false) { changes.remove(model, isStored: true) }
        for model in models { changes.add(model) }
        changes.imply()
        _modelState.set(.models(changes), at: slot)
    }

    /// Whether what follows from this model's deletion depends on who refers to it through the inverse of `slot`: then
    /// setting that relationship takes it out although the getter no longer shows it.
    private func _isBound(by slot: Int, of layout: ModelLayout) -> Bool {
        guard let inverse = layout.inverse(of: slot, towards: self),
            let relationship = ModelLayout.of(type(of: self)).record.slots[inverse].property.relationship
        else { return false }
        return relationship.deleteRule != .nullify
    }

    /// Whether the model was never in a context: both sides of its relationships are kept in step all the same.
    private var _isNew: Bool {
        guard _modelState.table == nil, _modelState.flags.isDisjoint(with: [.isDeleted, .isGoing]) else { return false }
        guard let draft = _modelState.draft else { return true }
        return draft.frozen == nil && draft.survivor == nil
    }

    private func _belongTogether(_ other: any PersistentModel, at slot: Int) -> Bool {
        guard let mine = _modelState.table?.state, let others = other._modelState.table?.state, mine !== others else {
            return true
        }
        mine.refuse(ModelContextError.registeredElsewhere(model: other.persistentModelID)) { [self, unowned mine] in
            // Also if the other one has left its context meanwhile: it is not stored here all the same.
            _modelState.table?.state === mine && !_modelState.flags.contains(.isDeleted)
                && other._modelState.table?.state !== mine && _refers(to: other, at: slot)
        }
        return false
    }

    /// Adds the owner to the inverse of its relationship, on this side.
    func _link(_ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverse(of: slot, towards: self) else {
            if layout.isProvisional { LayoutGathering.postponeLinks(of: owner) }
            return
        }
        // Else what an initializer set would take the place of what is set here.
        if _modelState.table == nil { _adoptInitialValues() }
        let mine = _modelState.table?.layout ?? ModelLayout.of(type(of: self))
        if mine.record.slots[inverse].role.isToMany {
            if layout.sharingSlots[slot].isEmpty || !_hasStoredMember(owner, at: inverse) {
                _addMember(owner, at: inverse, mine)
            }
            return
        }
        let previous = _heldTarget(at: inverse)
        if let previous, previous === owner {
            if case .inferred? = _modelState.draft?[inverse] { _write(.model(owner), at: inverse) }
            return
        }
        // First, because the property may be its own inverse and the previous one this model itself.
        if let previous {
            // By which of several relationships the other one held this model cannot be told from their one inverse.
            let isShared = !layout.sharingSlots[slot].isEmpty
            for place in [slot] + layout.sharingSlots[slot] where !isShared || previous._refers(to: self, at: place) {
                previous._release(self, at: place, layout)
            }
        }
        _writeNotifying(.model(owner), at: inverse, mine)
    }

    /// Whether a model is a member already, by another relationship that has the same inverse, and not by this draft.
    private func _hasStoredMember(_ model: any PersistentModel, at slot: Int) -> Bool {
        if case .models(let changes)? = _modelState.draft?[slot], changes.isAdded(model) { return false }
        return _refers(to: model, at: slot)
    }

    /// Ends a relationship to a model that has found another partner.
    private func _release(_ other: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        // It may be of a superclass that the other one may also belong to, and that lacks the property.
        guard layout.shares(slot, with: _modelState.table?.layout ?? ModelLayout.of(type(of: self))) else { return }
        if layout.record.slots[slot].role.isToMany {
            _removeMember(other, at: slot, layout)
        } else {
            _clearTarget(previous: other, at: slot, layout)
        }
    }

    /// Takes the owner out of the inverse of its relationship, on this side. With `isSet`, the owner was set to refer to this
    /// model no more, and relationships that share the owner's as their inverse let go of it too. Where the owner is deleted,
    /// the delete rules of each say what follows.
    func _unlink(
        _ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout, isSet: Bool = false
    ) {
        guard let inverse = layout.inverse(of: slot, towards: self) else {
            if isSet { _releaseFromSharers(owner, of: slot, in: layout) }
            return
        }
        // One of the others that share the inverse may hold this model still.
        if !owner._modelState.flags.contains(.isDeleted),
            layout.sharingSlots[slot].contains(where: { owner._refers(to: self, at: $0) })
        {
            return
        }
        if _modelState.table == nil { _adoptInitialValues() }
        let mine = ModelLayout.of(type(of: self))
        if mine.record.slots[inverse].role.isToMany {
            _removeMember(owner, at: inverse, mine)
        } else if _refers(to: owner, at: inverse) {
            _clearTarget(previous: owner, at: inverse, mine)
        }
    }

    /// Lets go of a model, whose relationship leads here no more, in all relationships that share it as their inverse.
    private func _releaseFromSharers(_ other: any PersistentModel, of slot: Int, in layout: ModelLayout) {
        let sharers = layout.sharers(of: slot)
        if sharers.isEmpty { return }
        if _modelState.table == nil { _adoptInitialValues() }
        let mine = _modelState.table?.layout ?? ModelLayout.of(type(of: self))
        for place in sharers where _refers(to: other, at: place) { _release(other, at: place, mine) }
    }

    private func _clearTarget(previous: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        _writeNotifying(_isRequired(slot) ? .requiredButCleared(last: previous) : .model(nil), at: slot, layout)
    }

    /// Writes the side of a relationship that nobody set: its observers have not been told by an accessor.
    private func _writeNotifying(_ value: Draft.Value, at slot: Int, _ layout: ModelLayout) {
        let change = ValueChange(settingSlot: slot, of: self, layout: layout)
        change?.willSet()
        _write(value, at: slot)
        change?.didSet()
    }

    private func _memberChanges(at slot: Int) -> MemberChanges {
        if case .models(let changes)? = _modelState.draft?[slot] { return changes }
        let changes = MemberChanges()
        _write(.models(changes), at: slot)
        return changes
    }

    private func _addMember(_ model: any PersistentModel, at slot: Int) {
        _memberChanges(at: slot).add(model)
        _touch(slot)
    }

    private func _addMember(_ model: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        if let changes = _modelState.membersOfNew(at: slot) {
            changes.add(model)
            return
        }
        let change = ValueChange(settingSlot: slot, of: self, layout: layout)
        change?.willSet()
        _addMember(model, at: slot)
        change?.didSet()
    }

    private func _removeMember(_ model: any PersistentModel, at slot: Int) {
        _memberChanges(at: slot).remove(model, isStored: _mayBeStored && model._mayBeStored)
        _touch(slot)
    }

    /// Whether a store has, or had, a record of this model.
    private var _mayBeStored: Bool { _modelState.row >= 0 || _modelState.draft?.frozen != nil }

    private func _removeMember(_ model: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        let change = ValueChange(settingSlot: slot, of: self, layout: layout)
        change?.willSet()
        _removeMember(model, at: slot)
        change?.didSet()
    }

    private func _touch(_ slot: Int) {
        _markChanged(slot)
        _holdWeaklyAfterContext()
    }

    /// The member changes are shared by reference, so the draft has to be told that they changed.
    private func _markChanged(_ slot: Int) {
        if let table = _modelState.table, _modelState.flags.isDisjoint(with: [.isChanged, .isInserted, .isDeleted]) {
            table.state.noteChange(of: self)
        }
        _modelState.draft?.changed.insert(slot)
        _modelState.draft?.released.remove(slot)
    }

    /// Makes a model that has outlived its context, or was deleted, hold others of the kind weakly: two that refer to each
    /// other would be there for ever, and with them the stores of the context.
    func _holdWeaklyAfterContext() {
        guard let draft = _modelState.draft else { return }
        if let table = _modelState.table {
            if table.state.isGone { draft.takeBackWeakly(required: table.layout.record.requiredTargets) }
        } else if draft.frozen != nil {
            let layout = ModelLayout.of(type(of: self))
            draft.takeBackWeakly(required: layout.record.requiredTargets) { $0._modelState.hasOutlivedContext }
        }
    }

    /// Links the relationships that a model was given before it had a context.
    /// - Returns: the models without a context that it reaches.
    func _connectInserted(in layout: ModelLayout) -> [any PersistentModel] {
        guard let draft = _modelState.draft, draft.hasOthers else { return [] }
        var reached: [any PersistentModel] = []
        if let only = draft.onlyOther {
            _connect(only.value, at: only.slot, in: layout, &reached)
        } else {
            for other in draft.others { _connect(other.value, at: other.slot, in: layout, &reached) }
        }
        return reached
    }

    private func _connect(
        _ value: Draft.Value, at slot: Int, in layout: ModelLayout, _ reached: inout [any PersistentModel]
    ) {
        switch value {
        case .model(let target?): _connect(target, at: slot, in: layout, &reached)
        case .inferred(from: let owner):
            let target = owner.model
            _modelState.draft?[slot] = target.map { .model($0) } ?? .unset
            if let target { _connect(target, at: slot, in: layout, &reached) }
        case .models(let changes):
            changes.keepImplied()
            for member in changes.added { _connect(member, at: slot, in: layout, &reached) }
        default: break
        }
    }

    private func _connect(
        _ other: any PersistentModel, at slot: Int, in layout: ModelLayout, _ reached: inout [any PersistentModel]
    ) {
        if other._modelState.table == nil {
            reached.append(other)
        } else if !_belongTogether(other, at: slot) {
            return
        }
        other._link(self, throughInverseOf: slot, of: layout)
    }

    /// Whether a model belongs to another context, which has refused it: nothing there follows from what happens here.
    private func _isForeign(_ model: any PersistentModel) -> Bool {
        guard let mine = _modelState.table?.state, let others = model._modelState.table?.state else { return false }
        return mine !== others
    }

    /// Undoes, for this model whose deletion is undone, what the nullify rule did to related models. Models that have
    /// got another partner since keep it.
    func _relink(in layout: ModelLayout) {
        for slot in layout.properties.indices {
            guard let relationship = layout.record.slots[slot].property.relationship else { continue }
            let related: [any PersistentModel] =
                relationship.isToMany ? _members(at: slot) : _target(at: slot).map { [$0] } ?? []
            for model in related where !_isForeign(model) {
                guard let inverse = layout.inverse(of: slot, towards: model) else { continue }
                // Also what is deleted by now: it keeps its values, and may come back itself.
                if model._hasReleased(self, at: inverse) {
                    model._takeBackRelease(of: self, throughInverseOf: slot, of: layout)
                } else if !model._modelState.flags.contains(.isDeleted), !model._refers(to: self, at: inverse) {
                    if relationship.isToMany {
                        _removeMember(model, at: slot, layout)
                    } else {
                        _clearTarget(previous: model, at: slot, layout)
                    }
                }
            }
        }
    }

    /// Applies the nullify rule to this model, which is related to a deleted one.
    private func _release(deleted owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverse(of: slot, towards: self) else { return }
        let draft = _modelState.draft
        let wasSet = draft?.changed.contains(inverse) == true && draft?.released.contains(inverse) != true
        let wasAdded = if case .models(let changes)? = draft?[inverse] { changes.isAdded(owner) } else { false }
        _unlink(owner, throughInverseOf: slot, of: layout)
        guard let draft = _modelState.draft, draft.changed.contains(inverse) else { return }
        if !wasSet { draft.released.insert(inverse) }
        guard case .models(let changes) = draft[inverse] else { return }
        if changes.isEmpty, !owner._mayBeStored, _modelState.row >= 0 {
            // It was added and never saved: the list is as it was.
            _forgetChange(at: inverse)
            _modelState.table?.state.noteUnchanged(self)
        } else if wasAdded {
            changes.noteReleased(owner)
        }
    }

    /// Undoes what the nullify rule did to this model, so that nothing of it remains to be saved.
    private func _takeBackRelease(
        of owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout
    ) {
        guard let inverse = layout.inverse(of: slot, towards: self), let draft = _modelState.draft,
            let table = _modelState.table
        else { return _link(owner, throughInverseOf: slot, of: layout) }
        let change = ValueChange(settingSlot: inverse, of: self, layout: table.layout)
        if case .models(let changes) = draft[inverse] {
            change?.willSet()
            changes.takeBackRelease(of: owner)
            if changes.isEmpty { _forgetRelease(at: inverse) }
            change?.didSet()
        } else if draft.released.contains(inverse),
            case .identifier(let stored) = _modelState.rowValue(at: inverse), stored == owner.persistentModelID
        {
            change?.willSet()
            _forgetRelease(at: inverse)
            change?.didSet()
        } else {
            _link(owner, throughInverseOf: slot, of: layout)
        }
        table.state.noteUnchanged(self)
    }

    /// Forgets a change that only the deletion of a related model has made.
    private func _forgetRelease(at slot: Int) {
        if _modelState.draft?.released.contains(slot) == true { _forgetChange(at: slot) }
    }

    private func _forgetChange(at slot: Int) {
        _modelState.draft?[slot] = .unset
        _modelState.draft?.changed.remove(slot)
        _modelState.draft?.released.remove(slot)
    }

    /// Forgets what the deletion of related models changed here if other saves have stored the same.
    private func _forgetStoredReleases() {
        guard let draft = _modelState.draft, let table = _modelState.table, !draft.released.isEmpty else { return }
        for slot in draft.released.slots {
            if case .models(let changes) = draft[slot] {
                changes.forgetRemovals { $0._modelState.table == nil }
                if changes.isEmpty { _forgetRelease(at: slot) }
            } else if _modelState.rowValue(at: slot).isNull {
                _forgetRelease(at: slot)
            }
        }
        table.state.noteUnchanged(self)
    }

    private func _hasReleased(_ owner: any PersistentModel, at slot: Int) -> Bool {
        switch _modelState.draft?[slot] {
        case .model(nil)?: true
        case .requiredButCleared(last: let last)?: last === owner
        // Nothing but the rule takes a deleted model out of a list on one side alone.
        case .models?: !_refers(to: owner, at: slot)
        default: false
        }
    }

    /// Copies a deleted model's values into its draft, so that it can become a new record. Of its related models it
    /// keeps those that still exist, or come back with it, and have no other partner.
    func _thaw(in table: ModelTable, with returning: ReturningModels) {
        guard let draft = _modelState.draft else { return }
        let layout = table.layout
        let isStored = draft.frozen != nil
        for (slot, description) in layout.record.slots.enumerated() {
            let isUnset = if case .unset = draft[slot] { true } else { false }
            if !isStored, isUnset || description.role == .attribute { continue }
            switch description.role {
            case .attribute: if isUnset { draft[slot] = .value(_modelState.rowValue(at: slot)) }
            case .toOne:
                if case .requiredButCleared? = _modelState.draft?[slot] { continue }
                let target = _heldTarget(at: slot)
                if let target, !_isFree(target, at: slot, of: layout, returning) {
                    _leave(target, at: slot, of: table)
                    draft[slot] = description.property.isOptional ? .model(nil) : .requiredButCleared(last: target)
                } else {
                    draft[slot] = .model(target)
                }
            case .toManyStored, .toManyDerived:
                let changes = MemberChanges()
                for member in _members(at: slot, hidingDeleted: false) {
                    if _isFree(member, at: slot, of: layout, returning) {
                        changes.add(member)
                    } else {
                        _leave(member, at: slot, of: table)
                    }
                }
                draft[slot] = .models(changes)
            }
        }
        draft.frozen = nil
    }

    /// Unlinks this model, which becomes a new record, from one that stays deleted, whose delete rules no longer concern it.
    private func _leave(_ model: any PersistentModel, at slot: Int, of table: ModelTable) {
        guard model._modelState.flags.contains(.isDeleted), model._modelState.table?.state === table.state else {
            return
        }
        model._unlink(self, throughInverseOf: slot, of: table.layout)
    }

    /// Whether a model may be related to this one again, which was deleted.
    private func _isFree(
        _ model: any PersistentModel, at slot: Int, of layout: ModelLayout, _ returning: ReturningModels
    ) -> Bool {
        if model === self {
            // Others may have made it its own partner where it was given another here.
            return layout.inverse(of: slot, towards: self).map { _refers(to: self, at: $0) } ?? true
        }
        if model._modelState.flags.contains(.isDeleted), !returning.contains(model) { return false }
        guard let inverse = layout.inverse(of: slot, towards: model),
            ModelLayout.of(type(of: model)).record.slots[inverse].role == .toOne,
            let partner = model._heldTarget(at: inverse)
        else { return true }
        return partner === self || partner._modelState.flags.contains(.isDeleted)
    }

    /// Removes this model, whose deletion is undone, from deleted models that would not otherwise have kept it.
    func _leaveDeleted(in layout: ModelLayout, except returning: ReturningModels) {
        for slot in layout.properties.indices {
            guard layout.record.slots[slot].role.isRelationship else { continue }
            let related =
                layout.record.slots[slot].role.isToMany
                ? _members(at: slot, hidingDeleted: false) : _heldTarget(at: slot).map { [$0] } ?? []
            for model in related where model !== self && model._modelState.flags.contains(.isDeleted) {
                if returning.contains(model) { continue }
                let theirs = ModelLayout.of(type(of: model))
                guard let inverse = layout.inverse(of: slot, towards: theirs),
                    let relationship = theirs.record.slots[inverse].property.relationship,
                    relationship.deleteRule == .nullify || relationship.deleteRule == .cascade
                else { continue }
                if relationship.deleteRule == .nullify {
                    // It lets go of this model when its rules are followed, and is back with it if it returns before that.
                    if model._modelState.flags.contains(.awaitsRules) { continue }
                    _release(deleted: model, throughInverseOf: inverse, of: theirs)
                } else {
                    _unlink(model, throughInverseOf: inverse, of: theirs)
                    // It would take this model with it again.
                    model._unlink(self, throughInverseOf: slot, of: layout)
                }
            }
        }
    }

    /// Whether a to-one relationship is empty because the model that it led to is deleted here.
    private func _wasReleased(at slot: Int, in state: ContextState) -> Bool {
        switch _modelState.draft?[slot] {
        case .model(nil)?, .requiredButCleared?: break
        default: return false
        }
        guard case .identifier(let before)? = try? _modelState.draft?.base?.value(slot) else { return false }
        return state.model(for: before)?._modelState.flags.contains(.isDeleted) == true
    }

    /// If other contexts have given this model another partner than was set here, the partner set here wins, on both
    /// sides.
    func _settlePartners(in layout: ModelLayout) {
        guard let changed = _modelState.draft?.changed, let state = _modelState.table?.state else { return }
        for slot in layout.record.slots.indices where changed.contains(slot) {
            let isShared = !layout.sharingSlots[slot].isEmpty
            if isShared { _settleShared(at: slot, of: layout) }
            guard layout.record.slots[slot].role == .toOne else {
                _settleRemovals(at: slot, of: layout)
                continue
            }
            guard case .identifier(let identifier) = _modelState.rowValue(at: slot),
                let stored = state.model(for: identifier), stored !== _heldTarget(at: slot),
                !stored._modelState.flags.contains(.isDeleted)
            else { continue }
            guard let inverse = layout.inverse(of: slot, towards: stored) else {
                stored._releaseFromSharers(self, of: slot, in: layout)
                continue
            }
            guard stored._refers(to: self, at: inverse) else { continue }
            // The other one may have been set to lead here without any of those that share the inverse.
            if isShared, stored._modelState.draft?.changed.contains(inverse) == true { continue }
            // Nobody has set what a delete rule has cleared.
            if _wasReleased(at: slot, in: state) {
                _forgetChange(at: slot)
                continue
            }
            stored._unlink(self, throughInverseOf: slot, of: layout)
        }
        _forgetStoredReleases()
        state.noteUnchanged(self)
    }

    /// Makes what was set here by a relationship that shares its inverse lead back, if other contexts have changed that.
    /// Both sides are stored, and the other one was not changed here if it led to this model already.
    private func _settleShared(at slot: Int, of layout: ModelLayout) {
        if _modelState.flags.contains(.isDeleted) { return }
        let related: [any PersistentModel] =
            switch _modelState.draft?[slot] {
            case .models(let changes)?: changes.added
            case .model(let target?)?: [target]
            default: []
            }
        for other in related where !other._modelState.flags.contains(.isDeleted) {
            guard let inverse = layout.inverse(of: slot, towards: other), !other._refers(to: self, at: inverse) else {
                continue
            }
            other._link(self, throughInverseOf: slot, of: layout)
        }
    }

    /// Keeps members that were taken out here if other contexts have made them lead here by another of the relationships
    /// that share this one as their inverse.
    private func _settleRemovals(at slot: Int, of layout: ModelLayout) {
        guard case .models(let changes)? = _modelState.draft?[slot], changes.hasRemovals else { return }
        let sharers = layout.sharers(of: slot)
        if sharers.isEmpty { return }
        for member in changes.removed where !member._modelState.flags.contains(.isDeleted) {
            let theirs = ModelLayout.of(type(of: member))
            guard let destination = layout.destinations[slot] else { continue }
            let leadsHere = sharers.contains { place in
                destination.shares(place, with: theirs) && member._refers(to: self, at: place)
            }
            if leadsHere { _addMember(member, at: slot, layout) }
        }
    }

    /// What the delete rules of this deleted model delete with it.
    /// - Parameter storedOnly: whether to leave out what is not stored as related to it, and what has another partner here.
    /// - Returns: also models that are deleted already.
    func _cascaded(storedOnly: Bool = false) -> [any PersistentModel] {
        let layout = ModelLayout.of(type(of: self))
        var cascaded: [any PersistentModel] = []
        for slot in layout.properties.indices
        where layout.record.slots[slot].property.relationship?.deleteRule == .cascade {
            cascaded += _ruled(at: slot, layout, storedOnly: storedOnly)
            _refuseCascade(at: slot)
        }
        return cascaded
    }

    /// Takes this deleted model from those that stay and are related to it, as far as its delete rules let it go.
    /// - Parameter storedOnly: as in `_cascaded`.
    func _releaseRelated(storedOnly: Bool = false) {
        let layout = ModelLayout.of(type(of: self))
        for slot in layout.properties.indices {
            switch layout.record.slots[slot].property.relationship?.deleteRule {
            case nil, .cascade: continue
            // Nothing refers to what was never stored, so nothing keeps it from being deleted.
            case .deny where _mayBeStored, .noAction where _mayBeStored: continue
            case .nullify, .deny, .noAction:
                for model in _ruled(at: slot, layout, storedOnly: storedOnly)
                where !model._modelState.flags.contains(.isDeleted) {
                    model._release(deleted: self, throughInverseOf: slot, of: layout)
                }
            }
        }
    }

    /// The models that a delete rule is about.
    private func _ruled(at slot: Int, _ layout: ModelLayout, storedOnly: Bool) -> [any PersistentModel] {
        var related: [any PersistentModel] =
            layout.record.slots[slot].property.relationship?.isToMany == true
            ? _members(at: slot) : _target(at: slot).map { [$0] } ?? []
        related.removeAll(where: _isForeign)
        if storedOnly, !related.isEmpty {
            let stored = _storedRelated(at: slot)
            related.removeAll { !stored.contains($0.persistentModelID) }
        }
        // Another owner's child may still be named here: both sides of what shares its inverse are stored.
        if storedOnly || !layout.sharingSlots[slot].isEmpty {
            related.removeAll { !_isMutual(with: $0, at: slot, layout) }
        }
        return related
    }

    /// Whether a related model leads back to this one; true where nothing leads back.
    func _isMutual(with other: any PersistentModel, at slot: Int, _ layout: ModelLayout) -> Bool {
        layout.inverse(of: slot, towards: other).map { other._refers(to: self, at: $0) } ?? true
    }

    /// The records that this model's record is related to, whatever is set here.
    private func _storedRelated(at slot: Int) -> Set<PersistentIdentifier> {
        switch _modelState.rowValue(at: slot) {
        case .identifier(let identifier): [identifier]
        case .identifiers(let identifiers): Set(identifiers)
        default: []
        }
    }

    /// Refuses this model's deletion while it would leave behind a record that a cascade cannot reach.
    private func _refuseCascade(at slot: Int) {
        guard let state = _modelState.table?.state, let error = _unreadable(at: slot).first?.error else { return }
        state.refuse(error) { [self, unowned state] in
            _modelState.table?.state === state && _modelState.flags.contains(.isDeleted)
                && !_unreadable(at: slot).isEmpty
        }
    }
}
