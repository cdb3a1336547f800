public import Observation

/// The one stored property that `@Model` adds to a class; it leads to the model's values.
///
/// A fetched model only points at a row of its context's version of the store; it has its own values only while they
/// differ from the store's. The other members are for macro expansions and for hand-written models made with
/// `createBackingData()`.
///
/// Expansions declare the property `@exclusivity(unchecked)`: no code that reads it calls other code meanwhile, and the
/// check would double the time of a getter.
public struct ModelState: ~Copyable {
    struct Flags: OptionSet {
        let rawValue: UInt8
        /// Set while a fetched model is created: the defaults of its properties are not its values.
        static let ignoresInitialValues = Flags(rawValue: 1)
        static let isInserted = Flags(rawValue: 2)
        static let isChanged = Flags(rawValue: 4)
        static let isDeleted = Flags(rawValue: 8)
        /// Deleted, and its delete rules have not been followed yet: nothing has let go of it.
        static let awaitsRules = Flags(rawValue: 16)
        /// In its `deinit`: nothing may retain it any more.
        static let isGoing = Flags(rawValue: 32)
        /// Has unsaved changes that live results follow.
        static let isWatched = Flags(rawValue: 64)
    }

    /// The table of the model's entity; nil for a model without a context.
    // It is there as long as its context's state counts this model. A getter must not count references at all: two atomic
    // operations cost more than the read.
    @usableFromInline var host: Unmanaged<ModelHost>?
    /// The row of the table's source; negative for a model that is not in the store.
    @usableFromInline var row: Int = -1
    @usableFromInline var unsaved: UnsavedValues?
    var flags: Flags = []
    // Counted by hand, as getters must not.
    @usableFromInline var registrarReference: Unmanaged<ModelRegistrar>?
    /// Distinguishes this object from earlier models of the same row.
    var generation: UInt16 = 0
    /// One more than the model's index in its context's list of unsaved changes; 0 if it is in none.
    var place: UInt32 = 0

    /// The state of a model created by one of its own initializers.
    public init() {}

    /// The state of a model of that class or of a subclass, as the default value of its property. A fetch that makes such
    /// a model replaces it, and it keeps no initial values until then.
    /// - Parameter type: the class that declares the property.
    public init(of type: AnyObject.Type) {
        if Materializing.begins(type) { flags = .ignoresInitialValues }
    }

    /// Used by macro expansions: the initializer of a fetched model goes on to that superclass.
    public static func _continueMaking(_ superclass: AnyObject.Type) { Materializing.goOn(to: superclass) }

    /// The state of a model that takes over values.
    init(_ values: UnsavedValues?) { unsaved = values }

    deinit {
        if flags.contains(.isGoing) { unsaved?.modelIsGone() }
        registrarReference?.release()
        let (row, generation) = (row, generation)
        host?._withUnsafeGuaranteedRef { $0.modelIsGone(row: row, generation: generation) }
    }

    /// The observation registrar; created on first use, because most fetched models are never observed.
    public var registrar: ObservationRegistrar {
        mutating get {
            if registrarReference == nil { makeRegistrar() }
            return registrarReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.registrar }
        }
    }

    var isObserved: Bool { registrarReference != nil }

    /// The registrar, if the model has been observed; nil otherwise.
    var existingRegistrar: ObservationRegistrar? {
        registrarReference?._withUnsafeGuaranteedRef { $0.registrar }
    }

    // Kept out of line to keep the hot path small.
    @inline(never) @usableFromInline
    mutating func makeRegistrar() { registrarReference = .passRetained(ModelRegistrar()) }

    /// Reports the read of a property to observation tracking on this thread.
    /// - Parameters:
    ///   - keyPath: the property that was read.
    ///   - model: the model whose state this is.
    @inline(never)
    public mutating func noteAccess<Model: Observable, Member>(to keyPath: KeyPath<Model, Member>, of model: Model) {
        if registrarReference == nil { makeRegistrar() }
        registrarReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.registrar.access(model, keyPath: keyPath) }
    }

    /// An attribute directly from the row, for a model that has set nothing. The outer optional is nil if
    /// `storedValue(at:)` has to be asked instead.
    @inlinable
    func rowScalar<T: PersistentScalar>(_ type: T.Type, at slot: Int) -> T?? {
        guard unsaved == nil, row >= 0, let host else { return nil }
        let reader = host._withUnsafeGuaranteedRef { $0.reader }
        return .some(reader._withUnsafeGuaranteedRef { T._read($0, row: row, slot: slot) })
    }
}

/// An object for the registrar, so that a getter can borrow it without counting a reference.
@usableFromInline
final class ModelRegistrar {
    @usableFromInline let registrar = ObservationRegistrar()
    init() {}
}

/// The values given to a subclass's own properties before its superclass is initialized.
public struct InitialValues {
    var values: UnsavedValues?
    let isIgnored: Bool

    /// Makes an empty set of values.
    public init() { isIgnored = false }

    /// The initial values of a model of that class or of a subclass, as the default value of its property. Where a fetch
    /// makes the model, they are ignored.
    /// - Parameter type: the class that declares the property.
    public init(of type: AnyObject.Type) { isIgnored = Materializing.begins(type) }

    /// Whether there are values that `ModelState.adopt(_:)` has not taken yet.
    public var isPending: Bool { values != nil }
}

/// The stored property behind each persisted property; has size 0.
public struct NoStorage: Sendable {
    /// Used by macro expansions.
    @inlinable public init() {}
}
