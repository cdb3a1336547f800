/// A relationship by its owner and the models that it holds; used by macro expansions, which have the compiler check the
/// inverse.
public struct RelatedModel<Root, Model> {
    /// That of a to-one relationship.
    @inlinable
    public init(_ keyPath: KeyPath<Root, Model>) where Model: PersistentModel {}
    /// That of an optional to-one relationship.
    @inlinable
    public init(_ keyPath: KeyPath<Root, Model?>) where Model: PersistentModel {}
    /// That of a to-many relationship.
    @inlinable
    public init(_ keyPath: KeyPath<Root, [Model]>) where Model: PersistentModel {}
    /// That of an optional to-many relationship.
    @inlinable
    public init(_ keyPath: KeyPath<Root, [Model]?>) where Model: PersistentModel {}
    /// The type of a property that holds no models, of which the compiler has said so elsewhere.
    @_disfavoredOverload
    @inlinable
    public init(_ keyPath: KeyPath<Root, Model>) {}
}

extension RelatedModel {
    /// A relationship of the model, or of its superclass, that leads back here or to a superclass of this class.
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: RelatedModel<Other, Held>, of model: (Model) -> Other, back: (Root) -> Held
    ) {}
    /// A relationship of the model, or of its superclass, that leads to a subclass of this class.
    @_disfavoredOverload
    @inlinable
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: RelatedModel<Other, Held>, of model: (Model) -> Other, back: (Held) -> Root
    ) {}
    /// A relationship that leads elsewhere.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "the inverse does not lead back here: name the relationship of the other model that does"
    )
    public func checkInverse<Other, Held: PersistentModel>(
        _ inverse: RelatedModel<Other, Held>, of model: (Model) -> Other, back: (Root) -> Any
    ) {}
    /// A property that holds no models.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "the inverse holds no models: name the relationship of the other model that leads back"
    )
    public func checkInverse<Other, Held>(
        _ inverse: RelatedModel<Other, Held>, of model: (Model) -> Other, back: (Root) -> Any
    ) {}
    /// A property of another model.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "the inverse belongs to a model that this relationship does not hold: name a property of one that it holds"
    )
    public func checkInverse<Other, Held>(
        _ inverse: RelatedModel<Other, Held>, of model: (Model) -> Any, back: (Root) -> Any
    ) {}
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

/// Has a property of any name, so that macros report the key path to one that a model does not have. Used by declarations of
/// macros only.
@dynamicMemberLookup
public struct UnknownProperties<Model> {
    /// Any property.
    public subscript(dynamicMember name: String) -> UnknownProperties { self }
}
