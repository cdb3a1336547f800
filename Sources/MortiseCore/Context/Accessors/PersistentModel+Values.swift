public import Foundation

// What the accessors that `@Model` writes call: one overload for each sort of property, chosen by the property's type.

extension Draft.Value {
    init<T: Encodable>(coding value: T) {
        self = PropertyValue.coding(value).map(Self.value) ?? .unencodable(value)
    }
}

extension PropertyAccess {
    static func draft<Value: Encodable>(_ value: Value) -> Draft.Value {
        storedForm(of: value).map(Draft.Value.value) ?? .unencodable(value)
    }
}

// MARK: - Attributes

extension PersistentModel {
    /// Used by macro expansions: reads an attribute by slot.
    @inlinable
    public func _value<T: PersistentScalar>(at slot: Int) -> T {
        if let row = _modelState.rowScalar(T.self, at: slot), let value = row { return value }
        return _ownScalar(at: slot) ?? _defaultScalar(at: slot)
    }
    /// Used by macro expansions: reads an optional attribute by slot.
    @inlinable
    public func _value<T: PersistentScalar>(at slot: Int) -> T? {
        // Data that are not there may lie elsewhere.
        if let value = _modelState.rowScalar(T.self, at: slot), value != nil || T.self != Data.self { return value }
        return _ownScalar(at: slot)
    }

    /// Used by macro expansions: reads an enum by slot.
    @inlinable
    public func _value<T: RawRepresentable & Codable>(at slot: Int) -> T where T.RawValue: PersistentScalar {
        if let raw: T.RawValue = _value(at: slot), let value = T(rawValue: raw) { return value }
        if let value = T(rawValue: _defaultScalar(at: slot)) { return value }
        if let value = T(rawValue: .placeholder) { return value }
        return _firstCase(at: slot)
    }
    /// Used by macro expansions: reads an optional enum by slot.
    @inlinable
    public func _value<T: RawRepresentable & Codable>(at slot: Int) -> T? where T.RawValue: PersistentScalar {
        let raw: T.RawValue? = _value(at: slot)
        return raw.flatMap { T(rawValue: $0) }
    }

    /// An attribute of a model that has its own values, or no row.
    @usableFromInline
    func _ownScalar<T: PersistentScalar>(at slot: Int) -> T? { T(storedValue: _storedValue(at: slot)) }

    /// The value of a required attribute without a stored value: its declared default, or the type's placeholder.
    @usableFromInline
    func _defaultScalar<T: PersistentScalar>(at slot: Int) -> T {
        T(storedValue: _defaultValue(at: slot)) ?? T.placeholder
    }

    @usableFromInline
    func _firstCase<T>(at slot: Int) -> T {
        if let first = PropertyValue.firstCase(of: T.self) { return first }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }

    /// Used by macro expansions: reads a coded attribute by slot.
    @_disfavoredOverload
    public func _value<T: Codable>(at slot: Int) -> T {
        if case .unencodable(let value)? = _draft?[slot], let value = value as? T { return value }
        if let value: T = PropertyValue.coded(_storedValue(at: slot)) { return value }
        for empty in [_defaultValue(at: slot), .array([]), .object([:])] {
            if let value: T = PropertyValue.coded(empty) { return value }
        }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }

    /// The value of a required property without a stored value: the default that the model declares. Used for ephemeral
    /// attributes of fetched models.
    func _defaultValue(at slot: Int) -> StoredValue {
        let properties = ModelLayout.of(type(of: self)).properties
        return (properties.dropFirst(slot).first as? Schema.Attribute)?.storedDefault ?? .null
    }

    /// Used by macro expansions: sets an attribute by slot.
    public func _setValue<T: PersistentScalar>(_ value: T, at slot: Int) {
        _notifying(slot, T.self) { _write(stored: value.storedValue, at: slot) }
    }
    /// Used by macro expansions: sets an optional attribute by slot.
    public func _setValue<T: PersistentScalar>(_ value: T?, at slot: Int) {
        _notifying(slot, T?.self) { _write(stored: value?.storedValue ?? .null, at: slot) }
    }
    /// Used by macro expansions: sets an enum by slot.
    public func _setValue<T: RawRepresentable & Codable>(_ value: T, at slot: Int) where T.RawValue: PersistentScalar {
        _notifying(slot, T.self) { _write(stored: value.rawValue.storedValue, at: slot) }
    }
    /// Used by macro expansions: sets an optional enum by slot.
    public func _setValue<T: RawRepresentable & Codable>(_ value: T?, at slot: Int) where T.RawValue: PersistentScalar {
        _notifying(slot, T?.self) { _write(stored: value?.rawValue.storedValue ?? .null, at: slot) }
    }
    /// Used by macro expansions: sets a coded attribute by slot.
    @_disfavoredOverload
    public func _setValue<T: Codable>(_ value: T, at slot: Int) {
        _notifying(slot, T.self) { _write(Draft.Value(coding: value), at: slot) }
    }

    /// Used by macro expansions: reads a transformable property by slot.
    public func _transformableValue<T>(at slot: Int) -> T {
        switch _draft?[slot] {
        case .transformable(let kept)?, .unencodable(let kept)?:
            if let value = kept as? T { return value }
        default: break
        }
        if case .data(let data) = _storedValue(at: slot),
            let value: T = ModelLayout.of(type(of: self)).untransformed(data, at: slot)
        {
            return value
        }
        if let none = (T.self as? any OptionalValue.Type)?.none as? T { return none }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }
    /// Used by macro expansions: sets a transformable property by slot.
    public func _setTransformableValue<T>(_ value: T, at slot: Int) {
        _notifying(slot, T.self) { _writeTransformable(value, at: slot) }
    }
    func _writeTransformable<T>(_ value: T, at slot: Int) {
        let layout = ModelLayout.of(type(of: self))
        _write(layout.transformed(value, at: slot).map(Draft.Value.value) ?? .unencodable(value), at: slot)
    }
}

// MARK: - Relationships

extension PersistentModel {
    /// Used by macro expansions: reads an optional to-one relationship by slot.
    public func _value<T: PersistentModel>(at slot: Int) -> T? { RelationshipEditor(self).target(at: slot) as? T }
    /// Used by macro expansions: reads a required to-one relationship by slot.
    public func _value<T: PersistentModel>(at slot: Int) -> T {
        if let model = RelationshipEditor(self).target(at: slot) as? T { return model }
        if case .requiredButCleared(last: let last)? = _draft?[slot], let model = last as? T { return model }
        if case .identifier(let identifier) = _storedValue(at: slot) {
            if let table = (_table ?? _frozen?.table)?.state.table(of: identifier),
                Going.contains(identifier, in: ObjectIdentifier(table.state)),
                let row = table.source.row(of: identifier),
                let model = table.storedModel(row: row) as? T
            {
                return model
            }
            // Against its contract the store has no such record: a getter cannot throw, the next fetch or save does.
            _table?.state.latch(ModelContextError.noSuchModel(identifier))
            return Materializing.make(T.self, ModelState(missing: identifier))
        }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }
    /// Used by macro expansions: reads a to-many relationship by slot.
    public func _value<T: PersistentModel>(at slot: Int) -> [T] {
        if _draft == nil, _row >= 0, let table = _table,
            let members = table.state.members(of: table, row: _row, slot: slot, as: T.self)
        {
            return members
        }
        return RelationshipEditor(self).members(at: slot).compactMap { $0 as? T }
    }
    /// Used by macro expansions: reads an optional to-many relationship by slot.
    public func _value<T: PersistentModel>(at slot: Int) -> [T]? {
        let members: [T] = _value(at: slot)
        return members
    }

    /// Used by macro expansions: sets an optional to-one relationship by slot.
    public func _setValue<T: PersistentModel>(_ value: T?, at slot: Int) {
        _notifying(slot, T?.self) { RelationshipEditor(self).setTarget(value, at: slot) }
    }
    /// Used by macro expansions: sets a required to-one relationship by slot.
    public func _setValue<T: PersistentModel>(_ value: T, at slot: Int) {
        _notifying(slot, T.self) { RelationshipEditor(self).setTarget(value, at: slot) }
    }
    /// Used by macro expansions: sets a to-many relationship by slot.
    public func _setValue<T: PersistentModel>(_ value: [T], at slot: Int) {
        _notifying(slot, [T].self) { RelationshipEditor(self).setMembers(value, at: slot) }
    }
    /// Used by macro expansions: sets an optional to-many relationship by slot.
    public func _setValue<T: PersistentModel>(_ value: [T]?, at slot: Int) {
        _notifying(slot, [T]?.self) { RelationshipEditor(self).setMembers(value ?? [], at: slot) }
    }
}
