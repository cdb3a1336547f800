import Foundation
import MortiseCore

struct SecondConfiguration: DataStoreConfiguration {
    typealias Store = SecondStore
    var name = "second"
    var schema: Schema?
}

/// Keeps records by number, and leaves filtering and sorting to the framework.
final class SecondStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = UUID().uuidString
    let schema: Schema
    let configuration: SecondConfiguration
    private var records: [UInt64: DefaultSnapshot] = [:]
    private var next: UInt64 = 1

    init(_ configuration: SecondConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let family = schema.stored.subtree(of: Schema.entityName(for: T.self))
        let found = records.sorted { $0.key < $1.key }.map(\.value)
            .filter { family.contains($0.persistentIdentifier.entityName) }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            let new = PersistentIdentifier.numbered(
                next, storeIdentifier: identifier, entityName: temporary.entityName)
            permanent[temporary] = new
            records[next] = snapshot.copy(persistentIdentifier: new)
            next += 1
        }
        for (place, snapshot) in request.updated.enumerated() {
            let number = snapshot.persistentIdentifier.sequenceNumber ?? 0
            let changed = place < request.changedSlots.count ? request.changedSlots[place] : nil
            var values = records[number]?.values ?? snapshot.values
            for slot in values.indices where changed?.contains(slot) ?? true { values[slot] = snapshot.values[slot] }
            records[number] = DefaultSnapshot(
                persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
        }
        for snapshot in request.deleted {
            records[snapshot.persistentIdentifier.sequenceNumber ?? 0] = nil
        }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
    }
}
