#if PostgreSQL
import MortiseCore
import MortiseEngine
import MortiseSQL

/// A migration of a store, which nobody else writes meanwhile.
///
/// What needs no code, and loses nothing, is done in the tables, in one transaction that ends with the migration: the history goes on, and
/// tokens stay. Anything else needs a copy of the records, which is begun when the first of it is due.
final class PostgreSQLMigration: StoreMigration {
    let storedSchema: StoredSchema
    private let configuration: PostgreSQLConfiguration
    private let request: MigrationRequest
    private let turn: MigrationTurn
    /// What the store says of itself after the stages so far.
    private var metadata: StoreMetadata
    /// Takes the place of what was done in the tables.
    private var copying: (any StoreMigration)?
    private var adapted: [StoredSchema] = []
    private var isPrepared = false
    private var isOver = false
    private(set) var copyLocation: String?

    var advance: (_ records: Int) throws -> Void = { _ in } {
        didSet { copying?.advance = advance }
    }

    init(of configuration: PostgreSQLConfiguration, _ request: MigrationRequest) throws {
        (self.configuration, self.request) = (configuration, request)
        turn = try MigrationTurn(configuration, to: request.target)
        metadata = turn.stored
        storedSchema = turn.stored.schema
    }

    deinit { abandon() }

    // MARK: Stages

    var keepsIdentifiers: Bool { copying?.keepsIdentifiers ?? true }

    var isCopy: Bool { copying != nil }

    func count(ofEntity name: String) throws -> Int {
        if let copying { return try copying.count(ofEntity: name) }
        let mapping = TableMapping(storedSchema, turn.stored.catalog, .postgreSQL)
        guard let entity = mapping.entities[name] else { return 0 }
        let found = try turn.connection.run(
            "SELECT count(*) FROM \(SQLName.quoted(entity.table)) t WHERE t.\"ent\" = \(entity.number)")
        return Int(clamping: found.rows.first?.integer(0) ?? 0)
    }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        if copying == nil, converted.isEmpty {
            do {
                if let loss = try change(to: schema) {
                    adapted.append(schema)
                    return loss
                }
            } catch let error as PostgreSQLError {
                switch error.fault {
                // The copy may be brought there, or says better why not.
                case .misfit, .tooManyColumns: break
                default: throw error
                }
            }
        }
        return try copied().adapt(to: schema, converting: converted)
    }

    /// Nil if something would be lost: the tables as they were have to stay.
    private func change(to schema: StoredSchema) throws -> SchemaLoss? {
        guard !isPrepared, !isOver else { throw DataStoreError.unsupportedFeature }
        let connection = turn.connection
        let steps = try PostgreSQLOpening.steps(metadata, schema, configuration)
        let loss = try PostgreSQLOpening.uncheckedLoss(connection, metadata, schema, steps)
        guard loss.unnamed(in: configuration).isEmpty else { return nil }
        // A stage before has had them checked at once.
        try connection.run("SET CONSTRAINTS ALL DEFERRED")
        var next = metadata
        try PostgreSQLOpening.carryOut(steps, connection, &next, to: schema, configuration)
        metadata = next
        return loss
    }

    func frozen(under schema: Schema) throws -> any VersionedDataStore { try copied().frozen(under: schema) }

    func working(under schema: Schema) throws -> any VersionedDataStore { try copied().working(under: schema) }

    func delete(_ records: [PersistentIdentifier]) throws { try copied().delete(records) }

    /// Leaves the tables as they were, and copies the records.
    private func copied() throws -> any StoreMigration {
        if let copying { return copying }
        guard !isPrepared, !isOver else { throw DataStoreError.unsupportedFeature }
        // Also where a statement has failed: nothing else can be done in the transaction then.
        try turn.rollBackWork()
        try TableExchange(turn: turn, places: MigrationPlaces(of: configuration.namespace)).checkForOthers()
        var holding = configuration
        holding.turn = turn
        let migration = try holding.copyingMigration(request)
        copying = migration
        guard migration.storedSchema == storedSchema else {
            throw MigrationError.changedMeanwhile(store: configuration.name)
        }
        migration.advance = advance
        for schema in adapted { try migration.adapt(to: schema) }
        return migration
    }

    // MARK: The end

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        guard !isPrepared, !isOver else { throw DataStoreError.unsupportedFeature }
        if copying != nil || keepsCopy { try copied().prepare(keepingCopy: keepsCopy, atMost: most) }
        // The server says now if it has lost the transaction, and with it the locks.
        try turn.connection.run("SELECT 1")
        isPrepared = true
    }

    func commit() throws {
        guard isPrepared, !isOver else { throw DataStoreError.unsupportedFeature }
        defer { abandon() }
        if let copying {
            try copying.commit()
            copyLocation = copying.copyLocation
        } else {
            try turn.commit()
        }
    }

    func abandon() {
        if isOver { return }
        isOver = true
        copying?.abandon()
        copying = nil
        turn.end()
    }
}

/// A look at what `PostgreSQLMigration` would do: the records are those of a copy in either case, which is needed where code is due, where
/// something is lost, or where tables cannot be brought to a schema.
final class PostgreSQLPreview: StoreMigration {
    private let copying: any StoreMigration
    private let configuration: PostgreSQLConfiguration
    /// Where the tables themselves are by now; nil once a copy is needed.
    private var metadata: StoreMetadata?

    init(of configuration: PostgreSQLConfiguration, _ copying: any StoreMigration) throws {
        self.configuration = configuration
        self.copying = copying
        let connection = try PostgreSQLConnection(configuration)
        defer { connection.close() }
        let metadata = try StoreMetadata(connection)
        self.metadata = metadata.schema == copying.storedSchema ? metadata : nil
    }

    var storedSchema: StoredSchema { copying.storedSchema }

    var isCopy: Bool { metadata == nil }

    var keepsIdentifiers: Bool { isCopy ? copying.keepsIdentifiers : true }

    var advance: (_ records: Int) throws -> Void {
        get { copying.advance }
        set { copying.advance = newValue }
    }

    func count(ofEntity name: String) throws -> Int { try copying.count(ofEntity: name) }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        let known = metadata
        metadata = nil
        let loss = try copying.adapt(to: schema, converting: converted)
        guard var known, converted.isEmpty, loss.unnamed(in: configuration).isEmpty,
            let steps = try? PostgreSQLOpening.steps(known, schema, configuration)
        else { return loss }
        known.catalog = steps.catalog
        known.schema = schema.keepingNames(of: known.schema)
        metadata = known
        return loss
    }

    func frozen(under schema: Schema) throws -> any VersionedDataStore {
        metadata = nil
        return try copying.frozen(under: schema)
    }

    func working(under schema: Schema) throws -> any VersionedDataStore {
        metadata = nil
        return try copying.working(under: schema)
    }

    func delete(_ records: [PersistentIdentifier]) throws {
        metadata = nil
        try copying.delete(records)
    }

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws { throw DataStoreError.unsupportedFeature }

    func commit() throws { throw DataStoreError.unsupportedFeature }

    func abandon() { copying.abandon() }
}
#endif
