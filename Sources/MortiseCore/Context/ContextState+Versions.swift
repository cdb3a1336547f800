import Observation

extension ContextState {
    /// Moves to the latest version of a store. Models whose rows are gone keep their last values and leave the context.
    ///
    /// The observers of models whose values differ are told when all tables are at the new version and, in a save, when the
    /// stores are unlocked again: what they read or fetch then is of that version, also where they are told that a value is
    /// about to change.
    /// - Throws: `ModelContextError.invalidStoredValue` where the new version holds what a property's type does not know.
    func refresh(_ binding: StoreBinding) throws {
        if let latest = binding.store.version { try refresh(binding, to: latest) }
    }

    /// Moves to a version of a store that is not older than the context's.
    /// - Parameter isOwn: whether all that differs from the context's version is what it has just saved, without a
    ///   deletion: its models show that already, and their observers have been told.
    func refresh(_ binding: StoreBinding, to latest: any StoreVersion, isOwn: Bool = false) throws {
        let moves = latest.number != binding.version?.number
        guard moves || !binding.isVerified else { return }
        // Models that only getters have made are verified row by row, until their values may change under them.
        for table in tables.values where table.binding === binding && (moves || table.isFetched) {
            try binding.store.verify(latest, table.layout)
            table.verifiesRows = false
        }
        binding.isVerified = true
        move(binding, to: latest, isOwn: isOwn)
    }

    /// Makes sure that what was just found out from the pinned versions lacks nothing.
    /// - Throws: what `StoreVersion.check()` throws.
    func checkVersions() throws {
        for binding in bindings { try binding.version?.check() }
    }

    private func move(_ binding: StoreBinding, to latest: any StoreVersion, isOwn: Bool) {
        let previous = binding.version
        var differing: [ValueChange] = []
        var sources: [(table: ModelTable, source: RowSource)] = []
        for table in tables.values where table.binding === binding {
            let source = latest.rows(ofEntity: table.layout.entityName) ?? RowSource()
            guard source !== table.source else { continue }
            sources.append((table, source))
            if isOwn { continue }
            for (row, model) in table.registeredModels(in: source.rowsThatMayDiffer(from: table.source)) {
                if !source.contains(row: row) {
                    leave(model, table: table, lastIn: previous)
                } else if let change = ValueChange(
                    of: model, layout: table.layout, { table.source.storedForm(row: row, slot: $0) },
                    { source.storedForm(row: row, slot: $0) })
                {
                    differing.append(change)
                }
            }
        }
        binding.version = latest
        for (table, source) in sources { table.source = source }
        if !deleted.isEmpty { hasStaleDeletions = true }
        for change in differing { change.willSet() }
        for change in differing { change.didSet() }
    }

    /// A model whose record is gone: it keeps its values and its identity, and belongs to no context any more.
    /// - Parameter version: the last one that had the record; nil for a store without versions.
    func leave(_ model: any PersistentModel, table: ModelTable, lastIn version: (any StoreVersion)? = nil) {
        let row = model._modelState.row
        guard row >= 0 else { return }
        let draft = model._modelState.ensureDraft()
        let identifier = table.source.identifier(ofRow: row)
        draft.identifier = identifier
        draft.frozen = FrozenRow(table: table, source: table.source, row: row, version: version)
        departed.add(model, identifier)
        if model._modelState.flags.contains(.isChanged) { vanish(model) }
        forgetDeletion(of: model)
        model._modelState.flags = .isDeleted
        model._modelState.row = -1
        model._modelState.table = nil
        table.forget(row: row)
    }

    /// Takes a record's values over from a snapshot and tells the observers of its model.
    @discardableResult
    func put(
        _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, into table: ModelTable
    ) throws -> Int {
        guard let rows = table.source as? SnapshotRows else {
            throw ModelContextError.storeContract(
                store: table.binding.store.identifier, fault: "It hands out snapshots although it has versions.")
        }
        guard let row = rows.row(of: identifier), let model = table.registered(row: row) else {
            return rows.put(identifier, values)
        }
        let change = ValueChange(
            of: model, layout: table.layout, { rows.value(row: row, slot: $0) }, { values[$0] })
        change?.willSet()
        rows.put(identifier, values)
        change?.didSet()
        return row
    }
}

/// The properties of one observed model whose stored values are about to change under it.
///
/// While its context has stores locked, observers are not told: `ContextState.holdingObservers(_:)` does so afterwards.
struct ValueChange {
    private let model: any PersistentModel
    private let state: ContextState?
    private let registrar: ObservationRegistrar
    private let keyPaths: [AnyKeyPath]

    /// Nil where nobody observes the model, or nothing differs that the model shows: its own unsaved values hide the
    /// store's.
    init?(
        of model: any PersistentModel, layout: ModelLayout, _ old: (Int) -> StoredValue, _ new: (Int) -> StoredValue
    ) {
        guard let registrar = model._modelState.existingRegistrar else { return nil }
        self.init(
            model, registrar,
            slots: layout.properties.indices.filter { slot in
                if case .unset = model._modelState.draft?[slot] ?? .unset {
                    return !old(slot).isIdentical(to: new(slot))
                }
                return false
            }, layout)
    }

    /// The properties that a model's unsaved changes hide, which it is about to lose.
    init?(droppingDraftOf model: any PersistentModel, layout: ModelLayout) {
        guard let registrar = model._modelState.existingRegistrar, let draft = model._modelState.draft else {
            return nil
        }
        self.init(model, registrar, slots: draft.changed.slots, layout)
    }

    /// One property that is about to be set from outside its accessor.
    init?(settingSlot slot: Int, of model: any PersistentModel, layout: ModelLayout) {
        guard let registrar = model._modelState.existingRegistrar else { return nil }
        self.init(model, registrar, slots: [slot], layout)
    }

    private init?(
        _ model: any PersistentModel, _ registrar: ObservationRegistrar, slots: [Int], _ layout: ModelLayout
    ) {
        if slots.isEmpty { return nil }
        self.model = model
        self.state = model._modelState.table?.state
        self.registrar = registrar
        self.keyPaths = slots.map { layout.observedKeyPath(of: $0) }
    }

    func willSet() {
        if let state, state.isHoldingObservers { state.hold(self) } else { notify(model, isWill: true) }
    }
    func didSet() {
        if state?.isHoldingObservers != true { notify(model, isWill: false) }
    }

    private func notify(_ model: any PersistentModel, isWill: Bool) {
        for path in keyPaths {
            func call<Root: PersistentModel, Value>(_ root: Root.Type, _ value: Value.Type) {
                guard let path = path as? KeyPath<Root, Value>, let model = model as? Root else { return }
                if isWill { registrar.willSet(model, keyPath: path) } else { registrar.didSet(model, keyPath: path) }
            }
            guard let root = type(of: path).rootType as? any PersistentModel.Type else { continue }
            func open<Value>(_ value: Value.Type) { call(root, value) }
            _openExistential(type(of: path).valueType, do: open)
        }
    }
}

extension AnyStore {
    /// Checks, once for each state that was not made by typed models of this process, that every stored value is one that
    /// its property's type knows.
    func verify(_ version: any StoreVersion, _ layout: ModelLayout) throws {
        guard layout.needsVerification, let rows = version.rows(ofEntity: layout.entityName),
            rows.needsVerification(for: layout)
        else { return }
        for row in 0..<rows.endRow where rows.contains(row: row) { try rows.verify(row: row, layout) }
        rows.noteVerified(for: layout)
    }
}

extension RowSource {
    /// - Throws: `ModelContextError.invalidStoredValue` for the first value of a row that its property's type does not know.
    func verify(row: Int, _ layout: ModelLayout) throws {
        for slot in layout.checks.indices {
            guard let check = layout.checks[slot], !check(value(row: row, slot: slot)) else { continue }
            throw ModelContextError.invalidStoredValue(
                entity: layout.entityName, property: layout.properties[slot].name, model: identifier(ofRow: row),
                found: CodedForm(value: value(row: row, slot: slot)).description)
        }
    }
}
