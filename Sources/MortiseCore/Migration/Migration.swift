/// The migrations from each version of a schema to the next.
public protocol SchemaMigrationPlan {
    /// The versions, oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages from each version to the next, in order.
    static var stages: [MigrationStage] { get }
    /// What the plan asks for besides; the defaults if it does not say.
    static var migrationOptions: MigrationOptions { get }
}

extension SchemaMigrationPlan {
    /// The defaults.
    public static var migrationOptions: MigrationOptions { MigrationOptions() }
}

extension Schema {
    /// As `numbered(by:)`; a schema that has some of the entities of another one, as they are there, has the other's number.
    func numbered(by plan: (any SchemaMigrationPlan.Type)?, asPartOf whole: Schema) -> Schema {
        if plan == nil || hasChosenVersion { return numbered(by: plan) }
        guard stored.entities.allSatisfy({ whole.stored.entity(named: $0.name) == $0 }) else {
            return numbered(by: plan)
        }
        return Schema(self, version: whole.version, isChosen: true, formerNames: whole.formerNames)
    }

    /// The schema with the number of the plan's newest version that has the same entities; see `numbered(as:)`.
    func numbered(by plan: (any SchemaMigrationPlan.Type)?) -> Schema {
        numbered(as: (plan?.schemas ?? []).map { PlannedSchemas.schema(of: $0).stored })
    }
}

/// One step of a migration plan.
public enum MigrationStage {
    /// New properties get their default, removed ones are dropped, and renamed ones are found by their original name.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// `willMigrate` sees the old models before the records come to the new version as in a lightweight stage, `didMigrate` the
    /// new ones after it. Both may save as often as they like; what they leave unsaved is saved when they return. If one throws,
    /// the store stays as it was before the plan's first stage. Its context and that context's models must not be used afterwards.
    ///
    /// A container runs the code on the thread that makes it, for stores whose configuration is a `MigratableConfiguration`. It
    /// refuses the plan for every other store that does not say that it takes care of plans
    /// (`DataStoreConfiguration.handlesMigrationPlans`).
    ///
    /// In a container of several stores the code runs once for each store that the stage is due for, and sees the entities of that
    /// store alone. A stage that changes entities of other stores only is passed over.
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((_ context: ModelContext) throws -> Void)?,
        didMigrate: ((_ context: ModelContext) throws -> Void)?)
    /// A stage that `custom(from:to:mapping:duplicates:migrate:validate:)` makes.
    case transform(MigrationTransform)

    /// The version before the stage.
    public var source: any VersionedSchema.Type {
        switch self {
        case .lightweight(let source, _), .custom(let source, _, _, _): source
        case .transform(let transform): transform.source
        }
    }

    /// The version after the stage.
    public var target: any VersionedSchema.Type {
        switch self {
        case .lightweight(_, let target), .custom(_, let target, _, _): target
        case .transform(let transform): transform.target
        }
    }

    /// Whether the stage does more than names and original names say: a store that adapts its records without a plan must not pass
    /// over it.
    public var hasCode: Bool {
        switch self {
        case .lightweight: false
        case .custom(_, _, let before, let after): before != nil || after != nil
        case .transform: true
        }
    }
}

/// What a stage that sees both versions at once consists of; `MigrationStage.custom(from:to:mapping:duplicates:migrate:validate:)`
/// makes it.
public class MigrationTransform {
    let source: any VersionedSchema.Type
    let target: any VersionedSchema.Type
    let mapping: MigrationMapping
    let duplicates: [DuplicateRule]

    init(
        source: any VersionedSchema.Type, target: any VersionedSchema.Type, mapping: MigrationMapping,
        duplicates: [DuplicateRule]
    ) {
        self.source = source
        self.target = target
        self.mapping = mapping
        self.duplicates = duplicates
    }
}

extension DataStoreConfiguration {
    /// Refuses what a plan asks for and nobody would do, for a store that containers do not migrate and that takes care of no plans: such
    /// a store knows the last schema alone.
    /// - Parameters:
    ///   - plan: the plan.
    ///   - target: the schema that the store is opened with.
    ///   - others: the entities that belong to other stores, each with the name of one.
    /// - Throws: `MigrationError`; what `storedSchema()` throws.
    func checkPlan(
        _ plan: any SchemaMigrationPlan.Type, to target: Schema,
        without others: @autoclosure () throws -> [String: String]
    ) throws {
        if handlesMigrationPlans { return }
        let options = plan.migrationOptions
        guard let describing = self as? any SelfDescribingConfiguration else {
            // The store may hold whatever comes before the version that it is opened with.
            let others = try others()
            let versions = try PlannedVersions(plan) { others[$0] == nil }
            if let stage = try versions.firstStage(to: target) {
                throw MigrationError.plansNotRun(store: name, stage: stage)
            }
            return try options.checkSilence(store: name)
        }
        try describing.checkStages(of: plan)
        guard let stored = try describing.storedSchema(), stored != target.stored else { return }
        let others = try others()
        let path = try MigrationPath.find(
            from: StoredSchema(version: stored.version, entities: stored.entities.filter { others[$0.name] == nil }),
            to: target, try PlannedVersions(plan) { others[$0] == nil },
            adopting: options.adopting?.versionIdentifier, store: name)
        guard let first = path.steps.first, let last = path.steps.last else { return }
        try options.checkSilence(store: name)
        if path.isNeeded(from: stored, to: target.stored) {
            throw MigrationError.stagesNotFollowed(store: name, from: first.source.version, to: last.target.version)
        }
    }
}

extension MigrationOptions {
    /// Refuses what only a container that migrates the store can do.
    /// - Throws: `MigrationError.optionsNotFollowed`.
    fileprivate func checkSilence(store: String) throws(MigrationError) {
        var options: [String] = []
        if adopting != nil { options.append("adopting") }
        if loss != .allowed { options.append("loss") }
        if copies != .whereSomethingIsLost { options.append("copies") }
        if verifiesValues { options.append("verifiesValues") }
        if !options.isEmpty { throw .optionsNotFollowed(store: store, options: options) }
    }
}

extension SelfDescribingConfiguration {
    /// For a store that adapts its records to a new schema but runs no code: checks that the plan has no custom stage
    /// between the stored schema and the configuration's. Passes if the store does not exist yet or holds that version
    /// already, and for a stage between different entities also if the store holds the configuration's already.
    /// - Throws: `MigrationError.customStage`; what `storedSchema()` throws.
    public func checkStages(of plan: (any SchemaMigrationPlan.Type)?) throws {
        let stages = plan?.stages.filter(\.hasCode) ?? []
        guard !stages.isEmpty, let target = schema?.stored, let stored = try storedSchema() else { return }
        var due: Schema.Version?
        for stage in stages {
            let version = stage.target.versionIdentifier
            guard stored.version < version, version <= target.version, due.map({ version < $0 }) ?? true else {
                continue
            }
            // Where only values change, the entities do not tell whether that is done.
            let changesEntities =
                Schema(versionedSchema: stage.source).stored.entities
                != Schema(versionedSchema: stage.target).stored.entities
            if stored.entities != target.entities || !changesEntities { due = version }
        }
        if let stage = due {
            throw MigrationError.customStage(
                store: name, from: stored.version, to: target.version, stage: stage)
        }
    }
}

extension SelfDescribingConfiguration {
    /// Refuses a program that is older than the store, or that lacks entities with records in the store.
    ///
    /// Records are counted through `VersionedDataStore`, in a store opened for reading under its own schema. In a store
    /// without versions they are not counted, and no entity is refused.
    /// - Throws: `MigrationError.newerStore`, `.unnamedEntities`; what `storedSchema()` and opening throw.
    func checkStoredSchema() throws {
        guard let program = schema?.stored, let stored = try storedSchema() else { return }
        try stored.checkIsNotNewer(than: program, store: name)
        let missing = stored.entities.filter { program.entity(named: $0.name) == nil }
        guard program.version == stored.version, !missing.allSatisfy({ dropping.contains($0.name) }) else { return }
        var configuration = readOnly()
        configuration.schema = Schema(stored: stored)
        let store = try Store(configuration, migrationPlan: nil)
        defer { try? store.close() }
        guard let version = store.latestVersion else { return }
        let counted = missing.map {
            SchemaLoss.Entity(name: $0.name, records: version.rows(ofEntity: $0.name)?.count ?? 0)
        }
        try SchemaLoss(
            stored: stored.version, opened: program.version, entities: counted.filter { $0.records > 0 },
            properties: []
        ).check(dropping: dropping, store: name)
    }
}
