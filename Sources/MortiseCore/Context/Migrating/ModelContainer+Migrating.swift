import Foundation
import Logging

/// Brings stores to the schemas that they are to be opened with, by the stages of a plan.
extension ModelContainer {
    /// Carries out what is due: nothing is replaced before the stages of all stores have succeeded and their outcomes are durable.
    /// - Throws: `MigrationError`; `CancellationError` before the first store is replaced; the stores' own errors. No store was changed
    ///   then, unless the error comes from the switch of one: stores before it are at the new version, those after it at the old one, and
    ///   the next opening goes on with these.
    /// - Returns: the names of the configurations that told no schema, so that nothing was due.
    static func migrate(
        _ configurations: [any DataStoreConfiguration], to schema: Schema,
        _ plan: (any SchemaMigrationPlan.Type)?, _ logger: Logger
    ) throws -> Set<String> {
        // Without a plan, the stores that adapt their records do that when they are opened.
        let isPlanned = plan != nil
        let plan: any SchemaMigrationPlan.Type = plan ?? WithoutStages.self
        var due: [DueMigration] = []
        var untold: Set<String> = []
        for configuration in configurations {
            guard let configuration = configuration as? any MigratableConfiguration,
                isPlanned || !configuration.adaptsWhenOpened
            else { continue }
            guard let stored = try configuration.storedSchema() else {
                untold.insert(configuration.name)
                continue
            }
            let found = try DueMigration(
                configuration, from: stored, to: configuration.schema ?? schema, plan,
                without: try foreign(to: configuration, configurations, schema))
            if let found { due.append(found) }
        }
        var ready: [any StoreMigration] = []
        // Those that were committed have nothing left to abandon.
        defer { for migration in ready { migration.abandon() } }
        let options = plan.migrationOptions
        var meters: [MigrationMeter] = []
        for migration in due {
            let begun = try migration.configuration.waiting(options.waitForOthers, logger) {
                try MigrationMeter.$isMigrating.withValue(true) { try migration.run(logger) }
            }
            if let begun {
                ready.append(begun.migration)
                meters.append(begun.meter)
            }
        }
        // What can fail, fails before the first store is replaced.
        for (migration, meter) in zip(ready, meters) {
            // The last code may have run for long, and so may the writing of the store before.
            try MigrationMeter.Reporting.checkCancellation()
            try meter.begin(.writing)
            try migration.prepare(
                keepingCopy: options.copies == .always, atMost: options.mostCopies.map { max(0, $0) })
        }
        // Once one store is replaced, the others follow.
        if !ready.isEmpty { try MigrationMeter.Reporting.checkCancellation() }
        for (migration, meter) in zip(ready, meters) {
            try migration.commit()
            meter.end()
        }
        return untold
    }
}

extension ModelContainer {
    /// What opening stores with a plan would do to those that exist and that containers migrate. Writes nothing, takes no lock and
    /// runs none of the closures that take a context, a source or a target: what these would change does not show. Closures of
    /// mappings and of rules for duplicates run, as the values that they make decide whether a stage can succeed.
    /// - Parameters: as for `init(for:migrationPlan:configurations:)`.
    /// - Returns: one preview for each such store, in the order of the configurations.
    /// - Throws: `SchemaError`; `MigrationError` for a plan that leads nowhere; the stores' errors for what cannot be read.
    public static func migrationPreview(
        for schema: Schema, migrationPlan plan: any SchemaMigrationPlan.Type,
        configurations: [any DataStoreConfiguration]
    ) throws -> [MigrationPreview] {
        try schema.validate()
        let schema = schema.numbered(by: plan)
        return try configurations.compactMap { configuration in
            guard let configuration = configuration as? any MigratableConfiguration else { return nil }
            let others = try foreign(to: configuration, configurations, schema)
            let target = configuration.schema?.numbered(by: plan, asPartOf: schema) ?? schema
            return try DueMigration.preview(configuration, to: target, plan, without: others)
        }
    }

    /// The entities that belong to other configurations alone, each with the name of one that has it.
    private static func foreign(
        to configuration: any MigratableConfiguration, _ configurations: [any DataStoreConfiguration], _ schema: Schema
    ) throws -> [String: String] {
        let own = Set((configuration.schema ?? schema).stored.entities.flatMap { [$0.name, $0.originalName] })
        // What this store holds and no other is to have, is its own to drop, also if another one once had an entity of that name.
        let held = Set(try configuration.storedSchema()?.entities.map(\.name) ?? [])
        var found: [String: String] = [:]
        for other in configurations where other.name != configuration.name {
            let stored = try (other as? any MigratableConfiguration)?.storedSchema()?.entities ?? []
            let entities = (other.schema ?? schema).stored.entities + stored.filter { !held.contains($0.name) }
            for entity in entities where !own.contains(entity.name) { found[entity.name] = other.name }
        }
        return found
    }
}

/// The plan of a program that has none: one lightweight stage leads from any schema to any other that is not older.
private enum WithoutStages: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [] }
    static var stages: [MigrationStage] { [] }
}

extension SchemaChange {
    /// The change in words; nil for that of the number.
    fileprivate var words: String? {
        switch kind {
        case .versionChanged: nil
        case .propertyRenamed, .entityRenamed: "\(subject) renamed from \(origin ?? "")"
        default: "\(subject) \(detail)"
        }
    }
}

extension StoredSchema {
    /// Names of entities and their properties, with those of all entities that inherit from them.
    fileprivate func withHeirs(_ names: Set<String>) -> Set<String> {
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
    fileprivate func check(
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
private struct DueMigration {
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
        if plan is WithoutStages.Type, target.version <= stored.version { options.loss = .refused }
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

    private static func path(
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
    private static func count(
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

    private static func request(_ plan: PlannedVersions, _ target: Schema) -> MigrationRequest {
        MigrationRequest(schemas: plan.versions + [target])
    }

    /// Looks at what the stages would do; nil for a store that does not exist yet.
    static func preview(
        _ configuration: any MigratableConfiguration, to target: Schema, _ plan: any SchemaMigrationPlan.Type,
        without others: [String: String]
    ) throws -> MigrationPreview? {
        guard try configuration.storedSchema() != nil else { return nil }
        let versions = try PlannedVersions(plan) { others[$0] == nil }
        let migration = try configuration.previewMigration(request(versions, target))
        defer { migration.abandon() }
        let stored = migration.storedSchema
        let options = plan.migrationOptions
        let path = try path(
            from: stored, to: target, versions, adopting: options.adopting, without: others, store: configuration.name)
        let records = try count(migration, without: others, store: configuration.name)
        var stages: [MigrationPreview.Stage] = []
        for step in path.steps {
            var refusal: String?
            var losses: [SchemaLoss] = []
            do {
                if stages.isEmpty {
                    try checkIdentifiers(migration, options, records: records, store: configuration.name)
                }
                func note(
                    _ loss: SchemaLoss, _ converted: [String: Set<String>] = [:], dropping: Set<String> = []
                ) throws {
                    losses.append(loss)
                    try options.check(
                        loss, converting: converted, dropping: dropping, in: step, store: configuration.name)
                }
                if case .transform(let transform)? = step.stage {
                    try note(try migration.adapt(to: step.source.stored))
                    var run = TransformRun(step: step, transform: transform, migration: migration)
                    let dropped = step.source.stored.withHeirs(transform.mapping.dropped)
                    run.note = { try note($0, $1, dropping: dropped) }
                    _ = try run.map(from: step.source.stored)
                } else {
                    let loss = try migration.adapt(to: step.target.stored)
                    try note(loss)
                    if step.isUnplanned {
                        try loss.checkOrigins(
                            from: step.source.stored, to: step.target.stored,
                            dropping: (configuration as? any SelfDescribingConfiguration)?.dropping ?? [],
                            store: configuration.name)
                    }
                }
            } catch {
                refusal = "\(error)"
            }
            let loss = SchemaLoss(
                stored: step.source.version, opened: step.target.version, entities: losses.flatMap(\.entities),
                properties: losses.flatMap(\.properties))
            stages.append(
                MigrationPreview.Stage(
                    from: step.source.version, to: step.target.version, hasCode: step.hasCode,
                    changes: SchemaComparison(
                        from: SchemaDocument(step.source.stored), to: SchemaDocument(step.target.stored)
                    ).changes.compactMap(\.words),
                    loss: loss.isEmpty ? nil : loss, refusal: refusal))
            if refusal != nil { break }
        }
        return MigrationPreview(
            store: configuration.name, from: path.steps.first?.source.version ?? stored.version,
            to: path.steps.last?.target.version ?? target.version, stages: stages, records: records,
            keepsIdentifiers: path.steps.isEmpty || records == 0 || migration.keepsIdentifiers,
            isCopy: !path.steps.isEmpty && migration.isCopy,
            space: path.steps.isEmpty
                ? nil
                : try configuration.migrationSpace(
                    keepingCopy: options.copies == .always || stages.contains { $0.loss != nil }))
    }

    /// A store without records has no identifiers that a reference could lead to.
    /// - Throws: `MigrationError.identifiersWouldChange`.
    private static func checkIdentifiers(
        _ migration: any StoreMigration, _ options: MigrationOptions, records: Int, store: String
    ) throws(MigrationError) {
        if records == 0 || migration.keepsIdentifiers || options.identifiers == .mayChange { return }
        throw .identifiersWouldChange(store: store)
    }

    /// Runs the stages.
    /// - Returns: the migration, to be committed; nil if another process has migrated the store meanwhile.
    func run(_ logger: Logger) throws -> (migration: any StoreMigration, meter: MigrationMeter)? {
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
                    try adapt(step, to: step.source, migration)
                }
                switch step.stage {
                case .transform(let transform)?: try run(transform, of: step, migration, meter, logger)
                case .custom(_, _, let willMigrate, let didMigrate)?:
                    try run(willMigrate, of: step, .willMigrate, under: step.source, migration, meter, logger)
                    try meter.begin(.mapping)
                    try adapt(step, to: step.target, migration)
                    try run(didMigrate, of: step, .didMigrate, under: step.target, migration, meter, logger)
                case .lightweight?, nil: try adapt(step, to: step.target, migration)
                }
                current = step.target.stored
            }
            if let last = path.steps.last, current != target.stored { try adapt(last, to: target, migration) }
            return (migration, meter)
        } catch {
            migration.abandon()
            throw error
        }
    }

    private func adapt(_ step: MigrationPath.Step, to schema: Schema, _ migration: any StoreMigration) throws {
        let loss = try attempt(step, .mapping) { try migration.adapt(to: schema.stored) }
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
        _ meter: MigrationMeter, _ logger: Logger
    ) throws {
        func container(of store: any VersionedDataStore, _ schema: Schema) -> ModelContainer {
            ModelContainer(of: store, named: configuration.name, schema, logger)
        }
        var stage = TransformRun(step: step, transform: transform, migration: migration)
        let dropped = step.source.stored.withHeirs(transform.mapping.dropped)
        stage.note = { try check($0, converting: $1, dropping: dropped, in: step) }
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
