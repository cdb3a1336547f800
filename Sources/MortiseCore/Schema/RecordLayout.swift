/// The positions of the properties of an entity's records: slots are numbered from zero, inherited properties first,
/// then the entity's own in declaration order. Everything that handles records by position (models, snapshots, engine
/// rows) uses this numbering.
public final class RecordLayout: Sendable {
    /// One property of an entity's records, inherited ones included.
    public struct Slot: Sendable {
        /// The property.
        public let property: StoredProperty
        /// The entity that declares the property: this one or an ancestor.
        public let declaringEntity: String
        /// Whether the slot holds a value or a relationship, and whether a store keeps it or derives it.
        public let role: Role

        /// The property's name.
        public var name: String { property.name }
    }

    /// What a slot holds, and whether a store keeps it with its owner.
    public enum Role: Sendable, Hashable {
        /// A value, not a relationship.
        case attribute
        /// A to-one relationship; always stored with its owner.
        case toOne
        /// A to-many relationship that is stored with its owner: it has no inverse, or is the first side of a
        /// many-to-many.
        case toManyStored
        /// A to-many relationship that is derived from its inverse in the destination's records.
        case toManyDerived

        /// Whether the slot refers to other records.
        public var isRelationship: Bool { self != .attribute }
        /// Whether the slot refers to a set of records.
        public var isToMany: Bool { self == .toManyStored || self == .toManyDerived }
    }

    /// The entity whose records have this layout.
    public let entityName: String
    /// The entity that this one inherits from; nil if it inherits from none.
    public let superentityName: String?
    /// The properties by slot, inherited ones first.
    public let slots: [Slot]
    /// The slots of each uniqueness constraint, inherited constraints included.
    public let uniqueConstraints: [[Int]]
    /// The attributes that are kept in memory only.
    let ephemeralSlots: [Int]
    /// The slots that a new record may lack a value in, so that something has to be checked then.
    let checkedSlots: SlotSet
    /// The to-one relationships that are not optional.
    let requiredTargets: SlotSet
    private let slotsByName: [String: Int]

    init(
        entityName: String, superentityName: String?, slots: [Slot], uniqueConstraints: [[Int]]
    ) {
        self.entityName = entityName
        self.superentityName = superentityName
        self.slots = slots
        self.uniqueConstraints = uniqueConstraints
        self.ephemeralSlots = slots.indices.filter {
            slots[$0].property.attribute?.options.contains(.ephemeral) == true
        }
        checkedSlots = SlotSet(
            slots.indices.filter { slot in
                let property = slots[slot].property
                if let relationship = property.relationship, relationship.isToMany {
                    return relationship.minimumCount != nil || relationship.maximumCount != nil
                }
                return !property.isOptional && property.attribute?.options.contains(.ephemeral) != true
            })
        requiredTargets = SlotSet(
            slots.indices.filter { slots[$0].role == .toOne && !slots[$0].property.isOptional })
        self.slotsByName = Dictionary(
            slots.indices.map { (slots[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A layout without properties.
    public static func empty(_ entityName: String) -> RecordLayout {
        RecordLayout(entityName: entityName, superentityName: nil, slots: [], uniqueConstraints: [])
    }

    /// The slot of the property with that name, including inherited ones; nil if there is no such property.
    public func slot(named name: String) -> Int? { slotsByName[name] }
}

extension StoredSchema {
    /// The layouts of all entities by name. Entities whose superentity is missing, or that inherit from themselves, get
    /// a layout without it; `Schema` refuses such schemas before anything is stored.
    ///
    /// They are made once for a schema and its copies: to ask again costs nothing.
    public func recordLayouts() -> [String: RecordLayout] { derived.layouts(makeRecordLayouts) }

    private func makeRecordLayouts() -> [String: RecordLayout] {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let properties = byName.mapValues { entity in
            Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        // What an entity declares is the same in all that inherit from it.
        let own = byName.mapValues { entity in
            entity.properties.map { property in
                RecordLayout.Slot(
                    property: property, declaringEntity: entity.name,
                    role: RecordLayout.role(of: property, declaredBy: entity.name) { entity, inverse in
                        byName.ancestry(of: entity).lazy.compactMap { properties[$0]?[inverse] }.first
                    })
            }
        }
        var layouts: [String: RecordLayout] = [:]
        for entity in entities {
            let chain = byName.ancestry(of: entity.name).reversed()
            let slots = chain.flatMap { own[$0] ?? [] }
            let constraints = chain.flatMap { byName[$0]?.uniquenessConstraints ?? [] }
            let indexOf = Dictionary(
                slots.indices.map { (slots[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
            layouts[entity.name] = RecordLayout(
                entityName: entity.name, superentityName: entity.superentity, slots: slots,
                uniqueConstraints: constraints.map { $0.compactMap { indexOf[$0] } })
        }
        return layouts
    }

    /// By entity, the names of it and of all entities that inherit from it, in schema order: what `subtree(of:)` gives for each.
    package func subtrees() -> [String: [String]] { derived.subtrees(makeSubtrees) }

    private func makeSubtrees() -> [String: [String]] {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [String: [String]] = [:]
        for entity in entities {
            for ancestor in byName.ancestry(of: entity.name) { found[ancestor, default: []].append(entity.name) }
        }
        return found
    }

    /// The names of an entity and of all entities that inherit from it, in schema order.
    public func subtree(of name: String) -> [String] {
        let known = subtrees()
        // Of entities that have one name, each may inherit from another.
        if known.count == entities.count, let found = known[name] { return found }
        var members: Set<String> = [name]
        var grew = true
        while grew {
            grew = false
            for entity in entities where !members.contains(entity.name) {
                if let parent = entity.superentity, members.contains(parent) {
                    members.insert(entity.name)
                    grew = true
                }
            }
        }
        return entities.map(\.name).filter(members.contains)
    }
}

extension [String: StoredEntity] {
    fileprivate func ancestry(of name: String) -> [String] {
        var names: [String] = []
        var seen: Set<String> = []
        var next: String? = name
        while let current = next, let entity = self[current], seen.insert(current).inserted {
            names.append(current)
            next = entity.superentity
        }
        return names
    }
}

extension RecordLayout {
    /// Decides which side of a relationship is stored; both sides get the same answer from the same two properties.
    static func role(
        of property: StoredProperty, declaredBy entity: String,
        inverse find: (_ entity: String, _ name: String) -> StoredProperty?
    ) -> Role {
        guard let relationship = property.relationship else { return .attribute }
        guard relationship.isToMany else { return .toOne }
        guard let inverseName = relationship.inverse, let inverse = find(relationship.destination, inverseName),
            let back = inverse.relationship
        else { return .toManyStored }
        guard back.isToMany else { return .toManyDerived }
        let mine = (entity, property.name)
        let other = (relationship.destination, inverseName)
        return mine <= other ? .toManyStored : .toManyDerived
    }
}
