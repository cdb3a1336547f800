import MortiseCore

/// Where the records of a schema are in a database: a table for each hierarchy of entities, a column for each attribute and each
/// to-one relationship, a table of links for each to-many relationship that is stored.
package struct TableMapping: Sendable {
    /// The columns of every table of records.
    package enum Column {
        /// The number of the record: its primary key, and its identifier in the store.
        package static let id = "id"
        /// The number of the record's entity.
        package static let entity = "ent"
        /// The version of the record.
        package static let version = "rv"
    }

    /// The columns of a table of links: the record that keeps the list, and a member.
    package enum Link {
        /// The record that keeps the list.
        package static let owner = "a"
        /// A member.
        package static let member = "b"
    }

    /// Where a property is.
    package enum Place: Sendable, Hashable {
        /// Nowhere: it is kept in memory only.
        case none
        /// In columns of the record.
        case attribute(AttributeColumns)
        /// In a column with the number of the target, and one with the number of its entity where that may be one of several.
        case reference(column: String, entity: String?)
        /// In a table of links, of which this is the side of the owner.
        case links(table: String)
        /// In a table of links, of which this is the side of the member.
        case backLinks(table: String)
        /// In a column of the records that refer to this one.
        case inverse(column: String, slot: Int)
    }

    /// Which members a to-many relationship has: two with the same source have the same ones.
    package struct ListSource: Sendable, Hashable {
        let destination: String
        let place: Place
    }

    /// A property of an entity, and where it is.
    package struct Slot: Sendable {
        /// The property.
        package let slot: RecordLayout.Slot
        /// The number of the property in the catalog.
        package let number: Int
        /// Where the property is.
        package let place: Place
        /// The entity at the other end; empty for an attribute.
        package let destination: String

        /// Where the members of a to-many relationship are read from. Many tables may have a column of the same name.
        package var listSource: ListSource { ListSource(destination: destination, place: place) }
    }

    /// An entity, and where its records are.
    package final class Entity: Sendable {
        /// The number of the entity in the catalog.
        package let number: Int
        /// The entity's name.
        package let name: String
        /// The table of its records.
        package let table: String
        /// The layout of its records.
        package let layout: RecordLayout
        /// By slot of the layout.
        package let slots: [Slot]
        /// The numbers of this entity and those that inherit from it.
        package let family: Set<Int>
        /// Whether the family has the table for itself.
        package let ownsTable: Bool

        init(
            number: Int, name: String, table: String, layout: RecordLayout, slots: [Slot], family: Set<Int>,
            ownsTable: Bool
        ) {
            self.number = number
            self.name = name
            self.table = table
            self.layout = layout
            self.slots = slots
            self.family = family
            self.ownsTable = ownsTable
        }
    }

    /// The schema.
    package let schema: StoredSchema
    /// The names and numbers of all that the database has, also of what the schema lacks.
    package let catalog: TableCatalog
    /// The database.
    package let dialect: SQLDialect
    /// The entities of the schema by name.
    package let entities: [String: Entity]
    /// The entities of the schema by number.
    package let byNumber: [Int: Entity]

    /// Follows a schema through a catalog that has all of it.
    package init(_ schema: StoredSchema, _ catalog: TableCatalog, _ dialect: SQLDialect = .sqlite) {
        self.schema = schema
        self.dialect = dialect
        self.catalog = catalog
        let layouts = schema.recordLayouts()
        let numbers = Dictionary(
            catalog.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        struct Key: Hashable {
            let entity: Int
            let name: String
        }
        let properties = Dictionary(
            catalog.properties.map { (Key(entity: $0.entity, name: $0.name), $0) },
            uniquingKeysWith: { first, _ in first })
        func property(_ slot: RecordLayout.Slot) -> TableCatalog.Property? {
            numbers[slot.declaringEntity].flatMap { properties[Key(entity: $0.number, name: slot.name)] }
        }
        let families = Dictionary(
            schema.entities.map { ($0.name, Set(schema.subtree(of: $0.name).compactMap { numbers[$0]?.number })) },
            uniquingKeysWith: { first, _ in first })
        func place(_ slot: RecordLayout.Slot) -> Place {
            guard let found = property(slot) else { return .none }
            switch slot.role {
            case .attribute:
                guard let kind = slot.property.attribute?.kind, !found.place.isEmpty else { return .none }
                return .attribute(AttributeColumns(kind, found.place, dialect))
            case .toOne:
                let destination = slot.property.relationship?.destination ?? ""
                return .reference(
                    column: found.place,
                    entity: (families[destination]?.count ?? 1) > 1 ? found.place + "__ent" : nil)
            case .toManyStored: return .links(table: found.place)
            case .toManyDerived:
                guard let relationship = slot.property.relationship, let name = relationship.inverse,
                    let layout = layouts[relationship.destination], let inverse = layout.slot(named: name),
                    let other = property(layout.slots[inverse])
                else { return .none }
                return layout.slots[inverse].role == .toOne
                    ? .inverse(column: other.place, slot: inverse) : .backLinks(table: other.place)
            }
        }
        var entities: [String: Entity] = [:]
        for (name, layout) in layouts {
            guard let known = numbers[name] else { continue }
            // Records of an entity that the schema lacks may be there as well.
            let sharing = catalog.entities.count { $0.table == known.table }
            let family = families[name] ?? [known.number]
            entities[name] = Entity(
                number: known.number, name: name, table: known.table, layout: layout,
                slots: layout.slots.map { slot in
                    Slot(
                        slot: slot, number: property(slot)?.number ?? 0, place: place(slot),
                        destination: slot.property.relationship?.destination ?? "")
                }, family: family, ownsTable: family.count == sharing)
        }
        self.entities = entities
        byNumber = Dictionary(entities.values.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The tables of records, each with the entities that it holds, in the order of their numbers.
    package var tables: [(name: String, entities: [Entity])] {
        Dictionary(grouping: entities.values, by: \.table)
            .map { (name: $0.key, entities: $0.value.sorted { $0.number < $1.number }) }
            .sorted { $0.entities[0].number < $1.entities[0].number }
    }

    /// The columns of a property's values, without those of links.
    package static func columns(of place: Place) -> [String] {
        switch place {
        case .attribute(let columns): [columns.main] + (columns.other.map { [$0] } ?? [])
        case .reference(let column, let entity): [column] + (entity.map { [$0] } ?? [])
        default: []
        }
    }
}
