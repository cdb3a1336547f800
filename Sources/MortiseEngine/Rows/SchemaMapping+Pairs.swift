public import MortiseCore

extension SchemaMapping {
    /// Where the properties of the new schema come from, for questions that concern both sides of a relationship.
    struct Sides {
        let old: [String: RecordLayout]
        let new: [String: RecordLayout]
        /// By entity of the new schema and slot, the old slot; nil for new properties.
        let origins: [String: [Int?]]

        /// The old property that a property of the new schema comes from. An entity that is new has those that it inherits from
        /// the nearest ancestor that is not.
        fileprivate func origin(ofEntity name: String, slot: Int) -> RecordLayout.Slot? {
            var next: String? = name
            var seen: Set<String> = []
            // Inherited slots have the same numbers in the ancestors.
            while let name = next, seen.insert(name).inserted, let layout = new[name], slot < layout.slots.count {
                if let known = origins[name] { return known[slot].flatMap { old[name]?.slots[$0] } }
                next = layout.superentityName
            }
            return nil
        }

        /// Whether an entity of the new schema is another one or inherits from it.
        func includes(_ name: String, in ancestor: String) -> Bool {
            var next: String? = new[name] == nil ? nil : name
            var seen: Set<String> = []
            while let name = next, seen.insert(name).inserted {
                if name == ancestor { return true }
                next = new[name]?.superentityName
            }
            return false
        }

        /// The other side of a relationship in the new schema, with the old slot that it comes from.
        fileprivate func inverse(
            of slot: RecordLayout.Slot
        ) -> (slot: RecordLayout.Slot, origin: RecordLayout.Slot?)? {
            guard let relationship = slot.property.relationship, let name = relationship.inverse,
                let layout = new[relationship.destination], let place = layout.slot(named: name)
            else { return nil }
            return (layout.slots[place], origin(ofEntity: relationship.destination, slot: place))
        }

        /// Whether the other side takes over the links that one side of a many-to-many relationship has kept. If it kept links of its
        /// own, because neither was the other's inverse, it has all of them then.
        func isHandedOver(_ slot: RecordLayout.Slot, from before: RecordLayout.Slot) -> Bool {
            guard before.role == .toManyStored, slot.role == .toManyDerived,
                before.property.relationship?.destination == slot.property.relationship?.destination,
                let other = inverse(of: slot), other.slot.role == .toManyStored
            else { return false }
            return other.origin.map { $0.takesOver(from: before) } ?? true
        }

        /// Whether a to-one relationship becomes one to many that has no more than the record it led to: on the side that keeps the
        /// links, or on the other, where that one has the same links or takes them over.
        func isWidened(_ slot: RecordLayout.Slot, from before: RecordLayout.Slot) -> Bool {
            guard before.role == .toOne else { return false }
            if slot.role == .toManyStored { return true }
            guard slot.role == .toManyDerived,
                before.property.relationship?.destination == slot.property.relationship?.destination,
                let other = inverse(of: slot)
            else { return false }
            if other.slot.role == .toManyStored { return other.origin.map { $0.takesOver(from: before) } ?? true }
            // A record of the other side has one place, and several may lead to it.
            guard let origin = other.origin, origin.role == .toOne else { return false }
            return origin.name == before.property.relationship?.inverse
                && origin.property.relationship?.inverse == before.name
        }

        /// Whether two to-one relationships are each other's inverse now, have values, and were not each other's inverse.
        fileprivate func isNewPair(_ slot: RecordLayout.Slot, from before: RecordLayout.Slot?) -> Bool {
            guard slot.role == .toOne, let other = inverse(of: slot), other.slot.role == .toOne,
                other.slot.property.relationship?.inverse == slot.name
            else { return false }
            guard let before, let origin = other.origin else { return before != nil || other.origin != nil }
            return before.property.relationship?.inverse != origin.name
                || origin.property.relationship?.inverse != before.name
        }
    }

    /// A side of a one-to-one relationship.
    struct Pair: Hashable, Sendable {
        /// In the new layout.
        let slot: Int
        let property: String
        /// The property of the records that it leads to.
        let inverse: String
        /// The entities to whose records the inverse may lead.
        let admitted: Set<String>
        /// The entities whose records have the other side: another's records are not completed.
        let partners: Set<String>
    }

    /// By entity of the new schema, both sides of each pair that is new.
    static func pairs(_ sides: Sides, in new: StoredSchema) -> [String: [Pair]] {
        var found: [String: Set<Pair>] = [:]
        func add(
            _ property: String, of entities: [String], inverse: String, admitting admitted: Set<String>,
            partners: Set<String>
        ) {
            for entity in entities {
                guard let slot = sides.new[entity]?.slot(named: property) else { continue }
                found[entity, default: []].insert(
                    Pair(slot: slot, property: property, inverse: inverse, admitted: admitted, partners: partners))
            }
        }
        for (name, layout) in sides.new {
            for (place, slot) in layout.slots.enumerated() where slot.role == .toOne {
                let origin = sides.origin(ofEntity: name, slot: place)
                guard sides.isNewPair(slot, from: origin), let relationship = slot.property.relationship,
                    let other = sides.inverse(of: slot)?.slot, let back = other.property.relationship
                else { continue }
                let (owners, targets) = (new.subtree(of: name), new.subtree(of: relationship.destination))
                add(
                    slot.name, of: owners, inverse: other.name, admitting: Set(new.subtree(of: back.destination)),
                    partners: Set(targets))
                add(other.name, of: targets, inverse: slot.name, admitting: Set(targets), partners: Set(owners))
            }
        }
        return found.mapValues { $0.sorted { $0.slot < $1.slot } }
    }
}

/// References of one-to-one relationships whose two sides the old schema did not know as each other's inverse: what one side
/// refers to, the other has to refer to as well.
public struct PairedLinks {
    private struct Place: Hashable {
        let record: PersistentIdentifier
        let property: String
    }

    private struct Partners {
        let inverse: String
        /// The records that refer to the record, each once.
        var claims: [PersistentIdentifier] = []
        /// What the record refers to as it is.
        var own: PersistentIdentifier?

        var all: [PersistentIdentifier] {
            guard let own, !claims.contains(own) else { return claims }
            return claims + [own]
        }
    }

    private let rules: [String: [SchemaMapping.Pair]]
    private let names: [String: String]
    private let store: String
    private var partners: [Place: Partners] = [:]

    /// Makes an empty set for the relationships that a mapping pairs.
    public init(_ mapping: SchemaMapping) {
        (rules, names) = (mapping.pairs, mapping.names)
        store = mapping.store
    }

    /// Records the references of a record.
    /// - Parameters:
    ///   - values: the record's values, by slot of the new layout.
    ///   - owner: the record, under its entity's old name.
    public mutating func note(_ values: ContiguousArray<StoredValue>, of owner: PersistentIdentifier) {
        if rules.isEmpty { return }
        let owner = owner.renamed(names)
        guard let rules = rules[owner.entityName] else { return }
        for rule in rules where values.indices.contains(rule.slot) && rule.admitted.contains(owner.entityName) {
            guard case .identifier(let target) = values[rule.slot], rule.partners.contains(target.entityName) else {
                continue
            }
            let (mine, other) = (
                Place(record: owner, property: rule.property), Place(record: target, property: rule.inverse)
            )
            partners[mine, default: Partners(inverse: rule.inverse)].own = target
            partners[other, default: Partners(inverse: rule.property)].claims.append(owner)
        }
    }

    /// The references that are missing: record, property and what it has to refer to, in the order of the records.
    /// - Throws: `EngineError.schemaMismatch` where several records claim one partner.
    public func missing() throws -> [(record: PersistentIdentifier, property: String, target: PersistentIdentifier)] {
        let contested = partners.filter { $0.value.all.count > 1 }
        if !contested.isEmpty { throw EngineError.schemaMismatch(store: store, differences: differences(contested)) }
        return partners.compactMap { place, partners in
            partners.own == nil ? partners.claims.first.map { (place.record, place.property, $0) } : nil
        }.sorted { $0.record == $1.record ? $0.property < $1.property : $0.record < $1.record }
    }

    private func differences(_ contested: [Place: Partners]) -> [String] {
        let most = 8
        func listed(_ texts: [String]) -> String {
            texts.prefix(most).joined(separator: ", ")
                + (texts.count > most ? " and \(texts.count - most) more" : "")
        }
        let sorted = contested.sorted { $0.key.record < $1.key.record }
        let lines = sorted.prefix(most).map { place, partners in
            let all = partners.all.sorted()
            let records = listed(all.map { "\($0)" })
            let (entity, other) = (place.record.entityName, all.first?.entityName ?? "")
            return "\(entity).\(place.property) and \(other).\(partners.inverse) are each other's inverse, and "
                + "\(place.record) has \(all.count) partners: \(records); clear all of these references but "
                + "one under the old schema, or make \(entity).\(place.property) a to-many relationship"
        }
        return lines + (sorted.count > most ? ["\(sorted.count - most) more records have several partners"] : [])
    }
}

extension EngineLoader {
    /// Completes the pairs of the records that were loaded.
    /// - Returns: what was completed.
    /// - Throws: `EngineError.schemaMismatch` where several records claim one partner; `wrongDestination`.
    @discardableResult
    public func complete(_ pairs: PairedLinks) throws -> [ChangeSet.Update] {
        var completed: [ChangeSet.Update] = []
        for (record, property, target) in try pairs.missing() {
            guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber,
                let slot = catalog.layouts[record.entityName]?.slot(named: property)
            else { continue }
            try update(entity: entity, sequence: sequence, [(slot, .identifier(target))])
            completed.append(
                .init(record: record, layout: catalog.plans[entity].layout, slots: SlotSet([slot])))
        }
        return completed
    }
}

extension RecordLayout.Slot {
    /// Whether a relationship that keeps its links from now on may add those of another one, which is its inverse.
    fileprivate func takesOver(from other: RecordLayout.Slot) -> Bool {
        switch role {
        case .toOne, .toManyStored: true
        case .toManyDerived: name == other.property.relationship?.inverse
        case .attribute: false
        }
    }
}
