/// A store as it was after an earlier transaction: a version of it, under what has been taken back since.
///
/// @unchecked Sendable: nothing changes once it is made.
final class PastVersion: StoreVersion, @unchecked Sendable {
    /// The version that it is told from.
    let base: any StoreVersion
    /// By entity; those that do not differ are missing.
    private let rows: [String: PastRows]
    /// How many records differ.
    let differing: Int

    /// - Parameters:
    ///   - base: a version of the store.
    ///   - changes: what came between; of everything that changed, the values before are known.
    ///   - schema: the program's.
    init(_ base: any StoreVersion, without changes: FoldedChanges, under schema: Schema) {
        self.base = base
        let layouts = schema.recordLayouts
        var making = PastMaking(base, layouts)
        for (record, change) in changes.records { making.take(record, change) }
        making.relate()
        rows = making.differences.reduce(into: [:]) { made, entry in
            guard let layout = layouts[entry.key], !entry.value.isEmpty else { return }
            made[entry.key] = PastRows(base.rows(ofEntity: entry.key) ?? RowSource(), entry.value, layout)
        }
        differing = making.differences.values.reduce(0) { $0 + $1.count }
    }

    var number: UInt64 { base.number }
    func rows(ofEntity name: String) -> RowSource? { rows[name] ?? base.rows(ofEntity: name) }
    func pastRows(ofEntity name: String) -> PastRows? { rows[name] }
    func check() throws { try base.check() }

    /// Nil: nothing is saved here.
    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier? { nil }
}

/// Makes the rows of a past version.
private struct PastMaking {
    private let base: any StoreVersion
    private let layouts: [String: RecordLayout]
    private(set) var differences: [String: PastRows.Difference] = [:]
    /// The references that differ.
    private var relations: [Relation] = []
    private var places: [PersistentIdentifier: (entity: String, row: Int)] = [:]

    /// Who a record led to then, and who it leads to now.
    private struct Relation {
        let record: PersistentIdentifier
        let layout: RecordLayout
        let slot: Int
        let then: Set<PersistentIdentifier>
        let now: Set<PersistentIdentifier>
    }

    init(_ base: any StoreVersion, _ layouts: [String: RecordLayout]) {
        self.base = base
        self.layouts = layouts
    }

    mutating func take(_ record: PersistentIdentifier, _ change: FoldedChanges.Record) {
        let layout = change.layout
        let name = layout.entityName
        let source = base.rows(ofEntity: name) ?? RowSource()
        let row = source.row(of: record)
        for slot in layout.slots.indices where layout.slots[slot].role.isRelationship {
            if layout.slots[slot].role == .toManyDerived || !change.changed.contains(slot) { continue }
            let now = row.map { Set(source.value(row: $0, slot: slot).targets) } ?? []
            let then = change.wasThere ? Set((change.old[slot] ?? .null).targets) : []
            if now != then {
                relations.append(Relation(record: record, layout: layout, slot: slot, then: then, now: now))
            }
        }
        var difference = differences[name] ?? PastRows.Difference()
        switch (change.wasThere, row) {
        case (false, let row?): difference.hidden.insert(row)
        case (false, nil): break
        case (true, let row?):
            for slot in change.changed.slots { difference.values[row, default: [:]][slot] = change.old[slot] }
        case (true, nil):
            let values = ContiguousArray(layout.slots.indices.map { change.old[$0] ?? .null })
            difference.returned.append((record, values))
        }
        differences[name] = difference
    }

    /// Works out the lists that follow from what other records refer to.
    mutating func relate() {
        // In identity order, whatever the order of the records was.
        for name in differences.keys { differences[name]?.returned.sort { $0.record < $1.record } }
        for (name, difference) in differences {
            let end = base.rows(ofEntity: name)?.endRow ?? 0
            for (place, returned) in difference.returned.enumerated() { places[returned.record] = (name, end + place) }
        }
        for relation in relations {
            guard let inverse = relation.layout.slots[relation.slot].property.relationship?.inverse else { continue }
            for target in relation.then.subtracting(relation.now) {
                change(target, inverse) { $0.missing.insert(relation.record) }
            }
            for target in relation.now.subtracting(relation.then) {
                change(target, inverse) { $0.surplus.insert(relation.record) }
            }
        }
    }

    private mutating func change(
        _ target: PersistentIdentifier, _ inverse: String, _ body: (inout PastRows.Difference.Members) -> Void
    ) {
        guard let layout = layouts[target.entityName], let slot = layout.slot(named: inverse),
            layout.slots[slot].role == .toManyDerived
        else { return }
        let name = target.entityName
        guard let row = places[target]?.row ?? base.rows(ofEntity: name)?.row(of: target) else { return }
        var difference = differences[name] ?? PastRows.Difference()
        body(&difference.members[row, default: [:]][slot, default: PastRows.Difference.Members()])
        differences[name] = difference
    }
}
