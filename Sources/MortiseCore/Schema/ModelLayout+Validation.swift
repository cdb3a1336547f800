extension ModelLayout {
    func validate() throws {
        if isValid { return }
        if let fault = faults.first { throw fault }
        // A superclass answers for what it declares.
        for slot in ownSlots {
            guard let relationship = relationship(slot), let destination = destinations[slot] else { continue }
            let minimum = relationship.minimumModelCount ?? 0
            let maximum = relationship.maximumModelCount ?? 0
            if minimum < 0 || maximum < 0 || (maximum > 0 && minimum > maximum) {
                throw SchemaError.impossibleCount(entity: entityName, property: relationship.name)
            }
            try validateInverse(of: relationship, in: slot, destination: destination)
        }
        noteValid()
    }

    private func validateInverse(
        of relationship: Schema.Relationship, in slot: Int, destination: ModelLayout
    ) throws {
        guard let named = namedInverses[slot] else { return }
        guard let inverse = destination.slot(for: named), let back = destination.relationship(inverse) else {
            throw SchemaError.unknownInverse(
                entity: entityName, property: relationship.name, destination: destination.entityName)
        }
        let inverseName = "\(destination.entityName).\(back.name)"
        guard let home = destination.destinations[inverse], isSame(as: home) || home.isSame(as: self) else {
            throw SchemaError.inverseOfAnotherEntity(
                entity: entityName, property: relationship.name, inverse: inverseName,
                leadsTo: destination.destinations[inverse]?.entityName ?? "nothing")
        }
        if let other = destination.partnerSlots[inverse], home.properties[other].name != relationship.name {
            throw SchemaError.inverseMismatch(
                entity: entityName, property: relationship.name, inverse: inverseName,
                claimedBy: "\(home.entityName).\(home.properties[other].name)")
        }
    }
}
