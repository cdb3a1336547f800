public import MortiseCore
import Synchronization

/// What an engine knows of its schema, computed once.
public final class Catalog: Sendable {
    /// The schema of the store.
    public let schema: StoredSchema
    /// The identifier of the store, which is part of its records' identifiers.
    public let storeIdentifier: String
    /// The layouts of the entities by name.
    public let layouts: [String: RecordLayout]
    /// By the entities' numbers, which are their places in the schema.
    let plans: [TablePlan]
    let numbers: [String: Int]
    /// The numbers of each entity and everything that inherits from it.
    let subtrees: [[Int]]
    /// The same as names, in the schema's order of a family.
    let families: [[String]]
    /// For each entity, its stored relationships with what they lead to.
    let relationships: [[RelationshipSlot]]
    /// Where external data are; nil if the store has no such place.
    package let external: ExternalFiles?
    /// Whether new data are written there; if not, they stay in their records.
    let writesExternal: Bool
    private let entitiesByNamespace: [UInt32: Int]
    /// By the layouts, which these keep, so that no other gets the address of one.
    let arrangements = Mutex<[ObjectIdentifier: Arrangement]>([:])

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

    /// Makes the catalog of a store that keeps all values in its records.
    public convenience init(schema: StoredSchema, storeIdentifier: String) {
        self.init(schema: schema, storeIdentifier: storeIdentifier, external: nil)
    }

    /// Creates the catalog of a schema. `external` takes longer data of attributes with the option `.externalStorage`.
    /// With `writesExternal` false it is only read from.
    package init(
        schema: StoredSchema, storeIdentifier: String, external: ExternalFiles?, writesExternal: Bool = true
    ) {
        self.external = external
        self.writesExternal = writesExternal
        self.schema = schema
        self.storeIdentifier = storeIdentifier
        let layouts = schema.recordLayouts()
        self.layouts = layouts
        let names = schema.entities.map(\.name)
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
        let identifiers = names.map { IdentifierNamespace(storeIdentifier: storeIdentifier, entityName: $0) }
        var entitiesByNamespace: [UInt32: Int] = [:]
        for (number, name) in names.enumerated() {
            entitiesByNamespace[identifiers[number].namespace] = number
            entitiesByNamespace[IdentifierNamespace(temporaryOf: name).namespace] = number
        }
        self.entitiesByNamespace = entitiesByNamespace

        // Reverses that no property shows get numbers above all slots, the same in every table.
        var hidden = layouts.values.map(\.slots.count).max() ?? 0
        var relationships: [[RelationshipSlot]] = []
        for (number, name) in names.enumerated() {
            var found: [RelationshipSlot] = []
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
                    RelationshipSlot(
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
        // One array for all slots that lead to the entity.
        let namespaces = subtrees.map { $0.map { identifiers[$0] } }
        let entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        plans = names.enumerated().map { number, name in
            let layout = layouts[name] ?? RecordLayout.empty(name)
            let destinations = layout.slots.map { slot in
                slot.property.relationship.flatMap { numbers[$0.destination] }
            }
            let indexes = IndexDefinition.all(of: layout, entities, numbers: numbers, subtrees: subtrees)
            let indexed = Set(indexes.flatMap(\.slots))
            return TablePlan(
                layout: layout, number: number, identifiers: identifiers[number],
                columns: layout.slots.enumerated().map {
                    Column(
                        $0.element, at: $0.offset, targets: destinations[$0.offset].map { subtrees[$0] } ?? [],
                        isIndexed: indexed.contains($0.offset))
                },
                targets: destinations.map { $0.map { namespaces[$0] } ?? [] }, indexes: indexes, linkCount: linkCount,
                external: external)
        }
    }

    /// Whether a relationship may lead to a record, provided that the record exists.
    /// - Parameters:
    ///   - target: the record.
    ///   - slot: the slot of the relationship in the entity's layout.
    ///   - entity: the name of the relationship's entity.
    /// - Returns: false also for a slot that is not a relationship, or an unknown entity.
    public func admits(_ target: PersistentIdentifier, slot: Int, ofEntity entity: String) -> Bool {
        guard let plan = plan(entity), plan.columns.indices.contains(slot) else { return false }
        return plan.reference(target, at: slot) != nil
    }

    /// The other side of a relationship of which both sides are stored, as of a one-to-one relationship: what one side refers
    /// to has to refer back by it.
    /// - Parameters:
    ///   - slot: the slot of the relationship in the entity's layout.
    ///   - entity: the number of the relationship's entity, which is its place in the schema.
    /// - Returns: the property of the records at the other end; nil for a slot that is no side of such a relationship.
    package func storedInverse(ofSlot slot: Int, entity: Int) -> String? {
        guard plans.indices.contains(entity), plans[entity].layout.slots.indices.contains(slot) else { return nil }
        let side = plans[entity].layout.slots[slot]
        guard side.role == .toOne || side.role == .toManyStored, let relationship = side.property.relationship,
            let inverse = relationship.inverse, let destination = layouts[relationship.destination],
            let place = destination.slot(named: inverse)
        else { return nil }
        let back = destination.slots[place]
        return back.role == side.role && back.property.relationship?.inverse == side.name ? inverse : nil
    }

    func plan(_ entity: String) -> TablePlan? { numbers[entity].map { plans[$0] } }

    /// The entity of a record of this store, or of a new one, by its identifier.
    @inline(__always)
    func entity(of identifier: PersistentIdentifier) -> Int? { entitiesByNamespace[identifier.namespace] }

    func identifier(_ sequence: UInt64, _ entity: Int) -> PersistentIdentifier { plans[entity].identifiers[sequence] }

    /// Makes sure that a column can take a value that comes out of a file: of data in a file of their own no index has a key.
    /// - Throws: `EngineError.schemaMismatch` where the column has become part of an index since the data were written.
    @inline(__always)
    func checkReference(_ value: StoredValue, _ column: Column, _ plan: TablePlan) throws {
        guard column.isIndexed, column.kind == .data, case .array = value else { return }
        throw EngineError.schemaMismatch(
            store: storeIdentifier,
            differences: [
                "\(plan.entityName).\(plan.layout.slots[column.slot].name) is in an index and has external data, "
                    + "which no index can hold; leave it out of the index, or copy the records into a new store"
            ])
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
