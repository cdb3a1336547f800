import MortiseCore

/// Which table and column belong to which entity and property. A database keeps it beside the records, so that a name that was
/// made once stays, whatever a later schema calls the property.
package struct TableCatalog: Sendable, Hashable, Codable {
    /// An entity and the table of its records.
    package struct Entity: Sendable, Hashable, Codable {
        /// The number by which records name their entity.
        package var number: Int
        /// The entity's name in the schema.
        package var name: String
        /// The table of the whole hierarchy.
        package var table: String

        package init(number: Int, name: String, table: String) {
            self.number = number
            self.name = name
            self.table = table
        }
    }

    /// A property and its place.
    package struct Property: Sendable, Hashable, Codable {
        /// The number by which the history names the property.
        package var number: Int
        /// The number of the entity that declares it.
        package var entity: Int
        /// The property's name in the schema.
        package var name: String
        /// The name of the column; of the table of links for a to-many relationship that is stored. Empty for a property that has
        /// neither.
        package var place: String
        /// What the property holds, in words: two that differ in it cannot share a place.
        package var form: String

        package init(number: Int, entity: Int, name: String, place: String, form: String) {
            self.number = number
            self.entity = entity
            self.name = name
            self.place = place
            self.form = form
        }
    }

    /// The entities by number. Numbers begin at 1 and are not used again.
    package var entities: [Entity] = []
    /// The properties by number. Numbers begin at 1 and are not used again.
    package var properties: [Property] = []
    /// The number that the next entity gets.
    package var nextEntity = 1
    /// The number that the next property gets.
    package var nextProperty = 1

    /// Nothing.
    package init() {}

    /// What a property holds, in words.
    package static func form(of slot: RecordLayout.Slot) -> String {
        if let attribute = slot.property.attribute {
            return attribute.options.contains(.ephemeral) ? "ephemeral" : attribute.kind.rawValue
        }
        let destination = slot.property.relationship?.destination ?? ""
        return switch slot.role {
        case .toOne: "to-one \(destination)"
        case .toManyStored: "to-many \(destination)"
        default: "derived to-many \(destination)"
        }
    }

    /// The entity of that name; nil for one that is not in the catalog.
    package func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

    /// Adds what a schema has and the catalog lacks. What the schema lacks stays.
    package mutating func add(_ schema: StoredSchema) {
        var tables = SQLName(taken: entities.map(\.table) + properties.map(\.place))
        let layouts = schema.recordLayouts()
        let byName = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func root(of name: String) -> String {
            var (current, steps) = (name, 0)
            while let parent = byName[current]?.superentity, byName[parent] != nil, steps < byName.count {
                (current, steps) = (parent, steps + 1)
            }
            return current
        }
        var numbers = Dictionary(entities.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        for entity in schema.entities where numbers[entity.name] == nil {
            let root = root(of: entity.name)
            let known = ([root] + schema.subtree(of: root)).compactMap { self.entity(named: $0)?.table }.first
            entities.append(Entity(number: nextEntity, name: entity.name, table: known ?? tables.make(for: root)))
            numbers[entity.name] = nextEntity
            nextEntity += 1
        }
        for entity in schema.entities {
            guard let number = numbers[entity.name], let layout = layouts[entity.name],
                let table = self.entity(named: entity.name)?.table
            else { continue }
            let members = Set(entities.filter { $0.table == table }.map(\.number))
            var columns: SQLName?
            for slot in layout.slots where slot.declaringEntity == entity.name {
                if properties.contains(where: { $0.entity == number && $0.name == slot.name }) { continue }
                var place = ""
                switch slot.role {
                case .attribute where slot.property.attribute?.options.contains(.ephemeral) != true, .toOne:
                    if columns == nil {
                        columns = SQLName(taken: properties.filter { members.contains($0.entity) }.map(\.place))
                    }
                    place = columns?.make(for: slot.name) ?? ""
                case .toManyStored: place = tables.make(for: "\(table)_\(slot.name)")
                default: break
                }
                properties.append(
                    Property(
                        number: nextProperty, entity: number, name: slot.name, place: place, form: Self.form(of: slot)))
                nextProperty += 1
            }
        }
    }
}
