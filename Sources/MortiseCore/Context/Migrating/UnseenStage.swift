/// A stage with code that did not run, since the configuration told no schema.
struct UnseenStage {
    private let configuration: any MigratableConfiguration
    private let version: Schema.Version

    /// The first stage of a plan that would have to run if the store held data. Nil for a plan without such stages, and for a store
    /// that containers do not migrate.
    init?(_ plan: any SchemaMigrationPlan.Type, of configuration: any DataStoreConfiguration) {
        let stages = plan.stages.filter(\.hasCode).map { $0.target.versionIdentifier }
        guard let stage = stages.filter({ $0 <= configuration.schema?.version ?? $0 }).min(),
            let configuration = configuration as? any MigratableConfiguration
        else { return nil }
        (self.configuration, version) = (configuration, stage)
    }

    /// - Throws: `MigrationError.plansNotRun` for a store that has records all the same; its errors.
    func checkEmptiness<S: DataStore>(of store: S) throws {
        // Another program may have made the store meanwhile, and saved to it.
        if try configuration.storedSchema() != nil { return }
        let transfer = StoreTransfer(store, models: store.schema.layouts.values.map(\.type))
        for entity in store.schema.stored.entities.map(\.name)
        where try !transfer.identifiers(ofEntity: entity).isEmpty {
            throw MigrationError.plansNotRun(store: configuration.name, stage: version)
        }
    }
}
