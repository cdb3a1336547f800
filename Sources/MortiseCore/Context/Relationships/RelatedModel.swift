/// The type of the models that a relationship holds; used by macro expansions, which have the compiler check the inverse.
public struct RelatedModel<Model> {
    /// That of a to-one relationship.
    @inlinable
    public init<Root>(_ keyPath: KeyPath<Root, Model>) where Model: PersistentModel {}
    /// That of an optional to-one relationship.
    @inlinable
    public init<Root>(_ keyPath: KeyPath<Root, Model?>) where Model: PersistentModel {}
    /// That of a to-many relationship.
    @inlinable
    public init<Root>(_ keyPath: KeyPath<Root, [Model]>) where Model: PersistentModel {}
    /// That of an optional to-many relationship.
    @inlinable
    public init<Root>(_ keyPath: KeyPath<Root, [Model]?>) where Model: PersistentModel {}
    /// The type of a property that holds no models, of which the compiler has said so elsewhere.
    @_disfavoredOverload
    @inlinable
    public init<Root>(_ keyPath: KeyPath<Root, Model>) {}
}

extension RelatedModel {
    /// A to-one relationship of the model, or of its superclass, as the inverse.
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: KeyPath<Other, Held>, of model: (Model) -> Other
    ) {}
    /// An optional to-one relationship of the model, or of its superclass, as the inverse.
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: KeyPath<Other, Held?>, of model: (Model) -> Other
    ) {}
    /// A to-many relationship of the model, or of its superclass, as the inverse.
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: KeyPath<Other, [Held]>, of model: (Model) -> Other
    ) {}
    /// An optional to-many relationship of the model, or of its superclass, as the inverse.
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: KeyPath<Other, [Held]?>, of model: (Model) -> Other
    ) {}
    /// A property that holds no models.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "the inverse holds no models: name the relationship of the other model that leads back"
    )
    public func checkInverse<Other, Held>(_ inverse: KeyPath<Other, Held>, of model: (Model) -> Other) {}
    /// A property of another model.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the inverse belongs to a model that this relationship does not hold: name a property of one that it holds"
    )
    public func checkInverse<Other, Held>(_ inverse: KeyPath<Other, Held>, of model: (Model) -> Any) {}
}

/// Used by macro expansions: replaces the options of a property whose marker was not expanded, because its arguments
/// are mistaken. The compiler says so, and the program never runs.
@dynamicCallable
public struct MistakenOptions {
    @usableFromInline init() {}

    /// Options of any property.
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Void>) -> any SchemaProperty {
        Schema.Attribute()
    }
}

extension PersistentModel {
    /// Used by macro expansions: found where a property's own function of this name is missing.
    @_disfavoredOverload
    @inlinable
    public static var _propertyOptions: MistakenOptions { MistakenOptions() }
}
