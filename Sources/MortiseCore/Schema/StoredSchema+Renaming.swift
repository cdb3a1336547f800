extension StoredSchema {
    /// The entities whose records become those of this schema's entities, by name and by original name.
    ///
    /// An entity whose original name the older schema has comes from there, so that two entities can exchange their names; but not
    /// again once the older schema has the entity itself under that original name. Every other entity comes from the one of its own
    /// name, if no entity of this schema was renamed from that. These are the rules of `RecordLayout.origins(in:)`.
    /// - Returns: by name of an entity of this schema, the name of the older one's; none for an entity that is new. Two
    ///   entities may come from one, which no store can carry out.
    public func entityOrigins(in old: StoredSchema) -> [String: String] {
        let known = Set(old.entities.map(\.name))
        guard entities.contains(where: \.isRenamed) else {
            return Dictionary(
                entities.filter { known.contains($0.name) }.map { ($0.name, $0.name) },
                uniquingKeysWith: { first, _ in first })
        }
        func names(_ schema: StoredSchema) -> [RecordLayout.Name] {
            schema.entities.map { RecordLayout.Name(name: $0.name, originalName: $0.originalName) }
        }
        let places = RecordLayout.origins(of: names(self), in: names(old))
        return Dictionary(
            zip(entities, places).compactMap { entity, place in place.map { (entity.name, old.entities[$0].name) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Whether an entity of this schema has another name in the older one.
    public func renamesEntities(of old: StoredSchema) -> Bool {
        entityOrigins(in: old).contains { $0.key != $0.value }
    }

    /// Gives entities other names, wherever they are named.
    /// - Parameter names: by name of an entity, its new one; the others stay.
    /// - Returns: the schema under these names.
    public func renamingEntities(_ names: [String: String]) -> StoredSchema {
        if names.isEmpty { return self }
        return StoredSchema(
            version: version,
            entities: entities.map { entity in
                var entity = entity
                // A name of its own is no rename.
                if !entity.isRenamed { entity.originalName = names[entity.name] ?? entity.name }
                entity.name = names[entity.name] ?? entity.name
                entity.superentity = entity.superentity.map { names[$0] ?? $0 }
                for place in entity.properties.indices {
                    guard case .relationship(var relationship) = entity.properties[place].content else { continue }
                    relationship.destination = names[relationship.destination] ?? relationship.destination
                    entity.properties[place].content = .relationship(relationship)
                }
                return entity
            })
    }
}

extension StoredSchema {
    /// By name that entities had before, the one that they have.
    package var formerNames: [String: [String]] {
        var found: [String: [String]] = [:]
        for entity in entities where entity.isRenamed && found[entity.originalName] == nil {
            found[entity.originalName] = [entity.name]
        }
        for entity in entities {
            for name in entity.formerNames where name != entity.name && found[name]?.contains(entity.name) != true {
                found[name, default: []].append(entity.name)
            }
        }
        return found
    }

    /// As `formerNames`, with names from all versions before: an entity only says what it was called in the last one. A name may have
    /// been that of several entities, one after the other; the one that had it last comes first.
    /// - Parameter versions: the versions of a plan, in any order; later ones are left aside.
    /// - Returns: by former name, the entities that had it.
    func formerNames(over versions: [StoredSchema]) -> [String: [String]] {
        var found = formerNames
        let earlier = versions.filter { $0.version < version }.sorted { $0.version > $1.version }
        guard (earlier + [self]).contains(where: { $0.entities.contains(where: \.isRenamed) }) else { return found }
        var next = self
        var names = Dictionary(entities.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
        for schema in earlier {
            let origins = next.entityOrigins(in: schema)
            names = names.compactMapValues { origins[$0] }
            for (entity, name) in names {
                // The earliest version may say what an entity was called before the plan.
                for former in [name, schema.entity(named: name)?.originalName ?? name]
                where former != entity && found[former]?.contains(entity) != true {
                    found[former, default: []].append(entity)
                }
            }
            next = schema
        }
        return found
    }
}

extension Schema {
    /// What the body makes of an identifier, or of the same one with the name that its entity has here, where it has one that
    /// it had before. Another entity may have that name now: a store never gives the number of one record to another.
    func resolve<R>(_ identifier: PersistentIdentifier, _ body: (PersistentIdentifier) throws -> R?) rethrows -> R? {
        if let found = try body(identifier) { return found }
        guard !formerNames.isEmpty, let names = formerNames[identifier.entityName] else { return nil }
        // Only numbers tell which of the entities that had the name is meant.
        let isAlone = names.count == 1 && recordLayouts[identifier.entityName] == nil
        guard isAlone || identifier.sequenceNumber != nil else { return nil }
        for name in names {
            if let found = try body(identifier.ofEntity(named: name)) { return found }
        }
        return nil
    }
}

/// How the entities of one schema become those of another.
package struct EntityRenaming: Sendable {
    /// By name of an old entity, its new name, where that is another. An entity that is dropped and whose name another one takes
    /// gets a name that neither schema has.
    package private(set) var names: [String: String] = [:]
    /// The old entities that are dropped.
    package private(set) var removed: Set<String> = []
    /// Why the new entities cannot come from the old ones, in words; empty if they can.
    package private(set) var differences: [String] = []

    package init(from old: StoredSchema, to new: StoredSchema) {
        var found: [String: String] = [:]
        for (entity, origin) in new.entityOrigins(in: old).sorted(by: { $0.key < $1.key }) {
            if let other = found.updateValue(entity, forKey: origin) {
                differences.append(
                    "\(other) and \(entity) both come from \(origin); give one of them another original name, or none")
            }
        }
        removed = Set(old.entities.map(\.name)).subtracting(found.keys)
        names = found.filter { $0.key != $0.value }
        if names.isEmpty { return }
        var taken = Set(old.entities.map(\.name)).union(new.entities.map(\.name))
        for name in removed.sorted() where new.entity(named: name) != nil {
            var unused = name + " (dropped)"
            while !taken.insert(unused).inserted { unused += "'" }
            names[name] = unused
        }
    }

    /// The old schema under the new names, as one that its records can be brought to.
    package func applied(to old: StoredSchema) -> StoredSchema {
        let before = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var result = old.renamingEntities(names)
        for place in result.entities.indices {
            guard let name = before[result.entities[place].name] else { continue }
            result.entities[place].originalName = name
        }
        return result
    }
}

extension PersistentIdentifier {
    /// The identifier of the record, where entities have other names.
    package func renamed(_ names: [String: String]) -> PersistentIdentifier {
        if names.isEmpty { return self }
        return names[entityName].map { ofEntity(named: $0) } ?? self
    }
}

extension RecordLayout {
    /// Gives entities other names, wherever the layout names them. Which sides keep links stays as it is, although names
    /// may decide on that.
    /// - Parameter names: by name of an entity, its new one; the others stay.
    /// - Returns: the layout under these names.
    public func renamingEntities(_ names: [String: String]) -> RecordLayout {
        func current(_ name: String) -> String { names[name] ?? name }
        return RecordLayout(
            entityName: current(entityName), superentityName: superentityName.map(current),
            slots: slots.map { slot in
                var property = slot.property
                if case .relationship(var relationship) = property.content {
                    relationship.destination = current(relationship.destination)
                    property.content = .relationship(relationship)
                }
                return Slot(property: property, declaringEntity: current(slot.declaringEntity), role: slot.role)
            }, uniqueConstraints: uniqueConstraints)
    }
}

extension StoredEntity {
    /// Whether an earlier version had the entity under another name.
    public var isRenamed: Bool { originalName != name }
}

extension PersistentIdentifier {
    /// The identifier of the same record, where its entity has that name.
    public func ofEntity(named name: String) -> PersistentIdentifier {
        PersistentIdentifier(
            id: ID(
                namespace: NamespaceNames.table.index(storeIdentifier: storeIdentifier, entityName: name), key: id.key))
    }
}
