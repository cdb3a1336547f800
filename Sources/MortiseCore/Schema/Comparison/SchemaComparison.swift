/// What differs between two versions of a schema, by the rules by which stores map records: who comes from whom is said by names
/// and original names alone.
public struct SchemaComparison: Sendable {
    /// Every difference, by entity and property.
    public private(set) var changes: [SchemaChange] = []

    let old: SchemaDocument
    let new: SchemaDocument
    let oldEntities: [String: StoredEntity]
    let oldLayouts: [String: RecordLayout]
    let newLayouts: [String: RecordLayout]
    /// By name of a new entity, the name of the old one that it comes from.
    package let counterparts: [String: String]
    private let currentNames: [String: String]
    /// By entity of the new schema and slot, the slot of the old one.
    let origins: [String: [Int?]]
    private var places: [Key: Int] = [:]

    private struct Key: Hashable {
        let kind: SchemaChange.Kind
        let entity: String?
        let property: String?
        let origin: String?
        let detail: String
    }

    /// Compares two versions.
    public init(from old: SchemaDocument, to new: SchemaDocument) {
        self.old = old
        self.new = new
        oldEntities = Dictionary(old.schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        oldLayouts = old.schema.recordLayouts()
        newLayouts = new.schema.recordLayouts()
        counterparts = new.schema.entityOrigins(in: old.schema)
        currentNames = Dictionary(
            counterparts.sorted { $0.key < $1.key }.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var origins: [String: [Int?]] = [:]
        for (name, layout) in newLayouts {
            if let before = counterparts[name].flatMap({ [oldLayouts] in oldLayouts[$0] }) {
                origins[name] = layout.origins(in: before)
            }
        }
        self.origins = origins
        compareEntities()
        for entity in new.schema.entities where counterparts[entity.name] != nil {
            compareProperties(of: entity.name)
            compareConstraints(of: entity)
        }
        changes = changes.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if x.entity != y.entity { return Self.precedes(x.entity, y.entity) }
            if x.property != y.property { return Self.precedes(x.property, y.property) }
            return a.offset < b.offset
        }.map(\.element)
    }

    /// The name that the new version has for an entity of the old one.
    func currentName(_ name: String) -> String { currentNames[name] ?? name }

    private static func precedes(_ a: String?, _ b: String?) -> Bool {
        (a ?? "").utf8.lexicographicallyPrecedes((b ?? "").utf8)
    }

    /// Adds a difference of one entity's records; the same one of entities with common ancestors is one.
    mutating func add(_ change: SchemaChange) {
        let key = Key(
            kind: change.kind, entity: change.entity, property: change.property, origin: change.origin,
            detail: change.detail)
        guard let place = places[key] else {
            places[key] = changes.count
            changes.append(change)
            return
        }
        guard let more = change.measure else { return }
        if changes[place].measure == nil {
            changes[place].measure = more
        } else {
            changes[place].measure?.entities += more.entities
        }
    }

    // MARK: Entities

    private mutating func compareEntities() {
        if old.schema.version != new.schema.version {
            let isOlder = old.schema.version > new.schema.version
            add(
                SchemaChange(
                    .versionChanged, isOlder ? .refused : .metadata,
                    "version \(old.schema.version) is \(new.schema.version)",
                    isOlder
                        ? "refused: an older version does not open a newer store" : "the store takes the new version",
                    wayOut: isOlder ? "give it a version that is not below the other" : nil))
        }
        let renamed = Set(counterparts.values)
        let isSameVersion = old.schema.version == new.schema.version
        for entity in old.schema.entities where !renamed.contains(entity.name) {
            add(
                SchemaChange(
                    .entityDropped, isSameVersion ? .refused : .mapped, entity: entity.name, "dropped",
                    isSameVersion
                        ? "refused if it has records: a schema of the same version lacks it by mistake"
                        : "records of it and references to them are dropped; the store is copied before",
                    wayOut: isSameVersion
                        ? "give the schema a higher version, or name the entity under dropping in the configuration"
                        : nil,
                    measure: .init(.all, [entity.name])))
        }
        var takers: [String: Int] = [:]
        for origin in counterparts.values { takers[origin, default: 0] += 1 }
        for entity in new.schema.entities {
            guard let origin = counterparts[entity.name] else {
                add(SchemaChange(.entityAdded, .mapped, entity: entity.name, "added", "begins without records"))
                continue
            }
            if origin != entity.name {
                add(
                    takers[origin, default: 0] > 1
                        ? SchemaChange(
                            .entityRenamed, .refused, entity: entity.name, origin: origin,
                            "\(origin) is \(entity.name), and another entity as well",
                            "refused: records become those of one entity",
                            wayOut: "give one of them no original name, and insert its records in a stage with code",
                            measure: .init(.all, [origin]))
                        : SchemaChange(
                            .entityRenamed, .mapped, entity: entity.name, origin: origin,
                            "\(origin) is \(entity.name)", "records and their identifiers follow",
                            measure: .init(.all, [origin])))
            }
            compare(entity, with: oldEntities[origin])
        }
    }

    private mutating func compare(_ entity: StoredEntity, with before: StoredEntity?) {
        guard let before else { return }
        if entity.superentity != before.superentity.map(currentName) {
            add(
                SchemaChange(
                    .superentityChanged, .mapped, entity: entity.name,
                    "inherits from \(entity.superentity ?? "none"), inherited from \(before.superentity ?? "none")",
                    "records keep what both versions have; refused if others refer to them as the former",
                    measure: .init(.all, [before.name])))
        }
        let (now, then) = (new.details[entity.name] ?? .init(), old.details[before.name] ?? .init())
        var details: [String] = []
        if now.hashModifier != then.hashModifier { details.append("modifier") }
        if now.isAbstract != then.isAbstract { details.append("abstract") }
        if now.reserved != then.reserved { details.append("reserved names") }
        if now.formerNames != then.formerNames { details.append("former names") }
        if entity.name == before.name, entity.originalName != before.originalName { details.append("original name") }
        if !details.isEmpty {
            add(
                SchemaChange(
                    .entityDetailsChanged, .metadata, entity: entity.name, "another " + details.joined(separator: ", "),
                    "records stay as they are"))
        }
        let shared = Set(before.properties.map(\.name)).intersection(entity.properties.map(\.name))
        let order = { (properties: [StoredProperty]) in properties.map(\.name).filter(shared.contains) }
        if order(entity.properties) != order(before.properties) {
            add(
                SchemaChange(
                    .orderChanged, .metadata, entity: entity.name, "properties in another order",
                    "records stay as they are"))
        }
    }

    // MARK: Properties of which nobody took the values, and those that took none

    /// By name of a new entity, the properties that it declares and that come from none, and those of the old one that are dropped.
    package func strangers(of entity: String) -> (added: [StoredProperty], dropped: [StoredProperty]) {
        guard let layout = newLayouts[entity], let origins = origins[entity],
            let before = counterparts[entity].flatMap({ oldLayouts[$0] })
        else { return ([], []) }
        let taken = Set(origins.compactMap(\.self))
        let added = zip(layout.slots, origins).filter { $1 == nil && $0.declaringEntity == entity }.map(\.0.property)
        let dropped = before.slots.indices.filter {
            !taken.contains($0) && before.slots[$0].declaringEntity == before.entityName
                && layout.slot(named: before.slots[$0].name) == nil
        }
        return (added, dropped.map { before.slots[$0].property })
    }
}
