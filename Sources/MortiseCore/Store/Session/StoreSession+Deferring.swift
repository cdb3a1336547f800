// To-many relationships that a store has left out, and that are read when they are needed.

extension StoreSession {
    /// The relationships of an entity that the store may leave out.
    func deferrableSlots(ofEntity name: String) -> SlotSet {
        guard defersRelationships, let layout = schema.layouts[name] else { return SlotSet() }
        return SlotSet(layout.record.slots.indices.filter { layout.record.slots[$0].role.isToMany })
    }

    /// The destination of a relationship and the slot of its to-one inverse there; nil if it has none.
    func toOneInverse(of slot: Int, in layout: ModelLayout) -> (destination: ModelLayout, slot: Int)? {
        guard layout.record.slots[slot].role == .toManyDerived,
            let relationship = layout.record.slots[slot].property.relationship, let inverse = relationship.inverse,
            let destination = schema.layouts[relationship.destination],
            let back = destination.record.slot(named: inverse), destination.record.slots[back].role == .toOne
        else { return nil }
        return (destination, back)
    }

    /// The relationships among those named that the store need not find: one query for their inverse brings the records too.
    func withoutInverse(_ names: [String], ofEntity name: String) -> [String] {
        guard defersRelationships, let layout = schema.layouts[name] else { return names }
        return names.filter { name in
            layout.record.slot(named: name).map { toOneInverse(of: $0, in: layout) == nil } ?? true
        }
    }

    /// Reads a relationship of some rows that the store has left out.
    func readDeferred(_ places: [Int], _ slot: Int, of rows: SessionRows, entity name: String) throws {
        guard let layout = schema.layouts[name] else { return }
        let owners = places.map { rows.identifier(ofRow: $0) }
        let hold = RowHold(self)
        defer { withExtendedLifetime(hold) {} }
        // Observers run when all is there: they may read the same lists, or fetch.
        try observer.deferringNotifications {
            rows.note(isRead: true, places, slot: slot)
            do {
                if let (destination, inverse) = toOneInverse(of: slot, in: layout) {
                    try readMembers(of: owners, slot, rows, destination, inverse)
                } else {
                    try readAgain(owners, slot, rows, layout)
                }
            } catch {
                rows.note(isRead: false, places, slot: slot)
                throw error
            }
        }
    }

    /// Asks for the records whose inverse is one of the owners.
    private func readMembers(
        of owners: [PersistentIdentifier], _ slot: Int, _ rows: SessionRows, _ destination: ModelLayout, _ inverse: Int
    ) throws {
        let property = QueryExpression.property(
            .variable(0),
            QueryProperty(
                entity: destination.entityName, name: destination.record.slots[inverse].name, slot: inverse))
        let found = try select(owners.sorted(), of: destination) { owners in
            let values = owners.map { QueryExpression.constant(.identifier($0)) }
            return values.count == 1
                ? .compare(.equal, .identifier(property), values[0]) : .contains(.list(values), .identifier(property))
        }
        var members: [PersistentIdentifier: [PersistentIdentifier]] = [:]
        for (source, row) in found.records {
            guard let owner = source.identifier(row: row, slot: inverse) else { continue }
            members[owner, default: []].append(source.identifier(ofRow: row))
        }
        for owner in owners { set((members[owner] ?? []).sorted(), of: owner, slot, in: rows) }
    }

    /// Asks for the owners again, and for the relationship by name.
    /// - Throws: `ModelContextError.storeContract` if the store leaves it out nevertheless.
    private func readAgain(
        _ owners: [PersistentIdentifier], _ slot: Int, _ rows: SessionRows, _ layout: ModelLayout
    ) throws {
        let name = layout.record.slots[slot].name
        rows.keepsLists = true
        defer { rows.keepsLists = false }
        // Not this one: what is left out now must show.
        let places = owners.compactMap { rows.row(of: $0) }
        rows.note(isRead: false, places, slot: slot)
        let present = try load(owners, of: layout, prefetching: [name])
        rows.note(isRead: true, owners.filter { !present.contains($0) }.compactMap { rows.row(of: $0) }, slot: slot)
        for owner in owners where present.contains(owner) {
            guard let row = rows.row(of: owner), rows.isUnread(row: row, slot: slot) else { continue }
            throw ModelContextError.storeContract(
                store: location,
                fault: "For \(owner), it left out \"\(name)\", which the query names in prefetch. Return its members.")
        }
    }

    /// Sets a relationship that was left out. Observers that have seen other members are notified.
    private func set(
        _ members: [PersistentIdentifier], of owner: PersistentIdentifier, _ slot: Int, in rows: SessionRows
    ) {
        guard let row = rows.lastRow(of: owner) else { return }
        if rows.storedForm(row: row, slot: slot).isNull {
            rows.set(members, row: row, slot: slot)
            return
        }
        var values = rows.values(row: row)
        values[slot] = .identifiers(members)
        observer.replaceRow(row, ofEntity: owner.entityName, in: rows, with: values) {
            rows.set(members, row: row, slot: slot)
        }
    }
}
