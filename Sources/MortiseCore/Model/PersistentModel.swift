public import Observation

/// A class whose instances contexts manage; `@Model` adds the conformance.
///
/// A class may conform by hand: it keeps `persistentBackingData` as a stored property made by `createBackingData()`,
/// lists its properties in `schemaMetadata`, and reads and writes them with `getValue(forKey:)` and
/// `setValue(forKey:to:)`. Models belong to their context and are used on its actor or thread; they are not `Sendable`,
/// but their identifiers are.
///
/// Unsaved models that refer to each other retain each other. Models in a context do so until it saves or is released;
/// after a save the context finds related models by their identifiers. Models that were never inserted do so for ever
/// if a relationship and its inverse refer to each other: insert them, or clear the relationship, to free them. They then
/// retain all that they refer to as well, such as the container of a model whose context has gone. After a rollback,
/// inserted models refer to each other weakly, except through required to-one relationships. So does a model whose context
/// has gone: what its relationships are set to from then on has to be retained elsewhere.
///
/// The underscored requirements are for macro expansions; they have defaults, and other code must not call them.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// Used by macro expansions: the class itself, even if a subclass inherits the member.
    associatedtype Root: PersistentModel = Self

    /// Makes a model from its values. Contexts call this for fetched models; the body must only keep the data.
    init(backingData: any BackingData<Self>)
    /// The values of the model.
    /// - Precondition: a class that conforms by hand makes them with `createBackingData()`.
    var persistentBackingData: any BackingData<Self> { get set }
    /// The properties that this class itself declares, in declaration order, then its constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    /// The name that the model's entity has in stores of an earlier version; nil, the default, if it was not renamed.
    ///
    /// A class that is renamed says here what it was called, as `@Attribute(originalName:)` does for a property, and its records
    /// and their identifiers stay what they were:
    ///
    ///     @Model final class Journey {
    ///         static var originalEntityName: String? { "Trip" }
    ///     }
    ///
    /// SwiftData has no such thing; there it is a property like any other. Subclasses do not inherit the name, and may have their
    /// own if they have `@Model`. Without the macro, a class that is to be subclassed says it as `class var`.
    static var originalEntityName: String? { get }

    /// Used by macro expansions: makes a model from its state.
    init(_modelState: consuming ModelState)
    /// Used by macro expansions: the state of the model, which holds its values and its context.
    var _modelState: ModelState { get set }
    /// Used by macro expansions: takes over the initial values of a subclass's own properties.
    func _adoptInitialValues()
    /// Used by macro expansions: the properties that superclasses declare.
    static var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { get }
}

extension PersistentModel {
    /// Two models are equal if they are the same object.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    // Not left to the compiler, which makes it a member of each class: Swift 6.3 crashed on that of a class that has
    // subclasses, depending on which files it compiled together.
    /// The hash of the object's identity, equal for equal models within one run of the program.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }

    /// Nil: the entity was not renamed.
    public static var originalEntityName: String? { nil }

    // MARK: Defaults of the macro's requirements, for models written by hand

    /// Used by macro expansions.
    public init(_modelState: consuming ModelState) {
        self.init(backingData: DefaultBackingData<Self>(state: _modelState))
    }

    /// Used by macro expansions. The state of a model that keeps its values in backing data.
    public var _modelState: ModelState {
        _read {
            let backing = Self.defaultBacking(persistentBackingData)
            yield backing.state
        }
        _modify {
            let backing = Self.defaultBacking(persistentBackingData)
            yield &backing.state
        }
    }

    /// Used by macro expansions. The default does nothing: the model has no initial values of its own.
    public func _adoptInitialValues() {}
    /// Used by macro expansions. The default is empty: the model has no superclass model.
    public static var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    private static func defaultBacking(_ backingData: any BackingData<Self>) -> DefaultBackingData<Self> {
        guard let backing = backingData as? DefaultBackingData<Self> else {
            // A class that brings its own BackingData has to bring _modelState too; no value could be right here.
            preconditionFailure(
                """
                Expected \(Self.self).persistentBackingData to be made by createBackingData(), found a \
                \(type(of: backingData)). Make it with createBackingData(), or implement _modelState as @Model does.
                """)
        }
        return backing
    }

    /// Makes the storage for a model written by hand.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        DefaultBackingData<P>(for: P.self)
    }

    /// Used by macro expansions: a view of the model's own values.
    public func _backingData() -> any BackingData<Self> { DefaultBackingData<Self>(viewing: self) }

    /// Used by macro expansions: takes over the values of backing data.
    public func _adopt(backingData: any BackingData<Self>) {
        guard let backing = backingData as? DefaultBackingData<Self> else { return }
        _modelState = backing.takeState()
    }

    /// Used by macro expansions: the state that backing data hold.
    public static func _state(from backingData: any BackingData<Self>) -> ModelState {
        (backingData as? DefaultBackingData<Self>)?.takeState() ?? ModelState()
    }
}
