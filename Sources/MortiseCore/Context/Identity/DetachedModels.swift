/// Models that have left their context, as long as they are retained elsewhere.
struct DetachedModels {
    private struct Reference { weak var model: AnyObject? }
    private var references: [PersistentIdentifier: Reference] = [:]
    private var limit = 64

    subscript(identifier: PersistentIdentifier) -> (any PersistentModel)? {
        references[identifier]?.model as? any PersistentModel
    }

    @discardableResult
    mutating func add(_ model: any PersistentModel, _ identifier: PersistentIdentifier) -> any PersistentModel {
        if references.count >= limit {
            references = references.filter { $0.value.model != nil }
            limit = max(64, references.count * 2)
        }
        references[identifier] = Reference(model: model)
        return model
    }
}
