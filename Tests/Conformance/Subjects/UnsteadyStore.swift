import CustomStore
import Foundation
import MortiseConformance
import MortiseCore

/// Opens a store that ends its process, or never answers: proof that the report goes on and names the case.
struct UnsteadyConfiguration: DataStoreConfiguration {
    typealias Store = UnsteadyStore
    var name = "unsteady"
    var schema: Schema?
    let folder: URL
    let hangs: Bool
}

/// The sample's store, which traps or hangs in a save of more than five hundred records.
final class UnsteadyStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: UnsteadyConfiguration
    var capabilities: StoreCapabilities { [.reopening] }
    var schema: Schema { sound.schema }
    var identifier: String { sound.identifier }
    private let sound: CSVStore

    init(_ configuration: UnsteadyConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        var other = CSVConfiguration(folder: configuration.folder)
        other.schema = configuration.schema
        sound = try CSVStore(other, migrationPlan: migrationPlan)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try sound.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if configuration.hangs {
            while request.inserted.count > 500 { Thread.sleep(forTimeInterval: 60) }
        }
        precondition(request.inserted.count <= 500, "too many records")
        return try sound.save(request)
    }

    func close() throws { sound.close() }
}

extension PackageSubjects {
    /// Stores with faults that end the process, or keep it waiting.
    public static let unsteady = [
        ConformanceSubject("CSV folder that traps", folder: { UnsteadyConfiguration(folder: $0, hangs: false) }),
        ConformanceSubject("CSV folder that hangs", folder: { UnsteadyConfiguration(folder: $0, hangs: true) }),
    ]
}
