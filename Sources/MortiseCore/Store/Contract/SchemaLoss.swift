/// What a store holds but the schema it was opened with lacks, as counts. It has names and numbers, never values.
public struct SchemaLoss: Sendable, Hashable {
    /// An entity that the program's schema lacks.
    public struct Entity: Sendable, Hashable {
        /// The entity's name in the store.
        public let name: String
        /// The number of records of exactly this entity.
        public let records: Int

        /// Creates the entry of an entity.
        /// - Parameters:
        ///   - name: the entity's name in the store.
        ///   - records: the number of records of exactly this entity, without its subentities.
        public init(name: String, records: Int) {
            self.name = name
            self.records = records
        }
    }

    /// A property that the program's schema lacks, or a relationship that led to records of an entity that it lacks, or to records
    /// that a store which is copied does not have.
    public struct Property: Sendable, Hashable {
        /// The entity of the records, which may have inherited the property.
        public let entity: String
        /// The property's name in the store.
        public let name: String
        /// The number of records that have a value there that is neither nil, nor empty, nor the stored default.
        public let values: Int

        /// Creates the entry of a property.
        /// - Parameters:
        ///   - entity: the entity of the records.
        ///   - name: the property's name in the store.
        ///   - values: the number of records of exactly this entity that have a value.
        public init(entity: String, name: String, values: Int) {
            self.entity = entity
            self.name = name
            self.values = values
        }
    }

    /// The version of the schema in the store.
    public let stored: Schema.Version
    /// The version of the schema that the store was opened with.
    public let opened: Schema.Version
    /// Entities with at least one record, ordered by name.
    public let entities: [Entity]
    /// Properties with at least one value, ordered by entity and name.
    public let properties: [Property]

    /// Whether the schema has everything that the store holds.
    public var isEmpty: Bool { entities.isEmpty && properties.isEmpty }

    /// Makes a loss from counts in any order; those of one property are added up.
    public init(stored: Schema.Version, opened: Schema.Version, entities: [Entity], properties: [Property]) {
        self.stored = stored
        self.opened = opened
        self.entities = entities.sorted { $0.name < $1.name }
        // A relationship may lead to records that are missing and to those of an entity that goes.
        let joined = Dictionary(grouping: properties) { [$0.entity, $0.name] }.values.compactMap { same in
            same.first.map { Property(entity: $0.entity, name: $0.name, values: same.reduce(0) { $0 + $1.values }) }
        }
        self.properties = joined.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
    }

    /// Refuses to drop an entity with records unless the schema has a new version.
    /// - Parameters:
    ///   - dropping: the entities whose records may be dropped nevertheless.
    ///   - store: the store's name in errors.
    /// - Throws: `MigrationError.unnamedEntities`.
    public func check(dropping: [String], store: String) throws(MigrationError) {
        guard opened <= stored else { return }
        if entities.allSatisfy({ dropping.contains($0.name) }) { return }
        // Also those that were named, since the way out names all of them.
        throw .unnamedEntities(store: store, version: stored, entities: entities)
    }

    /// Refuses to drop what may be what the schema has under another name: an entity or property that was renamed from one that the
    /// store never had, as where a version in between is left out. To be called where no plan says how the store came here.
    /// - Parameters:
    ///   - old: the schema of the store.
    ///   - new: the schema that it is opened with.
    ///   - dropping: the entities whose records may be dropped nevertheless.
    ///   - store: the store's name in errors.
    /// - Throws: `MigrationError.unknownOrigin`.
    public func checkOrigins(
        from old: StoredSchema, to new: StoredSchema, dropping: [String], store: String
    ) throws(MigrationError) {
        if isEmpty { return }
        let origins = new.entityOrigins(in: old)
        let dropped = entities.map(\.name).filter { !dropping.contains($0) }
        if !dropped.isEmpty, let entity = new.entities.first(where: { $0.isRenamed && origins[$0.name] == nil }) {
            throw .unknownOrigin(store: store, name: entity.name, original: entity.originalName, candidates: dropped)
        }
        let (before, after) = (old.recordLayouts(), new.recordLayouts())
        for (name, layout) in after.sorted(by: { $0.key < $1.key }) {
            guard let origin = origins[name], let known = before[origin] else { continue }
            let dropped = properties.filter { $0.entity == origin }.map(\.name)
            if dropped.isEmpty { continue }
            for (slot, place) in zip(layout.slots, layout.origins(in: known))
            where place == nil && slot.property.originalName != slot.name {
                let candidates = dropped.filter { name in
                    known.slots.contains { $0.name == name && $0.isOfKind(of: slot) }
                }
                if candidates.isEmpty { continue }
                throw .unknownOrigin(
                    store: store, name: "\(name).\(slot.name)", original: slot.property.originalName,
                    candidates: candidates.map { "\(origin).\($0)" })
            }
        }
    }
}

extension RecordLayout.Slot {
    fileprivate func isOfKind(of other: RecordLayout.Slot) -> Bool {
        property.attribute?.kind == other.property.attribute?.kind
            && property.relationship?.isToMany == other.property.relationship?.isToMany
    }
}

extension SchemaLoss {
    /// The loss without properties, by entity, whose values go on in another form.
    func without(_ converted: [String: Set<String>]) -> SchemaLoss {
        if converted.isEmpty { return self }
        return SchemaLoss(
            stored: stored, opened: opened, entities: entities,
            properties: properties.filter { converted[$0.entity]?.contains($0.name) != true })
    }

    /// The same loss under other names of entities.
    func renamingEntities(_ names: [String: String]) -> SchemaLoss {
        if names.isEmpty { return self }
        return SchemaLoss(
            stored: stored, opened: opened,
            entities: entities.map { Entity(name: names[$0.name] ?? $0.name, records: $0.records) },
            properties: properties.map {
                Property(entity: names[$0.entity] ?? $0.entity, name: $0.name, values: $0.values)
            })
    }
}

extension SchemaLoss: CustomStringConvertible {
    /// Names with their counts, in one line: `Gone (2 records), Note.body (1 value)`.
    public var description: String {
        let entities = entities.map { "\($0.name) (\(Self.plural($0.records, "record")))" }
        let properties = properties.map { "\($0.entity).\($0.name) (\(Self.plural($0.values, "value")))" }
        return (entities + properties).joined(separator: ", ")
    }

    package static func plural(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension StoredSchema {
    /// Refuses a program that is older than the store.
    /// - Parameters:
    ///   - program: the schema that the store is opened with.
    ///   - store: the store's name in errors.
    /// - Throws: `MigrationError.newerStore`, which `SwiftDataError.backwardMigration` matches.
    public func checkIsNotNewer(than program: StoredSchema, store: String) throws(MigrationError) {
        if version > program.version {
            throw .newerStore(store: store, stored: version, program: program.version)
        }
    }
}
