import MortiseCore

/// What has to be done to records when a store comes to another schema, besides making tables and columns that are missing.
package struct SchemaSteps: Sendable {
    /// Something to do with the records of some entities in a table.
    package enum Step: Sendable, Hashable {
        /// Gives a value to all records that have none, for a property that is new.
        case fill(table: String, entities: [Int], columns: AttributeColumns, value: StoredValue)
        /// Makes sure that all records have a value.
        case require(table: String, entities: [Int], column: String, property: String)
        /// Takes away what records refer to.
        case clear(table: String, columns: [String])
        /// Takes away a table of links.
        case drop(links: String)
        /// Takes away what the records of some entities refer to.
        case detach(table: String, columns: [String], entities: [Int])
        /// Takes away references to records of some entities, in columns of which the last has the number of the target's entity.
        case release(table: String, columns: [String], entities: [Int])
        /// Takes away links whose side in that column is a record of some entities.
        case unlink(links: String, column: String, table: String, entities: [Int])
    }

    /// Names and numbers for the new schema.
    package private(set) var catalog: TableCatalog
    private let dialect: SQLDialect
    private let schema: StoredSchema
    private let isSameVersion: Bool
    /// The numbers of entities that the new schema lacks.
    private var gone: Set<Int> = []
    private var families: [String: Set<Int>] = [:]
    /// In the order in which they are to be done.
    package private(set) var steps: [Step] = []

    /// Compares two schemas.
    /// - Parameters:
    ///   - old: the schema that the store has.
    ///   - new: the one that it comes to.
    ///   - catalog: names and numbers of the old schema, and of what earlier ones had.
    ///   - dialect: the database.
    /// - Throws: `SchemaMisfit`, which names what does not fit.
    package init(
        from old: StoredSchema, to new: StoredSchema, _ catalog: TableCatalog, _ dialect: SQLDialect = .sqlite
    ) throws(SchemaMisfit) {
        self.catalog = catalog
        self.dialect = dialect
        schema = new
        isSameVersion = old.version == new.version
        let (oldLayouts, newLayouts) = (old.recordLayouts(), new.recordLayouts())
        let origins = new.entityOrigins(in: old)
        if Set(origins.values).count < origins.count {
            throw SchemaMisfit("Two entities come from one")
        }
        try rename(new, origins)
        let mapping = TableMapping(old, catalog, dialect)
        let former = Dictionary(origins.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        func current(_ name: String) -> String { former[name] ?? name }
        families = mapping.entities.mapValues(\.family)
        detach(
            mapping.entities.values.filter { former[$0.name] == nil }.sorted { $0.number < $1.number }, from: mapping)
        // What leaves the schema must not keep records from being deleted that it refers to.
        for (name, entity) in mapping.entities.sorted(by: { $0.key < $1.key }) where former[name] == nil {
            for slot in entity.slots where slot.slot.declaringEntity == name { forget(slot, of: entity) }
        }
        for entity in new.entities {
            guard let name = origins[entity.name], let before = mapping.entities[name],
                let layout = newLayouts[entity.name],
                let oldLayout = oldLayouts[name]
            else { continue }
            if oldLayout.superentityName.map(current) != layout.superentityName {
                throw SchemaMisfit("\(entity.name) has another superclass than the store's")
            }
            try compare(layout, entity, before, oldLayout, current)
        }
        self.catalog.add(new)
        try fill(new, origins, oldLayouts)
    }

    /// Looks for what a store that cannot be changed lacks for the new schema.
    /// - Parameter known: names and numbers of what the store has.
    /// - Returns: the first property or entity that it lacks, or has under another name; nil if it has all of them.
    package func missing(in known: TableCatalog) -> String? {
        let mapping = TableMapping(schema, catalog, dialect)
        let used = Set(mapping.entities.values.flatMap { $0.slots.map(\.number) })
        let property = catalog.properties.first { property in
            used.contains(property.number) && known.properties.first { $0.number == property.number } != property
        }
        return property?.name
            ?? catalog.entities.first { mapping.byNumber[$0.number] != nil && !known.entities.contains($0) }?.name
    }

    /// Takes records of entities that leave the schema out of the relationships that stay.
    private mutating func detach(_ gone: [TableMapping.Entity], from mapping: TableMapping) {
        if gone.isEmpty { return }
        for entity in gone {
            for slot in entity.slots where slot.slot.declaringEntity != entity.name {
                switch slot.place {
                case .reference:
                    steps.append(
                        .detach(
                            table: entity.table, columns: TableMapping.columns(of: slot.place),
                            entities: [entity.number]))
                case .links(let links):
                    steps.append(
                        .unlink(
                            links: links, column: TableMapping.Link.owner, table: entity.table,
                            entities: [entity.number]))
                default: break
                }
            }
        }
        self.gone = Set(gone.map(\.number))
        for entity in mapping.entities.values.sorted(by: { $0.number < $1.number }) {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                guard let destination = mapping.entities[slot.destination] else { continue }
                let entities = destination.family.intersection(self.gone).sorted()
                if entities.isEmpty { continue }
                switch slot.place {
                // Where there is no such column, the entity that goes is the only one, and the relationship goes with it.
                case .reference(_, .some):
                    steps.append(
                        .release(
                            table: entity.table, columns: TableMapping.columns(of: slot.place), entities: entities))
                case .links(let links):
                    steps.append(
                        .unlink(
                            links: links, column: TableMapping.Link.member, table: destination.table,
                            entities: entities))
                default: break
                }
            }
        }
    }

    /// Whether records may lose what they refer to because its entity leaves the schema.
    private func isReleased(_ slot: TableMapping.Slot) -> Bool {
        !(families[slot.destination] ?? []).isDisjoint(with: gone)
    }

    private mutating func rename(_ new: StoredSchema, _ origins: [String: String]) throws(SchemaMisfit) {
        var names: [String: String] = [:]
        for (entity, origin) in origins where entity != origin { names[origin] = entity }
        let taken = Set(new.entities.map(\.name))
        let renamings = names
        for place in catalog.entities.indices {
            let name = catalog.entities[place].name
            if let renamed = renamings[name] {
                catalog.entities[place].name = renamed
            } else if taken.contains(name), origins[name] != name {
                // Another entity has taken the name: one that had another, or one of a later version, which has no records yet.
                let retired = "\(name) (\(catalog.entities[place].number))"
                catalog.entities[place].name = retired
                // What leads to its records leads to none of the entity that has the name now.
                names[name] = retired
            }
        }
        for place in catalog.properties.indices {
            for (origin, name) in names {
                let form = catalog.properties[place].form
                if form.hasSuffix(" \(origin)") {
                    catalog.properties[place].form = form.dropLast(origin.count) + name
                    break
                }
            }
        }
    }

    private mutating func compare(
        _ layout: RecordLayout, _ entity: StoredEntity, _ before: TableMapping.Entity, _ old: RecordLayout,
        _ current: (String) -> String
    ) throws(SchemaMisfit) {
        let places = layout.origins(in: old)
        for (slot, place) in zip(layout.slots, places) {
            guard let place, slot.declaringEntity != current(old.slots[place].declaringEntity) else { continue }
            // It has another column there, in which its values are not.
            switch before.slots[place].place {
            case .attribute, .reference, .links:
                throw SchemaMisfit(
                    "\(slot.declaringEntity).\(slot.name) was a property of \(old.slots[place].declaringEntity)")
            default: continue
            }
        }
        // Records of entities that leave the schema need no values.
        let staying = before.family.subtracting(gone).sorted()
        var followed: Set<Int> = []
        var names: [Int: String] = [:]
        for (slot, place) in zip(layout.slots, places) where slot.declaringEntity == entity.name {
            guard let place else { continue }
            followed.insert(place)
            let was = before.slots[place]
            guard let known = catalog.properties.first(where: { $0.number == was.number }) else { continue }
            let (form, oldForm) = (TableCatalog.form(of: slot), known.form)
            if form != oldForm {
                throw SchemaMisfit("\(entity.name).\(slot.name) was \(oldForm), and is \(form) now")
            }
            names[was.number] = slot.name
            if case .attribute(let columns) = was.place, was.slot.property.isOptional, !slot.property.isOptional {
                if let value = slot.property.attribute?.defaultValue {
                    steps.append(
                        .fill(
                            table: before.table, entities: staying, columns: columns, value: value))
                }
                steps.append(
                    .require(
                        table: before.table, entities: staying, column: columns.main,
                        property: "\(entity.name).\(slot.name)"))
            }
            if case .reference(let column, _) = was.place, !slot.property.isOptional,
                was.slot.property.isOptional || isReleased(was)
            {
                steps.append(
                    .require(
                        table: before.table, entities: staying, column: column,
                        property: "\(entity.name).\(slot.name)"))
            }
        }
        // Others may exchange their names: all are renamed at once.
        for place in catalog.properties.indices {
            if let name = names[catalog.properties[place].number] { catalog.properties[place].name = name }
        }
        let taken = Set(layout.slots.filter { $0.declaringEntity == entity.name }.map(\.name))
        for (place, slot) in before.slots.enumerated()
        where slot.slot.declaringEntity == before.name && !followed.contains(place) {
            forget(slot, of: before)
            // The name may be that of another property now.
            if names.values.contains(slot.slot.name), taken.contains(slot.slot.name) { retire(slot.number) }
        }
        for slot in layout.slots where slot.declaringEntity == entity.name {
            // The name of a property that an earlier schema had is that of another one now, which gets a place of its own.
            let known = catalog.properties.first {
                $0.entity == before.number && $0.name == slot.name && names[$0.number] == nil
            }
            guard let known else { continue }
            // Programs of one version that know more and less of it open the store in turn.
            if isSameVersion, slot.property.attribute != nil, known.form == TableCatalog.form(of: slot) { continue }
            retire(known.number)
        }
    }

    private mutating func retire(_ number: Int) {
        for place in catalog.properties.indices where catalog.properties[place].number == number {
            catalog.properties[place].name += " (\(number))"
        }
    }

    private mutating func forget(_ slot: TableMapping.Slot, of entity: TableMapping.Entity) {
        switch slot.place {
        case .reference(let column, let other):
            steps.append(.clear(table: entity.table, columns: [column] + (other.map { [$0] } ?? [])))
            retire(slot.number)
        case .links(let table):
            steps.append(.drop(links: table))
            retire(slot.number)
        default: break
        }
    }

    /// Values for what is new.
    private mutating func fill(
        _ new: StoredSchema, _ origins: [String: String], _ old: [String: RecordLayout]
    ) throws(SchemaMisfit) {
        let mapping = TableMapping(new, catalog, dialect)
        for entity in new.entities {
            guard let after = mapping.entities[entity.name], let origin = origins[entity.name], let before = old[origin]
            else { continue }
            let places = after.layout.origins(in: before)
            for (slot, place) in zip(after.slots, places)
            where slot.slot.declaringEntity == entity.name && place == nil {
                switch slot.place {
                case .attribute(let columns):
                    if let value = slot.slot.property.attribute?.defaultValue, !value.isNull {
                        steps.append(
                            .fill(table: after.table, entities: after.family.sorted(), columns: columns, value: value))
                    } else if !slot.slot.property.isOptional {
                        steps.append(
                            .require(
                                table: after.table, entities: after.family.sorted(), column: columns.main,
                                property: "\(entity.name).\(slot.slot.name)"))
                    }
                case .reference(let column, _) where !slot.slot.property.isOptional:
                    steps.append(
                        .require(
                            table: after.table, entities: after.family.sorted(), column: column,
                            property: "\(entity.name).\(slot.slot.name)"))
                default: break
                }
            }
        }
    }
}

/// Why records do not fit a schema, in words.
package struct SchemaMisfit: Error, Hashable {
    /// The entity and the property, and what is wrong.
    package let text: String

    package init(_ text: String) { self.text = text }
}
