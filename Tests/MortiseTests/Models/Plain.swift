import Foundation
import Mortise

struct PlainConfiguration: DataStoreConfiguration {
    typealias Store = PlainStore
    var name = "plain"
    var schema: Schema?
}

/// A store of SwiftData's shape that declines all it may: no plans, no versions, no conditions, no order.
final class PlainStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = UUID().uuidString
    let schema: Schema
    let configuration: PlainConfiguration
    private var records: [PersistentIdentifier: DefaultSnapshot] = [:]
    private var lastKey = 0

    init(_ configuration: PlainConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        (self.schema, self.configuration) = (schema, configuration)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let entities = schema.stored.subtree(of: Schema.entityName(for: T.self))
        let found = records.values.filter { entities.contains($0.persistentIdentifier.entityName) }
            .sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            lastKey += 1
            permanent[snapshot.persistentIdentifier] = try .identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: lastKey)
        }
        for snapshot in request.inserted + request.updated {
            let key = permanent[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            records[key] = snapshot.copy(persistentIdentifier: key, remappedIdentifiers: permanent)
        }
        for snapshot in request.deleted { records[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
    }
}
