/// A key path of a model's property as a constant of its class; used by macro expansions.
///
/// Unchecked: a key path to a stored or computed property captures nothing, so that threads can share it. The Swift 5 mode
/// does not infer that from the literal as the Swift 6 mode does.
public struct SharedKeyPath<Root, Value>: @unchecked Sendable {
    /// The key path.
    public let keyPath: KeyPath<Root, Value>

    /// Makes a constant of a key path literal without subscripts.
    @inlinable
    public init(_ keyPath: KeyPath<Root, Value>) { self.keyPath = keyPath }
}

// What `@Relationship` may be on, as far as types tell.
extension SharedKeyPath {
    /// Makes a constant of a to-one relationship.
    @inlinable
    public init(relationship keyPath: KeyPath<Root, Value>) where Value: PersistentModel { self.init(keyPath) }
    /// Makes a constant of an optional to-one relationship.
    @inlinable
    public init<Model: PersistentModel>(relationship keyPath: KeyPath<Root, Value>) where Value == Model? {
        self.init(keyPath)
    }
    /// Makes a constant of a to-many relationship.
    @inlinable
    public init<Model: PersistentModel>(relationship keyPath: KeyPath<Root, Value>) where Value == [Model] {
        self.init(keyPath)
    }
    /// Makes a constant of an optional to-many relationship.
    @inlinable
    public init<Model: PersistentModel>(relationship keyPath: KeyPath<Root, Value>) where Value == [Model]? {
        self.init(keyPath)
    }
    /// Makes a constant of a to-many relationship with a limit.
    @inlinable
    public init<Model: PersistentModel>(limited keyPath: KeyPath<Root, Value>) where Value == [Model] {
        self.init(keyPath)
    }
    /// Makes a constant of an optional to-many relationship with a limit.
    @inlinable
    public init<Model: PersistentModel>(limited keyPath: KeyPath<Root, Value>) where Value == [Model]? {
        self.init(keyPath)
    }
    /// A property that holds one model at most.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: """
            'minimumModelCount' and 'maximumModelCount' limit an array of models: remove them, or write '[Model]'
            """
    )
    public init(limited keyPath: KeyPath<Root, Value>) { self.init(keyPath) }

    /// A property that holds no models.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: """
            '@Relationship' is for a model, an optional model or an array of models: remove it, or write '@Attribute'
            """
    )
    public init(relationship keyPath: KeyPath<Root, Value>) { self.init(keyPath) }
}
