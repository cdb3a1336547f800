import CustomStore
import Foundation
import MortiseConformance
import MortiseCore

/// Opens a store that writes to standard output: proof that the kit takes none of that for its own.
struct LoggingConfiguration: DataStoreConfiguration {
    typealias Store = LoggingStore
    var name = "logging"
    var schema: Schema?
    let folder: URL
}

/// The sample's store, which logs what it does: whole lines, and lines that begin before a call and end after it.
final class LoggingStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: LoggingConfiguration
    var capabilities: StoreCapabilities { [.reopening, .closing] }
    var schema: Schema { sound.schema }
    var identifier: String { sound.identifier }
    private let sound: CSVStore

    init(_ configuration: LoggingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        Self.log("done opening \(configuration.folder.lastPathComponent)\nbegin to read")
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
        Self.log("save \(request.inserted.count) …")
        let result = try sound.save(request)
        Self.log(" saved, done ")
        return result
    }

    func close() throws {
        Self.log("close …")
        sound.close()
    }

    /// At once, as a buffer does that is full.
    private static func log(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}

extension PackageSubjects {
    /// A right store that writes to standard output.
    public static let logging = ConformanceSubject(
        "CSV folder that logs", folder: { LoggingConfiguration(folder: $0) })
}
