import MortiseCore

// Records that were deleted and come back under their identifiers: in their old places, because rows lie in the order
// of their numbers.

extension EngineTransaction {
    /// Carries out a save that has such records among the new ones. One whose place is gone gets a new number.
    func applyRestoring(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> NewIdentifiers {
        let first = nextSequence
        var returning: [(place: Int, table: TableWriter, entity: Int, row: Int)] = []
        var fresh: [DefaultSnapshot] = []
        var places: [Int] = []
        for (place, snapshot) in request.inserted.enumerated() {
            if let (table, entity, row) = try remains(of: snapshot.persistentIdentifier) {
                returning.append((place, table, entity, row))
            } else {
                fresh.append(snapshot)
                places.append(place)
            }
        }
        let runs = try runs(of: fresh)
        let numbered = try number(fresh, runs)
        let temporary = ContiguousArray(request.inserted.map(\.persistentIdentifier))
        var permanent = temporary
        for (place, identifier) in zip(places, numbered.permanent) {
            permanent[place] = identifier
            if !temporary[place].isTemporary { moved[temporary[place]] = identifier }
        }
        let new = NewIdentifiers(temporary: temporary, permanent: permanent)
        try deleteAndUpdate(request, new)
        isChanged = true
        changes.inserted = ChangeSet.Insertions(request.inserted, new: new)
        for record in returning { record.table.revive(record.row) }
        for record in returning {
            try restore(request.inserted[record.place], record.table, record.entity, record.row, new)
        }
        for record in returning { try index(record.table, record.entity, record.row) }
        if !fresh.isEmpty { try insertRuns(fresh, runs, from: first, new) }
        try settle()
        return new
    }

    /// - Throws: `EngineError.unfitValue` for an identifier that a record has.
    private func remains(
        of identifier: PersistentIdentifier
    ) throws -> (table: TableWriter, entity: Int, row: Int)? {
        guard !identifier.isTemporary, let entity = catalog.entity(of: identifier),
            let sequence = identifier.sequenceNumber, sequence < nextSequence
        else { return nil }
        let table = table(entity)
        if table.row(sequence) != nil {
            throw EngineError.unfitValue(
                entity: identifier.entityName, property: "", record: identifier, found: "its identifier is in use")
        }
        return table.remains(of: sequence).map { (table, entity, $0) }
    }

    private func restore(
        _ snapshot: DefaultSnapshot, _ table: TableWriter, _ entity: Int, _ row: Int, _ new: NewIdentifiers
    ) throws {
        let arrangement = try arrangement(of: snapshot.layout)
        for column in arrangement.plan.columns where column.role == .attribute && column.form != .none {
            let value = arrangement.value(of: snapshot, at: column.slot)
            if try !write(value, row, column, table, isNew: false) {
                throw unfit(value, column, snapshot.persistentIdentifier)
            }
        }
        for relationship in catalog.relationships[entity] {
            let value = arrangement.value(of: snapshot, at: relationship.slot)
            if relationship.isToMany {
                try setMembers(value, relationship, entity, table, row, new, isNew: false)
            } else {
                // What it had is in nobody's links any more.
                table.write(reference: nil, row, relationship.slot, isNew: false)
                try setTarget(value, relationship, entity, table, row, new, isNew: false)
            }
        }
    }
}
