#if SQLite
import Foundation
import MortiseCore
import MortiseSQL

/// The way of a store from the schema that it has to another one.
struct StoreChange {
    let steps: SchemaSteps
    private let old: StoredSchema
    private let new: StoredSchema
    private let counting: LossCounting
    private let configuration: SQLiteConfiguration

    /// - Throws: `SQLiteError`, `.misfit` for what records cannot be brought to.
    init(_ metadata: StoreMetadata, to schema: StoredSchema, _ configuration: SQLiteConfiguration) throws {
        do {
            steps = try SchemaSteps(from: metadata.schema, to: schema, metadata.catalog)
        } catch {
            throw SQLiteError(configuration.path, .misfit(error.text))
        }
        (old, new, self.configuration) = (metadata.schema, schema, configuration)
        counting = LossCounting(
            from: TableMapping(metadata.schema, metadata.catalog), to: TableMapping(schema, steps.catalog))
    }

    /// The schema to come to.
    var target: StoredSchema { new }

    /// Counts what the schema lacks of what is stored.
    func loss(_ connection: SQLiteConnection) throws -> SchemaLoss {
        try counting.loss { statement in
            var found: [(entity: Int, count: Int)] = []
            try connection.run(statement.text, statement.values) {
                found.append((Int(clamping: $0.integer(0)), Int(clamping: $0.integer(1))))
            }
            return found
        }
    }

    /// What the schema lacks, where it may lack that.
    /// - Throws: `MigrationError`.
    func checkedLoss(_ connection: SQLiteConnection) throws -> SchemaLoss {
        let loss = try loss(connection)
        try loss.check(dropping: configuration.dropping, store: configuration.name)
        try loss.checkOrigins(from: old, to: new, dropping: configuration.dropping, store: configuration.name)
        return loss
    }

    /// Makes sure that records are as the schema has them already, of a store that is open for reading only.
    /// - Throws: `SQLiteError`, `.misfit` if they would have to change.
    func checkNothingIsDue(_ connection: SQLiteConnection) throws {
        for step in steps.steps {
            guard let statement = step.counting(.sqlite) else { continue }
            var count: Int64 = 0
            try connection.run(statement.text, statement.values) { count = $0.integer(0) }
            if let misfit = step.misfitOfReader(count) { throw SQLiteError(configuration.path, .misfit(misfit.text)) }
        }
    }

    /// Brings tables and records to the schema, within a transaction.
    func carryOut(_ connection: SQLiteConnection, _ metadata: inout StoreMetadata) throws {
        metadata.catalog = steps.catalog
        metadata.schema = new.keepingNames(of: old)
        let making = TableMaking(connection: connection, mapping: TableMapping(new, steps.catalog))
        try making.makeTables()
        for step in steps.steps {
            do {
                let statement = try step.statement(.sqlite)
                var count: Int64 = 0
                try connection.run(statement.text, statement.values) { count = $0.integer(0) }
                if let misfit = step.misfit(count) { throw misfit }
            } catch let misfit as SchemaMisfit {
                throw SQLiteError(configuration.path, .misfit(misfit.text))
            }
            if step.makesNaN { try connection.run("UPDATE mortise_store SET holdsNaN = 1") }
        }
        try making.makeIndexes()
        try metadata.write(connection)
    }
}
#endif
