/// In-memory storage for the values of one model.
public protocol BackingData<Model> {
    /// The model that the data belong to.
    associatedtype Model: PersistentModel

    /// Makes empty data for a new model.
    init(for modelType: Model.Type)
    /// The identifier of the model that uses the data; nil before a model uses it.
    var persistentModelID: PersistentIdentifier? { get set }
    /// Other information that the storage keeps about the model.
    var metadata: Any { get }

    /// The value of an attribute.
    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable
    /// The related model. The relationship must have been set.
    func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel
    /// The related model; nil if the relationship is empty.
    func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel
    /// The related models.
    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement
    /// The related models; nil if the relationship has no value.
    func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
    where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
    /// The value of a property that a value transformer stores.
    func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value

    /// Sets an attribute.
    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable
    /// Sets the related model.
    func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel
    /// Sets or clears the related model.
    func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel
    /// Replaces the related models.
    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: RelationshipCollection, OtherModel == Value.PersistentElement
    /// Replaces the related models; nil clears the relationship.
    func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
    where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
    /// Sets a property that a value transformer stores.
    func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
}
