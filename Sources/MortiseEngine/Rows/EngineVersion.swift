import HashTreeCollections
public import MortiseCore

/// A state of an engine: every table, and what is unique in it. Immutable; old versions live as long as somebody reads them.
public final class EngineVersion: StoreVersion {
    public let number: UInt64
    /// Greater than the number of every record there has ever been.
    public let nextSequence: UInt64
    public let tables: [String: TableVersion]
    let uniques: [UniqueConstraint: UniqueIndex]
    public let catalog: Catalog

    init(
        number: UInt64, nextSequence: UInt64, tables: [String: TableVersion],
        uniques: [UniqueConstraint: UniqueIndex], catalog: Catalog
    ) {
        self.number = number
        self.nextSequence = nextSequence
        self.tables = tables
        self.uniques = uniques
        self.catalog = catalog
    }

    public func rows(ofEntity name: String) -> RowSource? { tables[name] }

    public func identifier(
        ofEntity name: String, constraint: Int, values: [StoredValue]
    ) -> PersistentIdentifier? {
        guard let constraints = catalog.constraints[name], constraint < constraints.count, let key = UniqueKey(values),
            let owner = uniques[constraints[constraint].constraint]?[key]
        else { return nil }
        return .numbered(
            owner.sequence, storeIdentifier: catalog.storeIdentifier, entityName: catalog.entityNames[owner.entity])
    }
}

/// What an engine knows of its schema, computed once.
public final class Catalog: Sendable {
    public let schema: StoredSchema
    public let storeIdentifier: String
    public let layouts: [String: RecordLayout]
    let entityNames: [String]
    let entityNumbers: [String: Int]
    let subtrees: [String: Set<String>]
    let constraints: [String: [(constraint: UniqueConstraint, slots: [Int])]]
    /// For each entity, its stored relationship slots with what they lead to.
    let relationships: [String: [RelationshipSlot]]
    /// Relationships without an inverse, by the entity that they lead to or its ancestor.
    let oneWay: [(entity: String, slot: Int, destination: String, isToMany: Bool, isOptional: Bool)]

    struct RelationshipSlot: Sendable {
        let slot: Int
        let destination: String
        let isToMany: Bool
        /// The name of the destination's property that is derived from this one; nil where that side is stored too, or
        /// there is none.
        let derived: String?
    }

    public init(schema: StoredSchema, storeIdentifier: String) {
        self.schema = schema
        self.storeIdentifier = storeIdentifier
        let layouts = schema.recordLayouts()
        self.layouts = layouts
        entityNames = schema.entities.map(\.name)
        entityNumbers = Dictionary(
            schema.entities.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        subtrees = Dictionary(
            schema.entities.map { ($0.name, Set(schema.subtree(of: $0.name))) }, uniquingKeysWith: { first, _ in first })
        var constraints: [String: [(constraint: UniqueConstraint, slots: [Int])]] = [:]
        var relationships: [String: [RelationshipSlot]] = [:]
        var oneWay: [(entity: String, slot: Int, destination: String, isToMany: Bool, isOptional: Bool)] = []
        for (name, layout) in layouts {
            constraints[name] = layout.uniqueConstraints.map { slots in
                // A constraint that lies wholly in an ancestor's part counts across that ancestor's whole family.
                let owner = slots.max().map { layout.slots[$0].declaringEntity } ?? name
                return (UniqueConstraint(entity: owner, slots: slots), slots)
            }
            for (index, slot) in layout.slots.enumerated() {
                guard let relationship = slot.property.relationship, slot.role != .toManyDerived else { continue }
                let derived = relationship.inverse.flatMap { inverse in
                    layouts[relationship.destination].flatMap { other in
                        other.slot(named: inverse).flatMap { other.slots[$0].role == .toManyDerived ? inverse : nil }
                    }
                }
                relationships[name, default: []].append(
                    RelationshipSlot(
                        slot: index, destination: relationship.destination, isToMany: relationship.isToMany,
                        derived: derived))
                if relationship.inverse == nil {
                    oneWay.append(
                        (name, index, relationship.destination, relationship.isToMany, slot.property.isOptional))
                }
            }
        }
        self.constraints = constraints
        self.relationships = relationships
        self.oneWay = oneWay
    }

    func identifier(_ sequence: UInt64, _ entity: String) -> PersistentIdentifier {
        .numbered(sequence, storeIdentifier: storeIdentifier, entityName: entity)
    }
}

struct UniqueConstraint: Hashable, Sendable {
    let entity: String
    let slots: [Int]
}

/// The values under which a record is unique. Zero and minus zero are one value, as they are in a query.
struct UniqueKey: Hashable, Sendable {
    let values: [StoredValue]

    /// Nil where a value is null: nothing is unique about that.
    init?(_ values: [StoredValue]) {
        var values = values
        for index in values.indices {
            switch values[index] {
            case .null: return nil
            case .double(let number) where number == 0: values[index] = .double(0)
            case .float(let number) where number == 0: values[index] = .float(0)
            default: break
            }
        }
        self.values = values
    }
}

struct RecordPlace: Hashable, Sendable {
    let entity: Int
    let sequence: UInt64
}

/// A persistent map, so that versions share what they have in common.
typealias UniqueIndex = TreeDictionary<UniqueKey, RecordPlace>
