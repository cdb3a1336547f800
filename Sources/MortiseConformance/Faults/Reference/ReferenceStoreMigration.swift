import MortiseCore
import Synchronization

extension VersionedReferenceConfiguration: MigratableConfiguration {
    var allowsMigration: Bool { true }

    private var copying: ReferenceCopying {
        var steps = ReferenceSteps()
        fault?.change(&steps)
        return steps.copying
    }

    func storedSchema() throws -> StoredSchema? {
        storage.state.withLock { state in
            state.original.flatMap { $0.version == state.version ? $0.schema : nil } ?? state.schema
        }
    }

    func beginMigration() throws -> any StoreMigration {
        let copying = copying
        try storage.use.withLock { use throws(ReferenceStoreError) in
            if use.isMigrating || copying.looksForOpenStores && !use.stores.isEmpty { throw .inUse }
            use.isMigrating = true
        }
        return ReferenceStoreMigration(self, copying, isPreview: false)
    }

    func previewMigration() throws -> any StoreMigration {
        let copying = copying
        return ReferenceStoreMigration(self, copying, isPreview: !copying.carriesPreviewsOut)
    }
}

/// A migration of a reference store: the records of another storage, which nobody else has, take the place of the storage's.
final class ReferenceStoreMigration: StoreMigration {
    let storedSchema: StoredSchema
    var advance: (_ records: Int) throws -> Void = { _ in }
    private let configuration: VersionedReferenceConfiguration
    private let copying: ReferenceCopying
    private let isPreview: Bool
    private let before: ReferenceStorage.State
    private let storage: ReferenceStorage
    private var adapted: ReferenceStorage.State
    private var prepared: ReferenceStorage.State?
    private var hasEnded = false

    init(_ configuration: VersionedReferenceConfiguration, _ copying: ReferenceCopying, isPreview: Bool) {
        (self.configuration, self.copying, self.isPreview) = (configuration, copying, isPreview)
        var state = configuration.storage.state.withLock { $0 }
        // What was only looked at under another schema is as it was stored.
        if let original = state.original, original.version == state.version {
            (state.schema, state.records) = (original.schema, original.records)
        }
        state.original = nil
        before = state
        adapted = state
        storedSchema = state.schema ?? StoredSchema(entities: [])
        storage = ReferenceStorage(state, identifier: configuration.storage.identifier)
    }

    private func store(of storage: ReferenceStorage, _ schema: Schema) throws -> VersionedReferenceStore {
        var configuration = VersionedReferenceConfiguration(
            configuration.name, storage: storage, fault: configuration.fault)
        configuration.schema = schema
        return try VersionedReferenceStore(configuration, migrationPlan: nil)
    }

    func frozen(under schema: Schema) throws -> any VersionedDataStore {
        if copying.thawsFrozen { return try working(under: schema) }
        return try store(
            of: ReferenceStorage(storage.state.withLock { $0 }, identifier: storage.identifier), schema)
    }

    func working(under schema: Schema) throws -> any VersionedDataStore { try store(of: storage, schema) }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        let (copying, adapted) = (copying, adapted)
        let (state, loss) = try storage.state.withLock { state in
            if copying.forgetsSaves { state = adapted }
            let loss = try copying.adapt(&state, to: schema)
            return (state, loss)
        }
        self.adapted = state
        try advance(state.records.count)
        if copying.writesAtOnce || copying.carriesPreviewsOut, !isPreview { try write(state) }
        return SchemaLoss(
            stored: loss.stored, opened: loss.opened, entities: loss.entities,
            properties: loss.properties.filter { converted[$0.entity]?.contains($0.name) != true })
    }

    func delete(_ records: [PersistentIdentifier]) throws {
        let copying = copying
        storage.state.withLock { copying.delete(Set(records), from: &$0) }
    }

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        if isPreview { throw DataStoreError.unsupportedFeature }
        if copying.preparesNothing { return }
        try prepare(storage.state.withLock { $0 })
        if copying.switchesEarly, let prepared { try replace(with: prepared) }
    }

    func commit() throws {
        defer { abandon() }
        if copying.preparesNothing { try prepare(storage.state.withLock { $0 }) }
        guard let prepared else { throw DataStoreError.unsupportedFeature }
        if copying.commits { try replace(with: prepared) }
    }

    /// In two operations, of which the second makes it so.
    private func write(_ outcome: ReferenceStorage.State) throws {
        try prepare(outcome)
        if let prepared { try replace(with: prepared) }
    }

    private func prepare(_ outcome: ReferenceStorage.State) throws {
        var outcome = outcome
        copying.finish(&outcome, before)
        prepared = outcome
        // Passing over this failure does no harm: the second operation writes all of it.
        try configuration.storage.medium.withLock { try $0.operate() }
    }

    private func replace(with outcome: ReferenceStorage.State) throws {
        do {
            try writing { medium in try medium.operate { $0 = outcome } }
        } catch {
            if copying.tearsFailedWrites { configuration.storage.medium.withLock { $0.tear(outcome) } }
            throw error
        }
        configuration.storage.state.withLock { $0 = outcome }
    }

    private func writing(_ body: (inout ReferenceStorage.Medium) throws -> Void) throws {
        do {
            try configuration.storage.medium.withLock { try body(&$0) }
        } catch {
            if !copying.swallowsFailedWrites { throw error }
        }
    }

    func abandon() {
        if hasEnded { return }
        hasEnded = true
        if !isPreview, copying.letsGo { configuration.storage.use.withLock { $0.isMigrating = false } }
    }
}

extension ReferenceStorage.Medium {
    /// Has a crash leave a state without its first record.
    fileprivate mutating func tear(_ outcome: ReferenceStorage.State) {
        durable = outcome
        if let first = outcome.records.keys.min() { durable.records[first] = nil }
        images.append(durable)
    }
}
