/// What was added to and taken from a to-many relationship since the store's version of it.
final class MemberChanges {
    /// In the order in which they were added; holds entries that have been taken out again until `compact()`.
    private var order: [any PersistentModel] = []
    @exclusivity(unchecked) private var addedNow = ObjectSet()
    private var removedNow: [ObjectIdentifier: any PersistentModel] = [:]
    /// Members that hold this model and are not held by it, in their order: pairs of models without context, set from the
    /// other side. An entry may be that of an object that is gone and whose address is another's.
    private var implied: [ObjectIdentifier: (member: WeakModel, place: Int)] = [:]
    private var nextPlace = 0

    /// Those that were added, in that order, and behind them those that are implied.
    var added: [any PersistentModel] {
        if order.count != addedNow.count { compact() }
        return implied.isEmpty ? order : order + impliedMembers
    }
    var hasRemovals: Bool { !removedNow.isEmpty }
    var isEmpty: Bool { addedNow.isEmpty && removedNow.isEmpty && impliedMembers.isEmpty }

    private var impliedMembers: [any PersistentModel] {
        implied.values.sorted { $0.place < $1.place }.compactMap(\.member.model)
    }

    func add(_ model: any PersistentModel) {
        if !implied.isEmpty { implied[ObjectIdentifier(model)] = nil }
        if !removedNow.isEmpty, removedNow.removeValue(forKey: ObjectIdentifier(model)) != nil { return }
        if addedNow.insert(model) { order.append(model) }
    }

    /// Adds a member that holds this model itself.
    func imply(_ model: any PersistentModel) {
        let key = ObjectIdentifier(model)
        if addedNow.contains(model) || implied[key]?.member.model === model { return }
        implied[key] = (WeakModel(model), nextPlace)
        nextPlace += 1
    }

    /// Makes the members that are implied members like others.
    func keepImplied() {
        if implied.isEmpty { return }
        for member in impliedMembers { add(member) }
        implied = [:]
    }

    /// - Parameter isStored: whether the model may be a member in the store's version; of others there is nothing to take
    ///   back that was not added.
    func remove(_ model: any PersistentModel, isStored: Bool) {
        if !implied.isEmpty, implied.removeValue(forKey: ObjectIdentifier(model))?.member.model === model { return }
        if addedNow.remove(model) { return }
        if isStored { removedNow[ObjectIdentifier(model)] = model }
    }

    func isAdded(_ model: any PersistentModel) -> Bool {
        addedNow.contains(model) || (!implied.isEmpty && implied[ObjectIdentifier(model)]?.member.model === model)
    }
    func isRemoved(_ model: any PersistentModel) -> Bool { removedNow[ObjectIdentifier(model)] != nil }

    /// Hands over all models that it holds.
    func surrender(to models: inout [any PersistentModel]) {
        models += order
        models += removedNow.values
        order = []
        addedNow = ObjectSet()
        removedNow = [:]
    }

    private func compact() {
        // A model taken out and put back in stands twice in the order; its last place counts.
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
