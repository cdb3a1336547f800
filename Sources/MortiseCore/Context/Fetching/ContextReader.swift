/// A context's view for queries: the rows of its pinned versions under its unsaved changes.
///
/// An unsaved model is found by its row or, if it has none, by its place in the context's list, so that nothing has to be
/// prepared for a query: a program that looks up each record before it inserts it does so between many changes.
final class ContextReader: RecordReader {
    private let state: ContextState
    private let tracker: ChangeTracker?
    /// The entities that unsaved changes may concern.
    private let touched: Set<String>
    /// Keeps the rows that were found from being given to other records while the reader lives. Code that runs meanwhile may fetch.
    var hold: RowHold?
    /// The context's tables by number, as far as they have been asked for; nil for those that no change concerns.
    private var touchedTables: [ModelTable?] = []

    /// Creates a reader of the versions that the context has now. `seesChanges` says whether unsaved changes count.
    init(state: ContextState, seesChanges: Bool) {
        self.state = state
        tracker = seesChanges ? state.tracker : nil
        touched = seesChanges ? state.tracker?.entities ?? [] : []
        super.init(schema: state.container.schema.stored, layouts: state.container.schema.recordLayouts) { name in
            state.table(named: name)?.source
        }
    }

    /// The context's table of that number; nil if no unsaved change concerns it.
    private func touchedTable(_ number: Int) -> ModelTable? {
        if touched.isEmpty { return nil }
        while touchedTables.count <= number {
            let name = tables[touchedTables.count].entityName
            touchedTables.append(touched.contains(name) ? state.table(named: name) : nil)
        }
        return touchedTables[number]
    }

    /// The model of a row, if it has unsaved changes or is deleted.
    private func unsavedModel(_ table: ModelTable, row: Int) -> (any PersistentModel)? {
        guard let model = table.registered(row: row),
            !model._flags.isDisjoint(with: [.isChanged, .isDeleted])
        else { return nil }
        return model
    }

    private func isDeleted(_ record: RecordReference) -> Bool {
        guard let table = touchedTable(record.table), tracker?.deleted.isEmpty == false else { return false }
        return unsavedModel(table, row: record.row)?._flags.contains(.isDeleted) == true
    }

    private func insertedModel(_ record: RecordReference) -> (any PersistentModel)? {
        tracker?.inserted.model(at: -record.row)
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
    func concern(_ reads: QueryReads) -> Bool {
        if touched.isEmpty { return false }
        guard let families = reads.families(in: state.container.schema.stored, layout) else { return true }
        return !touched.isDisjoint(with: families)
    }

    /// An upper bound of how many stored records of an entity's family are deleted or shown by changed models.
    func overlaidCount(in family: Set<String>) -> Int {
        guard let tracker else { return 0 }
        return family.intersection(touched).reduce(0) { count, name in
            guard let table = state.table(named: name) else { return count }
            return count + tracker.changed.count(of: table) + tracker.deleted.count(of: table)
        }
    }

    /// The records of some tables that differ from the stored ones. With conjuncts, those that they rule out may be missing.
    func changedRecords(in numbers: Set<Int>, matching conjuncts: [StoreQuery.Conjunct] = []) -> [RecordReference] {
        guard let tracker else { return [] }
        let keys = conjuncts.flatMap { LookupKey.all(in: $0.expression) }
        var found: [RecordReference] = []
        for number in numbers {
            guard let table = touchedTable(number) else { continue }
            func add(_ model: any PersistentModel) {
                let isInserted = model._flags.contains(.isInserted)
                let row = isInserted ? -Int(model._place) : model._row
                found.append(RecordReference(table: number, row: row))
            }
            let fitting = keys.filter { $0.fits(table.layout.record) }
            func models(in list: inout ModelList) -> [any PersistentModel] {
                list.candidates(in: table, fitting) ?? list.models(of: table)
            }
            models(in: &tracker.changed).forEach(add)
            models(in: &tracker.inserted).forEach(add)
        }
        return found
    }

    /// Whether a stored record is deleted, or shown by a changed model.
    func isOverlaid(_ record: RecordReference) -> Bool {
        touchedTable(record.table).flatMap { unsavedModel($0, row: record.row) } != nil
    }

    /// Whether a record that was found still exists.
    func isThere(_ record: RecordReference) -> Bool {
        if record.row < 0 { return true }
        return state.table(named: tables[record.table].entityName)?.source.contains(row: record.row) == true
    }

    func model(_ record: RecordReference) -> (any PersistentModel)? {
        if record.row < 0 { return insertedModel(record) }
        return state.table(named: tables[record.table].entityName)?.model(row: record.row)
    }

    override func unchangedRows(ofTable table: Int) -> RowSource? {
        if let tracker, touchedTable(table) != nil, !tracker.changed.isEmpty || !tracker.inserted.isEmpty { return nil }
        return super.unchangedRows(ofTable: table)
    }

    override func value(_ record: RecordReference, slot: Int) -> StoredValue {
        guard let table = touchedTable(record.table) else { return super.value(record, slot: slot) }
        let model = record.row < 0 ? insertedModel(record) : unsavedModel(table, row: record.row)
        guard let model, !model._flags.contains(.isDeleted), slot < table.layout.record.slots.count else {
            return record.row < 0 ? .null : super.value(record, slot: slot)
        }
        return model._pendingValue(at: slot, role: table.layout.record.slots[slot].role, in: table.layout)
    }

    override func identifier(_ record: RecordReference) -> PersistentIdentifier {
        if record.row < 0, let model = insertedModel(record) { return model.persistentModelID }
        return super.identifier(record)
    }

    override func record(_ identifier: PersistentIdentifier) -> RecordReference? {
        if identifier.isTemporary { return newRecord(identifier) }
        if let known = super.record(identifier) { return isDeleted(known) ? nil : known }
        // What an undo has brought back has its old identifier before it is stored again.
        if let tracker, !tracker.inserted.isEmpty, let known = newRecord(identifier) { return known }
        // A store that hands out snapshots may not have handed out this one yet.
        guard let table = state.table(named: identifier.entityName), table.session.version == nil,
            state.model(for: identifier) != nil
        else { return nil }
        return super.record(identifier).flatMap { isDeleted($0) ? nil : $0 }
    }

    private func newRecord(_ identifier: PersistentIdentifier) -> RecordReference? {
        guard let model = tracker?.inserted.first(identifier), let table = model._table,
            let number = self.table(named: table.layout.entityName)
        else { return nil }
        return RecordReference(table: number, row: -Int(model._place))
    }

    override var rowsAreInIdentityOrder: Bool {
        tables.allSatisfy { !($0.rows is SessionRows) && ($0.rows as? PastRows)?.hasReturned != true }
    }
}
