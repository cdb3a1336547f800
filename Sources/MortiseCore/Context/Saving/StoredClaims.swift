import Foundation

/// The records of stores without versions that have unique values which a save claims. For each constraint the store is
/// asked once, for the values of all models that the save writes.
struct StoredClaims {
    private let models: [any PersistentModel]
    private var answers: [Constraint: Answer] = [:]

    private struct Constraint: Hashable {
        let store: String
        let entity: String
        let slots: [Int]
    }

    private struct Answer {
        var owners: [UniqueClaim: PersistentIdentifier] = [:]
        var asked: Set<UniqueClaim> = []
        /// Whether all records were read.
        var isWhole = false
    }

    /// `models` are those that the save writes.
    init(of models: [any PersistentModel]) { self.models = models }

    /// The record that has the values of a claim; nil if no record has them.
    mutating func owner(
        of claim: UniqueClaim, _ slots: [Int], _ table: ModelTable
    ) throws -> PersistentIdentifier? {
        // A record that is not stored yet is referred to by no stored one.
        if claim.values.contains(where: { $0.targets.contains(where: \.isTemporary) }) { return nil }
        let declaring = table.layout.constraintOwner(slots)
        let constraint = Constraint(store: table.session.identifier, entity: declaring.entityName, slots: slots)
        var answer = answers.removeValue(forKey: constraint) ?? Answer()
        defer { answers[constraint] = answer }
        if !answer.isWhole, !answer.asked.contains(claim) {
            var claims: Set<UniqueClaim> = [claim]
            // Later ones come from merges, one by one.
            if answer.asked.isEmpty { claims.formUnion(self.claims(of: declaring, slots)) }
            answer.asked.formUnion(claims)
            try ask(claims, slots, declaring, table.session, &answer)
        }
        return answer.owners[claim]
    }

    /// What the models claim by a constraint.
    private func claims(of declaring: ModelLayout, _ slots: [Int]) -> [UniqueClaim] {
        models.compactMap { model in
            guard let layout = model._table?.layout, layout.record.uniqueConstraints.contains(slots),
                layout.constraintOwner(slots) === declaring
            else { return nil }
            let isNew = model._row < 0
            if !isNew, !slots.contains(where: { model._draft?.changed.contains($0) == true }) { return nil }
            guard let claim = UniqueClaim(model, slots, layout),
                !claim.values.contains(where: { $0.targets.contains(where: \.isTemporary) })
            else { return nil }
            return claim
        }
    }

    private func ask(
        _ claims: Set<UniqueClaim>, _ slots: [Int], _ declaring: ModelLayout, _ session: StoreSession,
        _ answer: inout Answer
    ) throws {
        let found: SelectedRows
        if session.plansQueries, claims.allSatisfy(\.isFoundByQueries) {
            let values = slots.map { slot in
                let property = QueryExpression.property(
                    .variable(0),
                    QueryProperty(
                        entity: declaring.entityName, name: declaring.properties[slot].name, slot: slot))
                return declaring.record.slots[slot].role == .attribute ? property : .identifier(property)
            }
            found = try session.select(Array(claims), of: declaring) { Self.condition(values, $0) }
        } else {
            found = try session.readAll(of: declaring.type)
        }
        answer.isWhole = found.isWhole
        for (source, row) in found.records {
            let stored = slots.map { source.value(row: row, slot: $0) }
            if stored.contains(where: \.isNeverUnique) { continue }
            let claim = UniqueClaim(entity: declaring.entityName, slots: slots, values: stored)
            answer.owners[claim] = source.identifier(ofRow: row)
        }
    }

    /// Whether a record has the values of one of some claims.
    private static func condition(_ values: [QueryExpression], _ claims: [UniqueClaim]) -> QueryExpression {
        if values.count == 1, claims.count > 1 {
            return .contains(.list(claims.map { .constant($0.values[0]) }), values[0])
        }
        let each = claims.map { claim in
            let parts = zip(values, claim.values).map { QueryExpression.compare(.equal, $0, .constant($1)) }
            return parts.count == 1 ? parts[0] : .and(parts)
        }
        return each.count == 1 ? each[0] : .or(each)
    }
}

extension UniqueClaim {
    /// Whether the comparison of queries finds every record with these values. Composite values are compared by the program's own
    /// code there.
    fileprivate var isFoundByQueries: Bool {
        values.allSatisfy { value in
            switch value {
            case .decimal(let number): !number.isNaN
            case .bool, .integer, .unsigned, .float, .double, .string, .data, .date, .uuid, .identifier: true
            default: false
            }
        }
    }
}

extension StoreSession {
    /// Reads all records of an entity and its subentities, from a store without versions.
    fileprivate func readAll(of type: any PersistentModel.Type) throws -> SelectedRows {
        func load<T: PersistentModel>(_ type: T.Type) throws -> FoundRows {
            if plansQueries { return try execute(.scanAll(StoreQuery(Schema.entityName(for: T.self)))) }
            return try fetch(FetchDescriptor<T>()).found
        }
        let hold = RowHold(self)
        let found = try load(type)
        let sources = found.entities.map { source(ofEntity: $0) }
        return SelectedRows(records: found.rows.map { (sources[$0.table], $0.row) }, isWhole: true, hold: hold)
    }
}
