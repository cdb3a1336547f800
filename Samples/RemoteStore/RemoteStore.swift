#if RemoteStore
import Foundation
import MortiseCore

/// Keeps models in a store at a service.
struct RemoteConfiguration: DataStoreConfiguration {
    typealias Store = RemoteStore
    var name = "remote"
    var schema: Schema?
    let service: URL
    /// The store's name at the service.
    let store: String
    var timeout = 10.0

    init(_ service: URL, store: String, timeout: Double = 10) {
        self.service = service
        self.store = store
        self.timeout = timeout
    }
}

/// A store at the other end of a connection. It keeps nothing here, so that it may be called from any thread.
final class RemoteStore: DataStore, Sendable {
    typealias Snapshot = DefaultSnapshot
    let configuration: RemoteConfiguration
    let schema: Schema
    let identifier: String
    var capabilities: StoreCapabilities { [.reopening, .erase, .concurrency] }
    private let connection: RemoteConnection
    private let layouts: [String: RecordLayout]

    /// - Throws: `RemoteStoreError` where the service is not there, and for a schema that renames a property.
    init(_ configuration: RemoteConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
        layouts = schema.stored.recordLayouts()
        for property in schema.stored.entities.flatMap(\.properties) where property.originalName != property.name {
            throw RemoteStoreError.renamed(property: property.name, from: property.originalName)
        }
        connection = RemoteConnection(configuration.service, timeout: configuration.timeout)
        identifier = try connection.ask("\(configuration.store)/about", true, for: String.self)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let entities = schema.stored.subtree(of: Schema.entityName(for: T.self))
        let slots = entities.flatMap { layouts[$0]?.slots ?? [] }.filter { $0.role == .toManyDerived }
        let derived = slots.compactMap { slot in
            slot.property.relationship?.inverse.map { RemoteQuestion.Derived(property: slot.name, inverse: $0) }
        }
        let records = try connection.ask(
            "\(configuration.store)/fetch", RemoteQuestion(entities: entities, derived: derived),
            for: [RemoteRecord].self)
        let found = try records.map(snapshot)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    private func snapshot(_ record: RemoteRecord) throws -> DefaultSnapshot {
        guard let layout = layouts[record.identifier.entityName] else {
            throw RemoteStoreError.notUnderstood(
                service: configuration.service.absoluteString,
                reason: "there is no entity \(record.identifier.entityName)")
        }
        let values = try layout.slots.map { slot -> StoredValue in
            let value = record.values[slot.name] ?? .null
            if slot.role == .attribute, !slot.fits(value) {
                throw RemoteStoreError.notUnderstood(
                    service: configuration.service.absoluteString,
                    reason: "\(layout.entityName).\(slot.name) is \(value), which its type does not know")
            }
            return value
        }
        return DefaultSnapshot(
            persistentIdentifier: record.identifier, layout: layout, values: ContiguousArray(values))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let changes = RemoteChanges(
            key: UUID(), inserted: request.inserted.map(RemoteRecord.init),
            updated: request.updated.map(RemoteRecord.init),
            deleted: request.deleted.map(\.persistentIdentifier))
        let saved = try connection.ask("\(configuration.store)/save", changes, for: RemoteSaved.self)
        let pairs = saved.pairs.map { ($0.temporary, $0.permanent) }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
    }

    func erase() throws { _ = try connection.ask("\(configuration.store)/erase", true, for: Bool.self) }
}

extension RemoteRecord {
    init(_ snapshot: DefaultSnapshot) {
        let values = zip(snapshot.layout.slots, snapshot.values).map { ($0.name, $1) }
        self.init(
            identifier: snapshot.persistentIdentifier,
            values: Dictionary(values, uniquingKeysWith: { first, _ in first }))
    }
}

extension RecordLayout.Slot {
    /// Whether a value that came from elsewhere is one of the property's type.
    fileprivate func fits(_ value: StoredValue) -> Bool {
        switch (property.attribute?.kind, value) {
        case (_, .null): property.isOptional
        case (.bool, .bool), (.uint64, .unsigned), (.float, .float), (.double, .double), (.decimal, .decimal),
            (.string, .string), (.data, .data), (.date, .date), (.uuid, .uuid), (.url, .url), (.coded, _):
            true
        case (.int8, .integer), (.int16, .integer), (.int32, .integer), (.int64, .integer), (.uint8, .integer),
            (.uint16, .integer), (.uint32, .integer):
            true
        default: false
        }
    }
}
#endif
