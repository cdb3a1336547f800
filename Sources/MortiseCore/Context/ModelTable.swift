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
    private var registry = ModelRegistry()

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
    func models(rows: some Sequence<Int>) -> [any PersistentModel] {
        func make<T: PersistentModel>(_ type: T.Type) -> [any PersistentModel] { models(rows: rows, of: type) }
        return make(layout.type)
    }

    /// As `models(rows:)`, for callers that know the type or one that it inherits from.
    /// - Returns: nothing where the table's models are of another type.
    func models<T: PersistentModel>(rows: some Sequence<Int>, as type: T.Type) -> [T] {
        if layout.type == type { return models(rows: rows, of: type) }
        return models(rows: rows).compactMap { $0 as? T }
    }

    private func models<T: PersistentModel>(rows: some Sequence<Int>, of type: T.Type) -> [T] {
        Materialising.run {
            var models: [T] = []
            models.reserveCapacity(rows.underestimatedCount)
            for row in rows {
                if let known = registry[row] {
                    // Only models of the layout's type are ever registered.
                    models.append(unsafeDowncast(known, to: T.self))
                } else {
                    models.append(make(type, row: row))
                }
            }
            return models
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
    func adopt(_ model: any PersistentModel, row: Int) { registry[row] = model }

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
    /// Whether the pinned version's values have been checked against the models' types.
    var isVerified = false

    init(store: AnyStore) { self.store = store }
}
