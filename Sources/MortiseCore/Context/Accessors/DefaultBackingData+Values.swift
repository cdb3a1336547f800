extension DefaultBackingData {
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
            if let draft = viewed._draft { copy.merge(draft) }
            return ModelState(copy)
        }
        var taken = ModelState(nil)
        swap(&taken, &state)
        return taken
    }

    /// The identifier of the model that uses the data; nil before a model uses it.
    public var persistentModelID: PersistentIdentifier? {
        get { viewed?.persistentModelID ?? state.draft?.identifier }
        set { state.ensureDraft().identifier = newValue }
    }
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
        state.set(PropertyAccess.draft(newValue), at: Model._slot(for: key))
    }
    /// Sets the related model.
    public func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.setFirst(.model(newValue), at: Model._slot(for: key))
    }
    /// Sets or clears the related model.
    public func setValue<Value>(forKey key: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel {
        guard viewed == nil else { return model.setValue(forKey: key, to: newValue) }
        state.setFirst(.model(newValue), at: Model._slot(for: key))
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
        let slot = Model._slot(for: key)
        let stored = ModelLayout.of(Model.self).transformed(newValue, at: slot)
        state.set(stored.map(Draft.Value.value) ?? .unencodable(newValue), at: slot)
    }

    private func setMembers(_ members: [any PersistentModel], _ key: AnyKeyPath) {
        let changes = MemberChanges()
        for member in members { changes.add(member) }
        state.setFirst(.models(changes), at: Model._slot(for: key))
    }
}
