public import Logging
public import MortiseCore

extension ModelContainer {
    /// The configurations of SwiftData's own sort; those of other stores are in `storeConfigurations`.
    public var configurations: Set<ModelConfiguration> {
        Set(storeConfigurations.compactMap { $0 as? ModelConfiguration })
    }

    /// Opens stores for the models named and for all that they reach; the default one where no configuration is given.
    /// - Throws: as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores for a schema; the default one if no configuration is given.
    /// - Throws: as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens stores for a schema; the default one if no configuration is given.
    /// - Throws: as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        try self.init(
            for: givenSchema, migrationPlan: migrationPlan,
            configurations: configurations as [any DataStoreConfiguration])
    }

    /// Opens the store that a store URL names, such as `memory:` or `json:library.json`.
    /// - Parameters:
    ///   - forTypes: the models of the container; those that they reach through relationships are added.
    ///   - migrationPlan: passed to the store.
    ///   - store: the store URL.
    ///   - registry: the schemes that URLs can have.
    ///   - logger: receives what opening repaired; also the initial value of the container's `logger`.
    /// - Throws: `StoreURLError` for a URL that does not name a store; as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil, store: String,
        registry: StoreRegistry = .standard, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(
            for: Schema(forTypes), migrationPlan: migrationPlan, store: store, registry: registry, logger: logger)
    }

    /// Opens the store that a store URL names for a schema.
    /// - Throws: `StoreURLError` for an invalid URL; otherwise as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, store: String,
        registry: StoreRegistry = .standard, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(
            for: givenSchema, migrationPlan: migrationPlan, configurations: [try registry.configuration(for: store)],
            logger: logger)
    }

    /// Opens several stores, each for the models listed with its URL and all models that these reach, as in
    /// `stores: ["log:local.log": [Draft.self], "json:shared.json?allowsSave=false": [Country.self]]`.
    /// - Throws: as `init(stores:migrationPlan:registry:)`.
    public convenience init(
        stores: KeyValuePairs<String, [any PersistentModel.Type]>,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(stores: stores, migrationPlan: migrationPlan, registry: .standard, logger: logger)
    }
}
