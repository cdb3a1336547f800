public import Logging

extension ModelContainer {
    /// Opens several stores, each for the models that are listed behind its URL and for all that these reach.
    ///
    /// Models that are related belong into one store. The plan goes to every store, those of other packages included.
    /// - Throws: `StoreURLError`; as `init(for:migrationPlan:configurations:)`, also for two URLs whose configurations have
    ///   one name, which for a file is its name without extension.
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
