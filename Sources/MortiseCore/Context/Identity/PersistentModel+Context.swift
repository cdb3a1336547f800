extension PersistentModel {
    /// The context of the model; nil before it is inserted, after its deletion is saved, and when the context has been
    /// released.
    public var modelContext: ModelContext? { _modelState.table?.state.context }
}
