import CustomStore
import Foundation
import MortiseConformance
import MortiseCore

/// Opens a store that acknowledges a save before it has written it: proof that killed processes show such a one.
struct LateConfiguration: DataStoreConfiguration {
    typealias Store = LateStore
    var name = "late"
    var schema: Schema?
    let folder: URL
}

/// The sample's store, whose saves are written when the next one comes, or when it is closed.
final class LateStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: LateConfiguration
    var capabilities: StoreCapabilities { [.closing, .durability] }
    var schema: Schema { shown.schema }
    var identifier: String { shown.identifier }
    private let shown: CSVStore
    private let memory: URL

    init(_ configuration: LateConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        memory = FileManager.default.temporaryDirectory.appending(path: "late-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: configuration.folder, to: memory)
        var inMemory = CSVConfiguration(folder: memory)
        inMemory.schema = configuration.schema
        shown = try CSVStore(inMemory, migrationPlan: nil)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try shown.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try write()
        return try shown.save(request)
    }

    func close() throws {
        guard FileManager.default.fileExists(atPath: memory.path) else { return }
        try write()
        shown.close()
        try FileManager.default.removeItem(at: memory)
    }

    /// A generation comes whole or not at all, as the sample's own: the one fault is that it comes late.
    private func write() throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: memory.path) {
            let target = configuration.folder.appending(path: name)
            if files.fileExists(atPath: target.path) { continue }
            let new = configuration.folder.appending(path: "\(name).late")
            if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
            try files.copyItem(at: memory.appending(path: name), to: new)
            try files.moveItem(at: new, to: target)
        }
    }
}

extension PackageSubjects {
    /// A store with a fault that only killed processes show.
    public static let late = ConformanceSubject(
        "CSV folder that writes late", folder: { LateConfiguration(folder: $0) })
}
