/// What the answer of a query depends on: the entities of the records that it returns or looks at, and the slots that it
/// compares or sorts by.
struct QueryReads {
    /// The entities by which properties are read. Records of their subentities are read too.
    private(set) var entities: Set<String>
    /// The slots that are read, by the entity through which they are named.
    private(set) var slots: [String: SlotSet] = [:]
    /// Whether code takes part, which may read anything.
    private(set) var readsAnything = false

    init(_ query: StoreQuery) {
        entities = [query.entity]
        for conjunct in query.conjuncts { add(conjunct.expression) }
        for key in query.order { add(key.expression) }
    }

    private mutating func add(_ expression: QueryExpression) {
        expression.forEachPart { part in
            switch part {
            case .onModels: readsAnything = true
            case .property(_, let property):
                entities.insert(property.entity)
                slots[property.entity, default: SlotSet()].insert(property.slot)
            default: break
            }
        }
    }

    /// The entities whose records are read, subentities and targets of relationships included; nil if these may be any.
    func families(in schema: StoredSchema, _ layout: (String) -> RecordLayout?) -> Set<String>? {
        if readsAnything { return nil }
        var read = entities
        for (entity, slots) in slots {
            guard let layout = layout(entity) else { return nil }
            for slot in slots.slots {
                guard slot < layout.slots.count else { return nil }
                if let relationship = layout.slots[slot].property.relationship { read.insert(relationship.destination) }
            }
        }
        return Set(read.flatMap { schema.subtree(of: $0) })
    }
}
