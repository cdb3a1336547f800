/// Which property of the old schema each property of the new one takes its values from.
struct MappingOrigins {
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
    /// By property, the old slots that it takes its values from, one for each entity that both schemas have.
    private let origins: [PropertyName: [RecordLayout.Slot]]

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
        var origins: [PropertyName: [RecordLayout.Slot]] = [:]
        for (name, found) in wanted {
            guard let layout = layouts[name], let before = oldLayouts[name] else { continue }
            for (slot, origin) in zip(layout.slots, found) {
                guard let origin else { continue }
                let key = PropertyName(entity: slot.declaringEntity, name: slot.name)
                origins[key, default: []].append(before.slots[origin])
            }
        }
        self.origins = origins
    }

    /// Whether no record of the old schema has a value for a property.
    func isNew(_ property: PropertyName) -> Bool { origins[property] == nil }

    /// Whether records of the old schema may lack a value for a property.
    func isOptional(_ property: PropertyName) -> Bool {
        origins[property]?.contains { $0.property.isOptional } == true
    }

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
            property.originalName = origins[key]?.first?.name ?? property.name
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
    func mapping(_ body: (inout StoredProperty, CompiledMapping.PropertyName, Int) -> Void) -> StoredSchema {
        var schema = self
        for found in numbered {
            let key = CompiledMapping.PropertyName(entity: entities[found.entity].name, name: found.name)
            body(&schema.entities[found.entity].properties[found.property], key, found.number)
        }
        return schema
    }

    /// The properties of all entities, numbered through.
    var numbered: [(number: Int, entity: Int, property: Int, name: String)] {
        let places = entities.indices.flatMap { entity in
            entities[entity].properties.indices.map { (entity, $0, entities[entity].properties[$0].name) }
        }
        return places.enumerated().map { ($0.offset, $0.element.0, $0.element.1, $0.element.2) }
    }

    func withoutIndices() -> StoredSchema {
        var schema = self
        for entity in schema.entities.indices { schema.entities[entity].indices = [] }
        return schema
    }
}

extension StoredProperty {
    /// May have no value, and then has none in records that are older.
    func withoutDefault() -> StoredProperty {
        var property = optional()
        if case .attribute(var attribute) = property.content {
            attribute.defaultValue = nil
            property.content = .attribute(attribute)
        }
        return property
    }

    func optional() -> StoredProperty {
        var property = self
        property.isOptional = true
        return property
    }

    func withoutUniqueness() -> StoredProperty {
        var property = self
        if case .attribute(var attribute) = property.content {
            attribute.options.remove(.unique)
            property.content = .attribute(attribute)
        }
        return property
    }
}
