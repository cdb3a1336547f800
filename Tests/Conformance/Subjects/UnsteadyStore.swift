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
    let fault: Fault

    enum Fault {
        case trapsInLargeSaves, hangsInLargeSaves, trapsWhenOpenedAgain
    }
}

/// The sample's store, which traps or hangs in a save of more than five hundred records, or traps in an opening that finds
/// anything saved.
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
        if configuration.fault == .trapsWhenOpenedAgain {
            let files = try FileManager.default.contentsOfDirectory(atPath: configuration.folder.path)
            precondition(!files.contains("1"), "there is something in the folder")
        }
        sound = try CSVStore(other, migrationPlan: migrationPlan)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try sound.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if request.inserted.count > 500 {
            while configuration.fault == .hangsInLargeSaves { Thread.sleep(forTimeInterval: 60) }
            precondition(configuration.fault != .trapsInLargeSaves, "too many records")
        }
        return try sound.save(request)
    }

    func close() throws { sound.close() }
}

extension PackageSubjects {
    /// Stores with faults that end the process, or keep it waiting.
    public static let unsteady = [
        ConformanceSubject(
            "CSV folder that traps", folder: { UnsteadyConfiguration(folder: $0, fault: .trapsInLargeSaves) }),
        ConformanceSubject(
            "CSV folder that hangs", folder: { UnsteadyConfiguration(folder: $0, fault: .hangsInLargeSaves) }),
        ConformanceSubject(
            "CSV folder that traps when it is opened again",
            folder: { UnsteadyConfiguration(folder: $0, fault: .trapsWhenOpenedAgain) }),
    ]
}
