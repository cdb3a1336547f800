public import MortiseCore

/// Makes a class a persistent model.
///
/// Every stored property of the class is kept by the store, in the order of declaration, unless it is `@Transient`. A
/// `let` is kept as well where the language mode is Swift 5, in which the compiler warns of it; Swift 6 refuses it.
/// Computed, static and overriding properties and all methods stay as they are.
///
/// A property with observers runs them when it is set and never when a model is fetched. As in any class, they do not run
/// where an initializer in the body of the class, or its `deinit`, sets the property itself; they do run in the closures
/// and methods that it calls. Two limits: in an initializer of an extension they always run, and for a property without a
/// written type whose initial value does not show it (`= .now`, `= a + b`) they run once `self` is complete. An observed
/// property whose initial value is a call without arguments that may fail (`= Code()`, with `init?()`) needs its type written.
///
/// A model is `nonisolated`, because it belongs to its context, also in a module whose default isolation is the main actor.
/// There the protocols and functions of the module belong to the main actor, which leaves two ways: conform in an extension of
/// its own (`extension Trip: Named {}`), and mark what a model calls `nonisolated`.
///
/// The class conforms to `PersistentModel` and `Observable`, and is not `Sendable`: pass its `persistentModelID` to
/// another context instead. A model class may inherit from another one; both carry `@Model`. A superclass that is no model
/// needs an `init()`, by which fetched models are made. The class must have an initializer unless all its properties have
/// initial values and it has no superclass.
///
/// Macros see the source of one class. What that does not tell is found when a container is made, as a `SchemaError`: an
/// inverse that is computed or `@Transient`, a subclass without `@Model`, `#Unique` on a type alias of an array of models.
///
/// A model that an initializer gives to a property is linked from both sides when the initializer ends, and is inserted with
/// this one, or this one with it, where either is in a context.
///
/// Initial values written at a property are also evaluated when a model is made from stored values, and then ignored.
@attached(
    member,
    conformances: PersistentModel, Sendable,
    names: named(_modelState), named(_ownState), named(_firstSlot), named(_adoptOwnValues),
    named(_adoptInitialValues), named(init), named(deinit), named(persistentBackingData),
    named(schemaMetadata), named(_schemaMetadata), named(_ownSchemaMetadata), named(_inheritedSchemaMetadata),
    named(_modelSlotCount), named(access), named(withMutation))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "MortiseMacros", type: "ModelMacro")

/// Says how a property of a model is kept.
///
/// The options and arguments are those of `Schema.Attribute`; those of several `@Attribute`s on one property are joined.
/// `originalName` is the property's name in the version of the schema before this one. A property marked `@Attribute` cannot be marked `@Relationship` as well.
@attached(peer, names: named(_propertyOptions))
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "MortiseMacros", type: "AttributeMacro")

/// Says how a property of a model relates to other models.
///
/// Name the `inverse` on one side only, with its root: `inverse: \Telescope.site`. If neither side names one, a model's
/// only relationship to another and the only one back are each other's inverse, unless both are arrays: those are two
/// lists.
///
/// Several relationships of a class may name one inverse (`home` and `away` of a match that name `\Team.matches`). It
/// follows them: it holds this model as long as one of them leads there. Setting it takes this model out of all of them that
/// led to what it leaves, and adds to none: by which of them it should be held is not known.
///
/// The delete rule says what happens to the related models when this one is deleted.
@attached(peer, names: named(_propertyOptions))
public macro Relationship(
    _ options: Schema.Relationship.Option...,
    deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0,
    maximumModelCount: Int? = 0,
    originalName: String? = nil,
    inverse: AnyKeyPath? = nil,
    hashModifier: String? = nil
) = #externalMacro(module: "MortiseMacros", type: "RelationshipMacro")

/// Refuses an inverse without its root with one error and a fix-it that adds the root.
///
/// This form never compiles: the inverse belongs to another class, which the key path has to name.
@attached(peer, names: named(_propertyOptions))
public macro Relationship(
    _ options: Schema.Relationship.Option...,
    deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0,
    maximumModelCount: Int? = 0,
    originalName: String? = nil,
    inverse: PartialKeyPath<UnknownProperties<Void>>,
    hashModifier: String? = nil
) = #externalMacro(module: "MortiseMacros", type: "RelationshipMacro")

/// Leaves a stored property of a model out of the store.
///
/// The property is neither saved nor observed. It needs an initial value or an optional type, since a fetched model
/// is made without running an initializer of yours.
@attached(peer)
public macro Transient() = #externalMacro(module: "MortiseMacros", type: "TransientMacro")

/// Makes the values at one key path, or the combination of those at several, unique among the models of a class.
///
/// Saving a model whose values collide with a stored one updates the stored one. Each array is a separate constraint. Nil in any
/// of the values is no value, and collides with nothing; nor does a `Double`, `Float` or `Date` that is not a number.
///
/// The stored record takes the newcomer's attributes, and to-one relationships that lead somewhere. Its to-many relationships are
/// united: nothing is lost by a newcomer that knows less. So importing twice doubles what hangs on a record: two lines of an
/// invoice, made anew with the same invoice number, are four after the second import, and importing with fewer lines leaves the old
/// ones. Say it where that is not meant:
///
///     context.insert(invoice, onConflict: .replace)  // the new lines take the place of the old ones
///     context.insert(invoice, onConflict: .keep)  // the stored invoice stays as it is
///     context.insert(invoice, onConflict: .fail)  // the save throws ModelContextError.notUnique
///
/// `ModelContainer.uniqueConflictPolicy` and `ModelContext.uniqueConflictPolicy` are for all insertions that say nothing. See
/// `UniqueConflictPolicy`.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "MortiseMacros", type: "UniqueMacro") where T: PersistentModel

/// Refuses key paths outside an array with one error and a fix-it that adds the array.
///
/// This form never compiles: `#Unique` takes arrays, because each is a constraint of its own.
@freestanding(declaration)
public macro Unique<T>(_ keyPath: PartialKeyPath<T>, _ others: PartialKeyPath<T>...) =
    #externalMacro(module: "MortiseMacros", type: "UniqueMacro") where T: PersistentModel

/// Refuses the name of a property that the model does not have with one error.
///
/// This form never compiles. The arrays are optional so that the compiler prefers the other where both would do.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<UnknownProperties<T>>]?...) =
    #externalMacro(module: "MortiseMacros", type: "UniqueMacro") where T: PersistentModel

/// Refuses a constraint without key paths.
///
/// This form never compiles.
@freestanding(declaration)
public macro Unique<T>() = #externalMacro(module: "MortiseMacros", type: "UniqueMacro") where T: PersistentModel

/// Keeps a binary index for each array of key paths, which fetches that filter or sort by them can use.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "MortiseMacros", type: "IndexMacro") where T: PersistentModel

/// Keeps an index of the given kind for each array of key paths.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "MortiseMacros", type: "IndexMacro") where T: PersistentModel

/// Refuses key paths outside an array with one error and a fix-it that adds the array.
///
/// This form never compiles: `#Index` takes arrays, because each is an index of its own.
@freestanding(declaration)
public macro Index<T>(_ keyPath: PartialKeyPath<T>, _ others: PartialKeyPath<T>...) =
    #externalMacro(module: "MortiseMacros", type: "IndexMacro") where T: PersistentModel

/// Refuses the name of a property that the model does not have with one error.
///
/// This form never compiles. The arrays are optional so that the compiler prefers the other where both would do.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<UnknownProperties<T>>]?...) =
    #externalMacro(module: "MortiseMacros", type: "IndexMacro") where T: PersistentModel

/// Refuses an index without key paths.
///
/// This form never compiles.
@freestanding(declaration)
public macro Index<T>() = #externalMacro(module: "MortiseMacros", type: "IndexMacro") where T: PersistentModel

/// Gives an actor its own model context, on which all its methods run.
///
/// The actor conforms to `ModelActor` and gets `init(modelContainer:)`. An actor that writes its own initializer sets
/// `modelExecutor` and `modelContainer` there.
@attached(
    member, conformances: ModelActor, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "MortiseMacros", type: "ModelActorMacro")

/// For the expansion of `@Model` only: the accessors of the kept property at `slot` of its class.
@attached(accessor, names: named(init), named(get), named(set))
@attached(
    peer, names: prefixed(_), prefixed(_keyPath_), prefixed(_keyPaths_), prefixed(_unobserved_), prefixed(_stored_))
public macro _PersistedProperty(_ slot: Int, storage: String? = nil) =
    #externalMacro(module: "MortiseMacros", type: "PersistedPropertyMacro")

/// For the expansion of `@Model` only: an initializer or `deinit` in which properties are accessed without their observers
/// (`observed`), and an initializer at whose end the models that it was given are linked (`links`).
@attached(body)
public macro _ModelInitializer(links: Bool = false, observed: [String] = []) =
    #externalMacro(module: "MortiseMacros", type: "ModelInitializerMacro")
