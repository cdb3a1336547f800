#if SQLite
import CSQLite
import Foundation
import MortiseCore
import MortiseEngine
import MortiseSQL

/// Opens a file, and brings it to a schema.
struct SQLiteOpening {
    let metadata: StoreMetadata
    let mapping: TableMapping
    let pool: ConnectionPool
    let lastTransaction: Int64
    /// Nil for a store that is open for reading only.
    let lock: OpeningLock?

    init(
        _ configuration: SQLiteConfiguration, _ schema: StoredSchema, _ plan: (any SchemaMigrationPlan.Type)?
    ) throws {
        let path = OpenPlace.absolute(configuration.path)
        if !Self.exists(path) {
            guard configuration.allowsSave else { throw SQLiteError(path, .missing) }
            try Self.create(path, pageSize: configuration.pageSize)
        }
        lock = try configuration.allowsSave ? OpeningLock(path, isExclusive: configuration.isExclusive) : nil
        let connection = try SQLiteConnection(
            path, configuration.allowsSave ? .readWrite : .readOnly, busyTimeout: configuration.busyTimeout)
        do {
            var metadata = try StoreMetadata(connection)
            if configuration.allowsSave {
                try connection.prepareForWriting(configuration)
                try connection.transaction(writes: true) {
                    // Others may have been here since.
                    metadata = try StoreMetadata(connection)
                    try Self.adapt(connection, &metadata, to: schema, plan, configuration)
                }
            } else {
                try Self.checkReadable(metadata, as: schema, configuration)
            }
            mapping = TableMapping(schema, metadata.catalog)
            self.metadata = metadata
            lastTransaction = try StoreMetadata.lastTransaction(connection)
            pool = try ConnectionPool(
                path, writer: configuration.allowsSave ? connection : nil, busyTimeout: configuration.busyTimeout,
                cacheBytes: configuration.cacheBytes, readers: configuration.readers)
            if !configuration.allowsSave { connection.close() }
        } catch {
            connection.close()
            throw error
        }
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Makes the file of a new store under another name, which it keeps until its tables are there: no other process finds half of
    /// it. Unlike a move, a link never replaces what another process has made meanwhile.
    private static func create(_ path: String, pageSize: Int64?) throws {
        let new = "\(path).\(UUID().uuidString).new"
        defer { unlink(new) }
        let connection = try SQLiteConnection(new, .create, busyTimeout: .zero)
        defer { connection.close() }
        if let pageSize { try connection.run("PRAGMA page_size = \(pageSize)") }
        // Without a log beside it, the file is whole when it gets its name.
        try connection.run("PRAGMA synchronous = FULL")
        try connection.transaction(writes: true) { try StoreMetadata.create(connection) }
        connection.close()
        _ = try name(new, path)
    }

    /// Gives a file the name of a store, unless there is something already.
    /// - Returns: whether it has the name.
    static func name(_ file: String, _ path: String) throws -> Bool {
        if link(file, path) == 0 { return true }
        if errno == EEXIST { return false }
        throw SQLiteError(
            path,
            .engine(
                code: errno == EACCES || errno == EPERM ? SQLITE_PERM : SQLITE_CANTOPEN,
                message: "the file cannot be made: \(String(cString: strerror(errno)))"))
    }

    /// A store that is open for reading only cannot be brought to another schema.
    private static func checkReadable(
        _ metadata: StoreMetadata, as schema: StoredSchema, _ configuration: SQLiteConfiguration
    ) throws {
        try metadata.schema.checkIsNotNewer(than: schema, store: configuration.name)
        if metadata.schema == schema { return }
        let steps = try Self.steps(metadata, schema, configuration)
        if let name = steps.catalog.properties.first(where: { property in
            metadata.catalog.properties.first { $0.number == property.number } != property
        })?.name {
            throw SQLiteError(
                configuration.path,
                .misfit("The store lacks \(name), or has it otherwise, and is open for reading only"))
        }
        if let name = steps.catalog.entities.first(where: { !metadata.catalog.entities.contains($0) })?.name {
            throw SQLiteError(
                configuration.path, .misfit("The store lacks \(name), and is open for reading only"))
        }
    }

    private static func steps(
        _ metadata: StoreMetadata, _ schema: StoredSchema, _ configuration: SQLiteConfiguration
    ) throws -> SchemaSteps {
        do {
            return try SchemaSteps(from: metadata.schema, to: schema, metadata.catalog)
        } catch {
            throw SQLiteError(configuration.path, .misfit(error.text))
        }
    }

    private static func adapt(
        _ connection: SQLiteConnection, _ metadata: inout StoreMetadata, to schema: StoredSchema,
        _ plan: (any SchemaMigrationPlan.Type)?, _ configuration: SQLiteConfiguration
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
        for (name, count) in TableMapping(stored, metadata.catalog).missing(in: schema) {
            try connection.run(count) { lost.append(.init(name: name, records: Int(clamping: $0.integer(0)))) }
        }
        try SchemaLoss(
            stored: stored.version, opened: schema.version, entities: lost.filter { $0.records > 0 }, properties: []
        ).check(dropping: configuration.dropping, store: configuration.name)
        try bring(connection, &metadata, to: schema, configuration)
    }

    /// Brings tables and records to a schema.
    static func bring(
        _ connection: SQLiteConnection, _ metadata: inout StoreMetadata, to schema: StoredSchema,
        _ configuration: SQLiteConfiguration
    ) throws {
        let steps = try Self.steps(metadata, schema, configuration)
        metadata.catalog = steps.catalog
        metadata.schema = schema
        let making = TableMaking(connection: connection, mapping: TableMapping(schema, steps.catalog))
        try making.makeTables()
        for step in steps.steps { try Self.run(step, connection, configuration) }
        try making.makeIndexes()
        try metadata.write(connection)
    }

    private static func run(
        _ step: SchemaSteps.Step, _ connection: SQLiteConnection, _ configuration: SQLiteConfiguration
    ) throws {
        func isOne(_ entities: [Int]) -> String {
            "t.\"ent\" IN (\(entities.map(String.init).joined(separator: ", ")))"
        }
        switch step {
        case .fill(let table, let entities, let columns, let value):
            guard let contents = columns.contents(of: value) else {
                throw SQLiteError(
                    configuration.path, .unfitValue(record: "the default", property: columns.main))
            }
            var assignments = ["\(SQLName.quoted(columns.main)) = ?"]
            var values = [contents.main]
            if let other = columns.other {
                assignments.append("\(SQLName.quoted(other)) = ?")
                values.append(contents.other)
            }
            try connection.run(
                "UPDATE \(SQLName.quoted(table)) AS t SET \(assignments.joined(separator: ", ")) "
                    + "WHERE t.\(SQLName.quoted(columns.main)) IS NULL AND \(isOne(entities))", values)
            if columns.kind.mayBeNaN(value) { try connection.run("UPDATE mortise_store SET holdsNaN = 1") }
        case .require(let table, let entities, let column, let property):
            var count: Int64 = 0
            try connection.run(
                "SELECT count(*) FROM \(SQLName.quoted(table)) t WHERE t.\(SQLName.quoted(column)) IS NULL AND \(isOne(entities))"
            ) { count = $0.integer(0) }
            if count > 0 {
                throw SQLiteError(
                    configuration.path,
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

extension StorageKind {
    /// Whether a value of the kind is NaN.
    func mayBeNaN(_ value: StoredValue) -> Bool {
        switch value {
        case .double(let number): number.isNaN
        case .float(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}

extension SQLiteConnection {
    /// How a connection writes.
    func prepareForWriting(_ configuration: SQLiteConfiguration) throws {
        try run("PRAGMA journal_mode = WAL")
        let level =
            switch configuration.durability {
            case .full: "FULL"
            case .system: "NORMAL"
            case .none: "OFF"
            }
        try run("PRAGMA synchronous = \(level)")
        try run("PRAGMA journal_size_limit = \(configuration.walLimit)")
        try run("PRAGMA cache_size = -\(max(configuration.cacheBytes / 1_024, 1))")
    }
}
#endif
