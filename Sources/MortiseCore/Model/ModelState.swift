public import Observation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The one stored property that `@Model` adds to a class: where the model's values are.
///
/// A fetched model points at a row of its context's version of the store and has nothing else; values of its own exist
/// only while they differ from the store's. The rest is for macro expansions and for hand-written models that are made
/// with `createBackingData()`.
///
/// Expansions declare the property `@exclusivity(unchecked)`: nothing that reads it calls out to other code meanwhile,
/// and the check would double the time of a getter.
public struct ModelState: ~Copyable {
    struct Flags: OptionSet {
        let rawValue: UInt8
        /// Made for a model that is being fetched: the defaults of its properties are not values of it.
        static let ignoresInitialValues = Flags(rawValue: 1)
        static let isInserted = Flags(rawValue: 2)
        static let isChanged = Flags(rawValue: 4)
        static let isDeleted = Flags(rawValue: 8)
    }

    /// The context's table of the model's entity; nil for a model without context.
    var table: ModelTable? {
        get { tableReference?.takeUnretainedValue() }
        set {
            let old = tableReference
            tableReference = newValue.map(Unmanaged.passRetained)
            old?.release()
        }
    }
    // Counted by hand, because a getter must not count references at all: two atomic operations cost more than the read.
    @usableFromInline var tableReference: Unmanaged<ModelTable>?
    /// The row of the table's source; negative for a model that is not in the store.
    @usableFromInline var row: Int = -1
    @usableFromInline var draft: Draft?
    var flags: Flags = []
    // Counted by hand, as the table is.
    @usableFromInline var registrarReference: Unmanaged<ModelRegistrar>?
    /// One more than the model's place in the list of its context's unsaved changes that it is in.
    var place: UInt32 = 0

    /// The state of a model that is made by one of its own initialisers.
    public init() {
        if Materialising.isActive { flags = .ignoresInitialValues }
    }

    /// The state of a model that is fetched.
    init(table: ModelTable, row: Int) {
        tableReference = .passRetained(table)
        self.row = row
    }

    /// The state of a model that shows a row as stored, beside the model that is registered for it.
    init(looking frozen: FrozenRow) {
        let draft = Draft()
        draft.frozen = frozen
        draft.identifier = frozen.source.identifier(ofRow: frozen.row)
        self.draft = draft
    }

    /// The state of a model whose record has gone.
    init(departed frozen: FrozenRow) {
        self.init(looking: frozen)
        flags = .isDeleted
    }

    /// The state of a model that stands in for a record that its store does not have.
    init(missing identifier: PersistentIdentifier) {
        let draft = Draft()
        draft.identifier = identifier
        self.draft = draft
        flags = .isDeleted
    }

    /// The state of a model that takes over a draft.
    init(draft: Draft?) { self.draft = draft }

    deinit {
        registrarReference?.release()
        guard let tableReference else { return }
        if row >= 0 { tableReference._withUnsafeGuaranteedRef { $0.forget(row: row) } }
        tableReference.release()
    }

    /// Made on first use, because most fetched models are never observed.
    public var registrar: ObservationRegistrar {
        mutating get {
            if registrarReference == nil { makeRegistrar() }
            return registrarReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.registrar }
        }
    }

    /// The registrar if anyone has observed the model yet.
    var existingRegistrar: ObservationRegistrar? {
        registrarReference?._withUnsafeGuaranteedRef { $0.registrar }
    }

    // Never inlined, so that the way of every read but the first is short.
    @inline(never) @usableFromInline
    mutating func makeRegistrar() { registrarReference = .passRetained(ModelRegistrar()) }

    /// Tells whoever is tracking reads on this thread that a property was read.
    /// - Parameter model: the model whose state this is.
    @inlinable
    public mutating func noteAccess<Model: Observable, Member>(to keyPath: KeyPath<Model, Member>, of model: Model) {
        if registrarReference == nil { makeRegistrar() }
        registrarReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.registrar.access(model, keyPath: keyPath) }
    }

    /// An attribute straight from the row, for a model that has set nothing; the value is in both optionals, so that the
    /// outer nil leaves the question to `storedValue(at:)`.
    @inlinable
    func rowScalar<T: PersistentScalar>(_ type: T.Type, at slot: Int) -> T?? {
        guard draft == nil, row >= 0, let tableReference else { return nil }
        let reader = tableReference._withUnsafeGuaranteedRef { $0.reader }
        return .some(reader._withUnsafeGuaranteedRef { T._read($0, row: row, slot: slot) })
    }

    /// The stored form of an attribute: the model's own value, else the row's, else null.
    func storedValue(at slot: Int) -> StoredValue {
        if let value = draft?.stored(at: slot) { return value }
        return rowValue(at: slot)
    }

    /// What the row has in a slot, whatever the model has set; null without a row. So it is where the value cannot be read,
    /// which the model's context remembers.
    func rowValue(at slot: Int) -> StoredValue {
        let (place, table) = row >= 0 ? (row, self.table) : (draft?.frozen?.row ?? -1, draft?.frozen?.table)
        guard let table else { return .null }
        do {
            return try (row >= 0 ? table.source : draft?.frozen?.source)?.readValue(row: place, slot: slot) ?? .null
        } catch {
            table.state.latch(error)
            return .null
        }
    }

    /// The row that a model without a table reads from, if it ever had one.
    var frozen: FrozenRow? { table == nil ? draft?.frozen : nil }

    /// Drops what a save has written. The values of ephemeral attributes are nowhere else and stay.
    mutating func dropSavedDraft(_ layout: RecordLayout) {
        guard let saved = draft else { return }
        draft = nil
        if layout.ephemeralSlots.isEmpty { return }
        for slot in layout.ephemeralSlots {
            if case .unset = saved[slot] { continue }
            ensureDraft()[slot] = saved[slot]
        }
    }

    mutating func set(_ value: Draft.Value, at slot: Int) {
        let draft = ensureDraft()
        draft[slot] = value
        draft.changed.insert(slot)
    }

    mutating func set(stored value: StoredValue, at slot: Int) {
        let draft = ensureDraft()
        draft.set(value, at: slot)
        draft.changed.insert(slot)
    }

    mutating func ensureDraft() -> Draft {
        if let draft { return draft }
        let draft = Draft()
        self.draft = draft
        return draft
    }

    mutating func initialize(_ value: Draft.Value, at slot: Int) {
        if flags.contains(.ignoresInitialValues) { return }
        set(value, at: slot)
    }

    // What the generic initialisers come to in the module of the model, so that no value is handled by its metadata.
    @usableFromInline
    mutating func initialize(stored value: consuming StoredValue, at slot: Int) {
        if flags.contains(.ignoresInitialValues) { return }
        set(stored: value, at: slot)
    }

    /// Makes a model without context a new one of a table's context.
    mutating func enter(_ table: ModelTable) {
        self.table = table
        flags = .isInserted
    }

    /// Makes a new model stand for the row that a save gave it.
    mutating func settle(in row: Int, _ layout: RecordLayout) {
        flags = []
        self.row = row
        dropSavedDraft(layout)
    }

    /// The changes of a to-many relationship of a new model that nobody observes, which has some already; counts as a
    /// change of it.
    func membersOfNew(at slot: Int) -> MemberChanges? {
        guard flags.contains(.isInserted), registrarReference == nil, let draft,
            case .models(let changes) = draft[slot]
        else { return nil }
        draft.changed.insert(slot)
        return changes
    }

    /// Takes the values that a subclass's properties were given before this part of the model existed.
    public mutating func adopt(_ values: inout InitialValues) {
        guard let pending = values.draft else { return }
        values.draft = nil
        if !flags.contains(.ignoresInitialValues), row < 0 { ensureDraft().merge(pending) }
    }
}

/// An object for the registrar, so that a getter can borrow it without counting a reference.
@usableFromInline
final class ModelRegistrar {
    @usableFromInline let registrar = ObservationRegistrar()
    init() {}
}

/// The values that a subclass's own properties are given before its superclass is initialised.
public struct InitialValues {
    var draft: Draft?
    private let isIgnored: Bool

    public init() { isIgnored = Materialising.isActive }

    /// Whether there are values that `ModelState.adopt(_:)` has not taken yet.
    public var isPending: Bool { draft != nil }

    mutating func initialize(_ value: Draft.Value, at slot: Int) {
        if isIgnored { return }
        let draft = self.draft ?? Draft()
        draft[slot] = value
        draft.changed.insert(slot)
        self.draft = draft
    }
}

/// The stored property behind each persisted property; takes no room.
public struct NoStorage: Sendable {
    @inlinable public init() {}
}

/// Whether the current thread is making a model for a row that was fetched. A model's initialisers cannot be told, since
/// property defaults run before any argument is looked at.
enum Materialising {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var isActive: Bool { pthread_getspecific(key) != nil }

    static func run<R>(_ body: () -> R) -> R {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
        defer { pthread_setspecific(key, outer) }
        return body()
    }
}
