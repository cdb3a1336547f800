/// One entity in one context: where its rows are read from, and which models stand for them.
public final class ModelTable {
    /// Strong: models outlive the context's public object and still follow their relationships.
    let state: ContextState
    let layout: ModelLayout
    let binding: StoreBinding
    /// The rows of the version that the context has pinned.
    var source: RowSource {
        didSet { reader = Unmanaged.passUnretained(source) }
    }
    /// The same, for getters, which count no references. Unchecked, because nothing else can run while it is copied.
    @exclusivity(unchecked) @usableFromInline private(set) var reader: Unmanaged<RowSource>
    /// Whether a fetch asks for this entity, and not only getters: then its records are verified all at once.
    var isFetched = false
    /// Whether rows are still to be verified one by one before models of them are handed out.
    var verifiesRows = false
    private var registry = ModelRegistry()
    /// What the temporary identifiers of new models have in common.
    private(set) lazy var temporarySpace = NumberedIdentifiers(temporaryOf: layout.entityName).space

    init(state: ContextState, layout: ModelLayout, binding: StoreBinding, source: RowSource) {
        self.state = state
        self.layout = layout
        self.binding = binding
        self.source = source
        reader = Unmanaged.passUnretained(source)
    }

    var registeredCount: Int { registry.count }

    /// The model of a row that is there; made if there is none yet.
    func model(row: Int) -> any PersistentModel { model(of: layout.type, row: row) }

    private func model<T: PersistentModel>(of type: T.Type, row: Int) -> T {
        if let known = registry[row] { return unsafeDowncast(known, to: T.self) }
        return Materialising.run { make(type, row: row) }
    }

    /// The models of rows that are there, in that order; made where there are none yet. Much cheaper than one by one.
    func models(rows: [Int]) -> [any PersistentModel] {
        func make<T: PersistentModel>(_ type: T.Type) -> [any PersistentModel] {
            rows.withUnsafeBufferPointer { rows in models(count: rows.count, of: type) { rows[$0] } }
        }
        return make(layout.type)
    }

    /// As `models(rows:)`, for callers that know the type or one that it inherits from.
    /// - Returns: nothing where the table's models are of another type.
    func models<T: PersistentModel>(records: ArraySlice<RecordReference>, as type: T.Type) -> [T] {
        if layout.type == type {
            return records.withUnsafeBufferPointer { records in
                models(count: records.count, of: type) { records[$0].row }
            }
        }
        return models(rows: records.map(\.row)).compactMap { $0 as? T }
    }

    /// As `models(rows:)`; nil where the table's models are of another type.
    func models<T: PersistentModel>(rows: [Int], ifAllAre type: T.Type) -> [T]? {
        guard layout.type == type else { return nil }
        return rows.withUnsafeBufferPointer { rows in models(count: rows.count, of: type) { rows[$0] } }
    }

    /// Goes to the registry once for each of its pages that the rows lie in.
    @inline(__always)
    private func models<T: PersistentModel>(count: Int, of type: T.Type, _ row: (Int) -> Int) -> [T] {
        Materialising.run {
            [T](unsafeUninitializedCapacity: count) { models, made in
                guard let models = models.baseAddress else { return }
                while made < count {
                    let number = ModelRegistry.page(of: row(made))
                    let page = registry.beginFilling(number)
                    var added = 0
                    while made < count {
                        let row = row(made)
                        if ModelRegistry.page(of: row) != number { break }
                        let place = page.objects + ModelRegistry.place(of: row)
                        if let known = place.pointee {
                            // Only models of the layout's type are ever registered.
                            let model = known._withUnsafeGuaranteedRef { unsafeDowncast($0, to: T.self) }
                            (models + made).initialize(to: model)
                        } else {
                            let model = type.init(_modelState: ModelState(table: self, row: row))
                            place.pointee = Unmanaged.passUnretained(model)
                            (models + made).initialize(to: model)
                            added += 1
                        }
                        made += 1
                    }
                    registry.endFilling(page, number, added: added)
                }
            }
        }
    }

    private func make<T: PersistentModel>(_ type: T.Type, row: Int) -> T {
        let model = type.init(_modelState: ModelState(table: self, row: row))
        registry[row] = model
        return model
    }

    /// A model of a record that has gone, made when nobody had one of it before.
    func makeDeparted(_ frozen: FrozenRow) -> any PersistentModel {
        func make<T: PersistentModel>(_ type: T.Type) -> T {
            Materialising.run { type.init(_modelState: ModelState(departed: frozen)) }
        }
        return make(layout.type)
    }

    func registered(row: Int) -> (any PersistentModel)? {
        func cast<T: PersistentModel>(_ type: T.Type) -> (any PersistentModel)? {
            registry[row].map { unsafeDowncast($0, to: T.self) }
        }
        return cast(layout.type)
    }

    /// Makes a model that was new stand for the row that its save gave it.
    /// - Returns: the model that stands for the row already and goes on doing so.
    func adopt(_ model: any PersistentModel, row: Int) -> (any PersistentModel)? {
        if registry.register(model, row: row) { return nil }
        let present = registered(row: row)
        return present === model ? nil : present
    }

    func forget(row: Int) {
        registry[row] = nil
        if registry.count == 0 { state.tableEmptied() }
    }

    /// The models of rows, with their rows; a copy, so that models may come and go meanwhile.
    /// - Parameter ranges: where to look; nil for everywhere.
    func registeredModels(in ranges: [Range<Int>]? = nil) -> [(row: Int, model: any PersistentModel)] {
        let rows = ranges.map { $0.flatMap(registry.rows(in:)) } ?? registry.rows(in: 0..<Int.max)
        return rows.compactMap { row in registered(row: row).map { (row, $0) } }
    }
}

/// A context's view of one store: the version it has pinned.
final class StoreBinding {
    let store: AnyStore
    var version: (any StoreVersion)?
    /// Whether the pinned version's values have been checked against the models' types, in all tables that are fetched.
    var isVerified = false

    init(store: AnyStore) { self.store = store }
}
