/// The storage of a model written by hand, and a view of a model's values for code that asks for its backing data.
final class DefaultBackingData<Model: PersistentModel>: BackingData {
    // Unchecked, as `@Model` declares it: nothing that reads or changes it calls other code meanwhile.
    @exclusivity(unchecked) var state = ModelState()
    var viewed: Model?

    /// Makes empty backing data for a new model.
    public init(for modelType: Model.Type) {}
    init(state: consuming ModelState) { self.state = state }
    init(viewing model: Model) { viewed = model }

    /// The name of the entity.
    public var metadata: Any { ModelLayout.of(Model.self).entityName }
}
