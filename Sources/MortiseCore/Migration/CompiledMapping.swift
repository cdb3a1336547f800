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

    /// The old schema without properties whose names others take; nil if there are none.
    private(set) var cleared: StoredSchema?
    /// The new schema, without constraints, in which the properties may have no value; nil if nothing happens between.
    private(set) var between: StoredSchema?
    private(set) var properties: [Property] = []

    /// - Throws: `MigrationError.invalidMapping`.
    init(
        _ mapping: MigrationMapping, _ duplicates: [DuplicateRule], from old: StoredSchema, to new: StoredSchema
    ) throws(MigrationError) {
        if mapping.rules.isEmpty, duplicates.isEmpty { return }
        var next = new
        var dropped: [String: Set<String>] = [:]
        var taken: Set<String> = []
        for (name, rules) in Self.grouped(mapping.rules) {
            let (place, property) = try Self.find(name, in: new)
            let entity = new.entities[place].name
            let found = new.entities[place].properties[property]
            guard taken.insert("\(entity).\(found.name)").inserted else {
                throw .invalidMapping(property: name, reason: "has a rule under another name already")
            }
            let before = old.recordLayouts()[entity]
            let origin = try Self.origin(of: found, rules, in: before, of: new, entity, rule: name)
            var changed = found
            if rules.isRenaming { changed.originalName = origin ?? found.name }
            if rules.isFresh || rules.conversion != nil {
                guard let attribute = found.attribute else {
                    throw .invalidMapping(
                        property: name, reason: "is a relationship: only attributes are converted or begin new")
                }
                changed.originalName = found.name
                if let declaring = before?.slots.first(where: { $0.name == found.name })?.declaringEntity {
                    dropped[declaring, default: []].insert(found.name)
                }
                if rules.conversion != nil || rules.filling != nil || attribute.defaultValue == nil {
                    changed = changed.withoutDefault()
                }
            } else if rules.filling != nil {
                guard found.attribute != nil else {
                    throw .invalidMapping(property: name, reason: "is a relationship: only attributes are filled")
                }
                changed = origin == nil ? changed.withoutDefault() : changed.optional()
            }
            next.entities[place].properties[property] = changed
            guard rules.conversion != nil || rules.filling != nil, let attribute = found.attribute else { continue }
            properties.append(
                Property(
                    entity: entity, name: found.name, source: rules.conversion == nil ? nil : origin,
                    kind: attribute.kind, fallback: attribute.defaultValue, conversion: rules.conversion,
                    filling: rules.filling))
        }
        let (before, after) = (old.recordLayouts(), next.recordLayouts())
        for place in next.entities.indices {
            let name = next.entities[place].name
            // What has no value is looked at when duplicates are settled: some of it may go.
            if let layout = after[name], let origins = before[name].map(layout.origins(in:)) {
                for (slot, origin) in zip(layout.slots, origins) where slot.declaringEntity == name {
                    guard let origin, before[name]?.slots[origin].property.isOptional == true,
                        let index = next.entities[place].properties.firstIndex(where: { $0.name == slot.name }),
                        next.entities[place].properties[index].relationship?.isToMany != true
                    else { continue }
                    next.entities[place].properties[index] = next.entities[place].properties[index].optional()
                }
            }
            next.entities[place].uniquenessConstraints = []
            next.entities[place].properties = next.entities[place].properties.map { $0.withoutUniqueness() }
        }
        between = next
        try clear(dropped, in: old, before: next)
    }

    /// - Throws: `MigrationError.invalidMapping` where another property takes the values that would go.
    private mutating func clear(
        _ dropped: [String: Set<String>], in old: StoredSchema, before next: StoredSchema
    ) throws(MigrationError) {
        if dropped.isEmpty { return }
        let (layouts, later) = (old.recordLayouts(), next.recordLayouts())
        for (name, layout) in later {
            guard let before = layouts[name] else { continue }
            for (slot, origin) in zip(layout.slots, layout.origins(in: before)) {
                guard let origin, before.slots[origin].name != slot.name,
                    dropped[before.slots[origin].declaringEntity]?.contains(before.slots[origin].name) == true
                else { continue }
                throw .invalidMapping(
                    property: "\(slot.declaringEntity).\(before.slots[origin].name)",
                    reason: "takes the name of a property whose values \(slot.name) takes: do it in two versions")
            }
        }
        var cleared = old
        for place in cleared.entities.indices {
            guard let names = dropped[cleared.entities[place].name] else { continue }
            cleared.entities[place].properties.removeAll { names.contains($0.name) }
            for other in cleared.entities.indices {
                cleared.entities[other].uniquenessConstraints.removeAll { !names.isDisjoint(with: $0) }
                cleared.entities[other].indices.removeAll { !names.isDisjoint(with: $0.properties) }
            }
        }
        self.cleared = cleared
    }

    private struct Rules {
        var renamedFrom: String?
        var isFresh = false
        var conversion: MigrationMapping.Conversion?
        var filling: (@Sendable (StoredRecord) throws -> StoredValue)?
        var isRenaming: Bool { renamedFrom != nil && conversion == nil }
    }

    private static func grouped(
        _ rules: [(property: String, rule: MigrationMapping.Rule)]
    ) -> [(name: String, rules: Rules)] {
        var found: [(name: String, rules: Rules)] = []
        for (property, rule) in rules {
            let place = found.firstIndex { $0.name == property } ?? found.count
            if place == found.count { found.append((property, Rules())) }
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
        _ name: String, in schema: StoredSchema
    ) throws(MigrationError) -> (entity: Int, property: Int) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw .invalidMapping(property: name, reason: "is no name of an entity and a property, such as Trip.cost")
        }
        guard let layout = schema.recordLayouts()[parts[0]] else {
            throw .invalidMapping(property: name, reason: "names an entity that the new schema lacks")
        }
        guard let slot = layout.slots.first(where: { $0.name == parts[1] }),
            let entity = schema.entities.firstIndex(where: { $0.name == slot.declaringEntity }),
            let property = schema.entities[entity].properties.firstIndex(where: { $0.name == parts[1] })
        else { throw .invalidMapping(property: name, reason: "names a property that the new schema lacks") }
        return (entity, property)
    }

    /// The name of the old property that a new one comes from; nil for one that is new.
    private static func origin(
        of property: StoredProperty, _ rules: Rules, in old: RecordLayout?, of new: StoredSchema, _ entity: String,
        rule: String
    ) throws(MigrationError) -> String? {
        if let name = rules.renamedFrom {
            guard old?.slot(named: name) != nil else {
                throw .invalidMapping(property: rule, reason: "is to come from \(name), which the old schema lacks")
            }
            return name
        }
        var found: String?
        if let old, let layout = new.recordLayouts()[entity], let slot = layout.slot(named: property.name) {
            found = layout.origins(in: old)[slot].map { old.slots[$0].name }
        }
        if found == nil, rules.conversion != nil {
            throw .invalidMapping(
                property: rule, reason: "is to be converted, and comes from no property of the old schema")
        }
        return found
    }
}

extension StoredProperty {
    /// May have no value, and then has none in records that are older.
    fileprivate func withoutDefault() -> StoredProperty {
        var property = optional()
        if case .attribute(var attribute) = property.content {
            attribute.defaultValue = nil
            property.content = .attribute(attribute)
        }
        return property
    }

    fileprivate func optional() -> StoredProperty {
        var property = self
        property.isOptional = true
        return property
    }

    fileprivate func withoutUniqueness() -> StoredProperty {
        var property = self
        if case .attribute(var attribute) = property.content {
            attribute.options.remove(.unique)
            property.content = .attribute(attribute)
        }
        return property
    }
}
