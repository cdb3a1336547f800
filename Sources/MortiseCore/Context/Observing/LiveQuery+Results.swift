extension LiveQuery {
    /// The result as it is shown now, whatever is shown later.
    var results: FetchResultsCollection<Model> {
        switch shown {
        case .list(let models, _):
            return FetchResultsCollection(count: models.count, batchSize: max(models.count, 1)) { Array(models[$0]) }
        case .rows(let rows):
            let state = state
            let hold = ContextHold(state)
            let tables = family.map { state.table(named: $0) }
            let unsaved = pending.models
            let showsUnsaved = descriptor.includePendingChanges
            return FetchResultsCollection(count: rows.count, batchSize: 128) { range in
                withExtendedLifetime(hold) {
                    range.compactMap { index in
                        let handle = rows.snapshot[rows.visible.lowerBound + index]
                        if let model = unsaved[handle] { return model as? Model }
                        let (place, row) = LiveRows.place(of: handle, of: tables.count)
                        guard let table = tables[place] else { return nil }
                        let model = Self.model(
                            of: table, row, as: rows.sources[place], in: state, showsUnsaved: showsUnsaved)
                        return model as? Model
                    }
                }
            }
        }
    }

    private static func model(
        of table: ModelTable, _ row: Int, as source: RowSource, in state: ContextState, showsUnsaved: Bool
    ) -> any PersistentModel {
        guard table.source.contains(row: row) else {
            // The record is gone since.
            return state.detachedModels[source.identifier(ofRow: row)] ?? table.storedModel(row: row, of: source)
        }
        if !showsUnsaved, let model = table.registered(row: row),
            !model._flags.isDisjoint(with: [.isChanged, .isDeleted])
        {
            return table.storedModel(row: row, ignoresPendingChanges: true)
        }
        return table.model(row: row)
    }

    /// The position of a model in the result; nil if it is not in it.
    func index(of model: Model) -> Int? {
        switch shown {
        case .list(let models, _): return models.firstIndex { $0 === model }
        case .rows(let rows):
            if let handle = pending.handle(known: model) { return order?.visiblePosition(of: handle) }
            guard let known = model._table, known.state === state, model._row >= 0,
                let table = family.firstIndex(of: known.layout.entityName)
            else { return nil }
            return rows.handle(of: model.persistentModelID, table: table).flatMap { order?.visiblePosition(of: $0) }
        }
    }
}
