/// A version of a schema, with the models of that version.
public protocol VersionedSchema {
    /// The models of this version.
    static var models: [any PersistentModel.Type] { get }
    /// The number of this version.
    static var versionIdentifier: Schema.Version { get }
    /// The entities of this version where there are no classes for them any more: `models` is not asked then. Code of stages reaches
    /// the records of such a version by name alone (`MigrationSource.records(_:)`). Nil, the default, takes them from `models`.
    static var stored: StoredSchema? { get }
}

extension VersionedSchema {
    /// Nil: the models say what the entities are.
    public static var stored: StoredSchema? { nil }
}
