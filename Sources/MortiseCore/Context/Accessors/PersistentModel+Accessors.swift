import Observation

// What properties that are changed in place come to, one overload for each sort of property, chosen by the property's type.
// Nothing here can be inlined: what the compiler would write for every property of every model is here once.

extension PersistentModel {
    /// Tells observers of a property before and after it changes. A model that nobody has observed has nobody to tell.
    func _notifying<Value>(_ slot: Int, _ type: Value.Type, _ change: () -> Void) {
        guard let registrar = _existingRegistrar else { return change() }
        let layout = _table?.layout ?? ModelLayout.of(Swift.type(of: self))
        // A layout in the making knows no properties yet.
        guard slot < layout.keyPaths.count else { return change() }
        // Unchecked, because a cast takes as long as setting the value. The slot is that of the accessor's own property.
        let keyPath = unsafeDowncast(layout.observedKeyPath(of: slot), to: KeyPath<Self, Value>.self)
        registrar.withMutation(of: self, keyPath: keyPath, change)
    }

    /// Used by macro expansions: an attribute by slot.
    public subscript<T: PersistentScalar>(_slot slot: Int) -> T {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value = T._value(_storedValue(at: slot)) { _defaultValue(at: slot) }
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: an optional attribute by slot.
    public subscript<T: PersistentScalar>(_slot slot: Int) -> T? {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T? = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: an enum by slot.
    public subscript<T: RawRepresentable & Codable>(_slot slot: Int) -> T where T.RawValue: PersistentScalar {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: an optional enum by slot.
    public subscript<T: RawRepresentable & Codable>(_slot slot: Int) -> T? where T.RawValue: PersistentScalar {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T? = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: a coded attribute by slot.
    @_disfavoredOverload
    public subscript<T: Codable>(_slot slot: Int) -> T {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: an optional to-one relationship by slot.
    public subscript<T: PersistentModel>(_slot slot: Int) -> T? {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T? = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: a required to-one relationship by slot.
    public subscript<T: PersistentModel>(_slot slot: Int) -> T {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: T = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: a to-many relationship by slot.
    public subscript<T: PersistentModel>(_slot slot: Int) -> [T] {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: [T] = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: an optional to-many relationship by slot.
    public subscript<T: PersistentModel>(_slot slot: Int) -> [T]? {
        get { _value(at: slot) }
        set { _setValue(newValue, at: slot) }
        _modify {
            var value: [T]? = self[_slot: slot]
            defer { self[_slot: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions: a transformable property by slot.
    public subscript<T>(_transformable slot: Int) -> T {
        get { _transformableValue(at: slot) }
        set { _setTransformableValue(newValue, at: slot) }
        _modify {
            var value: T = self[_transformable: slot]
            defer { self[_transformable: slot] = value }
            yield &value
        }
    }

    /// Used by macro expansions. The setter of a property that cannot be stored does not compile, so that nothing is changed.
    @_disfavoredOverload
    public subscript<T>(_slot slot: Int) -> T {
        get { PropertyValue.missing(T.self, slot: slot, of: self) }
        set {}
    }
}
