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

    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

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
    /// - Parameter logger: told what opening put right, and the value that the container's `logger` begins with.
    /// - Throws: `StoreURLError` for a URL that names none; as `init(for:migrationPlan:configurations:)`.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil, store: String,
        registry: StoreRegistry = .standard, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(
            for: Schema(forTypes), migrationPlan: migrationPlan, store: store, registry: registry, logger: logger)
    }

    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil, store: String,
        registry: StoreRegistry = .standard, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(
            for: givenSchema, migrationPlan: migrationPlan, configurations: [try registry.configuration(for: store)],
            logger: logger)
    }

    /// Opens several stores, each for the models that are listed behind its URL and for all that these reach, as in
    /// `stores: ["log:local.log": [Draft.self], "json:shared.json?allowsSave=false": [Country.self]]`.
    /// - Throws: as `init(stores:migrationPlan:registry:)`.
    public convenience init(
        stores: KeyValuePairs<String, [any PersistentModel.Type]>,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil, logger: Logger = Logger(label: "mortise")
    ) throws {
        try self.init(stores: stores, migrationPlan: migrationPlan, registry: .standard, logger: logger)
    }
}
