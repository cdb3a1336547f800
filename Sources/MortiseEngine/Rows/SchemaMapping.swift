public import MortiseCore

/// How records of one schema become records of another without code of a plan.
///
/// The origin of each property, by the first rule that applies:
/// 1. A rename that is not done yet: the property has an original name, the old entity has a property of that name, and
///    none with both the new name and the original one, which would show that the rename was done before. The rule does
///    not apply if the new entity has a property under that original name whose own rename is done, or one without an
///    original name while rule 3 applies.
/// 2. The same name, unless that property is the origin of another by rule 1.
/// 3. A chain of renames: both properties were renamed from one name, and the new entity has none with the old one's name.
///
/// Others are new, and take their default, nil or no members. So two properties can swap their names, a new property can
/// have the name of one that was renamed, and an original name may stay in the source forever. Old properties that are the
/// origin of no new one are dropped.
///
/// Entities follow the same rules, before their properties do. Records of one that is renamed keep their numbers. Those of
/// entities that are the origin of no new one are dropped, and references to them; `SchemaTally` counts all that.
///
/// A to-one relationship may become one to many, which has the record that it led to as its member: on the side that keeps the links, or
/// by the other side, where that has the same links or takes them over.
///
/// Properties are those of the whole record, however entities inherit from each other: a property may move up or down, and a
/// superentity may come or go.
public struct SchemaMapping: Sendable {
    /// What a slot of the new layout takes.
    enum Source: Sendable {
        case slot(Int)
        case value(StoredValue)
    }

    struct Entity: Sendable {
        let sources: [Source]
        /// The old slots that hold values and that no new property comes from.
        let dropped: [Int]
        /// The new slots that need a value and have no default, each with the old slot that it comes from; nil for new ones.
        let demanding: [(slot: Int, origin: Int?)]
        /// The old slots that are taken and may refer to records of removed entities.
        let references: [Int]
        let required: Set<Int>
        /// The new slots of to-many relationships that were to-one.
        let widened: Set<Int>
    }

    /// By name of an old entity, its new name, where that is another. One that is dropped and whose name a new one takes has a name
    /// that no schema has.
    let names: [String: String]
    /// By name in the new schema.
    let entities: [String: Entity]
    let oldLayouts: [String: RecordLayout]
    private let versions: (stored: Schema.Version, opened: Schema.Version)
    let store: String
    /// The entities that the new schema lacks.
    private let removed: Set<String>
    /// By entity of the old schema: links that the other side takes over.
    let releases: [String: [Release]]
    /// By entity of the new schema: to-one relationships that are each other's inverse now and were not.
    let pairs: [String: [Pair]]
    /// By entity and slot of the old schema: the name that the new one has for the property. Only of entities that it has, and of
    /// properties whose values are of the same kind.
    package let currentNames: [String: [Int: String]]
    /// By entity of the new schema, the names of its slots.
    private let newNames: [String: [String]]
    /// By entity of the new schema: the new properties that take a default value.
    private let defaults: [String: Set<String>]

    /// Finds the origin of each property of the new schema.
    /// - Throws: `EngineError.schemaMismatch` with every difference that cannot be bridged.
    public init(from old: StoredSchema, to new: StoredSchema, store: String) throws {
        let renaming = EntityRenaming(from: old, to: new)
        let names = renaming.names
        self.names = names
        oldLayouts = Dictionary(
            old.recordLayouts().map { name, layout in
                (names[name] ?? name, names.isEmpty ? layout : layout.renamingEntities(names))
            }, uniquingKeysWith: { first, _ in first })
        let old = old.renamingEntities(names)
        versions = (old.version, new.version)
        self.store = store
        removed = renaming.removed
        let newLayouts = new.recordLayouts()
        newNames = newLayouts.mapValues { $0.slots.map(\.name) }
        var origins: [String: [Int?]] = [:]
        for (name, layout) in newLayouts {
            if let before = oldLayouts[name] { origins[name] = layout.origins(in: before) }
        }
        let sides = Sides(old: oldLayouts, new: newLayouts, origins: origins)
        var sources: [String: [Source]] = [:]
        var differences = renaming.differences
        for (name, layout) in newLayouts.sorted(by: { $0.key < $1.key }) {
            guard let before = oldLayouts[name] else { continue }
            sources[name] = zip(layout.slots, origins[name] ?? []).map { slot, origin in
                switch Self.source(of: slot, from: origin, in: before, sides) {
                case .success(let source): return source
                case .failure(let difference):
                    differences.append("\(name).\(slot.name) \(difference.text)")
                    return .value(.null)
                }
            }
        }
        if !differences.isEmpty { throw EngineError.schemaMismatch(store: store, differences: differences) }
        releases = Self.releases(sources, from: old, laidOut: oldLayouts, to: new)
        pairs = Self.pairs(sides, in: new)
        let before = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        currentNames = Dictionary(
            sources.map { [oldLayouts] name, sources in
                let named = zip(newLayouts[name]?.slots ?? [], sources).compactMap { slot, source -> (Int, String)? in
                    // Earlier changes of a property that led to one record have no value for one that leads to many.
                    guard case .slot(let place) = source,
                        !slot.role.isToMany || oldLayouts[name]?.slots[place].role != .toOne
                    else { return nil }
                    return (place, slot.name)
                }
                return (before[name] ?? name, Dictionary(named, uniquingKeysWith: { first, _ in first }))
            }, uniquingKeysWith: { first, _ in first })
        var defaults: [String: Set<String>] = [:]
        for (name, sources) in sources {
            for (slot, source) in zip(newLayouts[name]?.slots ?? [], sources) {
                if case .value(let value) = source, !value.isNull { defaults[name, default: []].insert(slot.name) }
            }
        }
        self.defaults = defaults
        var entities: [String: Entity] = [:]
        for (name, sources) in sources {
            guard let layout = newLayouts[name], let before = oldLayouts[name] else { continue }
            entities[name] = Self.entity(
                sources, layout, before, released: Set(releases[name, default: []].map(\.slot)),
                anyRemoved: !removed.isEmpty)
        }
        self.entities = entities
    }

    /// Makes a version of the records. Of new properties whose default value would have to be unique, the error names these in
    /// place of two records.
    /// - Throws: `EngineError.sameDefault` in place of `.notUnique`; what the body throws.
    public func completing<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch EngineError.notUnique(let entity, let properties, _, _)
            where defaults[entity].map({ $0.isSuperset(of: properties) }) == true
        {
            throw EngineError.sameDefault(entity: entity, properties: properties)
        }
    }

    private static func entity(
        _ sources: [Source], _ layout: RecordLayout, _ before: RecordLayout, released: Set<Int>, anyRemoved: Bool
    ) -> Entity {
        var taken: Set<Int> = []
        var required: Set<Int> = []
        for (slot, source) in zip(layout.slots, sources) {
            guard case .slot(let place) = source, !isEphemeral(slot) else { continue }
            taken.insert(place)
            if slot.role == .toOne, !slot.property.isOptional { required.insert(place) }
        }
        let held = before.slots.indices.filter {
            before.slots[$0].role != .toManyDerived && !isEphemeral(before.slots[$0])
        }
        return Entity(
            // The members of a relationship that is derived are those of the other side.
            sources: zip(layout.slots, sources).map { slot, source in
                slot.role == .toManyDerived ? .value(.identifiers([])) : source
            },
            dropped: held.filter { !taken.contains($0) && !released.contains($0) },
            demanding: zip(layout.slots.indices, sources).compactMap { slot, source in
                let property = layout.slots[slot].property
                guard !property.isOptional, !layout.slots[slot].role.isToMany, !isEphemeral(layout.slots[slot]),
                    property.attribute?.defaultValue == nil
                else { return nil }
                if case .slot(let place) = source {
                    return before.slots[place].property.isOptional ? (slot, place) : nil
                }
                return (slot, nil)
            },
            references: anyRemoved ? held.filter { taken.contains($0) && before.slots[$0].role.isRelationship } : [],
            required: required,
            widened: Set(
                zip(layout.slots.indices, sources).compactMap { slot, source in
                    guard case .slot(let place) = source, layout.slots[slot].role == .toManyStored,
                        before.slots[place].role == .toOne
                    else { return nil }
                    return slot
                }))
    }

    private struct Difference: Error { let text: String }

    private static func source(
        of slot: RecordLayout.Slot, from origin: Int?, in old: RecordLayout, _ sides: Sides
    ) -> Result<Source, Difference> {
        guard let place = origin else {
            if slot.role.isToMany { return .success(.value(.identifiers([]))) }
            if let value = slot.property.attribute?.defaultValue { return .success(.value(value)) }
            // A required one that is new does where there are no records.
            return .success(.value(.null))
        }
        let before = old.slots[place]
        if before.role != slot.role, !isReleased(before.role, slot.role), !sides.isHandedOver(slot, from: before),
            !sides.isWidened(slot, from: before)
        {
            return .failure(
                Difference(text: "was \(describe(before)) and is \(describe(slot)); give it another name"))
        }
        if let a = before.property.attribute, let b = slot.property.attribute, a.kind != b.kind {
            return .failure(
                Difference(
                    text: "was of kind \(a.kind.rawValue) and is of kind \(b.kind.rawValue); give it another name"))
        }
        if let a = before.property.relationship, let b = slot.property.relationship, a.destination != b.destination,
            !sides.includes(a.destination, in: b.destination)
        {
            return .failure(
                Difference(text: "led to \(a.destination) and leads to \(b.destination); give it another name"))
        }
        return .success(.slot(place))
    }

    private static func isEphemeral(_ slot: RecordLayout.Slot) -> Bool {
        slot.property.attribute?.options.contains(.ephemeral) == true
    }

    private static func describe(_ slot: RecordLayout.Slot) -> String {
        switch slot.role {
        case .attribute: "an attribute"
        case .toOne: "a to-one relationship"
        case .toManyStored: "a to-many relationship kept on this side"
        case .toManyDerived: "a to-many relationship kept on the other side"
        }
    }

    /// The name that the new schema has for an entity of the old one; another that it does not have if the entity is dropped.
    public func currentName(ofEntity name: String) -> String { names[name] ?? name }

    /// Brings an old record to the new layout; nil if the new schema has no such entity.
    /// - Parameters:
    ///   - values: the values by slot of the old layout.
    ///   - name: the entity's name in the old schema.
    ///   - layout: the layout of `currentName(ofEntity:)` in the new one.
    /// - Returns: the values by slot of the new layout.
    public func map(
        _ values: ContiguousArray<StoredValue>, ofEntity name: String, defaults layout: RecordLayout
    ) -> ContiguousArray<StoredValue>? {
        guard let entity = entities[names[name] ?? name] else { return nil }
        var result: ContiguousArray<StoredValue> = []
        result.reserveCapacity(entity.sources.count)
        for (index, source) in entity.sources.enumerated() {
            switch source {
            case .value(let value): result.append(value)
            case .slot(let slot):
                let property = layout.slots[index].property
                var value = removed.isEmpty ? values[slot] : values[slot].without(removed)
                if !names.isEmpty { value = value.leading(toEntitiesNamed: names) }
                if !entity.widened.isEmpty, entity.widened.contains(index) { value = value.asMembers }
                if value.isNull, !property.isOptional, let fallback = property.attribute?.defaultValue {
                    result.append(fallback)
                } else {
                    result.append(value)
                }
            }
        }
        return result
    }

    // MARK: Counting what is dropped

    /// Counts what the new schema does not take of an old record.
    package func count(
        _ values: ContiguousArray<StoredValue>, ofEntity name: String, in tally: inout SchemaTally
    ) {
        let current = names[name] ?? name
        guard let entity = entities[current] else {
            tally.records[name, default: 0] += 1
            return
        }
        let name = current
        for (slot, origin) in entity.demanding where origin.map({ values[$0].isNull }) ?? true {
            tally.missing[name, default: [:]][slot, default: 0] += 1
        }
        guard let layout = oldLayouts[name] else { return }
        for slot in entity.dropped where slot < values.count {
            let value = values[slot]
            if value.isNull || value.isNoMembers || value == layout.slots[slot].property.attribute?.defaultValue {
                continue
            }
            tally.values[name, default: [:]][slot, default: 0] += 1
        }
        for slot in entity.references where slot < values.count && values[slot].without(removed) != values[slot] {
            if entity.required.contains(slot) {
                tally.broken[name, default: [:]][slot, default: 0] += 1
            } else {
                tally.values[name, default: [:]][slot, default: 0] += 1
            }
        }
    }

    /// What was counted.
    /// - Throws: `EngineError.schemaMismatch` where required references lead to what is dropped.
    package func loss(_ tally: SchemaTally) throws -> SchemaLoss {
        let before = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        func named(_ counts: [String: [Int: Int]]) -> [SchemaLoss.Property] {
            counts.flatMap { entity, slots in
                slots.map { slot, count in
                    SchemaLoss.Property(
                        entity: before[entity] ?? entity, name: oldLayouts[entity]?.slots[slot].name ?? "",
                        values: count)
                }
            }
        }
        let loss = SchemaLoss(
            stored: versions.stored, opened: versions.opened,
            entities: tally.records.map { SchemaLoss.Entity(name: $0.key, records: $0.value) },
            properties: named(tally.values))
        if !tally.missing.isEmpty {
            let differences = tally.missing.flatMap { entity, slots in
                slots.map { slot, count in
                    "\(entity).\(newNames[entity]?[slot] ?? "") is required, and \(SchemaLoss.plural(count, "record")) would have no "
                        + "value; give it a default value, make it optional, or fill it by a stage of a migration plan"
                }
            }
            throw EngineError.schemaMismatch(store: store, differences: differences.sorted())
        }
        if !tally.broken.isEmpty {
            let broken = SchemaLoss(
                stored: versions.stored, opened: versions.opened, entities: [], properties: named(tally.broken))
            throw EngineError.schemaMismatch(
                store: store,
                differences: broken.properties.map {
                    "\($0.entity).\($0.name) is required, and in \($0.values) of its records refers to a record of an "
                        + "entity that the schema lacks; make it optional, or delete those records first"
                })
        }
        return loss
    }
}

/// What one schema holds and another does not take, counted while records are read.
package struct SchemaTally: Sendable {
    /// By entity.
    var records: [String: Int] = [:]
    /// By entity and slot.
    var values: [String: [Int: Int]] = [:]
    /// By entity and slot of the new schema: records without a value that they need.
    var missing: [String: [Int: Int]] = [:]
    /// Of required references that would have no target.
    var broken: [String: [Int: Int]] = [:]

    package init() {}
}

extension StoredValue {
    /// The value with references to records of entities under other names.
    fileprivate func leading(toEntitiesNamed names: [String: String]) -> StoredValue {
        switch self {
        case .identifier(let record): .identifier(record.renamed(names))
        case .identifiers(let records): .identifiers(records.map { $0.renamed(names) })
        default: self
        }
    }

    /// What a to-one relationship leads to, as the members of one to many.
    fileprivate var asMembers: StoredValue {
        switch self {
        case .identifier(let record): .identifiers([record])
        case .null: .identifiers([])
        default: self
        }
    }

    fileprivate var isNoMembers: Bool { if case .identifiers(let members) = self { members.isEmpty } else { false } }

    /// The value without references to records of some entities.
    fileprivate func without(_ entities: Set<String>) -> StoredValue {
        switch self {
        case .identifier(let record): entities.contains(record.entityName) ? .null : self
        case .identifiers(let records):
            records.contains { entities.contains($0.entityName) }
                ? .identifiers(records.filter { !entities.contains($0.entityName) }) : self
        default: self
        }
    }
}
