import MortiseCore

/// A migration that copies a store into a new one, which takes its place.
///
/// A single mapping without code goes from store to store. Whatever else is asked of it needs the records in an engine.
final class CopyingMigration<Configuration: ReplaceableConfiguration>: StoreMigration {
    typealias Store = Configuration.Store

    let storedSchema: StoredSchema
    let keepsIdentifiers: Bool
    private let configuration: Configuration
    private let request: MigrationRequest
    private let isPreview: Bool
    private var store: Store?
    private let identifier: String
    private let transfer: StoreTransfer<Store>
    private let nextNumber: UInt64
    private var counts: [String: Int] = [:]
    /// The records, once they are in memory.
    private var engine: EngineMigration?
    /// What has to be done to the records, as long as they are not.
    private var mapped:
        (schema: StoredSchema, mapping: SchemaMapping, loss: SchemaLoss, converted: [String: Set<String>])?

    var advance: (_ records: Int) throws -> Void = { _ in } {
        didSet { engine?.advance = advance }
    }

    init(of configuration: Configuration, _ request: MigrationRequest, isPreview: Bool) throws {
        (self.configuration, self.request, self.isPreview) = (configuration, request, isPreview)
        let (store, stored) = try configuration.openingUnderStoredSchema { stored in
            let store = try CopyingMigration.open(configuration, stored, request)
            if try configuration.storedSchema() == stored { return (store, stored) }
            try store.close()
            return nil
        }
        (self.store, storedSchema, identifier) = (store, stored, store.identifier)
        transfer = StoreTransfer(store, models: request.models(of: stored))
        do {
            var areNumbered = true
            for entity in stored.entities.map(\.name) {
                let found = try transfer.identifiers(ofEntity: entity)
                counts[entity] = found.count
                areNumbered =
                    areNumbered
                    && found.allSatisfy { $0.sequenceNumber != nil && $0.storeIdentifier == store.identifier }
            }
            keepsIdentifiers = areNumbered && transfer.keepsIdentifiers
            nextNumber = transfer.nextRecordNumber ?? 0
        } catch {
            try? store.close()
            throw error
        }
    }

    deinit { abandon() }

    /// Opens a store under a schema; with the classes of the version that has it, if there is one.
    private static func open(
        _ configuration: Configuration, _ schema: StoredSchema, _ request: MigrationRequest
    ) throws -> Store {
        var configuration = configuration
        configuration.schema = request.schemas.first { $0.stored == schema } ?? Schema(stored: schema)
        try configuration.validate()
        return try Store(configuration, migrationPlan: nil)
    }

    func count(ofEntity name: String) throws -> Int { counts[name] ?? 0 }

    // MARK: Stages

    func frozen(under schema: Schema) throws -> any VersionedDataStore { try inMemory().frozen(under: schema) }

    func working(under schema: Schema) throws -> any VersionedDataStore { try inMemory().working(under: schema) }

    func delete(_ records: [PersistentIdentifier]) throws { try inMemory().delete(records) }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        if engine == nil, mapped == nil {
            let mapping = try SchemaMapping(from: storedSchema, to: schema, store: configuration.name)
            if mapping.goesRecordByRecord(from: storedSchema, to: schema) {
                let loss = try loss(of: mapping, converting: converted)
                mapped = (schema, mapping, loss, converted)
                return loss
            }
        }
        return try inMemory().adapt(to: schema, converting: converted)
    }

    /// Goes through all records to count what a mapping does not take.
    private func loss(of mapping: SchemaMapping, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        var tally = SchemaTally()
        for entity in storedSchema.entities.map(\.name) {
            let next = try transfer.reader(ofEntity: entity, atMost: StoreFilling.readAtOnce)
            while case let records = try next(), !records.isEmpty {
                try advance(records.count)
                for record in records { mapping.count(record.storedValues, ofEntity: entity, in: &tally) }
            }
        }
        let loss = try mapping.loss(tally)
        return SchemaLoss(
            stored: loss.stored, opened: loss.opened, entities: loss.entities,
            properties: loss.properties.filter { converted[$0.entity]?.contains($0.name) != true })
    }

    /// The records in an engine, with what was done to them so far.
    private func inMemory() throws -> EngineMigration {
        if let engine { return engine }
        let loader = RecordLoading(storedSchema, store: configuration.name, identifier: identifier, transfer)
        let version = try loader.version(nextNumber: nextNumber) { try advance($0) }
        let migration =
            isPreview
            ? EngineMigration(previewing: version, named: configuration.name) {}
            : EngineMigration(
                of: version, named: configuration.name,
                EngineMigration.Adapter(
                    note: { _ in },
                    write: { [unowned self] outcome in
                        let copy = StoreFilling.Records(
                            schema: outcome.result.catalog.schema, storeIdentifier: identifier,
                            nextNumber: outcome.result.nextSequence, reader: outcome.result.reader)
                        try replace(with: copy, keepingCopy: outcome.keepsCopy || !outcome.loss.isEmpty)
                    }, release: {}))
        migration.advance = advance
        engine = migration
        if let mapped {
            self.mapped = nil
            _ = try migration.adapt(to: mapped.schema, converting: mapped.converted)
        }
        return migration
    }

    // MARK: The end

    func commit(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        guard store != nil, !isPreview else { throw DataStoreError.unsupportedFeature }
        defer { abandon() }
        guard engine == nil, let mapped else {
            return try inMemory().commit(keepingCopy: keepsCopy, atMost: most)
        }
        let origins = Dictionary(
            storedSchema.entities.map { (mapped.mapping.currentName(ofEntity: $0.name), $0.name) },
            uniquingKeysWith: { first, _ in first })
        let layouts = mapped.schema.recordLayouts()
        let records = StoreFilling.Records(
            schema: mapped.schema, storeIdentifier: identifier, nextNumber: nextNumber
        ) { [transfer] entity, count in
            guard let origin = origins[entity], let layout = layouts[entity] else { return { [] } }
            let next = try transfer.reader(ofEntity: origin, atMost: count)
            return { try next().compactMap { mapped.mapping.map($0, ofEntity: origin, to: layout) } }
        }
        try replace(with: records, keepingCopy: keepsCopy || !mapped.loss.isEmpty)
    }

    /// Makes a store of the records, and puts it into the place of the old one.
    private func replace(with records: StoreFilling.Records, keepingCopy keepsCopy: Bool) throws {
        let sibling = try configuration.sibling()
        do {
            func using(_ body: (StoreTransfer<Store>) throws -> Void) throws {
                let store = try Self.open(sibling, records.schema, request)
                do {
                    try body(StoreTransfer(store, models: request.models(of: records.schema)))
                } catch {
                    try? store.close()
                    throw error
                }
                try store.close()
            }
            var filling = StoreFilling(records, named: configuration.name, keepingIdentifiers: keepsIdentifiers)
            try using { try filling.fill($0) }
            // As the next one to open it sees it.
            try using { try filling.check($0) }
            try configuration.replace(with: sibling, keepingCopy: keepsCopy)
        } catch {
            configuration.discard(sibling)
            throw error
        }
    }

    func abandon() {
        guard let store else { return }
        self.store = nil
        engine?.abandon()
        // What was not changed has nothing to write.
        try? store.close()
    }
}
