/// A context's view for queries: the rows of its pinned versions under its unsaved changes.
final class ContextReader: RecordReader {
    private let state: ContextState
    private let seesChanges: Bool
    /// The entities that unsaved changes may concern.
    private let touched: Set<String>
    /// Whether the entity of each table is one of these, as far as it has been asked.
    private var touchedTables: [Bool] = []
    // Most queries between many changes concern none of them, and going through all of them takes longer than the query.
    private lazy var overlay = makeOverlay()

    /// The unsaved changes by what a query asks of them.
    private final class Overlay {
        var changed: [RecordReference: any PersistentModel] = [:]
        var inserted: [any PersistentModel] = []
        var insertedNumbers: [PersistentIdentifier: RecordReference] = [:]
        var deleted: Set<PersistentIdentifier> = []
        /// How many stored records are changed or deleted, by the numbers of their tables; 0 where some are only inserted.
        var counts: [Int: Int] = [:]
    }

    /// Creates a reader of the versions that the context has now. `seesChanges` says whether unsaved changes count.
    init(state: ContextState, seesChanges: Bool) {
        self.state = state
        self.seesChanges = seesChanges
        touched = seesChanges ? state.unsavedEntities : []
        super.init(schema: state.container.schema.stored, layouts: state.container.schema.recordLayouts) { name in
            state.table(named: name)?.source
        }
    }

    private func makeOverlay() -> Overlay {
        let overlay = Overlay()
        guard seesChanges else { return overlay }
        for model in state.changed {
            if let table = model._modelState.table, let number = self.table(named: table.layout.entityName) {
                overlay.changed[RecordReference(table: number, row: model._modelState.row)] = model
                overlay.counts[number, default: 0] += 1
            }
        }
        for model in state.inserted {
            guard let table = model._modelState.table, let number = self.table(named: table.layout.entityName) else {
                continue
            }
            overlay.inserted.append(model)
            overlay.insertedNumbers[model.persistentModelID] = RecordReference(
                table: number, row: -overlay.inserted.count)
            overlay.counts[number, default: 0] += 0
        }
        for model in state.deleted {
            overlay.deleted.insert(model.persistentModelID)
            if let number = self.table(named: model.persistentModelID.entityName) {
                overlay.counts[number, default: 0] += 1
            }
        }
        return overlay
    }

    /// Whether unsaved changes may concern records of a table.
    private func isTouched(_ table: Int) -> Bool {
        if touched.isEmpty { return false }
        while touchedTables.count <= table {
            touchedTables.append(touched.contains(tables[touchedTables.count].entityName))
        }
        return touchedTables[table]
    }

    /// Whether the value of an expression for an unchanged record can differ because other records have changed.
    /// `hidesRecords` says whether there are deleted records, to which an unchanged record may still refer.
    func dependsOnOtherRecords(_ expression: QueryExpression, hidesRecords: Bool) -> Bool {
        var depends = false
        expression.forEachPart { part in
            guard case .property(let base, let property) = part else { return }
            if base != .variable(0) { depends = true }
            guard let layout = layout(of: property.entity), property.slot < layout.slots.count else { return }
            let role = layout.slots[property.slot].role
            if role.isToMany || (role == .toOne && hidesRecords) { depends = true }
        }
        return depends
    }

    /// Whether unsaved changes may affect the result of a query: some concern entities that it reads, or it has code
    /// that may read any.
    func concern(_ query: StoreQuery) -> Bool {
        if touched.isEmpty { return false }
        var read: Set<String> = [query.entity]
        var readsAnything = false
        for expression in query.conjuncts.map(\.expression) + query.order.map(\.expression) {
            expression.forEachPart { part in
                switch part {
                case .onModels: readsAnything = true
                case .property(_, let property):
                    read.insert(property.entity)
                    guard let layout = layout(of: property.entity), property.slot < layout.slots.count else {
                        readsAnything = true
                        return
                    }
                    if let relationship = layout.slots[property.slot].property.relationship {
                        read.insert(relationship.destination)
                    }
                default: break
                }
            }
        }
        func reads(any entities: Set<String>) -> Bool {
            if readsAnything { return !entities.isEmpty }
            return read.contains { !entities.isDisjoint(with: state.container.schema.stored.subtree(of: $0)) }
        }
        return reads(any: touched) && reads(any: Set(overlay.counts.keys.map { tables[$0].entityName }))
    }

    /// An upper bound of how many stored records of an entity's family are deleted or shown by changed models.
    func overlaidCount(in family: Set<String>) -> Int {
        overlay.counts.reduce(0) { family.contains(tables[$1.key].entityName) ? $0 + $1.value : $0 }
    }

    /// The records of an entity's family that differ from the stored ones.
    func changedRecords(in tables: Set<Int>) -> [RecordReference] {
        overlay.changed.keys.filter { tables.contains($0.table) }
            + overlay.insertedNumbers.values.filter { tables.contains($0.table) }
    }

    /// Whether a stored record is deleted, or shown by a changed model.
    func isOverlaid(_ record: RecordReference) -> Bool {
        guard isTouched(record.table) else { return false }
        return overlay.changed[record] != nil
            || (!overlay.deleted.isEmpty && overlay.deleted.contains(super.identifier(record)))
    }

    /// Whether a record that was found still exists.
    func isThere(_ record: RecordReference) -> Bool {
        if record.row < 0 { return true }
        return state.table(named: tables[record.table].entityName)?.source.contains(row: record.row) == true
    }

    func model(_ record: RecordReference) -> (any PersistentModel)? {
        if record.row < 0 { return overlay.inserted[-record.row - 1] }
        return state.table(named: tables[record.table].entityName)?.model(row: record.row)
    }

    override func unchangedRows(ofTable table: Int) -> RowSource? {
        if isTouched(table), !overlay.changed.isEmpty || !overlay.inserted.isEmpty { return nil }
        return super.unchangedRows(ofTable: table)
    }

    override func value(_ record: RecordReference, slot: Int) -> StoredValue {
        if isTouched(record.table),
            let model = record.row < 0 ? overlay.inserted[-record.row - 1] : overlay.changed[record],
            let layout = model._modelState.table?.layout, slot < layout.record.slots.count
        {
            return model._pendingValue(at: slot, role: layout.record.slots[slot].role, in: layout)
        }
        return super.value(record, slot: slot)
    }

    override func identifier(_ record: RecordReference) -> PersistentIdentifier {
        record.row < 0 ? overlay.inserted[-record.row - 1].persistentModelID : super.identifier(record)
    }

    override func record(_ identifier: PersistentIdentifier) -> RecordReference? {
        if identifier.isTemporary { return overlay.insertedNumbers[identifier] }
        if let known = super.record(identifier) {
            return isTouched(known.table) && overlay.deleted.contains(identifier) ? nil : known
        }
        // A store that hands out snapshots may not have handed out this one yet.
        guard let table = state.table(named: identifier.entityName), table.binding.version == nil,
            !touched.contains(identifier.entityName) || !overlay.deleted.contains(identifier),
            state.model(for: identifier) != nil
        else { return nil }
        return super.record(identifier)
    }

    override var rowsAreInIdentityOrder: Bool { tables.allSatisfy { !($0.rows is SnapshotRows) } }
}
