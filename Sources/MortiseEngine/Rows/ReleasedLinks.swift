public import MortiseCore

/// Links of to-many relationships that the old schema derives from their inverse and the new schema stores on their own
/// side, because the two are no longer each other's inverse, or because a name that decides on the side has changed. They
/// start with the derived members. Where both sides were stored and one follows from the other now, that one has the links of both.
public struct ReleasedLinks {
    private struct Place: Hashable {
        let record: PersistentIdentifier
        let property: String
    }

    private let rules: [String: [SchemaMapping.Release]]
    private let names: [String: String]
    private var members: [Place: [PersistentIdentifier]] = [:]
    private let unitesSides: Bool

    /// Makes an empty set of links for the relationships that a mapping releases.
    public init(_ mapping: SchemaMapping) {
        (rules, names) = (mapping.releases, mapping.names)
        unitesSides = rules.values.contains { $0.contains(where: \.isOwn) }
    }

    /// Records the references of a record of the old schema.
    /// - Parameters:
    ///   - values: the record's values, by slot of the old layout.
    ///   - owner: the record, under its entity's old name.
    public mutating func note(_ values: ContiguousArray<StoredValue>, of owner: PersistentIdentifier) {
        if rules.isEmpty { return }
        let owner = owner.renamed(names)
        guard let rules = rules[owner.entityName] else { return }
        for rule in rules where values.indices.contains(rule.slot) {
            switch values[rule.slot] {
            case .identifiers(let members) where rule.isOwn:
                for member in members { add(member.renamed(names), to: owner, rule.property) }
            case .identifier(let member) where rule.isOwn: add(member.renamed(names), to: owner, rule.property)
            case .identifier(let member): add(owner, to: member.renamed(names), rule.property)
            case .identifiers(let members):
                for member in members { add(owner, to: member.renamed(names), rule.property) }
            default: break
            }
        }
    }

    private mutating func add(_ owner: PersistentIdentifier, to member: PersistentIdentifier, _ property: String) {
        members[Place(record: member, property: property), default: []].append(owner)
    }

    /// Calls `body` with the members of each released relationship that has members.
    public func forEach(_ body: (PersistentIdentifier, _ property: String, StoredValue) throws -> Void) rethrows {
        for (place, members) in members {
            // Both sides may have had a link.
            let each = unitesSides ? Set(members).sorted() : members
            try body(place.record, place.property, .identifiers(each))
        }
    }
}

extension SchemaMapping {
    /// A relationship of the old schema whose links the other side takes over.
    struct Release: Hashable, Sendable {
        /// In the old layout of the entity that keeps the links.
        let slot: Int
        /// The name, in the new schema, of the relationship that followed from them.
        let property: String
        /// Whether that is the relationship of the record itself, to whose links those of the other side are added.
        var isOwn = false
    }

    /// Whether a relationship can be taken over: it was derived from its inverse and has none to derive it from now.
    static func isReleased(_ old: RecordLayout.Role, _ new: RecordLayout.Role) -> Bool {
        old == .toManyDerived && new == .toManyStored
    }

    /// By entity of the old schema.
    static func releases(
        _ sources: [String: [Source]], from old: StoredSchema, laidOut oldLayouts: [String: RecordLayout],
        to new: StoredSchema
    ) -> [String: [Release]] {
        let newLayouts = new.recordLayouts()
        var found: [String: Set<Release>] = [:]
        let all = sources
        /// One that leads to one record has the links already that it shares with its other side.
        func keepsMembers(_ name: String, _ entity: String?) -> Bool {
            guard let layout = entity.flatMap({ newLayouts[$0] }), let slot = layout.slot(named: name) else {
                return false
            }
            return layout.slots[slot].role == .toManyStored
        }
        for (name, sources) in all {
            guard let before = oldLayouts[name], let after = newLayouts[name] else { continue }
            for (slot, source) in zip(after.slots, sources) {
                guard case .slot(let place) = source else { continue }
                let inverseNow = slot.property.relationship?.inverse
                if [.toManyStored, .toOne].contains(before.slots[place].role), slot.role == .toManyDerived,
                    let inverseNow, keepsMembers(inverseNow, slot.property.relationship?.destination)
                {
                    found[name, default: []].insert(Release(slot: place, property: inverseNow))
                    for other in new.subtree(of: slot.property.relationship?.destination ?? "") {
                        guard let kept = newLayouts[other]?.slot(named: inverseNow), let own = all[other],
                            case .slot(let origin) = own[kept], let old = oldLayouts[other],
                            [.toManyStored, .toOne].contains(old.slots[origin].role)
                        else { continue }
                        found[other, default: []].insert(Release(slot: origin, property: inverseNow, isOwn: true))
                    }
                }
                guard isReleased(before.slots[place].role, slot.role),
                    let relationship = before.slots[place].property.relationship, let inverse = relationship.inverse
                else { continue }
                for owner in old.subtree(of: relationship.destination) {
                    guard let kept = oldLayouts[owner]?.slot(named: inverse) else { continue }
                    found[owner, default: []].insert(Release(slot: kept, property: slot.name))
                }
            }
        }
        return found.mapValues(Array.init)
    }
}

extension EngineLoader {
    /// Adds released links to the records that were loaded.
    /// - Throws: `EngineError.wrongDestination`.
    public func take(_ links: ReleasedLinks) throws {
        try links.forEach { record, property, members in
            guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber,
                let slot = catalog.layouts[record.entityName]?.slot(named: property)
            else { return }
            try update(entity: entity, sequence: sequence, [(slot, members)])
        }
    }
}
