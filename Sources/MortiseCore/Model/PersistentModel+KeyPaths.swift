// SwiftData's access to values by key path, for models written by hand and for code that works on any model.

extension PersistentModel {
    /// The slot of a persisted property. A key path that is none is a mistake in the model's own source, found the first
    /// time the property is used.
    fileprivate static func slot(for keyPath: AnyKeyPath) -> Int {
        guard let slot = ModelLayout.of(Self.self).slot(for: keyPath) else {
            fatalError("\(Self.self).schemaMetadata does not list \(keyPath).")
        }
        return slot
    }

    /// The value of a persisted property.
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value where Value: Decodable {
        let slot = Self.slot(for: key)
        if case .unencodable(let value)? = _modelState.draft?[slot], let value = value as? Value { return value }
        let stored = _modelState.storedValue(at: slot)
        if let value = PropertyAccess.value(stored, as: Value.self) { return value }
        if let value = PropertyValue.empty(Value.self, default: _defaultValue(at: slot)) { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
        _value(at: Self.slot(for: key))
    }
    public func getValue<Value>(forKey key: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
        _value(at: Self.slot(for: key))
    }
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self.slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        let slot = Self.slot(for: key)
        let members: [OtherModel] = _value(at: slot)
        if let value = members as? Value { return value }
        PropertyValue.missing(Value.self, slot: slot, of: self)
    }
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
        _transformableValue(at: Self.slot(for: key))
    }

    /// Sets a persisted property.
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
        let slot = Self.slot(for: key)
        _write(PropertyAccess.draft(newValue), at: slot)
    }
    public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
        _setTarget(newValue, at: Self.slot(for: key))
    }
    public func setValue<Value>(forKey key: KeyPath<Self, Value?>, to newValue: Value?) where Value: PersistentModel {
        _setTarget(newValue, at: Self.slot(for: key))
    }
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        _setMembers(PropertyAccess.members(newValue), at: Self.slot(for: key))
    }
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Self, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        _setMembers(PropertyAccess.members(newValue), at: Self.slot(for: key))
    }
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
        _setTransformableValue(newValue, at: Self.slot(for: key))
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

/// The storage behind a model written by hand, and a view of a model's values for code that asks for its backing data.
public final class DefaultBackingData<Model: PersistentModel>: BackingData {
    var state = ModelState()
    private var viewed: Model?

    public init(for modelType: Model.Type) {}
    init(state: consuming ModelState) { self.state = state }
    init(viewing model: Model) { viewed = model }

    /// A model that keeps the values that this storage has; itself where it is a view.
    private var model: Model {
        if let viewed { return viewed }
        let model = Materialising.run { Model(_modelState: takeState()) }
        viewed = model
        return model
    }

    /// The state for a model to keep; this storage then has none.
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

    public var persistentModelID: PersistentIdentifier? {
        get { viewed?.persistentModelID ?? state.draft?.identifier }
        set { state.ensureDraft().identifier = newValue }
    }
    public var metadata: Any { ModelLayout.of(Model.self).entityName }

    public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: Decodable {
        model.getValue(forKey: key)
    }
    public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: PersistentModel {
        model.getValue(forKey: key)
    }
    public func getValue<Value>(forKey key: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel {
        model.getValue(forKey: key)
    }
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement { model.getValue(forKey: key) }
    public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        model.getValue(forKey: key)
    }
    public func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value {
        model.getTransformableValue(forKey: key)
    }

    public func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(PropertyAccess.draft(newValue), at: Model.slot(for: key))
    }
    public func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(.model(newValue), at: Model.slot(for: key))
    }
    public func setValue<Value>(forKey key: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.set(.model(newValue), at: Model.slot(for: key))
    }
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        setMembers(PropertyAccess.members(newValue), key)
    }
    public func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        setMembers(PropertyAccess.members(newValue), key)
    }
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
    /// The values behind this storage as a snapshot.
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
