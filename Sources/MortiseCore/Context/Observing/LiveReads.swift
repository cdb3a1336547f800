/// What a live query depends on, and how the records that it returns are reached from those that have changed.
struct LiveReads {
    /// The slots that conditions, order and sections read, by entity, subentities included. Both sides of relationships.
    private(set) var slots: [String: SlotSet] = [:]
    /// The entities whose records are read.
    private(set) var entities: Set<String> = []
    /// How to get from a record to those that refer to it: by the entity of the record, the slot that leads back.
    private(set) var steps: [String: SlotSet] = [:]
    /// How many relationships follow each other at most.
    private(set) var depth = 0
    /// Why the records cannot be found that a change concerns; nil if they can.
    private(set) var obstacle: LiveExplanation.Rerun?

    init(_ expressions: [QueryExpression], root: String, schema: Schema) {
        entities = Set(schema.stored.subtree(of: root))
        for expression in expressions { expression.forEachPart { add($0, schema) } }
    }

    private mutating func add(_ part: QueryExpression, _ schema: Schema) {
        switch part {
        case .onModels: obstacle = obstacle ?? .code
        case .property(_, let property):
            guard let layout = schema.recordLayouts[property.entity], property.slot < layout.slots.count else {
                obstacle = .code
                return
            }
            for entity in schema.stored.subtree(of: property.entity) {
                slots[entity, default: SlotSet()].insert(property.slot)
            }
            guard let relationship = layout.slots[property.slot].property.relationship else { return }
            depth += 1
            let family = schema.stored.subtree(of: relationship.destination)
            entities.formUnion(family)
            for entity in family {
                guard let name = relationship.inverse, let inverse = schema.recordLayouts[entity]?.slot(named: name)
                else {
                    obstacle = obstacle ?? .relationshipWithoutInverse
                    return
                }
                slots[entity, default: SlotSet()].insert(inverse)
                steps[entity, default: SlotSet()].insert(inverse)
            }
        default: break
        }
    }

    /// Whether a change can make a difference to conditions, order or sections.
    func concern(_ touch: LiveTouch) -> Bool {
        guard entities.contains(touch.entity) else { return false }
        guard let read = slots[touch.entity] else { return touch.comesOrGoes }
        return touch.comesOrGoes || touch.slots.slots.contains { read.contains($0) }
    }

    /// The records from which the changed ones are reached, themselves included; nil if these are more than a number.
    func reached(from touches: [LiveTouch], in batch: LiveBatch, _ reader: ContextReader, atMost limit: Int)
        -> Set<PersistentIdentifier>?
    {
        var found = Set(touches.lazy.map(\.identifier))
        var edge = Array(found)
        for _ in 0..<depth {
            var next: [PersistentIdentifier] = []
            func add(_ value: StoredValue) {
                switch value {
                case .identifier(let one): if found.insert(one).inserted { next.append(one) }
                case .identifiers(let many): for one in many where found.insert(one).inserted { next.append(one) }
                default: break
                }
            }
            for identifier in edge {
                guard let steps = steps[identifier.entityName] else { continue }
                let record = reader.record(identifier)
                let table = batch.state.table(named: identifier.entityName)
                let rows = identifier.isTemporary ? nil : table.map { batch.oldRows(of: $0) }
                let row = rows?.row(of: identifier)
                for slot in steps.slots {
                    if let record { add(reader.value(record, slot: slot)) }
                    if let rows, let row { add(rows.value(row: row, slot: slot)) }
                }
                if found.count > limit { return nil }
            }
            edge = next
            if edge.isEmpty { break }
        }
        return found
    }
}
