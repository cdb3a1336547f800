import MortiseCore

// A relationship is kept at its owner, and its reverse as links of its targets: both are brought up to date here at once.

extension EngineTransaction {
    typealias Relationship = Catalog.RelationshipSlot

    /// What an identifier is in the store: the number of its entity among the relationship's targets, and its own.
    func resolve(
        _ identifier: PersistentIdentifier, _ relationship: Relationship, _ entity: Int, _ table: TableWriter,
        _ row: Int, _ new: NewIdentifiers?
    ) throws -> (sequence: UInt64, target: Int) {
        var final = identifier.isTemporary ? new?[identifier] ?? identifier : identifier
        if !moved.isEmpty, let other = moved[final] { final = other }
        for (number, family) in table.plan.targets[relationship.slot].enumerated() {
            if let sequence = family.sequence(of: final) { return (sequence, number) }
        }
        let record = catalog.identifier(table.sequence(row), entity)
        if find(final) == nil {
            throw EngineError.danglingReference(
                entity: record.entityName, property: relationship.name, record: record, target: final)
        }
        throw EngineError.wrongDestination(
            entity: record.entityName, property: relationship.name, record: record, target: final)
    }

    func note(
        _ target: (sequence: UInt64, target: Int), _ relationship: Relationship, _ entity: Int, _ row: Int
    ) {
        let other = relationship.targets[target.target]
        if let last = written.last, last.sequence == target.sequence, last.target == other { return }
        written.append(
            WrittenReference(
                entity: entity, row: row, relationship: relationship, target: other, sequence: target.sequence))
    }

    private func addReverse(_ target: (sequence: UInt64, target: Int), _ relationship: Relationship, _ owner: UInt64) {
        if bulk != nil {
            bulk?.append(
                target.sequence, owner, relationship.ownerAmongTargets,
                entity: relationship.targets[target.target], links: relationship.reverse)
            return
        }
        let other = table(relationship.targets[target.target])
        other.links[relationship.reverse].insert(
            target.sequence, owner, relationship.ownerAmongTargets, transaction: other.owner)
    }

    private func removeReverse(_ target: (sequence: UInt64, target: Int), _ relationship: Relationship, _ owner: UInt64)
    {
        let other = table(relationship.targets[target.target])
        other.links[relationship.reverse].remove(
            target.sequence, owner, relationship.ownerAmongTargets, transaction: other.owner)
    }

    /// - Returns: whether the target is another than before.
    @discardableResult
    func setTarget(
        _ value: StoredValue, _ relationship: Relationship, _ entity: Int, _ table: TableWriter, _ row: Int,
        _ new: NewIdentifiers?, isNew: Bool
    ) throws -> Bool {
        let target: (sequence: UInt64, target: Int)?
        switch value {
        case .identifier(let identifier): target = try resolve(identifier, relationship, entity, table, row, new)
        case .null where relationship.isOptional: target = nil
        default:
            throw unfit(value, table.plan.columns[relationship.slot], catalog.identifier(table.sequence(row), entity))
        }
        let old = isNew ? nil : table.reference(row, relationship.slot)
        if !isNew, old?.sequence == target?.sequence, old?.target == target?.target { return false }
        let owner = table.sequence(row)
        if let old { removeReverse(old, relationship, owner) }
        table.write(reference: target, row, relationship.slot, isNew: isNew)
        if let target {
            addReverse(target, relationship, owner)
            // What is being inserted with this record will be there.
            if case .identifier(let identifier) = value, identifier.isTemporary { return true }
            note(target, relationship, entity, row)
        }
        return true
    }

    /// - Returns: whether the members are others than before.
    @discardableResult
    func setMembers(
        _ value: StoredValue, _ relationship: Relationship, _ entity: Int, _ table: TableWriter, _ row: Int,
        _ new: NewIdentifiers?, isNew: Bool
    ) throws -> Bool {
        let identifiers: [PersistentIdentifier]
        switch value {
        case .identifiers(let members): identifiers = members
        case .null: identifiers = []
        default:
            throw unfit(value, table.plan.columns[relationship.slot], catalog.identifier(table.sequence(row), entity))
        }
        let owner = table.sequence(row)
        if isNew, identifiers.isEmpty { return false }
        var wanted: [UInt64: Int] = [:]
        for identifier in identifiers {
            let (sequence, target) = try resolve(identifier, relationship, entity, table, row, new)
            wanted[sequence] = target
        }
        var isChanged = false
        for (member, target) in table.links[relationship.slot].members(of: owner)
        where wanted.removeValue(forKey: member) == nil {
            table.links[relationship.slot].remove(owner, member, target, transaction: table.owner)
            removeReverse((member, target), relationship, owner)
            isChanged = true
        }
        for (member, target) in wanted {
            table.links[relationship.slot].insert(owner, member, target, transaction: table.owner)
            addReverse((member, target), relationship, owner)
            note((member, target), relationship, entity, row)
            isChanged = true
        }
        return isChanged
    }

    /// Takes a record that is being deleted out of the reverse of its relationship. What it refers to itself stays in its
    /// row, and members are dropped.
    func unlink(_ relationship: Relationship, _ entity: Int, _ table: TableWriter, _ row: Int, _ owner: UInt64) {
        if relationship.isToMany {
            for (member, target) in table.links[relationship.slot].members(of: owner) {
                table.links[relationship.slot].remove(owner, member, target, transaction: table.owner)
                removeReverse((member, target), relationship, owner)
            }
        } else if let target = table.reference(row, relationship.slot) {
            removeReverse(target, relationship, owner)
        }
    }

    // MARK: The end of a transaction

    /// Clears references to deleted records. `shown` says whether to clear those whose inverse is a property too; the
    /// others are always cleared, and so are those of a pair to a record that did not refer back: who deletes it cannot know
    /// of them.
    func clearReferencesToDeleted(shown: Bool) throws {
        for (entity, relationships) in catalog.relationships.enumerated() {
            for relationship in relationships {
                let isCleared = shown || !relationship.hasInverseProperty && !hasInverse(relationship, entity)
                if !isCleared, relationship.isToMany || relationship.hasInverseProperty { continue }
                for (target, sequence) in deleted {
                    guard let number = relationship.targets.firstIndex(of: target) else { continue }
                    let owners = table(target).links[relationship.reverse].members(of: sequence)
                        .filter { $0.target == relationship.ownerAmongTargets }
                    for (owner, _) in owners
                    where isCleared || !refersBack(target, sequence, to: owner, relationship, entity) {
                        try clear(owner, (sequence, number), relationship, entity)
                    }
                }
            }
        }
    }

    /// Whether a deleted record referred to a record that refers to it, so far as the other side is to-one as well.
    private func refersBack(
        _ target: Int, _ sequence: UInt64, to owner: UInt64, _ relationship: Relationship, _ entity: Int
    ) -> Bool {
        let table = table(target)
        guard let name = catalog.plans[entity].layout.slots[relationship.slot].property.relationship?.inverse,
            let slot = table.plan.layout.slot(named: name), table.plan.layout.slots[slot].role == .toOne,
            let row = table.rowOrRemains(sequence), let found = table.reference(row, slot)
        else { return false }
        let back = catalog.relationships[target].first { $0.slot == slot }?.targets ?? []
        return found.sequence == owner && back.indices.contains(found.target) && back[found.target] == entity
    }

    private func hasInverse(_ relationship: Relationship, _ entity: Int) -> Bool {
        catalog.plans[entity].layout.slots[relationship.slot].property.relationship?.inverse != nil
    }

    private func clear(
        _ owner: UInt64, _ target: (sequence: UInt64, target: Int), _ relationship: Relationship, _ entity: Int
    ) throws {
        let table = table(entity)
        guard let row = table.row(owner) else { return }
        let record = catalog.identifier(owner, entity)
        if relationship.isToMany {
            table.links[relationship.slot].remove(owner, target.sequence, target.target, transaction: table.owner)
        } else {
            guard relationship.isOptional else { throw dangling(record, relationship, target) }
            unindex(table, row)
            table.write(reference: nil, row, relationship.slot, isNew: false)
            try index(table, entity, row)
        }
        removeReverse(target, relationship, owner)
        // A record that this transaction inserts is written as it is in the end.
        if owner >= base.nextSequence { return }
        changes.updated.append(
            .init(record: record, layout: table.plan.layout, slots: SlotSet([relationship.slot])))
    }

    private func dangling(
        _ record: PersistentIdentifier, _ relationship: Relationship, _ target: (sequence: UInt64, target: Int)
    ) -> EngineError {
        .danglingReference(
            entity: record.entityName, property: relationship.name, record: record,
            target: catalog.identifier(target.sequence, relationship.targets[target.target]))
    }

    /// Clears one-way references to deleted records, and sees to it that nothing refers to what is not there.
    func settle() throws {
        if !deleted.isEmpty {
            try clearReferencesToDeleted(shown: false)
            try refuseReferencesToDeleted()
        }
        var found: (target: Int, sequence: UInt64)?
        for reference in written {
            // Many side by side lead to the same record.
            if let found, found == (reference.target, reference.sequence) { continue }
            if table(reference.target).row(reference.sequence) != nil {
                found = (reference.target, reference.sequence)
                continue
            }
            let owner = table(reference.entity)
            guard owner.isLive(reference.row), refers(owner, reference) else { continue }
            throw EngineError.danglingReference(
                entity: owner.plan.entityName, property: reference.relationship.name,
                record: catalog.identifier(owner.sequence(reference.row), reference.entity),
                target: catalog.identifier(reference.sequence, reference.target))
        }
    }

    private func refers(_ table: TableWriter, _ reference: WrittenReference) -> Bool {
        if reference.relationship.isToMany {
            return table.links[reference.relationship.slot].members(of: table.sequence(reference.row))
                .contains { $0.member == reference.sequence }
        }
        return table.reference(reference.row, reference.relationship.slot)?.sequence == reference.sequence
    }

    /// A record that refers to a deleted record keeps it from being deleted.
    private func refuseReferencesToDeleted() throws {
        for (entity, relationships) in catalog.relationships.enumerated() {
            for relationship in relationships {
                for (target, sequence) in deleted {
                    guard let number = relationship.targets.firstIndex(of: target) else { continue }
                    let left = table(target).links[relationship.reverse].members(of: sequence)
                        .first { $0.target == relationship.ownerAmongTargets && table(entity).row($0.member) != nil }
                    if let left {
                        throw dangling(
                            catalog.identifier(left.member, entity), relationship, (sequence, number))
                    }
                }
            }
        }
    }
}
