/// A context's view for queries: the rows of its pinned versions under its unsaved changes.
final class ContextReader: RecordReader {
    private let state: ContextState
    private var changed: [RecordReference: any PersistentModel] = [:]
    private var inserted: [any PersistentModel] = []
    private var insertedNumbers: [PersistentIdentifier: RecordReference] = [:]
    private var deleted: Set<PersistentIdentifier> = []
    /// How many stored records are changed or deleted, by the numbers of their tables; 0 where some are only inserted.
    private var overlaid: [Int: Int] = [:]
    private let seesChanges: Bool

    /// Creates a reader of the versions that the context has now. `seesChanges` says whether unsaved changes count.
    init(state: ContextState, seesChanges: Bool) {
        self.state = state
        self.seesChanges = seesChanges
        super.init(schema: state.container.schema.stored, layouts: state.container.schema.recordLayouts) { name in
            state.table(named: name)?.source
        }
        guard seesChanges else { return }
        for model in state.changed {
            if let table = model._modelState.table, let number = self.table(named: table.layout.entityName) {
                changed[RecordReference(table: number, row: model._modelState.row)] = model
                overlaid[number, default: 0] += 1
            }
        }
        for model in state.inserted {
            guard let table = model._modelState.table, let number = self.table(named: table.layout.entityName) else {
                continue
            }
            inserted.append(model)
            insertedNumbers[model.persistentModelID] = RecordReference(table: number, row: -inserted.count)
            overlaid[number, default: 0] += 0
        }
        for model in state.deleted {
            deleted.insert(model.persistentModelID)
            if let number = self.table(named: model.persistentModelID.entityName) {
                overlaid[number, default: 0] += 1
            }
        }
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
        let touched = Set(overlaid.keys.map { tables[$0].entityName })
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
        return readsAnything
            || read.contains { !touched.isDisjoint(with: state.container.schema.stored.subtree(of: $0)) }
    }

    /// An upper bound of how many stored records of an entity's family are deleted or shown by changed models.
    func overlaidCount(in family: Set<String>) -> Int {
        overlaid.reduce(0) { family.contains(tables[$1.key].entityName) ? $0 + $1.value : $0 }
    }

    /// The records of an entity's family that differ from the stored ones.
    func changedRecords(in tables: Set<Int>) -> [RecordReference] {
        changed.keys.filter { tables.contains($0.table) } + insertedNumbers.values.filter { tables.contains($0.table) }
    }

    /// Whether a stored record is deleted, or shown by a changed model.
    func isOverlaid(_ record: RecordReference) -> Bool {
        changed[record] != nil || (!deleted.isEmpty && deleted.contains(super.identifier(record)))
    }

    /// Whether a record that was found still exists.
    func isThere(_ record: RecordReference) -> Bool {
        if record.row < 0 { return true }
        return state.table(named: tables[record.table].entityName)?.source.contains(row: record.row) == true
    }

    func model(_ record: RecordReference) -> (any PersistentModel)? {
        if record.row < 0 { return inserted[-record.row - 1] }
        return state.table(named: tables[record.table].entityName)?.model(row: record.row)
    }

    override func unchangedRows(ofTable table: Int) -> RowSource? {
        changed.isEmpty && inserted.isEmpty ? super.unchangedRows(ofTable: table) : nil
    }

    override func value(_ record: RecordReference, slot: Int) -> StoredValue {
        if seesChanges, let model = record.row < 0 ? inserted[-record.row - 1] : changed[record],
            let layout = model._modelState.table?.layout, slot < layout.record.slots.count
        {
            return model._pendingValue(at: slot, role: layout.record.slots[slot].role, in: layout)
        }
        return super.value(record, slot: slot)
    }

    override func identifier(_ record: RecordReference) -> PersistentIdentifier {
        record.row < 0 ? inserted[-record.row - 1].persistentModelID : super.identifier(record)
    }

    override func record(_ identifier: PersistentIdentifier) -> RecordReference? {
        if identifier.isTemporary { return insertedNumbers[identifier] }
        if deleted.contains(identifier) { return nil }
        if let known = super.record(identifier) { return known }
        // A store that hands out snapshots may not have handed out this one yet.
        guard let table = state.table(named: identifier.entityName), table.binding.version == nil,
            state.model(for: identifier) != nil
        else { return nil }
        return super.record(identifier)
    }

    override var rowsAreInIdentityOrder: Bool { tables.allSatisfy { !($0.rows is SnapshotRows) } }
}
