/// The values that a uniqueness constraint covers, in one model. The entity is the one that declares the constraint, so
/// that a subclass's models are compared with its superclass's.
struct UniqueClaim {
    let entity: String
    let slots: [Int]
    let values: [StoredValue]

    init(entity: String, slots: [Int], values: [StoredValue]) {
        self.entity = entity
        self.slots = slots
        self.values = values
    }

    /// Nil if one of the values is never unique.
    init?(_ model: any PersistentModel, _ slots: [Int], _ layout: ModelLayout) {
        var values: [StoredValue] = []
        for slot in slots {
            let value = model._pendingValue(at: slot, role: layout.record.slots[slot].role, in: layout)
            if value.isNeverUnique { return nil }
            values.append(value)
        }
        self.init(entity: layout.constraintOwner(slots).entityName, slots: slots, values: values)
    }

    /// The same for values that are not yet in a model.
    init?(_ record: ContiguousArray<StoredValue>, _ slots: [Int], _ layout: ModelLayout) {
        let values = slots.map { record[$0] }
        if values.contains(where: \.isNeverUnique) { return nil }
        self.init(entity: layout.constraintOwner(slots).entityName, slots: slots, values: values)
    }
}

extension UniqueClaim: Hashable {
    /// Whether two records with these values conflict.
    static func == (a: UniqueClaim, b: UniqueClaim) -> Bool {
        a.entity == b.entity && a.slots == b.slots
            && a.values.elementsEqual(b.values) { $0.uniqueForm == $1.uniqueForm }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(slots)
        for value in values { hasher.combine(value.uniqueForm) }
    }
}

extension ModelLayout {
    /// The layout that declares a constraint over the slots: this one or one that it inherits from.
    func constraintOwner(_ slots: [Int]) -> ModelLayout {
        var owner = self
        while let parent = owner.superlayout, slots.allSatisfy({ $0 < owner.ownSlots.lowerBound }) { owner = parent }
        return owner
    }
}
