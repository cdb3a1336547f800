extension PersistentModel {
    /// The context of the model; nil before it is inserted, after its deletion is saved, and when the context has been
    /// released.
    public var modelContext: ModelContext? { _table?.state.context }

    /// The model's `persistentModelID`. It changes when a new model is saved for the first time.
    public var id: PersistentIdentifier { persistentModelID }

    /// The model's identity: temporary until it is saved, and kept after it is deleted.
    ///
    /// A model that was never inserted has a temporary identifier from its first use on.
    public var persistentModelID: PersistentIdentifier {
        if _row >= 0, let table = _table {
            return table.source.identifier(ofRow: _row)
        }
        if let survivor = _draft?.survivor { return survivor.persistentModelID }
        if let identifier = _draft?.identifier { return identifier }
        let identifier = PersistentIdentifier.temporary(entityName: String(describing: type(of: self)))
        _modelState.ensureDraft().identifier = identifier
        return identifier
    }

    /// Whether the model is new or has unsaved changes.
    public var hasChanges: Bool {
        _adoptInitialValues()
        return !_flags.isDisjoint(with: [.isInserted, .isChanged])
            || (_table == nil && _draft?.changed.isEmpty == false
                && !_flags.contains(.isDeleted))
    }

    /// Whether the model was deleted from its context, saved or not.
    public var isDeleted: Bool { _flags.contains(.isDeleted) }
}
