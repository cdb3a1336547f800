/// A row of a version that a deleted model keeps.
final class FrozenRow {
    let table: ModelTable
    let source: RowSource
    let row: Int
    /// The version that has the row; nil for a store without versions.
    private let version: (any StoreVersion)?
    /// Whether relationships lead to models that show what is stored, and not to the registered ones.
    let ignoresPendingChanges: Bool

    init(
        table: ModelTable, source: RowSource, row: Int, version: (any StoreVersion)? = nil,
        ignoresPendingChanges: Bool = false
    ) {
        self.table = table
        // The session gives a row's number to another record once no registered model has it.
        if table.session.version == nil, let rows = source as? SessionRows {
            self.source = RetainedRow(rows, row: row, readsLists: ignoresPendingChanges)
            self.row = 0
        } else {
            self.source = source
            self.row = row
        }
        self.version = version
        self.ignoresPendingChanges = ignoresPendingChanges
        table.state.hold()
    }

    deinit { table.state.letGo() }

    /// The model of an identifier that the row refers to: the registered one; else one that was detached from the same
    /// context as the row's model; else a model that shows the record as in this version.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        let state = table.state
        if Going.contains(identifier, in: ObjectIdentifier(state)) { return nil }
        if let model = state.model(for: identifier) ?? state.detachedModels[identifier] { return model }
        guard let table = state.table(named: identifier.entityName) else { return nil }
        let place: (source: RowSource, row: Int)?
        if let source = version?.rows(ofEntity: identifier.entityName) {
            place = source.row(of: identifier).map { (source, $0) }
        } else {
            place = table.session.lastRow(of: identifier).map { (table.source, $0) }
        }
        guard let place else { return nil }
        let frozen = FrozenRow(table: table, source: place.source, row: place.row, version: version)
        return state.detachedModels.add(table.makeDetached(frozen), identifier)
    }
}
