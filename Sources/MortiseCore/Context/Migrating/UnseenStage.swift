/// A stage with code that nobody has run, since the configuration knew of no stored data.
struct UnseenStage {
    let store: String
    let version: Schema.Version

    /// - Throws: `MigrationError.plansNotRun` for a store that has records all the same; its errors.
    func checkEmptiness<S: DataStore>(of store: S) throws {
        let transfer = StoreTransfer(store, models: store.schema.layouts.values.map(\.type))
        for entity in store.schema.stored.entities.map(\.name)
        where try !transfer.identifiers(ofEntity: entity).isEmpty {
            throw MigrationError.plansNotRun(store: self.store, stage: version)
        }
    }
}

extension MigratableConfiguration {
    /// The first stage of a plan that would have to run if the store held data, although it tells no schema. Nil for a store that
    /// tells one, and for a plan without such stages.
    /// - Throws: what `storedSchema()` throws.
    func dueInUnknownData(_ plan: any SchemaMigrationPlan.Type) throws -> UnseenStage? {
        let stages = plan.stages.filter(\.hasCode).map { $0.target.versionIdentifier }
        guard let stage = stages.filter({ $0 <= schema?.version ?? $0 }).min(), try storedSchema() == nil else {
            return nil
        }
        return UnseenStage(store: name, version: stage)
    }
}
