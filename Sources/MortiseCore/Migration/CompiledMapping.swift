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
        var rules: [PropertyName: Rules] = [:]
        for (name, found) in Self.grouped(mapping.rules) {
            let (place, property) = try Self.find(name, in: new)
            let (entity, described) = (new.entities[place].name, new.entities[place].properties[property])
            let key = PropertyName(entity: entity, name: described.name)
            guard rules[key] == nil else {
                throw .invalidMapping(property: name, reason: "has a rule under another name already")
            }
            try found.check(described, rule: name)
            rules[key] = found
        }
        let origins = try Origins(rules, from: old, to: new)
        for (key, rules) in rules {
            guard let place = next.entities.firstIndex(where: { $0.name == key.entity }),
                let property = next.entities[place].properties.firstIndex(where: { $0.name == key.name }),
                let attribute = next.entities[place].properties[property].attribute
            else { continue }
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

    fileprivate struct PropertyName: Hashable {
        let entity: String
        let name: String

        var text: String { "\(entity).\(name)" }
    }

    fileprivate struct Rules {
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
            if isFresh || conversion != nil {
                throw .invalidMapping(
                    property: rule, reason: "is a relationship: only attributes are converted or begin new")
            }
            if filling != nil {
                throw .invalidMapping(property: rule, reason: "is a relationship: only attributes are filled")
            }
        }
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
}

/// Which property of the old schema each property of the new one takes its values from.
private struct Origins {
    typealias PropertyName = CompiledMapping.PropertyName

    private let old: StoredSchema
    private let new: StoredSchema
    private let rules: [PropertyName: CompiledMapping.Rules]
    /// By entity that both schemas have and slot of the new layout, the slot of the old one; nil for what begins new.
    private let wanted: [String: [Int?]]
    private let layouts: [String: RecordLayout]
    private let oldLayouts: [String: RecordLayout]
    /// The names of the old properties whose values are converted.
    let sources: [PropertyName: String]
    /// By entity of the old schema, the properties whose values are converted, and those of which nothing is lost by that.
    let converted: [String: Set<String>]
    let kept: [String: Set<String>]

    init(
        _ rules: [PropertyName: CompiledMapping.Rules], from old: StoredSchema, to new: StoredSchema
    ) throws(MigrationError) {
        (self.old, self.new, self.rules) = (old, new, rules)
        var wanted: [String: [Int?]] = [:]
        var sources: [PropertyName: String] = [:]
        var converted: [String: Set<String>] = [:]
        var kept: [String: Set<String>] = [:]
        (layouts, oldLayouts) = (new.recordLayouts(), old.recordLayouts())
        for (name, layout) in layouts {
            guard let before = oldLayouts[name] else { continue }
            let found = layout.slots.map { rules[PropertyName(entity: $0.declaringEntity, name: $0.name)] }
            // Where the schemas alone have to say it.
            let undecided = found.indices.filter { found[$0]?.isFresh != true && found[$0]?.renamedFrom == nil }
            var origins: [Int?] = Array(repeating: nil, count: layout.slots.count)
            for (slot, origin) in zip(undecided, layout.origins(of: undecided, in: before)) { origins[slot] = origin }
            /// The old slots whose values rules take to another name.
            var taken: Set<Int> = []
            for (slot, rule) in found.enumerated() {
                guard let original = rule?.renamedFrom else { continue }
                origins[slot] = before.slot(named: original)
                if let origin = origins[slot] { taken.insert(origin) }
            }
            for (slot, rule) in found.enumerated() {
                let described = layout.slots[slot]
                let key = PropertyName(entity: described.declaringEntity, name: described.name)
                if let original = rule?.renamedFrom, origins[slot] == nil {
                    throw .invalidMapping(
                        property: key.text, reason: "is to come from \(original), which the old schema lacks")
                }
                guard let conversion = rule?.conversion else {
                    if rule?.renamedFrom == nil, let origin = origins[slot], taken.contains(origin),
                        before.slots[origin].name == described.name
                    {
                        origins[slot] = nil
                    }
                    continue
                }
                guard let origin = origins[slot] else {
                    throw .invalidMapping(
                        property: key.text, reason: "is to be converted, and comes from no property of the old schema")
                }
                let source = before.slots[origin]
                if let known = sources.updateValue(source.name, forKey: key), known != source.name {
                    throw .invalidMapping(
                        property: key.text,
                        reason: "comes from \(known) in one entity and from \(source.name) in another")
                }
                converted[name, default: []].insert(source.name)
                if conversion.isLossless { kept[name, default: []].insert(source.name) }
                origins[slot] = nil
            }
            wanted[name] = origins
        }
        (self.wanted, self.sources, self.converted, self.kept) = (wanted, sources, converted, kept)
    }

    /// The old slots that a property takes its values from, one for each entity that both schemas have.
    private func origins(of property: PropertyName) -> [RecordLayout.Slot] {
        wanted.compactMap { name, origins in
            guard let layout = layouts[name],
                let slot = layout.slots.firstIndex(where: {
                    $0.name == property.name && $0.declaringEntity == property.entity
                }), let origin = origins[slot]
            else { return nil }
            return oldLayouts[name]?.slots[origin]
        }
    }

    /// Whether no record of the old schema has a value for a property.
    func isNew(_ property: PropertyName) -> Bool { origins(of: property).isEmpty }

    /// Whether records of the old schema may lack a value for a property.
    func isOptional(_ property: PropertyName) -> Bool { origins(of: property).contains { $0.property.isOptional } }

    /// Schemas one after another, at the end one with the properties of `last`, that take values as wanted by nothing but names and
    /// original names.
    ///
    /// Stores know no other way to say where values come from: each schema is one that they could be opened with.
    func way(to last: StoredSchema) throws(MigrationError) -> [StoredSchema] {
        let renamed = last.mapping { property, key, _ in
            guard let rule = rules[key] else { return }
            property.originalName = rule.renamedFrom ?? (rule.beginsNew ? property.name : property.originalName)
        }
        var reduced = renamed.withoutIndices()
        for place in reduced.entities.indices {
            let entity = reduced.entities[place].name
            reduced.entities[place].properties.removeAll {
                rules[PropertyName(entity: entity, name: $0.name)]?.beginsNew == true
            }
        }
        let parked = renamed.withoutIndices().mapping { property, key, number in
            if property.attribute == nil { return }
            property.name = Self.parkedName(number)
            property.originalName = origins(of: key).first?.name ?? property.name
        }
        // A property that keeps its name has it again; one that changes it is found by its original name.
        let prepared = last.withoutIndices().mapping { property, _, number in
            if property.attribute == nil { return }
            if property.originalName == property.name {
                property.originalName = Self.parkedName(number)
            } else {
                property.name = Self.parkedName(number)
            }
        }
        for way in [[renamed], [reduced, renamed], [reduced, last], [parked, prepared, last]] where leads(way) {
            return way
        }
        throw .invalidMapping(
            property: rules.keys.map(\.text).sorted().joined(separator: ", "),
            reason:
                "cannot be applied in one step, because other properties have the same names before or after it; make it two "
                + "versions")
    }

    /// No name of a Swift property.
    private static func parkedName(_ number: Int) -> String { "mortise migration \(number)" }

    /// Whether all properties of the new schema take their values as wanted. On the way each is to come from itself alone: what looks
    /// like another has another kind or default.
    private func leads(_ way: [StoredSchema]) -> Bool {
        let names = Dictionary(
            new.numbered.map { (Self.parkedName($0.number), $0.name) }, uniquingKeysWith: { first, _ in first })
        var later = layouts
        var origins = later.mapValues { $0.slots.indices.map { Optional($0) } }
        for (distance, schema) in ([old] + way).reversed().enumerated() {
            let earlier = schema.recordLayouts()
            for (name, layout) in later {
                guard let before = earlier[name] else {
                    origins[name] = nil
                    continue
                }
                let step = layout.origins(in: before)
                origins[name] = origins[name]?.map { $0.flatMap { step[$0] } }
                // The new schema has to find all of its own at the end of the way.
                if distance == 0, step.contains(nil) { return false }
                if distance == way.count { continue }
                for (slot, origin) in zip(layout.slots, step) {
                    guard let found = origin.map({ before.slots[$0].name }) else { continue }
                    if names[found] ?? found != names[slot.name] ?? slot.name { return false }
                }
            }
            later = earlier
        }
        return wanted.allSatisfy { origins[$0] == $1 }
    }
}

extension StoredSchema {
    /// The schema with its properties changed, which are numbered.
    fileprivate func mapping(_ body: (inout StoredProperty, CompiledMapping.PropertyName, Int) -> Void) -> StoredSchema
    {
        var schema = self
        for found in numbered {
            let key = CompiledMapping.PropertyName(entity: entities[found.entity].name, name: found.name)
            body(&schema.entities[found.entity].properties[found.property], key, found.number)
        }
        return schema
    }

    /// The properties of all entities, numbered through.
    fileprivate var numbered: [(number: Int, entity: Int, property: Int, name: String)] {
        let places = entities.indices.flatMap { entity in
            entities[entity].properties.indices.map { (entity, $0, entities[entity].properties[$0].name) }
        }
        return places.enumerated().map { ($0.offset, $0.element.0, $0.element.1, $0.element.2) }
    }

    fileprivate func withoutIndices() -> StoredSchema {
        var schema = self
        for entity in schema.entities.indices { schema.entities[entity].indices = [] }
        return schema
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
