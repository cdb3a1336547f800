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
    /// The entities whose records say the same in any order of saves: no relationship of theirs is counted, or may lead to
    /// a record only once.
    let plainEntities: Set<String>
    /// Where external data are; nil if the store has no such place.
    package let external: ExternalFiles?
    /// Whether new data are written there; if not, they stay in their records.
    let writesExternal: Bool
    private let entitiesByNamespace: [UInt32: Int]
    /// By the layouts, which these keep, so that no other gets the address of one.
    let arrangements = Mutex<[ObjectIdentifier: Arrangement]>([:])

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
        let shape = schema.derived { CatalogShape(schema) }
        layouts = shape.layouts
        numbers = shape.numbers
        subtrees = shape.subtrees
        families = shape.families
        relationships = shape.relationships
        plainEntities = shape.plainEntities
        let identifiers = shape.names.map { IdentifierNamespace(storeIdentifier: storeIdentifier, entityName: $0) }
        var entitiesByNamespace: [UInt32: Int] = [:]
        for (number, name) in shape.names.enumerated() {
            entitiesByNamespace[identifiers[number].namespace] = number
            entitiesByNamespace[IdentifierNamespace(temporaryOf: name).namespace] = number
        }
        self.entitiesByNamespace = entitiesByNamespace
        // One array for all slots that lead to the entity.
        let namespaces = shape.subtrees.map { $0.map { identifiers[$0] } }
        plans = shape.tables.enumerated().map { number, table in
            TablePlan(
                table, number: number, identifiers: identifiers[number],
                targets: table.destinations.map { $0.map { namespaces[$0] } ?? [] }, external: external)
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
