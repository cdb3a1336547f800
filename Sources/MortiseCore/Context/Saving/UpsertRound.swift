/// What a save that settles unique values has found so far, and which models it has to look at: all of them once, in order,
/// and then those alone that a merge may concern.
struct UpsertRound {
    private(set) var merged: [UniqueUpsert.Merged] = []
    private(set) var claims: [UniqueClaim: any PersistentModel] = [:]
    /// What stores without versions hold.
    var stored: StoredClaims

    private var models: [any PersistentModel]
    /// Where the models are; made when one of them is asked for.
    private var places: [ObjectIdentifier: Int] = [:]
    private var nextPlace = 0
    /// The places of models to look at again: the last one next.
    private var again: [Int] = []
    private var later: [Int] = []
    /// Those in `again` and in `later`.
    private var waiting = Set<Int>()
    private var collisions: [Int: ModelContextError] = [:]
    /// That a new model has met a record which may be new itself; the first one.
    private(set) var news: ModelContextError?
    /// By identifier of a new model: those that claim values with it.
    private var claimants: [PersistentIdentifier: [any PersistentModel]] = [:]
    private var members: [MemberList: ObjectSet] = [:]
    private var fallen: [Fallen] = []
    /// The models that others were merged into.
    private var survivors = ObjectSet()
    /// Relationships of stored models that a merge has changed and may have changed back.
    private var touched: [Touched] = []
    private var knownTouched: Set<MemberList> = []

    private struct MemberList: Hashable {
        let owner: ObjectIdentifier
        let slot: Int
    }

    /// A model that a newcomer's relationship has left without its owner.
    private struct Fallen {
        let model: any PersistentModel
        let owner: any PersistentModel
        let slot: Int
    }

    private struct Touched {
        let model: any PersistentModel
        let slot: Int
    }

    init(_ models: [any PersistentModel]) {
        self.models = models
        stored = StoredClaims(of: models)
    }

    // MARK: What to look at

    mutating func next() -> (any PersistentModel)? {
        if nextPlace < models.count {
            nextPlace += 1
            return models[nextPlace - 1]
        }
        if again.isEmpty {
            again = later.sorted(by: >)
            later = []
        }
        guard let place = again.popLast() else { return nil }
        waiting.remove(place)
        collisions[place] = nil
        return models[place]
    }

    private mutating func lookAgain(at model: any PersistentModel) {
        if model._table == nil { return }
        guard let place = place(of: model) else {
            // A stored model that only a merge has changed.
            places[ObjectIdentifier(model)] = models.count
            models.append(model)
            return
        }
        if place < nextPlace, waiting.insert(place).inserted { later.append(place) }
    }

    private mutating func place(of model: any PersistentModel) -> Int? {
        if places.isEmpty {
            places.reserveCapacity(models.count)
            for (place, model) in models.enumerated() { places[ObjectIdentifier(model)] = place }
        }
        return places[ObjectIdentifier(model)]
    }

    /// Whether a model is new and comes after another.
    mutating func isYounger(_ model: any PersistentModel, than other: any PersistentModel) -> Bool {
        guard model._row < 0 else { return false }
        guard other._row < 0, let place = place(of: model), let known = self.place(of: other) else {
            return true
        }
        return place > known
    }

    // MARK: Claims

    /// Remembers which new models a claim has in it: if one of them is merged away, the claim is another.
    mutating func note(_ claim: UniqueClaim, of model: any PersistentModel) {
        for value in claim.values {
            if case .identifier(let identifier) = value, identifier.isTemporary {
                claimants[identifier, default: []].append(model)
            }
        }
    }

    mutating func register(_ claim: UniqueClaim, of model: any PersistentModel) {
        if let previous = claims.updateValue(model, forKey: claim), previous !== model { lookAgain(at: previous) }
    }

    // MARK: Collisions

    /// The collision of the first model that has one, as things are now.
    var collision: ModelContextError? { collisions.min { $0.key < $1.key }?.value }

    mutating func collide(_ model: any PersistentModel, _ error: ModelContextError) {
        if let place = place(of: model) { collisions[place] = error }
    }

    mutating func noteNews(_ error: ModelContextError) { news = news ?? error }

    /// - Returns: whether there are models to look at again.
    mutating func repeatCollisions() -> Bool {
        for place in collisions.keys where waiting.insert(place).inserted { later.append(place) }
        return !later.isEmpty
    }

    // MARK: Merges

    mutating func noteMerge(
        of model: any PersistentModel, _ identifier: PersistentIdentifier?, into survivor: any PersistentModel
    ) {
        merged.append((model, identifier))
        _ = survivors.insert(survivor)
        lookAgain(at: survivor)
        guard let identifier else { return }
        for claimant in claimants.removeValue(forKey: identifier) ?? [] { lookAgain(at: claimant) }
    }

    /// Whether another model was merged into this one.
    func isSurvivor(_ model: any PersistentModel) -> Bool { survivors.contains(model) }

    /// Those among some models that an owner lacks in a to-many relationship. All of its members are read only once,
    /// however many merges bring it others.
    mutating func newMembers(
        among candidates: [any PersistentModel], of owner: any PersistentModel, at slot: Int
    ) -> [any PersistentModel] {
        let list = MemberList(owner: ObjectIdentifier(owner), slot: slot)
        var known: ObjectSet
        if let present = members.removeValue(forKey: list) {
            known = present
        } else {
            known = ObjectSet()
            for member in RelationshipEditor(owner).members(at: slot) { _ = known.insert(member) }
        }
        // One that was a member may have left.
        let new = candidates.filter { known.insert($0) || !owner._refers(to: $0, at: slot) }
        members[list] = known
        return new
    }

    /// Forgets the members of a relationship, which was replaced.
    mutating func forgetMembers(of owner: any PersistentModel, at slot: Int) {
        members[MemberList(owner: ObjectIdentifier(owner), slot: slot)] = nil
    }

    // MARK: What stays as it is

    /// Notes that a merge has changed a relationship of a stored model.
    mutating func noteTouched(_ model: any PersistentModel, at slot: Int) {
        guard model._row >= 0, knownTouched.insert(MemberList(owner: ObjectIdentifier(model), slot: slot)).inserted
        else { return }
        touched.append(Touched(model: model, slot: slot))
    }

    /// Forgets the changes of stored models that have come to what is stored: there is nothing to write.
    mutating func forgetUnchanged() {
        for touched in touched where touched.model._table != nil && !touched.model._flags.contains(.isDeleted) {
            RelationshipEditor(touched.model).forgetUnchanged(at: touched.slot)
        }
        touched = []
        knownTouched = []
    }

    // MARK: What falls out

    mutating func noteFallen(_ model: any PersistentModel, from owner: any PersistentModel, at slot: Int) {
        fallen.append(Fallen(model: model, owner: owner, slot: slot))
    }

    /// The models that have fallen out of their owners' relationships and are still nobody's.
    mutating func takeFallen() -> [any PersistentModel] {
        defer { fallen = [] }
        return fallen.filter { fallen in
            let model = fallen.model
            guard model._table != nil, !model._flags.contains(.isDeleted),
                !survivors.contains(model), !fallen.owner._refers(to: model, at: fallen.slot)
            else { return false }
            let layout = ModelLayout.of(type(of: fallen.owner))
            // Where nothing leads back, anything may refer to it.
            guard let inverse = layout.inverse(of: fallen.slot, towards: model) else { return false }
            return ModelLayout.of(type(of: model)).record.slots[inverse].role.isToMany
                ? RelationshipEditor(model).members(at: inverse).isEmpty
                : RelationshipEditor(model).target(at: inverse) == nil
        }.map(\.model)
    }
}
