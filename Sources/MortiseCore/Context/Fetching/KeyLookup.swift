import Foundation

/// What is asked for most: the models that have a certain value in one attribute.
///
/// Where an index of the store has them, and few, they are found without planning a query. The answer is that of the query.
struct KeyLookup {
    let slot: Int
    let value: StoredValue

    /// - Returns: nil for an attribute that is not looked up by its value, and for a value that no record can have.
    init?(_ layout: RecordLayout, slot: Int, value: StoredValue) {
        guard slot < layout.slots.count, layout.slots[slot].role == .attribute,
            let kind = layout.slots[slot].property.attribute?.kind, LookupValue.isMade(of: kind), value.fits(kind)
        else { return nil }
        self.slot = slot
        self.value = value
    }

    /// - Returns: nil if the query asks for anything else, or for an order that the framework may have to make.
    init?(_ query: StoreQuery, _ layout: RecordLayout) {
        guard query.conjuncts.count == 1, query.order.isEmpty, query.includesSubentities else { return nil }
        switch query.conjuncts[0].expression {
        case .compare(.equal, .property(.variable(0), let property), .constant(let value)),
            .compare(.equal, .constant(let value), .property(.variable(0), let property)):
            guard property.entity == layout.entityName else { return nil }
            self.init(layout, slot: property.slot, value: value)
        default: return nil
        }
    }

    /// A store is asked for no more: many are found faster by a query.
    static let mostRows = 32
}

/// The models that a look-up has found: stored ones by their rows, and unsaved ones.
struct LookedUp {
    fileprivate(set) var rows: [(table: ModelTable, row: Int)] = []
    fileprivate(set) var unsaved: [any PersistentModel] = []

    var count: Int { rows.count + unsaved.count }

    /// The models in identity order: the unsaved ones come last.
    func models<T: PersistentModel>(_ window: Range<Int>, as type: T.Type) -> [T] {
        var models: [T] = []
        models.reserveCapacity(window.count)
        for place in window {
            let model = place < rows.count ? rows[place].table.model(row: rows[place].row) : unsaved[place - rows.count]
            if let model = model as? T { models.append(model) }
        }
        return models
    }
}

extension ContextState {
    /// Looks models up, unsaved changes included. Those in the window are to be returned, and are checked for it.
    /// - Returns: nil if a query has to be planned for that.
    /// - Throws: what `ModelContext.fetch(_:)` throws.
    func lookUp<T: PersistentModel>(
        _ lookup: KeyLookup, of type: T.Type, includingPendingChanges: Bool = true, window: (Int) -> Range<Int>
    ) throws -> LookedUp? {
        // What measures fetches, and what checks the store's answers, sees queries only.
        if fetchStart != nil || container.verifiesPushDown { return nil }
        try prepare()
        let tables = try tables(under: type)
        // A store without versions is asked with a query, which moves on by itself.
        guard let session = tables.first?.session, session.version != nil else { return nil }
        let hasChanges = hasChanges
        guard includingPendingChanges || !hasChanges else { return nil }
        if !staysAtVersion { try refresh(session) }
        var found = LookedUp()
        for table in tables {
            guard
                let rows = try session.rows(
                    ofEntity: table.layout.entityName, having: lookup.value, at: lookup.slot,
                    upTo: KeyLookup.mostRows)
            else { return nil }
            if hasChanges {
                add(rows, lookup, of: table, to: &found)
            } else {
                for row in rows { found.rows.append((table, row)) }
            }
        }
        if tables.count > 1 {
            found.rows.sort { $0.table.source.identifier(ofRow: $0.row) < $1.table.source.identifier(ofRow: $1.row) }
            found.unsaved.sort { $0._place < $1._place }
        }
        do {
            for (table, row) in found.rows[window(found.count).clamped(to: found.rows.indices)] where table.verifiesRows
            {
                _ = try table.source.verifyRows(around: row, table.layout)
            }
        } catch {
            // What cannot be read looks like a value that nobody knows.
            try checkVersions()
            throw error
        }
        return found
    }

    /// Adds what a table has under the unsaved changes.
    private func add(_ rows: [Int], _ lookup: KeyLookup, of table: ModelTable, to found: inout LookedUp) {
        guard let tracker else { return }
        let (changes, deletions) = (tracker.changed.count(of: table), tracker.deleted.count(of: table))
        var rows = rows
        if changes + deletions > 0 {
            rows.removeAll { row in
                table.registered(row: row)?._flags.isDisjoint(with: [.isChanged, .isDeleted]) == false
            }
        }
        func matches(_ model: any PersistentModel) -> Bool {
            let value = model._pendingValue(at: lookup.slot, role: .attribute, in: table.layout)
            return ValueSemantics.areEqual(value, lookup.value)
        }
        func models(in list: inout ModelList) -> [any PersistentModel] {
            list.candidates(in: table, at: lookup.slot, [lookup.value]) ?? list.models(of: table)
        }
        if changes > 0 {
            for model in models(in: &tracker.changed) where matches(model) { rows.append(model._row) }
            rows.sort()
        }
        for row in rows { found.rows.append((table, row)) }
        if tracker.inserted.count(of: table) > 0 {
            for model in models(in: &tracker.inserted) where matches(model) { found.unsaved.append(model) }
        }
    }
}
