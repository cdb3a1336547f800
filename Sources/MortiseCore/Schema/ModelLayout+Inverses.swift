// Which relationships go together. Decided by the classes that declare them, never by what else a schema has, so that it
// does not depend on which types a program asks for first.

extension ModelLayout {
    /// Sets what depends on the other layouts, when the destinations of all are set; superclasses come first.
    static func resolveInverses(of layouts: [ModelLayout]) {
        for layout in layouts {
            layout.partnerSlots = layout.properties.indices.map { slot in
                if slot < layout.ownSlots.lowerBound { return layout.superlayout?.partnerSlots[slot] }
                return layout.partner(of: slot)
            }
        }
        for layout in layouts {
            layout.inverseSlots = layout.properties.indices.map { slot in
                guard let partner = layout.partnerSlots[slot], let destination = layout.destinations[slot] else {
                    return nil
                }
                return destination.destinations[partner].map { layout.isSame(as: $0) } == true ? partner : nil
            }
        }
        for layout in layouts { layout.resolveSharing() }
        for layout in layouts { layout.nameInverses() }
    }

    private func resolveSharing() {
        sharingSlots = properties.indices.map { slot in
            guard let inverse = inverseSlots[slot], namedInverses[slot] != nil else { return [] }
            return properties.indices.filter {
                $0 != slot && inverseSlots[$0] == inverse && destinations[$0] === destinations[slot]
                    && namedInverses[$0] != nil
            }
        }
        oneSidedSlots = properties.indices.filter { slot in
            guard let inverse = inverseSlots[slot], sharingSlots[slot].isEmpty else { return false }
            return destinations[slot]?.partnerSlots[inverse] == nil
        }
    }

    /// Sets the names of inverses that stores know: what one side holds then follows from the other. Any other
    /// relationship is stored by itself, and models keep it in step with its inverse.
    private func nameInverses() {
        for slot in ownSlots {
            guard let relationship = relationship(slot), let destination = destinations[slot] else { continue }
            relationship.destination = destination.entityName
            if let partner = partnerSlots[slot], isStoredWithPartner(slot) {
                relationship.inverseName = destination.properties[partner].name
                relationship.inverseKeyPath = relationship.inverseKeyPath ?? destination.keyPaths[partner]
            }
        }
    }

    private func isStoredWithPartner(_ slot: Int) -> Bool {
        guard sharingSlots[slot].isEmpty, let partner = partnerSlots[slot], let destination = destinations[slot],
            destination.partnerSlots[partner] == slot
        else { return false }
        // Each has to lead to all that have the other, and to nothing else: stores derive one side for a whole entity.
        return destination.destinations[partner] === self && destination.ownSlots.contains(partner)
    }

    /// The slot, in a model at the other end, that goes with the relationship in a slot of this one.
    ///
    /// A relationship may lead to more types than that which has its inverse: then it depends on the model.
    func inverse(of slot: Int, towards other: ModelLayout) -> Int? {
        if let inverse = inverseSlots[slot] { return inverse }
        if other.oneSidedSlots.isEmpty || partnerSlots[slot] != nil { return nil }
        let naming = other.oneSidedSlots.filter { candidate in
            other.inverseSlots[candidate] == slot && other.destinations[candidate].map { isSame(as: $0) } == true
        }
        return naming.count == 1 ? naming[0] : nil
    }

    /// Whether models keep a relationship in step with others that stores know nothing of. `models` are those of the
    /// schema: other types of the process have no records here.
    func isKeptInStepByModels(_ slot: Int, among models: some Sequence<ModelLayout>) -> Bool {
        guard let relationship = relationship(slot) else { return false }
        if partnerSlots[slot] != nil { return relationship.inverseName == nil }
        return models.contains { other in
            other.oneSidedSlots.contains { candidate in
                guard other.inverseSlots[candidate] == slot, let destination = other.destinations[candidate] else {
                    return false
                }
                return isSame(as: destination) || destination.isSame(as: self)
            }
        }
    }

    /// The destination's slot that holds the other direction of the relationship in a slot of ours: what it names, else
    /// what alone names it, else the one relationship back that nobody has named, if there is exactly one each way and
    /// not both hold many: as in SwiftData, two arrays are two lists unless one names the other.
    private func partner(of slot: Int) -> Int? {
        guard let relationship = relationship(slot), let destination = destinations[slot] else { return nil }
        if let named = namedInverses[slot] {
            // What cannot be the inverse is left to `validate()`.
            return destination.slot(for: named).flatMap { destination.relationship($0) == nil ? nil : $0 }
        }
        let relationSlots = destination.properties.indices.filter { destination.relationship($0) != nil }
        let naming = relationSlots.filter { candidate in
            destination.names(slot, of: self, in: candidate) && (destination !== self || candidate != slot)
        }
        if let first = naming.first { return naming.count == 1 ? first : nil }
        let back = relationSlots.filter {
            destination.isUnclaimed($0, towards: self) && (destination !== self || $0 != slot)
        }
        let there = properties.indices.filter { candidate in
            isUnclaimed(candidate, towards: destination)
                && !(destination === self && back.contains(candidate) && candidate != slot)
        }
        guard back.count == 1, there == [slot] else { return nil }
        // Each has to see the other: not one that leads to a superclass, or is inherited from one.
        guard destination.ownSlots.contains(back[0]), destination.destinations[back[0]] === self else { return nil }
        let isManyToMany = [relationship, destination.relationship(back[0])].allSatisfy {
            $0?.isToOneRelationship == false
        }
        return isManyToMany ? nil : back[0]
    }

    /// Whether the relationship in a slot of this model names that slot of another as its inverse.
    private func names(_ slot: Int, of other: ModelLayout, in candidate: Int) -> Bool {
        namedInverses[candidate].flatMap { other.slot(for: $0) } == slot
    }

    /// Whether a relationship leads to a type (or one it inherits from), names no inverse, and is named by none.
    private func isUnclaimed(_ slot: Int, towards target: ModelLayout) -> Bool {
        guard relationship(slot) != nil, namedInverses[slot] == nil, let destination = destinations[slot],
            target.isSame(as: destination)
        else { return false }
        return !destination.properties.indices.contains { destination.names(slot, of: self, in: $0) }
    }
}
