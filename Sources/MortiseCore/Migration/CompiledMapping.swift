/// A mapping, as the schemas that the records come to on its way and what is done to their values between.
struct CompiledMapping {
    /// A property whose values are made between.
    struct Property {
        let entity: String
        let name: String
        /// The name of the old property that it is converted from; nil if it is not converted.
        let source: String?
        let kind: StorageKind
        let fallback: StoredValue?
        let conversion: MigrationMapping.Conversion?
        let filling: (@Sendable (StoredRecord) throws -> StoredValue)?
    }

    /// The schemas that the records come to one after another before values are made; the last of them is the new schema without
    /// constraints, in which the properties may have no value. Empty if nothing happens between.
    private(set) var schemas: [StoredSchema] = []
    private(set) var properties: [Property] = []
    /// By entity of the old schema, the properties whose values are converted, and those of which nothing is lost by that.
    private(set) var converted: [String: Set<String>] = [:]
    private(set) var kept: [String: Set<String>] = [:]

    /// The schema in which values are made; nil if nothing happens between.
    var between: StoredSchema? { schemas.last }

    /// - Parameters:
    ///   - mapping: rules under names of the new schema.
    ///   - duplicates: rules under names of the new schema.
    ///   - old: the schema that the records come from, with the names that the new one has for its entities.
    ///   - original: the same with its own names, for what is to be dropped.
    ///   - new: the schema to come to.
    /// - Throws: `MigrationError.invalidMapping`.
    init(
        _ mapping: MigrationMapping, _ duplicates: [DuplicateRule], from old: StoredSchema, original: StoredSchema,
        to new: StoredSchema
    ) throws(MigrationError) {
        try Self.check(mapping.dropped, from: original, to: new)
        if mapping.rules.isEmpty, duplicates.isEmpty { return }
        var next = new
        let layouts = new.recordLayouts()
        let places = Dictionary(
            new.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var rules: [PropertyName: Rules] = [:]
        for (name, found) in Self.grouped(mapping.rules) {
            let (place, property) = try Self.find(name, in: new, layouts, places)
            let (entity, described) = (new.entities[place].name, new.entities[place].properties[property])
            let key = PropertyName(entity: entity, name: described.name)
            guard rules[key] == nil else {
                throw .invalidMapping(property: name, reason: "has a rule under another name already")
            }
            try found.check(described, rule: name)
            rules[key] = found
        }
        try Self.addInverses(to: &rules, layouts)
        let origins = try MappingOrigins(rules, from: old, to: new)
        for (key, rules) in rules {
            guard let place = places[key.entity],
                let property = next.entities[place].properties.firstIndex(where: { $0.name == key.name })
            else { continue }
            guard let attribute = next.entities[place].properties[property].attribute else {
                // Who has no target is looked for at the end.
                if rules.isFresh, next.entities[place].properties[property].relationship?.isToMany == false {
                    next.entities[place].properties[property].isOptional = true
                }
                continue
            }
            var changed = next.entities[place].properties[property]
            if rules.conversion != nil || rules.filling != nil && origins.isNew(key)
                || rules.isFresh && attribute.defaultValue == nil
            {
                changed = changed.withoutDefault()
            } else if rules.filling != nil {
                changed = changed.optional()
            }
            next.entities[place].properties[property] = changed
            guard rules.conversion != nil || rules.filling != nil else { continue }
            properties.append(
                Property(
                    entity: key.entity, name: key.name, source: origins.sources[key], kind: attribute.kind,
                    fallback: attribute.defaultValue, conversion: rules.conversion, filling: rules.filling))
        }
        properties.sort { ($0.entity, $0.name) < ($1.entity, $1.name) }
        for place in next.entities.indices {
            let entity = next.entities[place].name
            next.entities[place].uniquenessConstraints = []
            // What has no value is looked at when duplicates are settled: some of it may go.
            next.entities[place].properties = next.entities[place].properties.map { property in
                let isRelaxed =
                    property.relationship?.isToMany != true
                    && origins.isOptional(PropertyName(entity: entity, name: property.name))
                return (isRelaxed ? property.optional() : property).withoutUniqueness()
            }
        }
        schemas = try origins.way(to: next)
        converted = origins.converted
        kept = origins.kept
    }

    private static func check(
        _ dropped: Set<String>, from old: StoredSchema, to new: StoredSchema
    ) throws(MigrationError) {
        if dropped.isEmpty { return }
        func names(_ schema: StoredSchema) -> Set<String> {
            Set(
                schema.recordLayouts().flatMap { entity, layout in
                    [entity] + layout.slots.map { "\(entity).\($0.name)" }
                })
        }
        let (before, after) = (names(old), names(new))
        for name in dropped.sorted() {
            if !before.contains(name) {
                throw .invalidMapping(property: name, reason: "is to be dropped, and the old schema lacks it")
            }
            if !name.contains("."), after.contains(name) {
                throw .invalidMapping(property: name, reason: "is to be dropped, and the new schema has the entity")
            }
        }
    }

    struct PropertyName: Hashable {
        let entity: String
        let name: String

        var text: String { "\(entity).\(name)" }
    }

    struct Rules {
        var renamedFrom: String?
        var isFresh = false
        var conversion: MigrationMapping.Conversion?
        var filling: (@Sendable (StoredRecord) throws -> StoredValue)?
        /// Takes no stored value as it is.
        var beginsNew: Bool { isFresh || conversion != nil }

        func check(_ property: StoredProperty, rule: String) throws(MigrationError) {
            if isFresh, renamedFrom != nil || conversion != nil {
                throw .invalidMapping(
                    property: rule, reason: "both begins new and takes values of the old schema")
            }
            guard property.attribute == nil else { return }
            if conversion != nil {
                throw .invalidMapping(property: rule, reason: "is a relationship: only attributes are converted")
            }
            if filling != nil {
                throw .invalidMapping(property: rule, reason: "is a relationship: only attributes are filled")
            }
        }
    }

    /// A relationship begins new on both sides.
    private static func addInverses(
        to rules: inout [PropertyName: Rules], _ layouts: [String: RecordLayout]
    ) throws(MigrationError) {
        let fresh = rules.filter(\.value.isFresh).keys
        for key in fresh {
            guard
                let relationship = layouts[key.entity]?.slots.first(where: { $0.name == key.name })?.property
                    .relationship,
                let name = relationship.inverse, let layout = layouts[relationship.destination],
                let slot = layout.slot(named: name)
            else { continue }
            let other = PropertyName(entity: layout.slots[slot].declaringEntity, name: name)
            if rules[other]?.renamedFrom != nil {
                throw .invalidMapping(
                    property: key.text,
                    reason: "begins new, and its inverse \(other.text) takes values of the old schema")
            }
            rules[other, default: Rules()].isFresh = true
        }
    }

    private static func grouped(
        _ rules: [(property: String, rule: MigrationMapping.Rule)]
    ) -> [(name: String, rules: Rules)] {
        var found: [(name: String, rules: Rules)] = []
        var places: [String: Int] = [:]
        for (property, rule) in rules {
            let place = places[property] ?? found.count
            if place == found.count {
                found.append((property, Rules()))
                places[property] = place
            }
            switch rule {
            case .renaming(let original): found[place].rules.renamedFrom = original
            case .converting(let conversion): found[place].rules.conversion = conversion
            case .filling(let make): found[place].rules.filling = make
            case .fresh: found[place].rules.isFresh = true
            }
        }
        return found
    }

    /// The entity that declares a property, and the property, by their places.
    private static func find(
        _ name: String, in schema: StoredSchema, _ layouts: [String: RecordLayout], _ places: [String: Int]
    ) throws(MigrationError) -> (entity: Int, property: Int) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw .invalidMapping(property: name, reason: "is no name of an entity and a property, such as Trip.cost")
        }
        guard let layout = layouts[parts[0]] else {
            throw .invalidMapping(property: name, reason: "names an entity that the new schema lacks")
        }
        guard let slot = layout.slots.first(where: { $0.name == parts[1] }),
            let entity = places[slot.declaringEntity],
            let property = schema.entities[entity].properties.firstIndex(where: { $0.name == parts[1] })
        else { throw .invalidMapping(property: name, reason: "names a property that the new schema lacks") }
        return (entity, property)
    }
}
