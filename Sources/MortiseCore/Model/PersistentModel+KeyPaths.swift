// SwiftData's access to values by key path, for models written by hand and for code that works on any model.

extension PersistentModel {
    /// The slot of a persisted property. A key path that leads to no persisted property is a mistake in the program's
    /// source, found when the line is first run; a getter has nothing to return.
    fileprivate static func slot(for keyPath: AnyKeyPath) -> Int {
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
        let slot = Self.slot(for: key)
        if case .unencodable(let value)? = _modelState.draft?[slot], let value = value as? Value { return value }
        let stored = _modelState.storedValue(at: slot)
        if let value = PropertyAccess.value(stored, as: Value.self) { return value }
        if let value = PropertyValue.empty(Value.self, default: _defaultValue(at: slot)) { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The related model. The relationship must have been set.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
        _value(at: Self.slot(for: key))
    }
    /// The related model; nil if the relationship is empty.
    public func getValue<Value>(forKey key: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
        _value(at: Self.slot(for: key))
    }
    /// The related models, in no particular order.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self.slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The related models, in no particular order; nil if the relationship has no value.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self.slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    /// The value of a property that a value transformer stores.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
        _transformableValue(at: Self.slot(for: key))
    }

    /// Sets a persisted property.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
        let slot = Self.slot(for: key)
        _write(PropertyAccess.draft(newValue), at: slot)
    }
    /// Sets the related model and updates the inverse.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
        RelationshipEditor(self).setTarget(newValue, at: Self.slot(for: key))
    }
    /// Sets or clears the related model and updates the inverse.
    public func setValue<Value>(forKey key: KeyPath<Self, Value?>, to newValue: Value?) where Value: PersistentModel {
        RelationshipEditor(self).setTarget(newValue, at: Self.slot(for: key))
    }
    /// Replaces the related models and updates their inverses. Duplicates count once.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        RelationshipEditor(self).setMembers(PropertyAccess.members(newValue), at: Self.slot(for: key))
    }
    /// Replaces the related models and updates their inverses; nil clears the relationship.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        RelationshipEditor(self).setMembers(PropertyAccess.members(newValue), at: Self.slot(for: key))
    }
    /// Sets a property that a value transformer stores. The transformer runs at the next save.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        _writeTransformable(newValue, at: Self.slot(for: key))
    }
}

/// Conversions between stored and property values where the property's type is only a type parameter.
enum PropertyAccess {
    static func value<Value: Decodable>(_ stored: StoredValue, as type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type {
            if stored.isNull { return optional.none as? Value }
            return plain(stored, as: optional.wrappedType) as? Value
        }
        return plain(stored, as: type) as? Value
    }

    private static func plain(_ stored: StoredValue, as type: any Any.Type) -> Any? {
        if let scalar = type as? any PersistentScalar.Type { return scalar.init(storedValue: stored) }
        if let raw = type as? any RawRepresentable.Type, StorageKind(of: type) != .coded {
            return self.raw(stored, raw)
        }
        if let decodable = type as? any Decodable.Type { return coded(stored, decodable) }
        return nil
    }
    private static func raw<R: RawRepresentable>(_ stored: StoredValue, _ type: R.Type) -> Any? {
        guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return nil }
        return (scalar.init(storedValue: stored) as? R.RawValue).flatMap(R.init(rawValue:))
    }
    static func value<R: RawRepresentable>(_ stored: StoredValue, ofRaw type: R.Type) -> R? {
        stored.isNull ? nil : raw(stored, type) as? R
    }
    private static func coded<D: Decodable>(_ stored: StoredValue, _ type: D.Type) -> Any? {
        try? StoredValueDecoder().decode(type, from: stored)
    }

    static func draft<Value: Encodable>(_ value: Value) -> Draft.Value {
        if let kind = StorageKind(of: Value.self), kind != .coded, let stored = StoredValue(property: value, kind: kind)
        {
            return .value(stored)
        }
        return Draft.Value(coding: value)
    }

    static func stored<Value: Encodable>(_ value: Value) -> StoredValue {
        if case .value(let stored) = draft(value) { stored } else { .null }
    }

    static func members<Value: RelationshipCollection>(_ value: Value) -> [any PersistentModel] {
        (value as? [any PersistentModel]) ?? []
    }
}

/// The storage of a model written by hand, and a view of a model's values for code that asks for its backing data.
public final class DefaultBackingData<Model: PersistentModel>: BackingData {
    var state = ModelState()
    private var viewed: Model?

    /// Makes empty backing data for a new model.
    public init(for modelType: Model.Type) {}
    init(state: consuming ModelState) { self.state = state }
    init(viewing model: Model) { viewed = model }

    /// A model that keeps the values that this storage has; itself where it is a view.
    private var model: Model {
        if let viewed { return viewed }
        let model = Materializing.make(Model.self, takeState())
        viewed = model
        return model
    }

    /// The state for a model to take over: moved out of this storage, or copied from the model that it views.
    func takeState() -> ModelState {
        if let viewed {
            let copy = Draft()
            if let draft = viewed._modelState.draft { copy.merge(draft) }
            return ModelState(draft: copy)
        }
        var taken = ModelState(draft: nil)
        swap(&taken, &state)
        return taken
    }

    /// The identifier of the model that uses the data; nil before a model uses it.
    public var persistentModelID: PersistentIdentifier? {
        get { viewed?.persistentModelID ?? state.draft?.identifier }
        set { state.ensureDraft().identifier = newValue }
    }
    /// The name of the entity.
    public var metadata: Any { ModelLayout.of(Model.self).entityName }

    /// The value of an attribute.
    public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: Decodable {
        model.getValue(forKey: key)
    }
    /// The related model. The relationship must have been set.
    public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: PersistentModel {
        model.getValue(forKey: key)
    }
    /// The related model; nil if the relationship is empty.
    public func getValue<Value>(forKey key: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel {
        model.getValue(forKey: key)
    }
    /// The related models.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement { model.getValue(forKey: key) }
    /// The related models; nil if the relationship has no value.
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        model.getValue(forKey: key)
    }
    /// The value of a property that a value transformer stores.
    public func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value {
        model.getTransformableValue(forKey: key)
    }

    /// Sets an attribute.
    public func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(PropertyAccess.draft(newValue), at: Model.slot(for: key))
    }
    /// Sets the related model.
    public func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(.model(newValue), at: Model.slot(for: key))
    }
    /// Sets or clears the related model.
    public func setValue<Value>(forKey key: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(.model(newValue), at: Model.slot(for: key))
    }
    /// Replaces the related models.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        setMembers(PropertyAccess.members(newValue), key)
    }
    /// Replaces the related models; nil clears the relationship.
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        setMembers(PropertyAccess.members(newValue), key)
    }
    /// Sets a property that a value transformer stores.
    public func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) {
        guard viewed == nil else { return model.setTransformableValue(forKey: key, to: newValue) }
        let slot = Model.slot(for: key)
        let stored = ModelLayout.of(Model.self).transformed(newValue, at: slot)
        state.set(stored.map(Draft.Value.value) ?? .unencodable(newValue), at: slot)
    }

    private func setMembers(_ members: [any PersistentModel], _ key: AnyKeyPath) {
        let changes = MemberChanges()
        for member in members { changes.add(member) }
        state.set(.models(changes), at: Model.slot(for: key))
    }
}

extension BackingData {
    /// The values of this storage as a snapshot.
    func makeSnapshot() -> DefaultSnapshot {
        let layout = ModelLayout.of(Model.self)
        var values: ContiguousArray<StoredValue> = []
        for slot in layout.properties.indices {
            values.append(
                SnapshotReading.value(of: self, at: layout.keyPaths[slot], role: layout.record.slots[slot].role))
        }
        return DefaultSnapshot(
            persistentIdentifier: persistentModelID ?? .temporary(entityName: layout.entityName), layout: layout.record,
            values: values)
    }
}

private enum SnapshotReading {
    static func value<B: BackingData>(of data: B, at keyPath: AnyKeyPath, role: RecordLayout.Role) -> StoredValue {
        func attribute<D: Decodable>(_ type: D.Type) -> StoredValue? {
            guard let path = keyPath as? KeyPath<B.Model, D> else { return nil }
            let value: D = data.getValue(forKey: path)
            return (value as? any Encodable).map { PropertyAccess.stored($0) }
        }
        func toOne<M: PersistentModel>(_ type: M.Type) -> StoredValue? {
            if let path = keyPath as? KeyPath<B.Model, M> {
                let model: M = data.getValue(forKey: path)
                return .identifier(model.persistentModelID)
            }
            guard let path = keyPath as? KeyPath<B.Model, M?> else { return nil }
            let model: M? = data.getValue(forKey: path)
            return model.map { .identifier($0.persistentModelID) } ?? .null
        }
        func toMany<C: RelationshipCollection>(_ type: C.Type) -> StoredValue? {
            guard let path = keyPath as? KeyPath<B.Model, C> else { return nil }
            let models: C = data.getValue(forKey: path)
            return .identifiers(PropertyAccess.members(models).map(\.persistentModelID))
        }
        let type = Swift.type(of: keyPath).valueType
        switch role {
        case .attribute: return (type as? any Decodable.Type).flatMap { attribute($0) } ?? .null
        case .toOne:
            let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
            return (plain as? any PersistentModel.Type).flatMap { toOne($0) } ?? .null
        case .toManyStored, .toManyDerived:
            return (type as? any RelationshipCollection.Type).flatMap { toMany($0) } ?? .null
        }
    }
}
