/// Deleted models that come back together.
struct ReturningModels {
    private(set) var all: [any PersistentModel] = []
    private var known: Set<ObjectIdentifier> = []

    mutating func add(_ model: any PersistentModel) {
        if known.insert(ObjectIdentifier(model)).inserted { all.append(model) }
    }

    func contains(_ model: any PersistentModel) -> Bool { known.contains(ObjectIdentifier(model)) }
}
