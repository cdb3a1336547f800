/// Something that a context was asked for where nothing can be thrown, and could not do.
struct Refusal {
    /// The model whose insertion was refused; deleting it undoes the request.
    var inserted: (any PersistentModel)?
    let error: any Error
    /// Whether nothing has taken the request back since.
    let holds: () -> Bool
}

/// Refused requests, in order.
struct Refusals {
    private var all: [Refusal?] = []
    /// Where the refused insertions of a model are.
    private var places: [ObjectIdentifier: [Int]] = [:]
    private var count = 0

    var isEmpty: Bool { count == 0 }
    /// The first request that nothing has taken back.
    var first: Refusal? {
        if isEmpty { return nil }
        return all.lazy.compactMap { $0 }.first { $0.holds() }
    }

    mutating func append(_ refusal: Refusal) {
        if let model = refusal.inserted { places[ObjectIdentifier(model), default: []].append(all.count) }
        all.append(refusal)
        count += 1
    }

    /// - Returns: whether there were any.
    mutating func removeInsertions(of model: any PersistentModel) -> Bool {
        guard !isEmpty, let found = places.removeValue(forKey: ObjectIdentifier(model)) else { return false }
        for place in found { all[place] = nil }
        count -= found.count
        if count == 0 { self = Refusals() }
        return true
    }

    mutating func removeUndone() {
        let remaining = all.compactMap { $0 }.filter { $0.holds() }
        self = Refusals()
        for refusal in remaining { append(refusal) }
    }
}
