public import Foundation
public import MortiseCore

/// Keeps models in a folder of CSV files, one for each entity, which any spreadsheet opens.
public struct CSVConfiguration: DataStoreConfiguration {
    public typealias Store = CSVStore
    public var name = "csv"
    public var schema: Schema?
    public let folder: URL

    public init(folder: URL) { self.folder = folder }
}

/// A store that reads the whole folder when it is opened and writes the whole folder at every save.
///
/// A save writes the files of the next generation into a folder of their own, which counts as soon as it has its name:
/// the folders are numbered, and the highest number is the latest. A save is thus there whole or not at all, also after
/// the process was killed. It does not wait for the disk, so that it does not claim to be durable.
public final class CSVStore: DataStore {
    public typealias Snapshot = DefaultSnapshot
    public let configuration: CSVConfiguration
    public let schema: Schema
    public var identifier: String { table.storeIdentifier }
    public var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening]) }
    private(set) var table: SnapshotTable
    private var generation: Int

    public init(_ configuration: CSVConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        let files = FileManager.default
        generation = try files.contentsOfDirectory(atPath: configuration.folder.path).compactMap { Int($0) }.max() ?? 0
        let folder = configuration.folder.appending(path: "\(generation)")
        var texts: [String: [[String?]]] = [:]
        for name in generation == 0 ? [] : try files.contentsOfDirectory(atPath: folder.path) {
            guard name.hasSuffix(".csv") else { continue }
            texts[String(name.dropLast(4))] = try CSV.rows(of: folder.appending(path: name))
        }
        table = try SnapshotTable(schema.stored, texts: texts)
    }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try table.fetch(request) }

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var changed = table
        let result = try changed.apply(request)
        let (files, folder) = (FileManager.default, configuration.folder)
        let new = folder.appending(path: "\(generation + 1).new")
        if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
        try files.createDirectory(at: new, withIntermediateDirectories: false)
        for (name, rows) in changed.texts { try CSV.data(rows).write(to: new.appending(path: "\(name).csv")) }
        try files.moveItem(at: new, to: folder.appending(path: "\(generation + 1)"))
        // What is left of older ones is in nobody's way.
        try? files.removeItem(at: folder.appending(path: "\(generation)"))
        (table, generation) = (changed, generation + 1)
        return result
    }
}
