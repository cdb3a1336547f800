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
    }

    /// The context's table of the model's entity; nil for a model without a context.
    var table: ModelTable? {
        get { tableReference?.takeUnretainedValue() }
        set {
            let old = tableReference
            newValue?.state.hold()
            tableReference = newValue.map(Unmanaged.passUnretained)
            old?._withUnsafeGuaranteedRef { $0.state.letGo() }
        }
    }
    // The table is there as long as its state counts this model. A getter must not count references at all: two atomic
    // operations cost more than the read.
    @usableFromInline var tableReference: Unmanaged<ModelTable>?
    /// The row of the table's source; negative for a model that is not in the store.
    @usableFromInline var row: Int = -1
    @usableFromInline var draft: Draft?
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

    /// The state of a fetched model.
    init(table: ModelTable, row: Int) {
        table.state.hold()
        self.init(countedIn: table, row: row)
    }

    /// Like `init(table:row:)`, for a model that the table's state already counts.
    init(countedIn table: ModelTable, row: Int) {
        tableReference = .passUnretained(table)
        self.row = row
    }

    /// The state of a model that shows a row as stored and is not registered.
    init(readingOnly frozen: FrozenRow) {
        let draft = Draft()
        draft.frozen = frozen
        draft.identifier = frozen.source.identifier(ofRow: frozen.row)
        self.draft = draft
    }

    /// The state of a model whose record is gone.
    init(detached frozen: FrozenRow) {
        self.init(readingOnly: frozen)
        flags = .isDeleted
    }

    /// The state of a placeholder for a record that the store does not have.
    init(missing identifier: PersistentIdentifier) {
        let draft = Draft()
        draft.identifier = identifier
        self.draft = draft
        flags = .isDeleted
    }

    /// The state of a model that takes over a draft.
    init(draft: Draft?) { self.draft = draft }

    deinit {
        if flags.contains(.isGoing), draft?.frozen != nil { Going.end() }
        registrarReference?.release()
        guard let tableReference else { return }
        let (row, generation) = (row, generation)
        tableReference._withUnsafeGuaranteedRef { table in
            if row >= 0 { table.forget(row: row, generation: generation) }
            table.state.letGo()
        }
    }

    /// The observation registrar; created on first use, because most fetched models are never observed.
    public var registrar: ObservationRegistrar {
        mutating get {
            if registrarReference == nil { makeRegistrar() }
            return registrarReference.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.registrar }
        }
    }

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
        guard draft == nil, row >= 0, let tableReference else { return nil }
        let reader = tableReference._withUnsafeGuaranteedRef { $0.reader }
        return .some(reader._withUnsafeGuaranteedRef { T._read($0, row: row, slot: slot) })
    }

    /// The stored form of an attribute: the model's own value, else the row's, else null.
    func storedValue(at slot: Int) -> StoredValue {
        if let value = draft?.stored(at: slot) { return value }
        return rowValue(at: slot)
    }

    /// As `storedValue`; nil for a value that cannot be stored, and for one that a new model has not set.
    func comparableValue(at slot: Int) -> StoredValue? {
        switch draft?[slot] {
        case .value(let value)?: value
        case nil, .unset?: row >= 0 ? rowValue(at: slot) : nil
        default: nil
        }
    }

    /// The row's value in a slot, whatever the model has set; null without a row. Also null if it cannot be read; the
    /// model's context then keeps the error.
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

    /// Whether the model shows that value, and its row holds it inline: reading external data to compare them would
    /// cost more than writing them.
    func hasInRow(_ value: StoredValue, at slot: Int) -> Bool {
        guard let table, !table.layout.record.ephemeralSlots.contains(slot) else { return false }
        if let draft, case .unset = draft[slot] {} else if draft != nil { return false }
        return table.source.storedForm(row: row, slot: slot).isIdentical(to: value)
    }

    /// Whether the model's context is gone, or the model was deleted from it.
    var hasOutlivedContext: Bool { table.map(\.state.isGone) ?? (draft?.frozen != nil) }

    /// The row that a model without a table reads from; nil if it never had one.
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
        if let table, table.indexedSlots.contains(slot) { table.forgetValues() }
        let draft = ensureDraft()
        draft[slot] = value
        draft.changed.insert(slot)
        draft.released.remove(slot)
    }

    mutating func set(stored value: StoredValue, at slot: Int) {
        if let table, table.indexedSlots.contains(slot) { table.noteValue(value, at: slot, of: self) }
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

    // What the generic initializers come to in the module of the model, so that no value is handled by its metadata.
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

    /// The changes of a to-many relationship of a new model; nil if it has not been set. Marks the property as changed.
    func membersOfNew(at slot: Int) -> MemberChanges? {
        guard flags.contains(.isInserted), let draft, case .models(let changes) = draft[slot] else { return nil }
        draft.changed.insert(slot)
        draft.released.remove(slot)
        return changes
    }

    /// Whether a store has, or had, a record of this model.
    var mayBeStored: Bool { row >= 0 || draft?.frozen != nil }

    /// Used by macro expansions, at the beginning of `deinit`: the model leaves its context and shows the same values on.
    /// What it sets from here on is no change of the context, which would keep an object that is going.
    public mutating func _beginDeinit() {
        // A superclass has a `deinit` as well.
        if flags.contains(.isGoing) { return }
        flags.insert(.isGoing)
        if let table {
            if row >= 0 {
                let draft = ensureDraft()
                let source = table.sourceOnAnyThread
                if source.contains(row: row) {
                    draft.identifier = source.identifier(ofRow: row)
                    draft.frozen = FrozenRow(table: table, source: source, row: row)
                }
                table.forget(row: row, generation: generation)
                row = -1
            }
            self.table = nil
        }
        if let draft, let frozen = draft.frozen, let identifier = draft.identifier {
            Going.begin(identifier, in: frozen.table.state)
        }
    }

    /// Takes the values that a subclass's properties were given before this part of the model was initialized.
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

/// The values given to a subclass's own properties before its superclass is initialized.
public struct InitialValues {
    var draft: Draft?
    private let isIgnored: Bool

    /// Makes an empty set of values.
    public init() { isIgnored = false }

    /// The initial values of a model of that class or of a subclass, as the default value of its property. Where a fetch
    /// makes the model, they are ignored.
    /// - Parameter type: the class that declares the property.
    public init(of type: AnyObject.Type) { isIgnored = Materializing.begins(type) }

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

/// The stored property behind each persisted property; has size 0.
public struct NoStorage: Sendable {
    /// Used by macro expansions.
    @inlinable public init() {}
}
