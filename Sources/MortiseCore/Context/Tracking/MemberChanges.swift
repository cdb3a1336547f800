/// What was added to and taken from a to-many relationship since the store's version of it.
///
/// The members are those of the store without what was taken, and with what was added. What was added may be stored by now:
/// others may have added it, too.
final class MemberChanges {
    /// In the order in which they were added; holds entries that have been taken out again until `compact()`.
    ///
    /// Measured against a dictionary with each member's place, sorted when it is read: alike up to 16 members, twice as fast with
    /// 1,000. An array alone is twice as fast up to 16 members, and a twentieth as fast with 1,000.
    // Unchecked as in a draft: what reads and writes these calls no other code meanwhile. What is taken out may be the last reference
    // to a model, whose `deinit` is code: so it is let go of only afterwards.
    @exclusivity(unchecked) private var order: [any PersistentModel] = []
    @exclusivity(unchecked) private var addedNow = ObjectSet()
    @exclusivity(unchecked) private var removedNow: [ObjectIdentifier: any PersistentModel] = [:]
    /// Removed members that are not retained: those of a model that has left its context.
    @exclusivity(unchecked) private var removedBefore = FindableModels()
    /// Members that are not retained, in order: those of a model that its context released unsaved.
    @exclusivity(unchecked) private var implied = FindableModels()
    /// Members that were added here and that their deletion removed.
    @exclusivity(unchecked) private var released: [ObjectIdentifier: WeakModel] = [:]

    init() {}

    /// Changes that add members to a list without any.
    convenience init(adding members: [any PersistentModel]) {
        self.init()
        for member in members { add(member) }
    }

    /// The added members, in order of addition, followed by the implied ones.
    var added: [any PersistentModel] {
        if order.count != addedNow.count { compact() }
        return implied.isEmpty ? order : order + implied.models
    }
    var hasRemovals: Bool { !removedNow.isEmpty || !removedBefore.isEmpty }
    /// The removed members that are retained, in no order.
    var removed: [any PersistentModel] { Array(removedNow.values) }
    var isEmpty: Bool { addedNow.isEmpty && !hasRemovals && implied.models.isEmpty }

    func add(_ model: any PersistentModel) {
        implied.remove(model)
        if !removedNow.isEmpty { forgetRemoval(of: model) }
        if !released.isEmpty { released[ObjectIdentifier(model)] = nil }
        if addedNow.insert(model) { order.append(model) }
    }

    /// Stops retaining the members that were added or removed.
    func imply() {
        if order.count != addedNow.count { compact() }
        for model in order { implied.insert(model) }
        let old = (order, removedNow)
        order = []
        addedNow = ObjectSet()
        removedNow = [:]
        for model in old.1.values { removedBefore.insert(model) }
        withExtendedLifetime(old) {}
    }

    /// Whether it retains a matching model: one that was added, or one that was removed.
    func retains(where matches: (any PersistentModel) -> Bool) -> Bool {
        order.contains(where: matches) || removedNow.values.contains(where: matches)
    }

    /// Turns implied members into ordinary ones.
    func keepImplied() {
        if implied.isEmpty { return }
        for member in implied.models { add(member) }
        implied = FindableModels()
    }

    /// Notes that a member was removed. `isStored` says whether the model may be a member in the store's version; for
    /// other models only an addition has to be undone.
    func remove(_ model: any PersistentModel, isStored: Bool) {
        implied.remove(model)
        _ = addedNow.remove(model)
        if !released.isEmpty { released[ObjectIdentifier(model)] = nil }
        if isStored { removedNow[ObjectIdentifier(model)] = model }
    }

    /// Undoes the removal of a member alone.
    func forgetRemoval(of model: any PersistentModel) {
        let old = removedNow.removeValue(forKey: ObjectIdentifier(model))
        withExtendedLifetime(old) {}
    }

    /// Remembers that a model was added before its deletion took it out.
    func noteReleased(_ model: any PersistentModel) { released[ObjectIdentifier(model)] = WeakModel(model) }

    /// Undoes what the deletion of a member changed.
    func takeBackRelease(of model: any PersistentModel) {
        let key = ObjectIdentifier(model)
        if released[key]?.model !== model, isRemoved(model) {
            forgetRemoval(of: model)
            removedBefore.remove(model)
        } else {
            add(model)
        }
    }

    /// Forgets removed members that no longer have a record.
    func forgetRemovals(where isGone: (any PersistentModel) -> Bool) {
        if removedNow.isEmpty { return }
        let all = removedNow
        removedNow = all.filter { !isGone($0.value) }
    }

    /// Puts the added members in an order. Those that it does not name come last.
    func order(as members: [any PersistentModel]) {
        if order.count != addedNow.count { compact() }
        let old = order
        var seen = ObjectSet()
        order = (members + old).filter { addedNow.contains($0) && seen.insert($0) }
        withExtendedLifetime(old) {}
    }

    func isAdded(_ model: any PersistentModel) -> Bool {
        addedNow.contains(model) || implied.contains(model)
    }
    func isRemoved(_ model: any PersistentModel) -> Bool {
        removedNow[ObjectIdentifier(model)] != nil || removedBefore.contains(model)
    }

    func copy() -> MemberChanges {
        let copy = MemberChanges()
        copy.order = order
        copy.addedNow = addedNow
        copy.removedNow = removedNow
        copy.removedBefore = removedBefore
        copy.implied = implied
        copy.released = released
        return copy
    }

    /// Moves all models that it retains to the given array.
    func surrender(to models: inout [any PersistentModel]) {
        models += order
        models += removedNow.values
        order = []
        addedNow = ObjectSet()
        removedNow = [:]
    }

    private func compact() {
        // A model taken out and put back in appears twice in the order; its last position counts.
        var seen = ObjectSet()
        var kept: [any PersistentModel] = []
        for model in order.reversed() where addedNow.contains(model) && seen.insert(model) { kept.append(model) }
        order = kept.reversed()
    }
}

/// A model that is not kept alive.
struct WeakModel {
    weak var model: (any PersistentModel)?

    init(_ model: any PersistentModel) { self.model = model }
}

/// What finds a stored model again: a context.
protocol ModelFinding: AnyObject {
    /// The registered model with that identifier, or the one stored in the pinned version; nil if neither exists.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)?
}

/// A model that is not retained, and that its context finds again if it is stored.
struct FindableModel {
    private weak var object: (any PersistentModel)?
    private weak var finder: (any ModelFinding)?
    fileprivate let identifier: PersistentIdentifier?

    init(_ model: any PersistentModel) {
        object = model
        finder = model._table?.state
        identifier = finder == nil || model._row < 0 ? nil : model.persistentModelID
    }

    var model: (any PersistentModel)? {
        if let object { return object }
        guard let identifier else { return nil }
        return finder?.model(for: identifier)
    }
}

/// Models that are not retained, in order of insertion.
private struct FindableModels {
    private var members: [ObjectIdentifier: (member: FindableModel, place: Int)] = [:]
    /// The keys of those that are stored: another object may represent such a record by now.
    private var keys: [PersistentIdentifier: ObjectIdentifier] = [:]
    private var nextPlace = 0

    var isEmpty: Bool { members.isEmpty }
    /// Those that still exist, or are found again.
    var models: [any PersistentModel] {
        if members.isEmpty { return [] }
        return members.values.sorted { $0.place < $1.place }.compactMap(\.member.model)
    }

    func contains(_ model: any PersistentModel) -> Bool { !members.isEmpty && key(of: model) != nil }

    mutating func insert(_ model: any PersistentModel) {
        if contains(model) { return }
        let member = FindableModel(model)
        // An entry under the model's address is that of a freed object.
        if let gone = members[ObjectIdentifier(model)], let stored = gone.member.identifier {
            keys[stored] = nil
        }
        members[ObjectIdentifier(model)] = (member, nextPlace)
        if let identifier = member.identifier { keys[identifier] = ObjectIdentifier(model) }
        nextPlace += 1
    }

    mutating func remove(_ model: any PersistentModel) {
        guard !members.isEmpty, let key = key(of: model), let known = members.removeValue(forKey: key) else { return }
        if let identifier = known.member.identifier { keys[identifier] = nil }
    }

    private func key(of model: any PersistentModel) -> ObjectIdentifier? {
        if members[ObjectIdentifier(model)]?.member.model === model { return ObjectIdentifier(model) }
        return keys.isEmpty ? nil : keys[model.persistentModelID]
    }
}
