// Both sides of every relationship are kept in step here, and nowhere else.

extension PersistentModel {
    /// The model at the other end of a to-one relationship. Deleted models are seen only from models that are deleted or
    /// detached themselves.
    func _target(at slot: Int) -> (any PersistentModel)? {
        if case .model(let target)? = _modelState.draft?[slot] {
            if let target, target._modelState.flags.contains(.isDeleted), _hidesDeleted, !_isRequired(slot) {
                return nil
            }
            return target
        }
        if case .lost? = _modelState.draft?[slot] { return nil }
        if case .implied(let owner)? = _modelState.draft?[slot] { return owner.model }
        guard case .identifier(let identifier) = _modelState.storedValue(at: slot) else { return nil }
        if let frozen = _modelState.frozen, frozen.staysStored {
            return frozen.table.state.storedModels(for: [identifier]).first
        }
        guard let target = _modelState.table?.state.model(for: identifier) ?? _modelState.frozen?.model(for: identifier)
        else { return nil }
        if target._modelState.flags.contains(.isDeleted), _hidesDeleted, !_isRequired(slot) { return nil }
        return target
    }

    private var _hidesDeleted: Bool { _modelState.table != nil && !_modelState.flags.contains(.isDeleted) }

    private func _isRequired(_ slot: Int) -> Bool {
        !ModelLayout.of(type(of: self)).record.slots[slot].property.isOptional
    }

    /// The models of a to-many relationship: the stored ones in identity order, then those that are new in the order in
    /// which they were added.
    func _members(at slot: Int) -> [any PersistentModel] {
        let hides = _hidesDeleted
        let changes: MemberChanges? = if case .models(let changes)? = _modelState.draft?[slot] { changes } else { nil }
        var members: [any PersistentModel] = []
        if case .identifiers(let identifiers) = _modelState.rowValue(at: slot) {
            if let frozen = _modelState.frozen, frozen.staysStored {
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
            members += added
            if added.contains(where: { $0._modelState.row >= 0 }) {
                members.sort { $0.persistentModelID < $1.persistentModelID }
            }
        }
        if hides { members.removeAll { $0._modelState.flags.contains(.isDeleted) } }
        return members
    }

    func _setTarget(_ target: (any PersistentModel)?, at slot: Int) {
        let old = _target(at: slot)
        if let old, let target, old === target {
            // What is set here is kept here.
            if case .implied? = _modelState.draft?[slot] { _write(.model(target), at: slot) }
            return
        }
        _write(.model(target), at: slot)
        guard let layout = _modelState.table?.layout else {
            if let old, _isNew, old._isNew {
                old._unlink(self, throughInverseOf: slot, of: ModelLayout.of(type(of: self)))
            }
            guard let target else { return }
            if let state = target._modelState.table?.state {
                if !_modelState.flags.contains(.isDeleted) { state.insert(self) }
            } else if _isNew, target._isNew {
                target._link(self, throughInverseOf: slot, of: ModelLayout.of(type(of: self)))
            }
            return
        }
        if let old { old._unlink(self, throughInverseOf: slot, of: layout) }
        if let target {
            if target._modelState.table == nil { _modelState.table?.state.insert(target) }
            guard _belongTogether(target) else { return }
            target._link(self, throughInverseOf: slot, of: layout)
        }
    }

    func _setMembers(_ models: [any PersistentModel], at slot: Int) {
        let current = _members(at: slot)
        let wanted = Set(models.map { ObjectIdentifier($0) })
        let present = Set(current.map { ObjectIdentifier($0) })
        let layout = ModelLayout.of(type(of: self))
        if case .models? = _modelState.draft?[slot] {
        } else {
            _write(.models(MemberChanges()), at: slot)
        }
        for model in current where !wanted.contains(ObjectIdentifier(model)) {
            _removeMember(model, at: slot)
            if _modelState.table != nil || (_isNew && model._isNew) {
                model._unlink(self, throughInverseOf: slot, of: layout)
            }
        }
        // What is set here is kept here.
        _memberChanges(at: slot).keepImplied()
        for model in models where !present.contains(ObjectIdentifier(model)) {
            _addMember(model, at: slot)
            // Each time, because one member's context may have taken this model in.
            if _modelState.table != nil {
                if model._modelState.table == nil { _modelState.table?.state.insert(model) }
                guard _belongTogether(model) else { continue }
                model._link(self, throughInverseOf: slot, of: layout)
            } else if let state = model._modelState.table?.state {
                if !_modelState.flags.contains(.isDeleted) { state.insert(self) }
            } else if _isNew, model._isNew {
                model._link(self, throughInverseOf: slot, of: layout)
            }
        }
    }

    /// Whether the model was never in a context: both sides of its relationships are kept in step all the same.
    private var _isNew: Bool {
        guard _modelState.table == nil, !_modelState.flags.contains(.isDeleted) else { return false }
        guard let draft = _modelState.draft else { return true }
        return draft.frozen == nil && draft.survivor == nil
    }

    private func _belongTogether(_ other: any PersistentModel) -> Bool {
        guard let mine = _modelState.table?.state, let others = other._modelState.table?.state, mine !== others else {
            return true
        }
        mine.latch(ModelContextError.registeredElsewhere(model: other.persistentModelID))
        return false
    }

    /// Makes the inverse of `owner`'s relationship, on this side, hold the owner.
    func _link(_ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverseSlots[slot] else { return }
        // Else what an initialiser set would take the place of what is set here.
        if _modelState.table == nil { _adoptInitialValues() }
        let mine = _modelState.table?.layout ?? ModelLayout.of(type(of: self))
        // Two models without context must not keep each other alive, unless one cannot be without the other. An owner with
        // a context takes this model in next.
        let isImplied = _modelState.table == nil && owner._modelState.table == nil
        if mine.record.slots[inverse].role.isToMany {
            if isImplied {
                _implyMember(owner, at: inverse, mine)
            } else {
                _addMember(owner, at: inverse, mine)
            }
            return
        }
        let previous = _target(at: inverse)
        if let previous, previous === owner {
            if !isImplied, case .implied? = _modelState.draft?[inverse] { _write(.model(owner), at: inverse) }
            return
        }
        let keeps = !isImplied || !mine.record.slots[inverse].property.isOptional
        _writeNotifying(keeps ? .model(owner) : .implied(WeakModel(owner)), at: inverse, mine)
        if let previous {
            if layout.record.slots[slot].role.isToMany {
                previous._removeMember(self, at: slot, layout)
            } else {
                previous._clearTarget(previous: self, at: slot, layout)
            }
        }
    }

    func _unlink(_ owner: any PersistentModel, throughInverseOf slot: Int, of layout: ModelLayout) {
        guard let inverse = layout.inverseSlots[slot] else { return }
        if _modelState.table == nil { _adoptInitialValues() }
        let mine = ModelLayout.of(type(of: self))
        if mine.record.slots[inverse].role.isToMany {
            _removeMember(owner, at: inverse, mine)
        } else if _refers(to: owner, at: inverse) {
            _clearTarget(previous: owner, at: inverse, mine)
        }
    }

    private func _clearTarget(previous: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        _writeNotifying(_isRequired(slot) ? .lost(previous) : .model(nil), at: slot, layout)
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

    private func _implyMember(_ model: any PersistentModel, at slot: Int, _ layout: ModelLayout) {
        let change = ValueChange(settingSlot: slot, of: self, layout: layout)
        change?.willSet()
        _memberChanges(at: slot).imply(model)
        _touch(slot)
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

    /// The member changes are shared by reference, so the draft has to be told that they changed.
    private func _touch(_ slot: Int) {
        if let table = _modelState.table, _modelState.flags.isDisjoint(with: [.isChanged, .isInserted, .isDeleted]) {
            table.state.noteChange(of: self)
        }
        _modelState.draft?.changed.insert(slot)
    }

    /// Links the relationships that a model was given before it had a context.
    /// - Returns: the models without context that it reaches.
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
        case .implied(let owner):
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
        } else if !_belongTogether(other) {
            return
        }
        other._link(self, throughInverseOf: slot, of: layout)
    }

    /// Takes back, for this model whose deletion is taken back, what the nullify rule did to the models related to it.
    /// Those that have found another partner since are left to it.
    func _relink(in layout: ModelLayout) {
        for slot in layout.properties.indices {
            guard let relationship = layout.record.slots[slot].property.relationship,
                let inverse = layout.inverseSlots[slot]
            else { continue }
            let related: [any PersistentModel] =
                relationship.isToMany ? _members(at: slot) : _target(at: slot).map { [$0] } ?? []
            for model in related where !model._modelState.flags.contains(.isDeleted) {
                if model._hasReleased(self, at: inverse) {
                    model._link(self, throughInverseOf: slot, of: layout)
                } else if !model._refers(to: self, at: inverse) {
                    if relationship.isToMany {
                        _removeMember(model, at: slot, layout)
                    } else {
                        _clearTarget(previous: model, at: slot, layout)
                    }
                }
            }
        }
    }

    private func _hasReleased(_ owner: any PersistentModel, at slot: Int) -> Bool {
        switch _modelState.draft?[slot] {
        case .model(nil)?: true
        case .lost(let last)?: last === owner
        case .models(let changes)?: changes.isRemoved(owner)
        default: false
        }
    }

    /// Makes what this model reads from the row it no longer has its own, so that it can become a new record: of the
    /// related models those that are still there and have no other partner.
    func _thaw(in layout: ModelLayout) {
        guard let draft = _modelState.draft, draft.frozen != nil else { return }
        for (slot, description) in layout.record.slots.enumerated() {
            guard case .unset = draft[slot] else { continue }
            func isFree(_ model: any PersistentModel) -> Bool {
                guard model._modelState.table != nil, !model._modelState.flags.contains(.isDeleted) else {
                    return false
                }
                guard let inverse = layout.inverseSlots[slot],
                    ModelLayout.of(type(of: model)).record.slots[inverse].role == .toOne
                else { return true }
                return model._target(at: inverse) == nil
            }
            switch description.role {
            case .attribute: draft[slot] = .value(_modelState.rowValue(at: slot))
            case .toOne:
                let target = _target(at: slot)
                if let target, !isFree(target) {
                    draft[slot] = description.property.isOptional ? .model(nil) : .lost(target)
                } else {
                    draft[slot] = .model(target)
                }
            case .toManyStored, .toManyDerived:
                let changes = MemberChanges()
                for member in _members(at: slot) where isFree(member) { changes.add(member) }
                draft[slot] = .models(changes)
            }
        }
        draft.frozen = nil
    }

    /// Does for this deleted model what its relationships' rules say.
    /// - Parameter onlyReferring: whether related models that hold another by now are left alone.
    /// - Returns: the models that are to be deleted with it.
    func _applyDeleteRules(onlyReferring: Bool = false) -> [any PersistentModel] {
        let layout = ModelLayout.of(type(of: self))
        var cascaded: [any PersistentModel] = []
        for slot in layout.properties.indices {
            guard let relationship = layout.record.slots[slot].property.relationship else { continue }
            var related: [any PersistentModel] =
                relationship.isToMany ? _members(at: slot) : _target(at: slot).map { [$0] } ?? []
            if onlyReferring, let inverse = layout.inverseSlots[slot] {
                related.removeAll { !$0._refers(to: self, at: inverse) }
            }
            switch relationship.deleteRule {
            case .cascade: cascaded += related.filter { !$0._modelState.flags.contains(.isDeleted) }
            case .nullify:
                for model in related where !model._modelState.flags.contains(.isDeleted) {
                    model._unlink(self, throughInverseOf: slot, of: layout)
                }
            case .deny, .noAction: break
            }
        }
        return cascaded
    }
}
