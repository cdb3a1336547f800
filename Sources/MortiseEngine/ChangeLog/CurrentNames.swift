import MortiseCore

/// The names that a program's schema has for the entities and properties of an earlier one.
package struct CurrentNames {
    /// By entity of the earlier one, those that the program's schema has; nil where both are equal.
    private var entities: [String: String]?
    /// By entity and slot of the earlier one; nil where both are equal.
    private var names: [String: [Int: String]]?

    /// Follows the properties from one schema to the next, as opening has followed the records.
    /// - Parameters:
    ///   - stored: the earlier schema.
    ///   - current: the program's.
    ///   - following: the schemas that came after the earlier one, in order.
    /// - Throws: `EngineError.schemaMismatch`.
    package init(
        of stored: StoredSchema, in current: StoredSchema, through following: some Collection<StoredSchema>
    ) throws {
        if stored == current, following.allSatisfy({ $0 == stored }) { return }
        var before = stored
        var found = stored.recordLayouts().mapValues { layout in
            Dictionary(uniqueKeysWithValues: layout.slots.indices.map { ($0, layout.slots[$0].name) })
        }
        var entities = found.reduce(into: [:]) { $0[$1.key] = $1.key }
        for next in Array(following) + [current] where next != before {
            let mapping = try SchemaMapping(from: before, to: next, store: "")
            let layouts = before.recordLayouts()
            for (entity, names) in found {
                guard let known = entities[entity] else { continue }
                guard let moved = mapping.currentNames[known] else {
                    (found[entity], entities[entity]) = (nil, nil)
                    continue
                }
                found[entity] = names.compactMapValues { layouts[known]?.slot(named: $0).flatMap { moved[$0] } }
                entities[entity] = mapping.currentName(ofEntity: known)
            }
            before = next
        }
        (names, self.entities) = (found, entities)
    }

    /// Whether all names are the same.
    var isIdentity: Bool { entities == nil && names == nil }

    /// Nil for a record of an entity that the program's schema has no more.
    package func record(_ identifier: PersistentIdentifier) -> PersistentIdentifier? {
        guard let entities else { return identifier }
        guard let name = entities[identifier.entityName] else { return nil }
        return name == identifier.entityName ? identifier : identifier.ofEntity(named: name)
    }

    /// Nil for a property that the program's schema has no more.
    package func name(_ layout: RecordLayout, _ slot: Int) -> String? {
        guard let names else { return layout.slots.indices.contains(slot) ? layout.slots[slot].name : nil }
        return names[layout.entityName]?[slot]
    }
}
