/// A version of a schema, with the models of that version.
public protocol VersionedSchema {
    /// The models of this version.
    static var models: [any PersistentModel.Type] { get }
    /// The number of this version.
    static var versionIdentifier: Schema.Version { get }
}
