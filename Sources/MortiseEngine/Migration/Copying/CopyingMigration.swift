import MortiseCore

/// A migration that copies a store into a new one, which takes its place.
///
/// A single mapping without code goes from store to store. Whatever else is asked of it needs the records in an engine.
final class CopyingMigration<Configuration: ReplaceableConfiguration>: StoreMigration {
    typealias Store = Configuration.Store

    let storedSchema: StoredSchema
    let keepsIdentifiers: Bool
    let isCopy = true
    private(set) var copyLocation: String?
    private let configuration: Configuration
    private let request: MigrationRequest
    private let isPreview: Bool
    private var store: Store?
    private let identifier: String
    private let transfer: StoreTransfer<Store>
    private let nextNumber: UInt64
    /// The number of the version that is copied, where versions have numbers.
    private let versionNumber: UInt64?
    /// By entity, the identifiers of the records that are copied, in order.
    private let identifiers: [String: [PersistentIdentifier]]
    /// By entity and property, references to records that the store does not have, which are left out.
    private var dangling: [String: [String: Int]] = [:]
    /// Whether they have been told as a loss.
    private var told = false
    /// The records, once they are in memory.
    private var engine: EngineMigration?
    /// The new store, if it was made without an engine.
    private var prepared: EngineMigration.Prepared?
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
            do {
                if try configuration.storedSchema() == stored { return (store, stored) }
            } catch {
                try? store.close()
                throw error
            }
            try store.close()
            return nil
        }
        (self.store, storedSchema, identifier) = (store, stored, store.identifier)
        transfer = StoreTransfer(store, models: request.models(of: stored))
        do {
            versionNumber = transfer.versionNumber
            var identifiers: [String: [PersistentIdentifier]] = [:]
            for entity in stored.entities.map(\.name) {
                identifiers[entity] = try transfer.identifiers(ofEntity: entity)
            }
            self.identifiers = identifiers
            let areNumbered = identifiers.values.allSatisfy { found in
                found.allSatisfy { $0.sequenceNumber != nil && $0.storeIdentifier == store.identifier }
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

    func count(ofEntity name: String) throws -> Int { identifiers[name]?.count ?? 0 }

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
                told = true
                return loss
            }
        }
        let migration = try inMemory()
        let loss = try migration.adapt(to: schema, converting: converted)
        defer { told = true }
        return told ? loss : withDangling(loss)
    }

    private func exists(_ record: PersistentIdentifier) -> PersistentIdentifier? {
        identifiers[record.entityName]?.containsSorted(record) == true ? record : nil
    }

    private func withDangling(_ loss: SchemaLoss) -> SchemaLoss {
        SchemaLoss(
            stored: loss.stored, opened: loss.opened, entities: loss.entities,
            properties: loss.properties
                + dangling.sorted { $0.key < $1.key }.flatMap { entity, counts in
                    counts.sorted { $0.key < $1.key }.map {
                        SchemaLoss.Property(entity: entity, name: $0.key, values: $0.value)
                    }
                })
    }

    /// Goes through all records to count what a mapping does not take.
    private func loss(of mapping: SchemaMapping, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        var tally = SchemaTally()
        dangling = [:]
        for entity in storedSchema.entities.map(\.name) {
            let next = reader(ofEntity: entity, atMost: StoreFilling.readAtOnce)
            while case let records = try next(), !records.isEmpty {
                try advance(records.count)
                for record in records {
                    let values = try record.storedValues(leading: exists, store: configuration.name) {
                        dangling[entity, default: [:]][$0, default: 0] += 1
                    }
                    mapping.count(values, ofEntity: entity, in: &tally)
                }
            }
        }
        let loss = try mapping.loss(tally)
        return withDangling(
            SchemaLoss(
                stored: loss.stored, opened: loss.opened, entities: loss.entities,
                properties: loss.properties.filter { converted[$0.entity]?.contains($0.name) != true }))
    }

    private func reader(ofEntity entity: String, atMost count: Int) -> () throws -> [DefaultSnapshot] {
        transfer.reader(of: identifiers[entity] ?? [], ofEntity: entity, atMost: count)
    }

    /// The records in an engine, with what was done to them so far.
    private func inMemory() throws -> EngineMigration {
        if let engine { return engine }
        let scratch = (configuration as? any ScratchProviding).map { provider in { @Sendable in try provider.scratch() }
        }
        let loader = RecordLoading(
            storedSchema, store: configuration.name, identifier: identifier, transfer,
            spillingTo: isPreview ? nil : scratch.map { ChunkSpill($0) })
        dangling = [:]
        let version = try loader.version(
            of: identifiers, nextNumber: nextNumber, clear: { dangling[$0, default: [:]][$1, default: 0] += 1 },
            { try advance($0) })
        let migration =
            isPreview
            ? EngineMigration(previewing: version, named: configuration.name) {}
            : EngineMigration(
                of: version, named: configuration.name,
                EngineMigration.Adapter(
                    note: { _ in },
                    prepare: { [unowned self] outcome in
                        let copy = StoreFilling.Records(
                            schema: outcome.result.catalog.schema, storeIdentifier: identifier,
                            nextNumber: outcome.result.nextSequence, reader: outcome.result.reader)
                        return try prepare(
                            copy, keepingCopy: outcome.keepsCopy, atMost: outcome.mostCopies,
                            losing: withDangling(outcome.loss))
                    }, scratch: scratch, release: {}))
        migration.advance = advance
        engine = migration
        if let mapped {
            self.mapped = nil
            _ = try migration.adapt(to: mapped.schema, converting: mapped.converted)
        }
        return migration
    }

    // MARK: The end

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        guard store != nil, !isPreview, prepared == nil else { throw DataStoreError.unsupportedFeature }
        guard engine == nil, let mapped else {
            return try inMemory().prepare(keepingCopy: keepsCopy, atMost: most)
        }
        let origins = Dictionary(
            storedSchema.entities.map { (mapped.mapping.currentName(ofEntity: $0.name), $0.name) },
            uniquingKeysWith: { first, _ in first })
        let layouts = mapped.schema.recordLayouts()
        let records = StoreFilling.Records(
            schema: mapped.schema, storeIdentifier: identifier, nextNumber: nextNumber
        ) { [self] entity, count in
            guard let origin = origins[entity], let layout = layouts[entity] else { return { [] } }
            let next = reader(ofEntity: origin, atMost: count)
            return { [self] in
                try next().compactMap { record in
                    let values = try record.storedValues(leading: exists, store: configuration.name) { _ in }
                    return mapped.mapping.map(record, values, ofEntity: origin, to: layout)
                }
            }
        }
        prepared = try prepare(records, keepingCopy: keepsCopy, atMost: most, losing: mapped.loss)
    }

    /// Makes a store of the records.
    /// - Returns: what puts it into the place of the old one, or removes it.
    private func prepare(
        _ records: StoreFilling.Records, keepingCopy keepsCopy: Bool, atMost most: Int?, losing loss: SchemaLoss
    ) throws -> EngineMigration.Prepared {
        let sibling = try configuration.sibling()
        let keepsCopy = keepsCopy || !loss.isEmpty || !keepsIdentifiers || transfer.keepsHistory
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
            guard try sibling.storedSchema() == records.schema else {
                throw ModelContextError.storeContract(
                    store: configuration.name,
                    fault:
                        "The new store that was to replace it says that it has another schema than it was written with."
                )
            }
            try checkForChanges()
        } catch {
            configuration.discard(sibling)
            throw error
        }
        return EngineMigration.Prepared(
            commit: { [unowned self] in
                do {
                    // Other stores of the container may have taken long meanwhile.
                    try checkForChanges()
                } catch {
                    configuration.discard(sibling)
                    throw error
                }
                // If that fails, the sibling may be all that there is: the next migration removes it once it sees the store.
                try configuration.replace(with: sibling, keepingCopy: keepsCopy)
                if keepsCopy { copyLocation = configuration.newestCopy() }
                if let most {
                    configuration.removeCopies(exceptNewest: most)
                    if most <= 0 { copyLocation = nil }
                }
                if !loss.isEmpty {
                    StoreEvents.emit(.schemaLoss(store: configuration.name, loss: loss, copy: copyLocation))
                }
            }, discard: { [configuration] in configuration.discard(sibling) })
    }

    func commit() throws {
        guard store != nil else { throw DataStoreError.unsupportedFeature }
        guard engine != nil || prepared != nil else { throw DataStoreError.unsupportedFeature }
        defer { abandon() }
        guard let prepared else { return try inMemory().commit() }
        self.prepared = nil
        try prepared.commit()
    }

    /// - Throws: `MigrationError.changedMeanwhile` if the store does not hold what was copied.
    private func checkForChanges() throws {
        let isSame =
            try configuration.storedSchema() == storedSchema && transfer.storeIdentifier == identifier
            && transfer.versionNumber == versionNumber && (transfer.nextRecordNumber ?? 0) == nextNumber
            && storedSchema.entities.allSatisfy {
                try transfer.identifiers(ofEntity: $0.name) == identifiers[$0.name]
            }
        if !isSame { throw MigrationError.changedMeanwhile(store: configuration.name) }
    }

    func abandon() {
        guard let store else { return }
        self.store = nil
        prepared?.discard()
        prepared = nil
        engine?.abandon()
        // What was not changed has nothing to write.
        try? store.close()
    }
}
