extension ModelContext {
    /// Returns the value of a property, or throws the error that prevents reading it.
    ///
    /// A getter cannot throw. If reading its value fails (the file of an `.externalStorage` attribute is missing or
    /// damaged, or a remote store cannot deliver a model), the getter returns the last known or an empty value, and the
    /// next fetch or save of the context throws the error, once. This method reads the same value and throws the error
    /// itself, without leaving it to the next fetch or save. Errors left by earlier getters are not affected.
    /// - Parameters:
    ///   - model: a model of this context, or one that was never inserted.
    ///   - keyPath: any key path of the model; everything that its getters read is resolved.
    /// - Returns: the value.
    /// - Throws: the store's error, which names entity, property and file, and the way out;
    ///   `ModelContextError.registeredElsewhere` for a model of another context, `containerClosed`. The model does not
    ///   change.
    public func resolve<Model: PersistentModel, Value>(
        _ model: Model, _ keyPath: KeyPath<Model, Value>
    ) throws -> Value {
        try container.checkOpen()
        if let owner = model._table?.state ?? model._draft?.frozen?.table.state, owner !== state {
            throw ModelContextError.registeredElsewhere(model: model.persistentModelID)
        }
        return try state.resolving { model[keyPath: keyPath] }
    }
}
