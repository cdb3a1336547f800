/// One entity in one context: where its rows are read from, and which models stand for them.
public final class ModelTable {
    /// Strong: models outlive the context's public object and still follow their relationships.
    let state: ContextState
    let layout: ModelLayout
    let binding: StoreBinding
    /// The rows of the version that the context has pinned.
    var source: RowSource
    /// The model that stands for a row, held without a reference: a model takes itself out when it goes.
    private var models: [Int: Unmanaged<AnyObject>] = [:]

    init(state: ContextState, layout: ModelLayout, binding: StoreBinding, source: RowSource) {
        self.state = state
        self.layout = layout
        self.binding = binding
        self.source = source
    }

    var registeredCount: Int { models.count }

    /// The model of a row that is there; made if there is none yet.
    func model(row: Int) -> any PersistentModel {
        if let model = registered(row: row) { return model }
        let model = make(layout.type, row: row)
        models[row] = Unmanaged.passUnretained(model)
        return model
    }

    private func make<T: PersistentModel>(_ type: T.Type, row: Int) -> T {
        Materialising.run { type.init(_modelState: ModelState(table: self, row: row)) }
    }

    /// A model of a record that has gone, made when nobody had one of it before.
    func makeDeparted(_ frozen: FrozenRow) -> any PersistentModel {
        func make<T: PersistentModel>(_ type: T.Type) -> T {
            Materialising.run { type.init(_modelState: ModelState(departed: frozen)) }
        }
        return make(layout.type)
    }

    func registered(row: Int) -> (any PersistentModel)? {
        models[row]?.takeUnretainedValue() as? any PersistentModel
    }

    /// Makes a model that was new stand for the row that its save gave it.
    func adopt(_ model: any PersistentModel, row: Int) {
        models[row] = Unmanaged.passUnretained(model)
    }

    func forget(row: Int) {
        models[row] = nil
        if models.isEmpty { state.tableEmptied() }
    }

    /// The models of rows, with their rows; a copy, so that models may come and go meanwhile.
    func registeredModels() -> [(row: Int, model: any PersistentModel)] {
        models.compactMap { row, reference in
            (reference.takeUnretainedValue() as? any PersistentModel).map { (row, $0) }
        }
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
