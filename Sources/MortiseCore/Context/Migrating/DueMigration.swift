import Logging

/// The plan of a program that has none: one lightweight stage leads from any schema to any other that is not older.
enum WithoutStages: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [] }
    static var stages: [MigrationStage] { [] }
}

extension StoredSchema {
    /// Names of entities and their properties, with those of all entities that inherit from them.
    func withHeirs(_ names: Set<String>) -> Set<String> {
        Set(
            names.flatMap { name in
                let parts = name.split(separator: ".", maxSplits: 1)
                return subtree(of: parts.first.map(String.init) ?? name).map {
                    ([$0] + parts.dropFirst().map(String.init)).joined(separator: ".")
                }
            })
    }
}

extension MigrationOptions {
    /// - Throws: `MigrationError.lossRefused`, `.adoptionLosesData`.
    func check(
        _ loss: SchemaLoss, converting converted: [String: Set<String>], dropping: Set<String>,
        in step: MigrationPath.Step, store: String
    ) throws {
        let declared = self.loss == .declared ? dropping : []
        let unsaid = SchemaLoss(
            stored: loss.stored, opened: loss.opened, entities: loss.entities.filter { !declared.contains($0.name) },
            properties: loss.properties.filter {
                converted[$0.entity]?.contains($0.name) != true && !declared.contains("\($0.entity).\($0.name)")
            })
        if unsaid.isEmpty { return }
        if step.isAdoption { throw MigrationError.adoptionLosesData(store: store, loss: unsaid) }
        if self.loss != .allowed { throw MigrationError.lossRefused(store: store, loss: unsaid) }
    }
}

/// The stages that one store has to go through.
struct DueMigration {
    /// What ran, and is not durable yet.
    struct Begun {
        let store: String
        let migration: any StoreMigration
        let meter: MigrationMeter
        /// What the stages dropped.
        let loss: SchemaLoss

        /// Says what was dropped, and where the store as it was is kept; called once that is so.
        func log(_ options: MigrationOptions, _ logger: Logger) {
            let copy = options.mostCopies.map { $0 <= 0 } == true ? nil : migration.copyLocation
            if !loss.isEmpty {
                ModelContainer.log(loss, of: store, copy: copy, isDropped: true, logger)
            } else if let copy {
                logger.notice("kept the store as it was", metadata: ["store": "\(store)", "copy": "\(copy)"])
            }
        }
    }

    /// What the stages have dropped so far.
    private final class Losses {
        private var all: [SchemaLoss] = []

        func add(_ loss: SchemaLoss, converting converted: [String: Set<String>] = [:]) {
            all.append(loss.without(converted))
        }

        func sum(from stored: Schema.Version, to opened: Schema.Version) -> SchemaLoss {
            let records = Dictionary(
                all.flatMap { $0.entities.map { ($0.name, $0.records) } }, uniquingKeysWith: +)
            return SchemaLoss(
                stored: stored, opened: opened,
                entities: records.map { SchemaLoss.Entity(name: $0.key, records: $0.value) },
                properties: all.flatMap(\.properties))
        }
    }

    let configuration: any MigratableConfiguration
    let target: Schema
    /// The entities that belong to other stores, each with the name of one.
    let others: [String: String]
    let plan: PlannedVersions
    let options: MigrationOptions

    /// Nil if opening the store is all that it takes.
    init?(
        _ configuration: any MigratableConfiguration, from stored: StoredSchema, to target: Schema,
        _ plan: any SchemaMigrationPlan.Type, without others: @autoclosure () throws -> [String: String]
    ) throws {
        // Most openings end here, before the plan's models are looked at.
        if stored == target.stored { return nil }
        let others = try others()
        self.configuration = configuration
        self.target = target
        self.others = others
        self.plan = try PlannedVersions(plan) { others[$0] == nil }
        var options = plan.migrationOptions
        // Who has no plan says by a new version that what was dropped is not needed.
        if plan is WithoutStages.Type || self.plan.isSilent, target.version <= stored.version {
            options.loss = .refused
        }
        self.options = options
        guard let path = try path(from: stored) else { return nil }
        guard configuration.allowsMigration else {
            // Opening the store brings what it reads to the schema, and writes nothing.
            if configuration.adaptsWhenOpened, !path.isNeeded(from: stored, to: target.stored), options.loss == .allowed
            {
                return nil
            }
            throw MigrationError.migrationNeeded(
                store: configuration.name, from: path.steps.first?.source.version ?? stored.version,
                to: path.steps.last?.target.version ?? target.version)
        }
    }

    private func path(from stored: StoredSchema) throws -> MigrationPath? {
        let path = try Self.path(
            from: stored, to: target, plan, adopting: options.adopting, without: others, store: configuration.name)
        return path.steps.isEmpty ? nil : path
    }

    static func path(
        from stored: StoredSchema, to target: Schema, _ plan: PlannedVersions, adopting: (any VersionedSchema.Type)?,
        without others: [String: String], store: String
    ) throws -> MigrationPath {
        // What belongs to another store now is nothing that the plan's versions have here.
        let own = StoredSchema(version: stored.version, entities: stored.entities.filter { others[$0.name] == nil })
        return try MigrationPath.find(from: own, to: target, plan, adopting: adopting?.versionIdentifier, store: store)
            .carriedOut(from: stored, to: target.stored)
    }

    /// Counts the records.
    /// - Throws: `MigrationError.entityInAnotherStore` for records that belong to another store now.
    static func count(
        _ migration: any StoreMigration, without others: [String: String], store: String
    ) throws -> Int {
        try migration.storedSchema.entities.reduce(0) { sum, entity in
            let count = try migration.count(ofEntity: entity.name)
            if count > 0, let other = others[entity.name] {
                throw MigrationError.entityInAnotherStore(store: store, entity: entity.name, other: other)
            }
            return sum + count
        }
    }

    static func request(_ plan: PlannedVersions, _ target: Schema) -> MigrationRequest {
        MigrationRequest(schemas: plan.versions + [target])
    }

    /// A store without records has no identifiers that a reference could lead to.
    /// - Throws: `MigrationError.identifiersWouldChange`.
    static func checkIdentifiers(
        _ migration: any StoreMigration, _ options: MigrationOptions, records: Int, store: String
    ) throws(MigrationError) {
        if records == 0 || migration.keepsIdentifiers || options.identifiers == .mayChange { return }
        throw .identifiersWouldChange(store: store)
    }

    /// Runs the stages.
    /// - Returns: the migration, to be committed; nil if another process has migrated the store meanwhile.
    func run(_ logger: Logger) throws -> Begun? {
        let losses = Losses()
        let space = try configuration.migrationSpace(keepingCopy: options.copies == .always)
        if let space, !space.isEnough {
            throw MigrationError.notEnoughSpace(store: configuration.name, space: space)
        }
        let migration = try configuration.beginMigration(Self.request(plan, target))
        do {
            // The store may have come to another version since it was looked at.
            guard let path = try path(from: migration.storedSchema) else {
                migration.abandon()
                return nil
            }
            let records = try Self.count(migration, without: others, store: configuration.name)
            try Self.checkIdentifiers(migration, options, records: records, store: configuration.name)
            let (from, to) = (path.steps.first?.source.version, path.steps.last?.target.version)
            logger.notice(
                "migrating",
                metadata: [
                    "store": "\(configuration.name)", "from": "\(from ?? target.version)",
                    "to": "\(to ?? target.version)",
                ])
            let meter = MigrationMeter(
                options.progress, store: configuration.name, from: from ?? target.version, to: to ?? target.version,
                stages: path.steps.count, records: records)
            migration.advance = { try meter.advance(by: $0) }
            var current = migration.storedSchema
            for step in path.steps {
                meter.beginStage()
                try meter.begin(.mapping)
                // Code works with the classes of the version, whose properties may lie in another order.
                if step.hasCode || step.isAdoption, current != step.source.stored {
                    try adapt(step, to: step.source, migration, losses)
                }
                switch step.stage {
                case .transform(let transform)?: try run(transform, of: step, migration, meter, losses, logger)
                case .custom(_, _, let willMigrate, let didMigrate)?:
                    try run(willMigrate, of: step, .willMigrate, under: step.source, migration, meter, logger)
                    try meter.begin(.mapping)
                    try adapt(step, to: step.target, migration, losses)
                    try run(didMigrate, of: step, .didMigrate, under: step.target, migration, meter, logger)
                case .lightweight?, nil: try adapt(step, to: step.target, migration, losses)
                }
                current = step.target.stored
            }
            if let last = path.steps.last {
                if current != target.stored { try adapt(last, to: target, migration, losses) }
                let retransformed = path.retransformed
                if options.verifiesValues || !retransformed.isEmpty {
                    try meter.begin(.mapping)
                    try attempt(last, .validate) {
                        try Self.verifyValues(
                            of: migration, under: target, only: options.verifiesValues ? nil : retransformed
                        ) { try meter.advance(by: $0) }
                    }
                }
            }
            return Begun(
                store: configuration.name, migration: migration, meter: meter,
                loss: losses.sum(from: from ?? target.version, to: to ?? target.version))
        } catch {
            migration.abandon()
            throw error
        }
    }

    private func adapt(
        _ step: MigrationPath.Step, to schema: Schema, _ migration: any StoreMigration, _ losses: Losses
    ) throws {
        let loss = try attempt(step, .mapping) { try migration.adapt(to: schema.stored) }
        losses.add(loss)
        // As opening the store would refuse it.
        let dropping = (configuration as? any SelfDescribingConfiguration)?.dropping ?? []
        try loss.check(dropping: dropping, store: configuration.name)
        if step.isUnplanned {
            try loss.checkOrigins(
                from: step.source.stored, to: schema.stored, dropping: dropping, store: configuration.name)
        }
        try attempt(step, .mapping) { try check(loss, dropping: [], in: step) }
    }

    private func check(
        _ loss: SchemaLoss, converting converted: [String: Set<String>] = [:], dropping: Set<String>,
        in step: MigrationPath.Step
    ) throws {
        try options.check(loss, converting: converted, dropping: dropping, in: step, store: configuration.name)
    }

    private func run(
        _ body: ((ModelContext) throws -> Void)?, of step: MigrationPath.Step, _ part: MigrationStageFailure.Part,
        under schema: Schema, _ migration: any StoreMigration, _ meter: MigrationMeter, _ logger: Logger
    ) throws {
        guard let body else { return }
        try meter.begin(.code)
        try attempt(step, part) {
            let container = ModelContainer(
                of: try migration.working(under: schema), named: configuration.name, schema, logger)
            // A context that is kept throws, and does not show another version's records.
            defer { try? container.close() }
            let context = ModelContext(container)
            context.author = MigrationAuthor.name
            try body(context)
            if context.hasChanges { try context.save() }
        }
    }

    private func run(
        _ transform: MigrationTransform, of step: MigrationPath.Step, _ migration: any StoreMigration,
        _ meter: MigrationMeter, _ losses: Losses, _ logger: Logger
    ) throws {
        func container(of store: any VersionedDataStore, _ schema: Schema) -> ModelContainer {
            ModelContainer(of: store, named: configuration.name, schema, logger)
        }
        var stage = TransformRun(step: step, transform: transform, migration: migration)
        let dropped = step.source.stored.withHeirs(transform.mapping.dropped)
        stage.note = {
            losses.add($0, converting: $1)
            try check($0, converting: $1, dropping: dropped, in: step)
        }
        stage.advance = { try meter.advance(by: $0) }
        let before = try attempt(step, .mapping) { try stage.map(from: step.source.stored) }
        let old = container(of: before, step.source)
        defer { try? old.close() }
        let source = MigrationSource(before, old)
        let code = transform as? CodedTransform
        try meter.begin(.code)
        if let migrate = code?.migrate {
            try attempt(step, .migrate) {
                let working = try migration.working(under: step.target)
                let new = container(of: working, step.target)
                defer { try? new.close() }
                let renaming = EntityRenaming(from: step.source.stored, to: step.target.stored)
                let target = MigrationTarget(working, new, in: migration, renaming: renaming.names)
                defer { target.close() }
                try migrate(source, target)
                try target.flush()
                try source.check()
            }
        }
        if let validate = code?.validate {
            try attempt(step, .validate) {
                let after = try migration.frozen(under: step.target)
                let new = container(of: after, step.target)
                defer { try? new.close() }
                let result = MigrationSource(after, new)
                try validate(source, result)
                try source.check()
                try result.check()
            }
        }
    }

    @discardableResult
    private func attempt<R>(
        _ step: MigrationPath.Step, _ part: MigrationStageFailure.Part, _ body: () throws -> R
    ) throws -> R {
        do {
            return try MigrationMeter.$isInStage.withValue(part != .mapping) { try body() }
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            throw MigrationError.stageFailed(
                MigrationStageFailure(
                    store: configuration.name, from: step.source.version, to: step.target.version, part: part,
                    underlying: error))
        }
    }
}
