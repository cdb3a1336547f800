// SwiftData's access to values by key path, for models written by hand and for code that works on any model.

extension PersistentModel {
    /// The slot of a persisted property. A key path that leads to no persisted property is a mistake in the program's
    /// source, found when the line is first run; a getter has nothing to return.
    static func _slot(for keyPath: AnyKeyPath) -> Int {
        guard let slot = ModelLayout.of(Self.self).slot(for: keyPath) else {
            preconditionFailure(
                """
                Expected the key path of a property in \(Self.self).schemaMetadata, found \(keyPath). List the property \
                there; read and set what is not persisted, or declared by a protocol, directly.
                """)
        }
        return slot
    }

    /// The value of a persisted property.
    /// - Precondition: in all of these methods, the key path is that of a property in `schemaMetadata`, written with
    ///   the class that declares the property or a class that inherits from it. Computed and `@Transient` properties
    ///   are not listed there, and a key path through a protocol is a different one.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value where Value: Decodable {
        let slot = Self._slot(for: key)
        if case .unencodable(let value)? = _draft?[slot], let value = value as? Value { return value }
        let stored = _storedValue(at: slot)
        if let value = PropertyAccess.value(stored, as: Value.self) { return value }
        if let value = PropertyValue.empty(Value.self, default: _defaultValue(at: slot)) { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The related model. The relationship must have been set.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
        _value(at: Self._slot(for: key))
    }
    /// The related model; nil if the relationship is empty.
    public func getValue<Value>(forKey key: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
        _value(at: Self._slot(for: key))
    }
    /// The related models, in no particular order.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self._slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The related models, in no particular order; nil if the relationship has no value.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self._slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The value of a property that a value transformer stores.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
        _transformableValue(at: Self._slot(for: key))
    }

    /// Sets a persisted property.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
        let slot = Self._slot(for: key)
        _write(PropertyAccess.draft(newValue), at: slot)
    }
    /// Sets the related model and updates the inverse.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
        RelationshipEditor(self).setTarget(newValue, at: Self._slot(for: key))
    }
    /// Sets or clears the related model and updates the inverse.
    public func setValue<Value>(forKey key: KeyPath<Self, Value?>, to newValue: Value?) where Value: PersistentModel {
        RelationshipEditor(self).setTarget(newValue, at: Self._slot(for: key))
    }
    /// Replaces the related models and updates their inverses. Duplicates count once.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        RelationshipEditor(self).setMembers(PropertyAccess.members(newValue), at: Self._slot(for: key))
    }
    /// Replaces the related models and updates their inverses; nil clears the relationship.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        RelationshipEditor(self).setMembers(PropertyAccess.members(newValue), at: Self._slot(for: key))
    }
    /// Sets a property that a value transformer stores. The transformer runs at the next save.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        _writeTransformable(newValue, at: Self._slot(for: key))
    }
}
