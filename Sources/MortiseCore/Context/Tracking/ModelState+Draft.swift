/// What the state of a model means to its context.
extension ModelState {
    /// The context's table of the model's entity; nil for a model without a context.
    var table: ModelTable? {
        @inline(__always) get { host.map { unsafeDowncast($0.takeUnretainedValue(), to: ModelTable.self) } }
        set {
            let old = host
            newValue?.state.hold()
            host = newValue.map { .passUnretained($0) }
            old?._withUnsafeGuaranteedRef { unsafeDowncast($0, to: ModelTable.self).state.letGo() }
        }
    }

    /// The values that the model has itself; nil for a model that shows its row alone.
    var draft: Draft? {
        @inline(__always) get { unsaved.map { unsafeDowncast($0, to: Draft.self) } }
        set { unsaved = newValue }
    }

    /// The state of a fetched model.
    init(table: ModelTable, row: Int) {
        table.state.hold()
        self.init(countedIn: table, row: row)
    }

    /// Like `init(table:row:)`, for a model that the table's state already counts.
    init(countedIn table: ModelTable, row: Int) {
        self.init()
        host = .passUnretained(table)
        self.row = row
    }

    /// The state of a model that shows a row as stored and is not registered.
    init(readingOnly frozen: FrozenRow) {
        let draft = Draft()
        draft.frozen = frozen
        draft.identifier = frozen.source.identifier(ofRow: frozen.row)
        self.init(draft)
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
        self.init(draft)
        flags = .isDeleted
    }

    /// The stored form of an attribute: the model's own value, else the row's, else null.
    func storedValue(at slot: Int) -> StoredValue {
        if let value = draft?.stored(at: slot) { return value }
        return rowValue(at: slot)
    }

    /// The row's value in a slot, whatever the model has set; null without a row. Also null if it cannot be read; the
    /// model's context then keeps the error.
    func rowValue(at slot: Int) -> StoredValue { Self.rowValue(row, table, draft?.frozen, at: slot) }

    static func rowValue(_ row: Int, _ own: ModelTable?, _ frozen: FrozenRow?, at slot: Int) -> StoredValue {
        let (place, table) = row >= 0 ? (row, own) : (frozen?.row ?? -1, frozen?.table)
        guard let table else { return .null }
        do {
            return try (row >= 0 ? table.source : frozen?.source)?.readValue(row: place, slot: slot) ?? .null
        } catch {
            guard row >= 0, let rows = table.source as? SessionRows else {
                table.state.latch(error)
                return .null
            }
            table.state.latchListFailure(error)
            // For a list: what was known before the store left it out.
            return rows.storedForm(row: place, slot: slot)
        }
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
        draft.settled.remove(slot)
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
        setFirst(value, at: slot)
    }

    /// Sets a new model's property to its first value, which may be the one of its declaration.
    mutating func setFirst(_ value: Draft.Value, at slot: Int) {
        set(value, at: slot)
        if value.leadsSomewhere { draft?.assigned.insert(slot) }
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
            Going.begin(identifier, in: ObjectIdentifier(frozen.table.state))
        }
    }

    /// Takes the values that a subclass's properties were given before this part of the model was initialized.
    public mutating func adopt(_ values: inout InitialValues) {
        guard let pending = values.draft else { return }
        values.draft = nil
        if !flags.contains(.ignoresInitialValues), row < 0 { ensureDraft().merge(pending) }
    }
}

extension InitialValues {
    var draft: Draft? {
        get { values.map { unsafeDowncast($0, to: Draft.self) } }
        set { values = newValue }
    }

    mutating func initialize(_ value: Draft.Value, at slot: Int) {
        if isIgnored { return }
        let draft = self.draft ?? Draft()
        draft[slot] = value
        draft.changed.insert(slot)
        if value.leadsSomewhere { draft.assigned.insert(slot) }
        self.draft = draft
    }
}
