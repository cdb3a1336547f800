public import Observation

/// A class whose instances a context keeps: what `@Model` makes of a class.
///
/// A class may conform by hand: it keeps `persistentBackingData` as a stored property made by `createBackingData()`,
/// lists its properties in `schemaMetadata`, and reads and writes them with `getValue(forKey:)` and `setValue(forKey:to:)`.
/// Models belong to their context and are used where it is used; they are not `Sendable`, their identifiers are.
///
/// The underscored requirements are the macro's; they have defaults, and code of your own does not call them.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    associatedtype Root: PersistentModel = Self

    init(backingData: any BackingData<Self>)
    var persistentBackingData: any BackingData<Self> { get set }
    /// The properties that this class itself declares, in declaration order, then its constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    init(_modelState: consuming ModelState)
    var _modelState: ModelState { get set }
    func _adoptInitialValues()
    static var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { get }
}

extension PersistentModel {
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    public var id: PersistentIdentifier { persistentModelID }

    /// The model's identity: temporary until it is saved, and kept after it is deleted.
    ///
    /// A model that was never inserted has a temporary identifier from its first use on.
    public var persistentModelID: PersistentIdentifier {
        if _modelState.row >= 0, let table = _modelState.table {
            return table.source.identifier(ofRow: _modelState.row)
        }
        if let survivor = _modelState.draft?.survivor { return survivor.persistentModelID }
        if let identifier = _modelState.draft?.identifier { return identifier }
        let identifier = PersistentIdentifier.temporary(entityName: String(describing: type(of: self)))
        _modelState.ensureDraft().identifier = identifier
        return identifier
    }

    /// The context that keeps the model; nil before it is inserted, after its deletion is saved, and when the context is
    /// gone.
    public var modelContext: ModelContext? { _modelState.table?.state.context }

    /// Whether the model has values that are not saved, or is new and not saved.
    public var hasChanges: Bool {
        _adoptInitialValues()
        return !_modelState.flags.isDisjoint(with: [.isInserted, .isChanged])
            || (_modelState.table == nil && _modelState.draft?.changed.isEmpty == false
                && !_modelState.flags.contains(.isDeleted))
    }

    /// Whether the model was deleted from its context, saved or not.
    public var isDeleted: Bool { _modelState.flags.contains(.isDeleted) }

    // MARK: Defaults of the macro's requirements, for models written by hand

    public init(_modelState: consuming ModelState) {
        self.init(backingData: DefaultBackingData<Self>(state: _modelState))
    }

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

    public func _adoptInitialValues() {}
    public static var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    private static func defaultBacking(_ backingData: any BackingData<Self>) -> DefaultBackingData<Self> {
        guard let backing = backingData as? DefaultBackingData<Self> else {
            // A class that brings its own BackingData has to bring _modelState too; no value could be right here.
            fatalError("\(Self.self).persistentBackingData must be made by createBackingData().")
        }
        return backing
    }

    /// Storage for the values of a model that is written by hand.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        DefaultBackingData<P>(for: P.self)
    }

    public func _backingData() -> any BackingData<Self> { DefaultBackingData<Self>(viewing: self) }

    public func _adopt(backingData: any BackingData<Self>) {
        guard let backing = backingData as? DefaultBackingData<Self> else { return }
        _modelState = backing.takeState()
    }

    public static func _state(from backingData: any BackingData<Self>) -> ModelState {
        (backingData as? DefaultBackingData<Self>)?.takeState() ?? ModelState()
    }
}
