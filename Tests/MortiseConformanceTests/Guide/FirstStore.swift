import Foundation
import MortiseCore

struct FirstConfiguration: DataStoreConfiguration {
    typealias Store = FirstStore
    var name = "first"
    var schema: Schema?
}

/// Takes every save, and keeps nothing.
final class FirstStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = UUID().uuidString
    let schema: Schema
    let configuration: FirstConfiguration

    init(_ configuration: FirstConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        DataStoreSaveChangesResult(for: identifier)
    }
}
