import Foundation
import Logging

/// Brings stores to the schemas that they are to be opened with, by the stages of a plan.
extension ModelContainer {
    /// Carries out what is due: nothing is replaced before the stages of all stores have succeeded and their outcomes are durable.
    /// - Throws: `MigrationError`; `CancellationError` before the first store is replaced; the stores' own errors. No store was changed
    ///   then, unless the error comes from the switch of one: stores before it are at the new version, those after it at the old one, and
    ///   the next opening goes on with these.
    /// - Returns: the names of the configurations that told no schema, so that nothing was due, and of those that were migrated.
    static func migrate(
        _ configurations: [any DataStoreConfiguration], to schema: Schema,
        _ plan: (any SchemaMigrationPlan.Type)?, _ logger: Logger
    ) throws -> (untold: Set<String>, migrated: Set<String>) {
        // Without a plan, the stores that adapt their records do that when they are opened.
        let isPlanned = plan != nil
        let plan: any SchemaMigrationPlan.Type = plan ?? WithoutStages.self
        var due: [DueMigration] = []
        var untold: Set<String> = []
        for configuration in configurations {
            guard let configuration = configuration as? any MigratableConfiguration else {
                if isPlanned {
                    try configuration.checkPlan(
                        plan, to: configuration.schema ?? schema,
                        without: try foreign(to: configuration, configurations, schema))
                }
                continue
            }
            guard isPlanned || !configuration.adaptsWhenOpened else { continue }
            guard let stored = try configuration.storedSchema() else {
                untold.insert(configuration.name)
                continue
            }
            let found = try DueMigration(
                configuration, from: stored, to: configuration.schema ?? schema, plan,
                without: try foreign(to: configuration, configurations, schema))
            if let found { due.append(found) }
        }
        var ready: [DueMigration.Begun] = []
        // Those that were committed have nothing left to abandon.
        defer { for begun in ready { begun.migration.abandon() } }
        let options = plan.migrationOptions
        for migration in due {
            let begun = try migration.configuration.waiting(options.waitForOthers, logger) {
                try MigrationMeter.$isMigrating.withValue(true) { try migration.run(logger) }
            }
            if let begun { ready.append(begun) }
        }
        // What can fail, fails before the first store is replaced.
        for begun in ready {
            // The last code may have run for long, and so may the writing of the store before.
            try MigrationMeter.Reporting.checkCancellation()
            try begun.meter.begin(.writing)
            try begun.migration.prepare(
                keepingCopy: options.copies == .always, atMost: options.mostCopies.map { max(0, $0) })
        }
        // Once one store is replaced, the others follow.
        if !ready.isEmpty { try MigrationMeter.Reporting.checkCancellation() }
        for begun in ready {
            try begun.migration.commit()
            begun.meter.end()
            begun.log(options, logger)
        }
        return (untold, Set(ready.map(\.store)))
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
        to configuration: any DataStoreConfiguration, _ configurations: [any DataStoreConfiguration], _ schema: Schema
    ) throws -> [String: String] {
        let own = Set((configuration.schema ?? schema).stored.entities.flatMap { [$0.name, $0.originalName] })
        // What this store holds and no other is to have, is its own to drop, also if another one once had an entity of that name.
        let held = Set(try storedSchema(of: configuration)?.entities.map(\.name) ?? [])
        var found: [String: String] = [:]
        for other in configurations where other.name != configuration.name {
            let stored = try (other as? any MigratableConfiguration)?.storedSchema()?.entities ?? []
            let entities = (other.schema ?? schema).stored.entities + stored.filter { !held.contains($0.name) }
            for entity in entities where !own.contains(entity.name) { found[entity.name] = other.name }
        }
        return found
    }

    private static func storedSchema(of configuration: any DataStoreConfiguration) throws -> StoredSchema? {
        switch configuration {
        case let configuration as any MigratableConfiguration: try configuration.storedSchema()
        case let configuration as any SelfDescribingConfiguration: try configuration.storedSchema()
        default: nil
        }
    }
}
