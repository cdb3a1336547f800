import MortiseCore

/// Opens nothing: the stores of a migration are made by it.
struct MigrationStoreConfiguration: DataStoreConfiguration, Sendable {
    /// The store that has the configuration.
    typealias Store = MigrationStore

    /// The name of the store that is migrated.
    let name: String
    /// The models of one of the versions that the migration leads through.
    var schema: Schema?

    /// Two configurations are equal if they have the same name and schema.
    static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.schema == rhs.schema }
    /// Consistent with `==`.
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The records of a store while it is migrated, under the schema of one version: what saves change stays in memory until the
/// migration is committed.
final class MigrationStore: EngineDataStore {
    /// Snapshots by slot.
    typealias Snapshot = DefaultSnapshot
    /// A configuration that opens nothing.
    typealias Configuration = MigrationStoreConfiguration

    /// The name of the store that is migrated, with the schema of a version.
    let configuration: MigrationStoreConfiguration
    /// The models of the version.
    let schema: Schema
    /// The engine that holds the records.
    let engine: Engine
    /// False for the store as it was.
    let allowsSave: Bool

    init(_ engine: Engine, _ schema: Schema, name: String, allowsSave: Bool) {
        self.engine = engine
        self.schema = schema
        self.allowsSave = allowsSave
        configuration = MigrationStoreConfiguration(name: name, schema: schema)
    }

    /// Not to be called: a migration makes its stores itself.
    /// - Throws: `DataStoreError.unsupportedFeature`, always.
    init(_ configuration: MigrationStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        throw DataStoreError.unsupportedFeature
    }

    /// Does nothing: the engine goes on with the migration.
    func close() throws {}
}
