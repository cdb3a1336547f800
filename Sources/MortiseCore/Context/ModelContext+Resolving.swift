extension ModelContext {
    /// The value of a property, or why it cannot be read.
    ///
    /// A getter cannot throw. Where its value is not in the record and reading it fails (a file of an `.externalStorage`
    /// attribute that is missing or damaged, a model of a remote store that cannot be had), it returns the last known or an
    /// empty value, and the next fetch or save of the context throws the error, once. This reads the same, once, and throws
    /// the error here; it is not remembered then. What was remembered before stays so.
    /// - Parameter keyPath: any key path of the model; everything that its getters read is resolved.
    /// - Throws: the store's error, which names entity, property and file, and says what to do;
    ///   `ModelContextError.registeredElsewhere` for a model of another context, `containerClosed`. The model is as it was.
    public func resolve<Model: PersistentModel, Value>(
        _ model: Model, _ keyPath: KeyPath<Model, Value>
    ) throws -> Value {
        try container.checkOpen()
        if let owner = model._modelState.table?.state ?? model._modelState.draft?.frozen?.table.state, owner !== state {
            throw ModelContextError.registeredElsewhere(model: model.persistentModelID)
        }
        return try state.resolving { model[keyPath: keyPath] }
    }
}
