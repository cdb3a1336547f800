import MortiseCore

/// What the catalogs of all stores of one schema have in common. It is made once for a schema and its copies, whatever stores
/// are opened with them.
final class CatalogShape: Sendable {
    let layouts: [String: RecordLayout]
    /// The entities in the schema's order, which is that of their numbers.
    let names: [String]
    let numbers: [String: Int]
    let subtrees: [[Int]]
    let families: [[String]]
    let relationships: [[Catalog.RelationshipSlot]]
    let tables: [TableShape]
    let plainEntities: Set<String>

    init(_ schema: StoredSchema) {
        let layouts = schema.recordLayouts()
        self.layouts = layouts
        let names = schema.entities.map(\.name)
        self.names = names
        let numbers = Dictionary(
            names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        self.numbers = numbers
        // The entity itself comes first, so that most references have the number zero.
        let families = schema.subtrees()
        let subtrees = names.map { name in
            [numbers[name] ?? 0] + (families[name] ?? []).filter { $0 != name }.compactMap { numbers[$0] }
        }
        self.subtrees = subtrees
        self.families = names.map { families[$0] ?? [$0] }

        // Reverses that no property shows get numbers above all slots, the same in every table.
        var hidden = layouts.values.map(\.slots.count).max() ?? 0
        var relationships: [[Catalog.RelationshipSlot]] = []
        for (number, name) in names.enumerated() {
            var found: [Catalog.RelationshipSlot] = []
            for (index, slot) in (layouts[name]?.slots ?? []).enumerated() {
                guard let relationship = slot.property.relationship, slot.role != .toManyDerived else { continue }
                let destination = numbers[relationship.destination]
                let derived = relationship.inverse.flatMap { inverse in
                    layouts[relationship.destination].flatMap { other in
                        other.slot(named: inverse).flatMap { other.slots[$0].role == .toManyDerived ? $0 : nil }
                    }
                }
                let reverseTargets = derived.flatMap { place in
                    layouts[relationship.destination]?.slots[place].property.relationship.flatMap {
                        numbers[$0.destination].map { subtrees[$0] }
                    }
                }
                found.append(
                    Catalog.RelationshipSlot(
                        slot: index, name: slot.name, isToMany: relationship.isToMany,
                        isOptional: slot.property.isOptional, reverse: derived ?? hidden,
                        hasInverseProperty: derived != nil,
                        targets: destination.map { subtrees[$0] } ?? [],
                        ownerAmongTargets: derived == nil ? number : reverseTargets?.firstIndex(of: number) ?? 0))
                if derived == nil { hidden += 1 }
            }
            relationships.append(found)
        }
        self.relationships = relationships
        let linkCount = hidden
        let entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        tables = names.map { name in
            let layout = layouts[name] ?? RecordLayout.empty(name)
            let destinations = layout.slots.map { slot in
                slot.property.relationship.flatMap { numbers[$0.destination] }
            }
            let indexes = IndexDefinition.all(of: layout, entities, numbers: numbers, subtrees: subtrees)
            let indexed = Set(indexes.flatMap(\.slots))
            return TableShape(
                layout: layout,
                columns: layout.slots.enumerated().map {
                    Column(
                        $0.element, at: $0.offset, targets: destinations[$0.offset].map { subtrees[$0] } ?? [],
                        isIndexed: indexed.contains($0.offset))
                },
                destinations: destinations, indexes: indexes, linkCount: linkCount)
        }
        plainEntities = Self.plainEntities(layouts)
    }

    private static func plainEntities(_ layouts: [String: RecordLayout]) -> Set<String> {
        Set(
            layouts.values.filter { layout in
                layout.slots.allSatisfy { slot in
                    guard let relationship = slot.property.relationship else { return true }
                    let inverse = relationship.inverse.flatMap { name in
                        layouts[relationship.destination]?.slots.first { $0.name == name }?.property.relationship
                    }
                    return ![relationship, inverse].contains { $0?.minimumCount != nil || $0?.maximumCount != nil }
                        && (relationship.isToMany || inverse?.isToMany ?? true) && !relationship.isUnique
                        && inverse?.isUnique != true
                }
            }.map(\.entityName))
    }
}

extension Catalog {
    /// A relationship that is kept at its owner, and where its reverse is.
    final class RelationshipSlot: Sendable {
        let slot: Int
        let name: String
        let isToMany: Bool
        let isOptional: Bool
        /// The set of links, in the tables of the targets, that has the owners; a property's or one that no property shows.
        let reverse: Int
        /// Whether the reverse is a property of the targets.
        let hasInverseProperty: Bool
        /// The entities that it may lead to.
        let targets: [Int]
        /// The owner's number among those to which the reverse leads.
        let ownerAmongTargets: Int

        init(
            slot: Int, name: String, isToMany: Bool, isOptional: Bool, reverse: Int, hasInverseProperty: Bool,
            targets: [Int],
            ownerAmongTargets: Int
        ) {
            self.slot = slot
            self.name = name
            self.isToMany = isToMany
            self.isOptional = isOptional
            self.reverse = reverse
            self.hasInverseProperty = hasInverseProperty
            self.targets = targets
            self.ownerAmongTargets = ownerAmongTargets
        }
    }
}

extension IndexDefinition {
    /// The indexes of an entity: its uniqueness constraints, then its declared indexes, inherited ones included; each
    /// sequence of properties once.
    static func all(
        of layout: RecordLayout, _ entities: [String: StoredEntity], numbers: [String: Int], subtrees: [[Int]]
    ) -> [IndexDefinition] {
        var definitions: [IndexDefinition] = []
        var known: Set<[Int]> = []
        for (constraint, slots) in layout.uniqueConstraints.enumerated() {
            known.insert(slots)
            // A constraint that lies wholly in an ancestor's part counts across that ancestor's whole family.
            let declaring = slots.max().map { layout.slots[$0].declaringEntity } ?? layout.entityName
            definitions.append(
                IndexDefinition(
                    components: slots.map { KeyComponent($0, of: layout) },
                    family: numbers[declaring].map { subtrees[$0] } ?? [], constraint: constraint))
        }
        var next: String? = layout.entityName
        var seen: Set<String> = []
        while let name = next, seen.insert(name).inserted, let entity = entities[name] {
            for index in entity.indices {
                let slots = index.properties.compactMap { layout.slot(named: $0) }
                guard slots.count == index.properties.count, !slots.isEmpty,
                    !slots.contains(where: { layout.slots[$0].role.isToMany }),
                    known.insert(slots).inserted
                else { continue }
                definitions.append(
                    IndexDefinition(components: slots.map { KeyComponent($0, of: layout) }, family: [], constraint: nil)
                )
            }
            next = entity.superentity
        }
        return definitions
    }
}
