import MortiseCore

extension EngineTransaction {
    private typealias Place = (entity: Int, row: Int)

    /// - Returns: how many records the batch selects, and how they were found.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        var result = StoreBatchResult(count: 0)
        let places = try select(batch.selection, &result)
        result.count = places.count
        switch batch.change {
        case .update(let assignments): try update(places, assignments)
        case .delete: try delete(places)
        }
        return result
    }

    private func select(_ selection: StoreBatch.Selection, _ result: inout StoreBatchResult) throws -> [Place] {
        switch selection {
        case .records(let identifiers):
            return try identifiers.map { identifier in
                guard let found = find(identifier) else { throw EngineError.noSuchRecord(identifier) }
                return (found.entity, found.row)
            }
        case .query(let query):
            guard catalog.numbers[query.entity] != nil else { throw EngineError.unknownEntity(query.entity) }
            let engineQuery = EngineQuery(query, catalog)
            let found = try engineQuery.run(engineQuery.plan(), in: base)
            result.report = found.report
            let numbers = found.entities.map { catalog.numbers[$0] ?? 0 }
            return found.rows.map { (numbers[$0.table], $0.row) }
        }
    }

    // MARK: Updates

    private func update(_ places: [Place], _ assignments: [StoreBatch.Assignment]) throws {
        // Values come from the version before, so that no record sees another half changed.
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { self.base.rows(ofEntity: $0) }
        var reindexed: [Place] = []
        var assigned: [Int: (table: Int, slots: [Int], set: SlotSet)] = [:]
        for place in places {
            let table = table(place.entity)
            let layout = table.plan.layout
            if assigned[place.entity] == nil {
                let slots = try assignments.map { assignment in
                    guard let slot = layout.slot(named: assignment.property.name) else {
                        throw QueryEvaluationError.unfit(expression: "\(layout.entityName).\(assignment.property.name)")
                    }
                    return slot
                }
                assigned[place.entity] = (reader.table(named: layout.entityName) ?? 0, slots, SlotSet(slots))
            }
            guard let (number, slots, set) = assigned[place.entity] else { continue }
            let record = RecordReference(table: number, row: place.row)
            var values = ContiguousArray(repeating: StoredValue.null, count: layout.slots.count)
            for (slot, assignment) in zip(slots, assignments) {
                values[slot] = try assignment.value(for: record, in: reader)
            }
            let snapshot = DefaultSnapshot(
                persistentIdentifier: catalog.identifier(table.sequence(place.row), place.entity), layout: layout,
                values: values)
            if try update(snapshot, set, nil, (table, place.entity, place.row)) { reindexed.append(place) }
        }
        for place in reindexed { try index(table(place.entity), place.entity, place.row) }
        try settle()
    }

    // MARK: Deletion

    /// What a delete rule has to say when all records are gone that go.
    private struct Claim {
        let record: PersistentIdentifier
        let slot: RecordLayout.Slot
        let related: [(entity: Int, sequence: UInt64)]
    }

    private func delete(_ places: [Place]) throws {
        var pending = places
        var claims: [Claim] = []
        while let (entity, row) = pending.popLast() {
            let table = table(entity)
            guard table.isLive(row) else { continue }
            for (slot, description) in table.plan.layout.slots.enumerated() {
                guard let relationship = description.property.relationship, relationship.deleteRule != .nullify else {
                    continue
                }
                let related = related(to: row, in: table, slot, relationship)
                if relationship.deleteRule == .cascade {
                    for (other, sequence) in related {
                        if let row = self.table(other).row(sequence) { pending.append((other, row)) }
                    }
                } else if !related.isEmpty {
                    claims.append(
                        Claim(
                            record: catalog.identifier(table.sequence(row), entity), slot: description, related: related
                        ))
                }
            }
            delete(table, entity, row)
        }
        for claim in claims { try check(claim) }
        try clearReferencesToDeleted(shown: true)
        try settle()
    }

    private func related(
        to row: Int, in table: TableWriter, _ slot: Int, _ relationship: StoredRelationship
    ) -> [(entity: Int, sequence: UInt64)] {
        guard let family = catalog.numbers[relationship.destination].map({ catalog.subtrees[$0] }) else { return [] }
        if relationship.isToMany {
            return table.links[slot].members(of: table.sequence(row)).map { (family[$0.target], $0.member) }
        }
        return table.reference(row, slot).map { [(family[$0.target], $0.sequence)] } ?? []
    }

    private func check(_ claim: Claim) throws {
        let left = claim.related.filter { table($0.entity).row($0.sequence) != nil }
        guard let first = left.first, let relationship = claim.slot.property.relationship else { return }
        if relationship.deleteRule == .deny {
            throw ModelValidationError.deletionDenied(
                entity: claim.record.entityName, property: claim.slot.name, model: claim.record, count: left.count)
        }
        guard let inverse = relationship.inverse else { return }
        throw ModelValidationError.refersToDeleted(
            entity: relationship.destination, property: inverse,
            model: catalog.identifier(first.sequence, first.entity),
            deleted: claim.record)
    }
}
