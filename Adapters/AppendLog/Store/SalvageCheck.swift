import MortiseCore
import MortiseEngine

/// Finds what does not fit among the records of a salvage: references that lead nowhere or that are not returned, and missing
/// values.
struct SalvageCheck {
    struct Found {
        var changes: [(entity: Int, sequence: UInt64, slot: Int, value: StoredValue)] = []
        /// Records that cannot be without what they lack.
        var removed: Set<PersistentIdentifier> = []
        /// Records that are no longer referred to by the other side of a relationship.
        var released: Set<PersistentIdentifier> = []
        var cleared = 0
    }

    private struct Link: Hashable {
        let owner: PersistentIdentifier
        let property: String
        let target: PersistentIdentifier
    }

    private var found = Found()
    private let engine: Catalog
    /// By entity and slot, the relationship that leads back, where both sides are stored.
    private let inverses: [[String?]]
    /// All references by relationships of which both sides are stored.
    private var links: Set<Link> = []

    init(_ tables: ReplayTables) {
        let catalog = tables.catalog
        let engine = Catalog(schema: catalog.schema, storeIdentifier: catalog.store)
        self.engine = engine
        let inverses = catalog.layouts.indices.map { entity in
            catalog.layouts[entity].slots.indices.map { engine.storedInverse(ofSlot: $0, entity: entity) }
        }
        self.inverses = inverses
        guard inverses.contains(where: { $0.contains { $0 != nil } }) else { return }
        var links: Set<Link> = []
        tables.forEach { entity, sequence, values in
            for slot in catalog.storedSlots[entity] where inverses[entity][slot] != nil {
                let property = catalog.layouts[entity].slots[slot].name
                for target in values[slot].targets {
                    links.insert(Link(owner: catalog.identifier(entity, sequence), property: property, target: target))
                }
            }
        }
        self.links = links
    }

    /// Whether nothing was found since it was taken.
    var isEmpty: Bool { found.changes.isEmpty && found.removed.isEmpty }

    mutating func take() -> Found {
        defer { found = Found() }
        return found
    }

    mutating func look(
        at values: ContiguousArray<StoredValue>, _ entity: Int, _ sequence: UInt64, in tables: ReplayTables
    ) {
        let catalog = tables.catalog
        let record = catalog.identifier(entity, sequence)
        for slot in catalog.storedSlots[entity] {
            let property = catalog.layouts[entity].slots[slot].property
            if property.relationship != nil {
                check(values[slot].targets, at: slot, property, of: record, entity, sequence, in: tables)
            }
            guard values[slot].isNull, !property.isOptional, property.relationship?.isToMany != true else { continue }
            if let value = property.attribute?.defaultValue, !value.isNull {
                found.changes.append((entity, sequence, slot, value))
            } else {
                found.removed.insert(record)
            }
        }
    }

    private mutating func check(
        _ targets: [PersistentIdentifier], at slot: Int, _ property: StoredProperty, of record: PersistentIdentifier,
        _ entity: Int, _ sequence: UInt64, in tables: ReplayTables
    ) {
        let inverse = inverses[entity][slot]
        func fits(_ target: PersistentIdentifier) -> Bool {
            guard tables.contains(target), engine.admits(target, slot: slot, ofEntity: record.entityName) else {
                return false
            }
            // A save writes both sides, so that the side that is not met was written later.
            return inverse.map { links.contains(Link(owner: target, property: $0, target: record)) } ?? true
        }
        let kept = targets.filter(fits)
        guard kept.count < targets.count else { return }
        if property.relationship?.isToMany == true {
            found.changes.append((entity, sequence, slot, .identifiers(kept)))
        } else if property.isOptional {
            found.changes.append((entity, sequence, slot, .null))
        } else {
            found.removed.insert(record)
            return
        }
        found.cleared += targets.count - kept.count
        guard inverse != nil else { return }
        let stays = Set(kept)
        for target in targets where !stays.contains(target) {
            links.remove(Link(owner: record, property: property.name, target: target))
            found.released.insert(target)
        }
    }
}
