import Synchronization

/// One entity in one context: the source of its rows, and their models.
@usableFromInline
final class ModelTable: ModelHost {
    /// Strong: models outlive the context's public object and still follow their relationships.
    let state: ContextState
    let layout: ModelLayout
    let session: StoreSession
    /// The rows of the version that the context has pinned.
    var source: RowSource {
        get { current }
        set {
            let old = current
            locked {
                current = newValue
                reader = Unmanaged.passUnretained(newValue)
            }
            withExtendedLifetime(old) {}
        }
    }
    // Written under the lock, for the one who reads it on another thread.
    private var current: RowSource
    /// The rows, for a model whose last release is on whatever thread.
    var sourceOnAnyThread: RowSource { locked { current } }
    /// Whether rows remain to be verified before their models are returned.
    var verifiesRows = false
    // Models take themselves out on the thread of their last release; all else happens where the context is used. No model
    // is released under the lock: it would wait for it.
    private let lock = Mutex(())
    private var identityMap = IdentityMap()
    /// What the temporary identifiers of new models have in common.
    private(set) lazy var temporaryNamespace = IdentifierNamespace(temporaryOf: layout.entityName).namespace

    init(state: ContextState, layout: ModelLayout, session: StoreSession, source: RowSource) {
        self.state = state
        self.layout = layout
        self.session = session
        current = source
        super.init(source, ofEntity: layout.entityName)
    }

    @inline(__always)
    private func locked<R>(_ body: () -> R) -> R {
        var result: R?
        lock.withLock { _ in result = body() }
        return result.unsafelyUnwrapped
    }

    /// The model of an existing row; made if it has none yet.
    func model(row: Int) -> any PersistentModel { model(of: layout.type, row: row) }

    private func model<T: PersistentModel>(of type: T.Type, row: Int) -> T {
        if let known = locked({ identityMap.object(row: row) }) { return unsafeDowncast(known, to: T.self) }
        let model = Materializing.make(type, ModelState(table: self, row: row))
        return register(model, row: row).map { unsafeDowncast($0, to: T.self) } ?? model
    }

    /// Makes a model stand for a row.
    /// - Returns: the one that does so already; the model given then no longer counts as the row's.
    private func register(_ model: any PersistentModel, row: Int) -> AnyObject? {
        switch locked({ identityMap.register(model, row: row) }) {
        case .registered(let generation):
            if generation != 0 { model._modelState.generation = generation }
            return nil
        case .present(let present):
            model._modelState.generation = IdentityMap.surplus
            return present
        }
    }

    /// The models of existing rows, in that order; made if they have none yet. Much cheaper than one by one.
    func models(rows: [Int]) -> [any PersistentModel] {
        func make<T: PersistentModel>(_ type: T.Type) -> [any PersistentModel] {
            rows.withUnsafeBufferPointer { rows in models(count: rows.count, of: type) { rows[$0] } }
        }
        return make(layout.type)
    }

    /// Like `models(rows:)`, for callers that know the type or one that it inherits from.
    /// - Returns: an empty array if the table's models are of another type.
    func models<T: PersistentModel>(records: ArraySlice<RecordReference>, as type: T.Type) -> [T] {
        if layout.type == type {
            return records.withUnsafeBufferPointer { records in
                models(count: records.count, of: type) { records[$0].row }
            }
        }
        return models(rows: records.map(\.row)).compactMap { $0 as? T }
    }

    /// Like `models(rows:)`; nil if the table's models are of another type.
    func models<T: PersistentModel>(rows: [Int], ifAllAre type: T.Type) -> [T]? {
        guard layout.type == type else { return nil }
        return rows.withUnsafeBufferPointer { rows in models(count: rows.count, of: type) { rows[$0] } }
    }

    /// Goes to the identity map twice for each of its pages that the rows lie in: models are made without the lock, because
    /// making them runs the default values of their properties.
    @inline(__always)
    private func models<T: PersistentModel>(count: Int, of type: T.Type, _ row: (Int) -> Int) -> [T] {
        var missing: [Int] = []
        return Materializing.makeMany(type) { beginNext in
            [T](unsafeUninitializedCapacity: count) { models, made in
                guard let models = models.baseAddress else { return }
                while made < count {
                    let number = IdentityMap.page(of: row(made))
                    var end = made + 1
                    while end < count, IdentityMap.page(of: row(end)) == number { end += 1 }
                    missing.removeAll(keepingCapacity: true)
                    let hasPage = locked {
                        guard let page = identityMap.page(number) else { return false }
                        for place in made..<end {
                            if let known = page.object(row: row(place)) {
                                // Only models of the layout's type are ever registered.
                                (models + place).initialize(to: unsafeDowncast(known, to: T.self))
                            } else {
                                missing.append(place)
                            }
                        }
                        return true
                    }
                    if hasPage {
                        make(type, at: missing, in: models, ofPage: number, row, beginNext)
                    } else {
                        make(type, at: made..<end, in: models, ofPage: number, row, beginNext)
                    }
                    made = end
                }
            }
        }
    }

    @inline(__always)
    private func make<T: PersistentModel>(
        _ type: T.Type, at places: some RandomAccessCollection<Int>, in models: UnsafeMutablePointer<T>,
        ofPage number: Int, _ row: (Int) -> Int, _ beginNext: () -> Void
    ) {
        if places.isEmpty { return }
        state.hold(places.count)
        for place in places {
            beginNext()
            (models + place).initialize(to: type.init(_modelState: ModelState(countedIn: self, row: row(place))))
        }
        var others: [(place: Int, outcome: IdentityMap.Outcome)] = []
        locked {
            let page = identityMap.beginFilling(number)
            for place in places {
                if let page, page.put(models[place], row: row(place)) { continue }
                let outcome = identityMap.register(models[place], row: row(place))
                if case .registered(0) = outcome { continue }
                others.append((place, outcome))
            }
        }
        for (place, outcome) in others {
            switch outcome {
            case .registered(let generation): models[place]._modelState.generation = generation
            case .present(let present):
                // The same row again, or made meanwhile by a default value.
                models[place]._modelState.generation = IdentityMap.surplus
                models[place] = unsafeDowncast(present, to: T.self)
            }
        }
    }

    /// Makes the model of a record that is gone, for which there was no model before.
    func makeDetached(_ frozen: FrozenRow) -> any PersistentModel {
        func make<T: PersistentModel>(_ type: T.Type) -> T {
            Materializing.make(type, ModelState(detached: frozen))
        }
        return make(layout.type)
    }

    func registered(row: Int) -> (any PersistentModel)? {
        func cast<T: PersistentModel>(_ type: T.Type) -> (any PersistentModel)? {
            locked { identityMap.object(row: row) }.map { unsafeDowncast($0, to: T.self) }
        }
        return cast(layout.type)
    }

    /// Whether a row has a model, also one whose last release has begun on another thread.
    func isOccupied(row: Int) -> Bool { locked { identityMap.isOccupied(row: row) } }

    /// Makes a new model that of the row that its save gave it.
    /// - Returns: the model that the row already has and keeps; nil if it had none.
    func adopt(_ model: any PersistentModel, row: Int) -> (any PersistentModel)? {
        guard let present = register(model, row: row) else { return nil }
        func cast<T: PersistentModel>(_ type: T.Type) -> any PersistentModel { unsafeDowncast(present, to: T.self) }
        return cast(layout.type)
    }

    /// Notes that an unsaved model is about to have another value in an indexed slot.
    func noteValue(_ value: StoredValue, at slot: Int, of model: borrowing ModelState) {
        guard let tracker = state.tracker else { return }
        if model.flags.contains(.isInserted) {
            tracker.inserted.noteValue(value, at: slot, in: self, place: Int(model.place))
        } else if model.flags.contains(.isChanged) {
            tracker.changed.noteValue(value, at: slot, in: self, place: Int(model.place))
        }
    }

    /// Forgets what was noted of the values of unsaved models, because they have changed in some other way.
    func forgetValues() { state.tracker?.forgetValues() }

    override func modelIsGone(row: Int, generation: UInt16) {
        if row >= 0 { forget(row: row, generation: generation) }
        state.letGo()
    }

    /// A row as it is now.
    func baseRow(_ row: Int) -> BaseRow {
        BaseRow(source, row: row, values: session.changingValues(ofRow: row, entity: layout.entityName))
    }

    func forget(row: Int, generation: UInt16) {
        lock.withLock { _ in identityMap.forget(row: row, generation: generation) }
    }

    var hasModels: Bool { locked { !identityMap.isEmpty } }

    /// The rows that have models; in `ranges` only, unless that is nil.
    func registeredRows(in ranges: [Range<Int>]? = nil) -> [Int] {
        locked { (ranges ?? [0..<Int.max]).flatMap(identityMap.objects(in:)) }.map(\.row)
    }

    /// The registered models with their rows; in `ranges` only, unless that is nil. A copy, so that models may be
    /// registered and released meanwhile.
    func registeredModels(in ranges: [Range<Int>]? = nil) -> [(row: Int, model: any PersistentModel)] {
        func cast<T: PersistentModel>(_ type: T.Type) -> [(row: Int, model: any PersistentModel)] {
            locked { (ranges ?? [0..<Int.max]).flatMap(identityMap.objects(in:)) }.map {
                ($0.row, unsafeDowncast($0.object, to: T.self))
            }
        }
        return cast(layout.type)
    }
}
