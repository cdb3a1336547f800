/// The values of a draft that are no stored values.
final class DraftRelations {
    // Unchecked as in a draft: what reads and writes these calls no other code meanwhile. What is replaced may be the last reference
    // to a model, whose `deinit` is code: so it is let go of only afterwards.
    /// Most models have one, which takes no array.
    @exclusivity(unchecked) private var first: Draft.Other?
    @exclusivity(unchecked) private var more: [Draft.Other] = []
    /// One more than the index at which the context keeps this; 0 if it does not.
    @exclusivity(unchecked) var place = 0

    var isEmpty: Bool { first == nil }
    /// The value if there is exactly one; nil otherwise.
    var only: Draft.Other? { more.isEmpty ? first : nil }

    /// Whether none of the values is of another sort.
    var hasOnlyRelationships: Bool {
        guard let first else { return true }
        return first.value.isRelationship && more.allSatisfy(\.value.isRelationship)
    }

    var all: [Draft.Other] {
        guard let first else { return [] }
        return more.isEmpty ? [first] : [first] + more
    }

    subscript(slot: Int) -> Draft.Value? {
        guard let first else { return nil }
        if first.slot == slot { return first.value }
        return more.first { $0.slot == slot }?.value
    }

    func set(_ value: Draft.Value, at slot: Int) {
        if first == nil || first?.slot == slot {
            let old = first
            first = Draft.Other(slot: slot, value: value)
            withExtendedLifetime(old) {}
        } else if let place = more.firstIndex(where: { $0.slot == slot }) {
            let old = more[place]
            more[place].value = value
            withExtendedLifetime(old) {}
        } else {
            more.append(Draft.Other(slot: slot, value: value))
        }
    }

    func remove(_ slot: Int) {
        let old = self[slot]
        if first?.slot == slot {
            first = more.popLast()
        } else {
            more.removeAll { $0.slot == slot }
        }
        withExtendedLifetime(old) {}
    }

    func takeAll() -> [Draft.Other] {
        defer {
            first = nil
            more = []
        }
        return all
    }

    /// The values that do not match, and those that do; nil for an empty part.
    func split(_ matches: (Draft.Other) -> Bool) -> (DraftRelations?, DraftRelations?) {
        if let only { return matches(only) ? (nil, self) : (self, nil) }
        let matching = all.filter(matches)
        if matching.isEmpty { return (self, nil) }
        if matching.count == more.count + 1 { return (nil, self) }
        let other = DraftRelations()
        for value in matching {
            remove(value.slot)
            other.set(value.value, at: value.slot)
        }
        return (self, other)
    }

    deinit {
        if isEmpty { return }
        var target = takeOnlyTarget()
        if target != nil { Releasing.release(&target) }
        if isEmpty { return }
        var models = takeModels()
        Releasing.release(&models)
    }

    // Never inlined, these two: nothing but their result may hold a model when it is released.

    /// The target of the only relationship that is set; nil if there are several.
    @inline(never)
    private func takeOnlyTarget() -> (any PersistentModel)? {
        guard more.isEmpty, case .model(let target)? = first?.value else { return nil }
        first = nil
        return target
    }

    @inline(never)
    private func takeModels() -> [any PersistentModel] {
        var models: [any PersistentModel] = []
        for held in all {
            switch held.value {
            case .model(let model?), .requiredButCleared(last: let model): models.append(model)
            case .models(let changes): changes.surrender(to: &models)
            default: break
            }
        }
        first = nil
        more = []
        return models
    }
}
