import MortiseCore

extension StoredSchema {
    /// Refuses a plan with code that a store of this schema would have to run on its way to another one.
    /// - Parameters:
    ///   - plan: the plan.
    ///   - target: the other schema.
    ///   - store: the store's name in errors.
    /// - Throws: `MigrationError.customStage`.
    package func checkStages(
        of plan: (any SchemaMigrationPlan.Type)?, to target: StoredSchema, store: String
    ) throws(MigrationError) {
        if entities.isEmpty { return }
        for stage in plan?.stages ?? [] where stage.hasCode {
            let reached = stage.target.versionIdentifier
            if reached <= version || target.version < reached { continue }
            throw .customStage(store: store, from: version, to: target.version, stage: reached)
        }
    }
}
