public import Logging

extension ModelContainer {
    /// Opens several stores, each for the models listed with its URL and for all that these reach through
    /// relationships.
    ///
    /// Related models belong in one store. The plan goes to every store, those of other packages included.
    /// - Throws: `StoreURLError`; as `init(for:migrationPlan:configurations:)`, also for two URLs whose configurations
    ///   have the same name; that of a file is its name without extension.
    public convenience init(
        stores: KeyValuePairs<String, [any PersistentModel.Type]>,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil, registry: StoreRegistry,
        logger: Logger = Logger(label: "mortise")
    ) throws {
        let configurations = try stores.map { url, types in
            var configuration = try registry.configuration(for: url)
            configuration.schema = Schema(types)
            return configuration
        }
        try self.init(
            for: Schema(stores.flatMap(\.value)), migrationPlan: migrationPlan, configurations: configurations,
            logger: logger)
    }
}

extension ModelContainer {
    /// The capabilities of a configuration's store; nil if no configuration has that name.
    public func capabilities(forConfigurationNamed name: String) -> StoreCapabilities? {
        stores.first { $0.configurationName == name }?.capabilities
    }
}
