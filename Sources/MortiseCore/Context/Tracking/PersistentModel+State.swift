import Observation

// What the state of a model is asked for most.
//
// To read a protocol's property of a type that cannot be copied is to call a coroutine that yields all of it, and a state is more
// than a coroutine can keep without allocating memory: inserting a model asked for fifty such pieces. One that changes the
// property in place yields its address, so that these read it through that.

extension PersistentModel {
    @inline(__always)
    private func _withState<R>(_ body: (inout ModelState) -> R) -> R { body(&_modelState) }

    /// The context's table of the model's entity; nil for a model without a context.
    @inline(__always)
    var _table: ModelTable? { _withState { $0.table } }

    /// The values that the model has itself; nil for a model that shows its row alone.
    @inline(__always)
    var _draft: Draft? { _withState { $0.draft } }

    @inline(__always)
    var _flags: ModelState.Flags { _withState { $0.flags } }

    /// The row of the table's source; negative for a model that is not in the store.
    @inline(__always)
    var _row: Int { _withState { $0.row } }

    /// See `ModelState.host`.
    @inline(__always)
    var _host: Unmanaged<ModelHost>? { _withState { $0.host } }

    /// See `ModelState.place`.
    @inline(__always)
    var _place: UInt32 { _withState { $0.place } }

    /// See `ModelState.generation`.
    @inline(__always)
    var _generation: UInt16 { _withState { $0.generation } }

    /// See `ModelState.frozen`.
    var _frozen: FrozenRow? { _withState { $0.frozen } }

    /// See `ModelState.mayBeStored`.
    var _mayBeStored: Bool { _withState { $0.mayBeStored } }

    /// See `ModelState.hasOutlivedContext`.
    var _hasOutlivedContext: Bool { _withState { $0.hasOutlivedContext } }

    @inline(__always)
    var _isObserved: Bool { _withState { $0.isObserved } }

    /// The registrar, if the model has been observed; nil otherwise.
    @inline(__always)
    var _existingRegistrar: ObservationRegistrar? { _withState { $0.existingRegistrar } }

    // Nothing is called while the state is accessed, which may come back to it.

    /// The stored form of an attribute: the model's own value, else the row's, else null.
    func _storedValue(at slot: Int) -> StoredValue {
        if let value = _draft?.stored(at: slot) { return value }
        return _rowValue(at: slot)
    }

    /// See `ModelState.rowValue(at:)`.
    func _rowValue(at slot: Int) -> StoredValue {
        let row = _row
        return ModelState.rowValue(row, _table, row >= 0 ? nil : _draft?.frozen, at: slot)
    }

    /// As `_storedValue`; nil for a value that cannot be stored, and for one that a new model has not set.
    func _comparableValue(at slot: Int) -> StoredValue? {
        switch _draft?[slot] {
        case .value(let value)?: value
        case nil, .unset?: _row >= 0 ? _rowValue(at: slot) : nil
        default: nil
        }
    }

    /// The changes of a to-many relationship of a new model; nil if it has not been set. Marks the property as changed.
    func _membersOfNew(at slot: Int) -> MemberChanges? {
        guard _flags.contains(.isInserted), let draft = _draft, case .models(let changes) = draft[slot] else {
            return nil
        }
        draft.changed.insert(slot)
        draft.released.remove(slot)
        return changes
    }

    /// Whether the model shows that value, and its row holds it inline: reading external data to compare them would
    /// cost more than writing them.
    func _hasInRow(_ value: StoredValue, at slot: Int) -> Bool {
        guard let table = _table, !table.layout.record.ephemeralSlots.contains(slot) else { return false }
        if let draft = _draft {
            guard case .unset = draft[slot] else { return false }
        }
        return table.source.storedForm(row: _row, slot: slot).isIdentical(to: value)
    }
}
