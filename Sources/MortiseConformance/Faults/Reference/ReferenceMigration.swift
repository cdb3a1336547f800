import MortiseCore
import Synchronization

/// How a reference store runs the stages of a migration plan. Each step is correct by default.
struct ReferenceMigration: Sendable {
    /// Whether the store takes care of plans; if not, the framework refuses those with code.
    var handlesPlans = false
    /// The stages that are due, in order.
    var due:
        @Sendable (_ plan: any SchemaMigrationPlan.Type, _ stored: Schema.Version, _ asked: Schema.Version)
            -> [MigrationStage] = { plan, stored, asked in
                plan.stages.filter { stage in
                    let target = stage.target.versionIdentifier
                    return stored < target && target <= asked
                }
            }
    var runsBefore = true
    var runsAfter = true
    /// Whether the code before a stage sees the models as they are after it.
    var seesNewModelsBefore = false
    /// Whether an empty storage of no version is migrated.
    var migratesNewStorages = false
    var keepsHalves = false
    var swallowsErrors = false
    var erasesForPlans = false
}

extension ReferenceConfiguration {
    /// Runs the stages of a plan that are due: all of them, or none.
    /// - Throws: what a stage throws; the storage is as it was then.
    func migrate(by plan: (any SchemaMigrationPlan.Type)?) throws {
        let migration = migration
        guard migration.handlesPlans, let plan, let schema else { return }
        if migration.erasesForPlans { storage.state.withLock { $0.records = [:] } }
        let before = storage.state.withLock { $0 }
        guard let stored = before.schema?.version ?? (migration.migratesNewStorages ? Schema.Version(0, 0, 0) : nil)
        else { return }
        do {
            for stage in migration.due(plan, stored, schema.version) {
                guard case .custom(let source, let target, let willMigrate, let didMigrate) = stage else { continue }
                if migration.runsBefore, let willMigrate {
                    try run(willMigrate, under: migration.seesNewModelsBefore ? target : source)
                }
                if migration.runsAfter, let didMigrate { try run(didMigrate, under: target) }
            }
        } catch {
            if !migration.keepsHalves { storage.restore(before) }
            if !migration.swallowsErrors { throw error }
        }
    }

    private func run(_ body: (ModelContext) throws -> Void, under version: any VersionedSchema.Type) throws {
        var configuration = self
        configuration.schema = nil
        let container = try ModelContainer(
            for: Schema(versionedSchema: version), configurations: [configuration])
        let context = ModelContext(container)
        try body(context)
        if context.hasChanges { try context.save() }
        try container.close()
    }
}

extension ReferenceStorage {
    /// Makes the storage what it was, in memory and after a crash.
    fileprivate func restore(_ before: State) {
        state.withLock { $0 = before }
        medium.withLock { $0 = Medium(durable: before, images: [before]) }
    }
}
