#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// Opens a store, and brings it to a schema.
struct PostgreSQLOpening {
    let metadata: StoreMetadata
    let mapping: TableMapping
    let pool: ConnectionPool

    init(
        _ configuration: PostgreSQLConfiguration, _ schema: StoredSchema, _ plan: (any SchemaMigrationPlan.Type)?
    ) throws {
        let pool = ConnectionPool(configuration)
        do {
            metadata = try pool.using { connection in
                guard configuration.allowsSave else {
                    let metadata = try StoreMetadata(connection)
                    try Self.checkReadable(metadata, as: schema, configuration)
                    return metadata
                }
                return try connection.transaction {
                    try Self.make(connection, configuration)
                    var metadata = try StoreMetadata(connection)
                    try Self.adapt(connection, &metadata, to: schema, plan, configuration)
                    return metadata
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
        // "Mort" and a hash of the schema's name.
        try connection.run(
            "SELECT pg_advisory_xact_lock(1299149428, hashtext($1::text))", [.text(configuration.namespace)])
        let found = try connection.run(
            "SELECT to_regnamespace($1::text) IS NOT NULL", [.text(SQLName.quoted(configuration.namespace))])
        if found.rows.first?.bool(0) != true {
            try connection.run("CREATE SCHEMA \(SQLName.quoted(configuration.namespace))")
        }
        if try StoreMetadata.exists(connection) { return }
        let others = try connection.run(
            "SELECT count(*) FROM information_schema.tables t WHERE t.table_schema = current_schema() "
                + "AND t.table_name LIKE 'mortise\\_%'")
        if others.rows.first?.integer(0) != 0 { throw PostgreSQLError(connection.location, .notAStore) }
        try StoreMetadata.create(connection)
    }

    /// A store that is open for reading only cannot be brought to another schema.
    private static func checkReadable(
        _ metadata: StoreMetadata, as schema: StoredSchema, _ configuration: PostgreSQLConfiguration
    ) throws {
        try metadata.schema.checkIsNotNewer(than: schema, store: configuration.name)
        if metadata.schema == schema { return }
        let steps = try Self.steps(metadata, schema, configuration)
        if let name = steps.catalog.properties.first(where: { property in
            metadata.catalog.properties.first { $0.number == property.number } != property
        })?.name {
            throw PostgreSQLError(
                configuration.location,
                .misfit("The store lacks \(name), or has it otherwise, and is open for reading only"))
        }
        if let name = steps.catalog.entities.first(where: { !metadata.catalog.entities.contains($0) })?.name {
            throw PostgreSQLError(
                configuration.location, .misfit("The store lacks \(name), and is open for reading only"))
        }
    }

    private static func steps(
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
        for stage in plan?.stages ?? [] where stage.hasCode {
            let target = stage.target.versionIdentifier
            if target <= stored.version || schema.version < target { continue }
            if stored.entities.isEmpty { continue }
            throw MigrationError.customStage(
                store: configuration.name, from: stored.version, to: schema.version, stage: target)
        }
        if stored == schema, metadata.schemaNumber > 0 { return }
        var lost: [SchemaLoss.Entity] = []
        for (name, count) in TableMapping(stored, metadata.catalog, .postgreSQL).missing(in: schema) {
            let records = try connection.run(count).rows.first?.integer(0) ?? 0
            lost.append(.init(name: name, records: Int(clamping: records)))
        }
        try SchemaLoss(
            stored: stored.version, opened: schema.version, entities: lost.filter { $0.records > 0 }, properties: []
        ).check(dropping: configuration.dropping, store: configuration.name)
        let steps = try Self.steps(metadata, schema, configuration)
        metadata.catalog = steps.catalog
        metadata.schema = schema
        let making = TableMaking(connection: connection, mapping: TableMapping(schema, steps.catalog, .postgreSQL))
        try making.makeTables()
        for step in steps.steps { try Self.run(step, connection, configuration) }
        // A table whose references are still to be checked cannot get an index.
        try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
        try making.makeIndexes()
        try metadata.write(connection)
    }

    private static func run(
        _ step: SchemaSteps.Step, _ connection: PostgreSQLConnection, _ configuration: PostgreSQLConfiguration
    ) throws {
        func isOne(_ entities: [Int]) -> String {
            "t.\"ent\" IN (\(entities.map(String.init).joined(separator: ", ")))"
        }
        switch step {
        case .fill(let table, let entities, let columns, let value):
            guard let contents = columns.contents(of: value) else {
                throw PostgreSQLError(
                    configuration.location, .unfitValue(record: "the default", property: columns.main))
            }
            var text = SQLText(
                "UPDATE \(SQLName.quoted(table)) AS t SET \(SQLName.quoted(columns.main)) = ", .postgreSQL)
            text.append(value: contents.main)
            if let other = columns.other {
                text.append(", \(SQLName.quoted(other)) = ")
                text.append(.value(contents.other))
            }
            text.append(" WHERE t.\(SQLName.quoted(columns.main)) IS NULL AND \(isOne(entities))")
            _ = try connection.run([.init(text)])
            if columns.kind.mayBeNaN(value) { try connection.run("UPDATE mortise_store SET \"holdsNaN\" = true") }
        case .require(let table, let entities, let column, let property):
            let found = try connection.run(
                "SELECT count(*) FROM \(SQLName.quoted(table)) t WHERE t.\(SQLName.quoted(column)) IS NULL AND \(isOne(entities))"
            )
            let count = found.rows.first?.integer(0) ?? 0
            if count > 0 {
                throw PostgreSQLError(
                    configuration.location,
                    .misfit(
                        "\(property) needs a value, and \(count) records have none. Give it a default, or make it optional"
                    ))
            }
        case .clear(let table, let columns):
            let assignments = columns.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
            try connection.run("UPDATE \(SQLName.quoted(table)) SET \(assignments)")
        case .drop(let links): try connection.run("DROP TABLE IF EXISTS \(SQLName.quoted(links))")
        }
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
