#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// Opens a store, and brings it to a schema.
struct PostgreSQLOpening {
    let metadata: StoreMetadata
    let mapping: TableMapping
    let pool: ConnectionPool
    /// What a store that is open for reading only does not show; nil if that is nothing.
    let loss: SchemaLoss?

    init(
        _ configuration: PostgreSQLConfiguration, _ schema: StoredSchema, _ plan: (any SchemaMigrationPlan.Type)?
    ) throws {
        let pool = ConnectionPool(configuration)
        do {
            (metadata, loss) = try pool.using { connection in
                guard configuration.allowsSave, configuration.turn == nil else {
                    let metadata = try StoreMetadata(connection)
                    // A migration copies no history.
                    if configuration.turn == nil, try StoreMetadata.isOlder(connection) {
                        throw PostgreSQLError(configuration.location, .olderFormat)
                    }
                    return (metadata, try Self.checkReadable(connection, metadata, as: schema, configuration))
                }
                return try connection.transaction {
                    try Self.make(connection, configuration)
                    var metadata = try StoreMetadata(connection)
                    try Self.adapt(connection, &metadata, to: schema, plan, configuration)
                    return (metadata, nil)
                }
            }
        } catch {
            pool.close()
            throw error
        }
        mapping = TableMapping(schema, metadata.catalog, .postgreSQL)
        self.pool = pool
    }

    /// Makes the tables of a store that does not exist yet. Others that open it wait meanwhile.
    private static func make(_ connection: PostgreSQLConnection, _ configuration: PostgreSQLConfiguration) throws {
        try connection.run(
            "SELECT pg_advisory_xact_lock(\(StoreLock.opening), hashtext($1::text))", [.text(configuration.namespace)])
        let found = try connection.run(
            "SELECT to_regnamespace($1::text) IS NOT NULL", [.text(SQLName.quoted(configuration.namespace))])
        if found.rows.first?.bool(0) != true {
            try connection.run("CREATE SCHEMA \(SQLName.quoted(configuration.namespace))")
        }
        if try StoreMetadata.exists(connection) { return try StoreMetadata.upgrade(connection) }
        let others = try connection.run(
            "SELECT count(*) FROM information_schema.tables t WHERE t.table_schema = current_schema() "
                + "AND t.table_name LIKE 'mortise\\_%'")
        if others.rows.first?.integer(0) != 0 { throw PostgreSQLError(connection.location, .notAStore) }
        try StoreMetadata.create(connection)
    }

    /// A store that is open for reading only cannot be brought to another schema.
    /// - Returns: what is not shown; nil if that is nothing.
    private static func checkReadable(
        _ connection: PostgreSQLConnection, _ metadata: StoreMetadata, as schema: StoredSchema,
        _ configuration: PostgreSQLConfiguration
    ) throws -> SchemaLoss? {
        try metadata.schema.checkIsNotNewer(than: schema, store: configuration.name)
        if metadata.schema == schema { return nil }
        let steps = try Self.steps(metadata, schema, configuration)
        if let name = steps.missing(in: metadata.catalog) {
            throw PostgreSQLError(
                configuration.location,
                .misfit("The store lacks \(name), or has it otherwise, and is open for reading only"))
        }
        let loss = try Self.loss(connection, metadata, schema, steps, configuration)
        for step in steps.steps {
            guard let statement = step.counting(.postgreSQL) else { continue }
            let count = try connection.run([.init(statement)]).last?.rows.first?.integer(0) ?? 0
            if let misfit = step.misfitOfReader(count) {
                throw PostgreSQLError(configuration.location, .misfit(misfit.text))
            }
        }
        return loss.isEmpty ? nil : loss
    }

    static func steps(
        _ metadata: StoreMetadata, _ schema: StoredSchema, _ configuration: PostgreSQLConfiguration
    ) throws -> SchemaSteps {
        do {
            return try SchemaSteps(from: metadata.schema, to: schema, metadata.catalog, .postgreSQL)
        } catch {
            throw PostgreSQLError(configuration.location, .misfit(error.text))
        }
    }

    private static func adapt(
        _ connection: PostgreSQLConnection, _ metadata: inout StoreMetadata, to schema: StoredSchema,
        _ plan: (any SchemaMigrationPlan.Type)?, _ configuration: PostgreSQLConfiguration
    ) throws {
        let stored = metadata.schema
        try stored.checkIsNotNewer(than: schema, store: configuration.name)
        try stored.checkStages(of: plan, to: schema, store: configuration.name)
        if stored == schema, metadata.schemaNumber > 0 { return }
        let steps = try Self.steps(metadata, schema, configuration)
        try Self.loss(connection, metadata, schema, steps, configuration).refuse(unlessNamedIn: configuration)
        try carryOut(steps, connection, &metadata, to: schema, configuration)
    }

    /// Brings tables and records to a schema, within a transaction.
    /// - Throws: `PostgreSQLError`, `.misfit` for records that do not fit.
    static func carryOut(
        _ steps: SchemaSteps, _ connection: PostgreSQLConnection, _ metadata: inout StoreMetadata,
        to schema: StoredSchema, _ configuration: PostgreSQLConfiguration
    ) throws {
        metadata.catalog = steps.catalog
        metadata.schema = schema.keepingNames(of: metadata.schema)
        let making = TableMaking(connection: connection, mapping: TableMapping(schema, steps.catalog, .postgreSQL))
        try making.makeTables()
        for step in steps.steps {
            do {
                let result = try connection.run([.init(try step.statement(.postgreSQL))]).last
                if case .require = step, let misfit = step.misfit(result?.rows.first?.integer(0) ?? 0) { throw misfit }
            } catch let misfit as SchemaMisfit {
                throw PostgreSQLError(configuration.location, .misfit(misfit.text))
            }
            if step.makesNaN { try connection.run("UPDATE mortise_store SET \"holdsNaN\" = true") }
        }
        // A table whose references are still to be checked cannot get an index.
        try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
        try making.makeIndexes()
        try metadata.write(connection)
    }

    /// What the schema lacks of what is stored.
    /// - Throws: `MigrationError` for what it must not lack.
    private static func loss(
        _ connection: PostgreSQLConnection, _ metadata: StoreMetadata, _ schema: StoredSchema, _ steps: SchemaSteps,
        _ configuration: PostgreSQLConfiguration
    ) throws -> SchemaLoss {
        let loss = try uncheckedLoss(connection, metadata, schema, steps)
        try loss.check(dropping: configuration.dropping, store: configuration.name)
        try loss.checkOrigins(
            from: metadata.schema, to: schema, dropping: configuration.dropping, store: configuration.name)
        return loss
    }

    /// What the schema lacks of what is stored, whether it may lack that or not.
    static func uncheckedLoss(
        _ connection: PostgreSQLConnection, _ metadata: StoreMetadata, _ schema: StoredSchema, _ steps: SchemaSteps
    ) throws -> SchemaLoss {
        let counting = LossCounting(
            from: TableMapping(metadata.schema, metadata.catalog, .postgreSQL),
            to: TableMapping(schema, steps.catalog, .postgreSQL))
        return try counting.loss { statement in
            try connection.run([.init(statement)]).flatMap(\.rows).map {
                (entity: Int(clamping: $0.integer(0)), count: Int(clamping: $0.integer(1)))
            }
        }
    }
}

extension SchemaLoss {
    /// The part that the configuration does not let go.
    func unnamed(in configuration: PostgreSQLConfiguration) -> SchemaLoss {
        let names = Set(configuration.dropping)
        return SchemaLoss(
            stored: stored, opened: opened, entities: entities.filter { !names.contains($0.name) },
            properties: properties.filter { !names.contains("\($0.entity).\($0.name)") })
    }

    /// No copy of a database can stay beside it: what goes has to be named, whatever the version.
    /// - Throws: `PostgreSQLError`, `.unnamedLoss`.
    fileprivate func refuse(unlessNamedIn configuration: PostgreSQLConfiguration) throws {
        let unnamed = unnamed(in: configuration)
        if !unnamed.isEmpty { throw PostgreSQLError(configuration.location, .unnamedLoss(unnamed)) }
    }
}

extension PostgreSQLConnection {
    /// Runs a body as one transaction.
    func transaction<R>(_ begin: String = "BEGIN", _ body: () throws -> R) throws -> R {
        try run(begin)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }
}
#endif
