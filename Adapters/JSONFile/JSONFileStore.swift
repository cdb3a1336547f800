public import MortiseCore
public import MortiseEngine
import Synchronization

/// The engine over one JSON file, which every save replaces whole and durably.
///
/// Opened for writing it holds the lock of the file against other processes; opened again in this process with equal
/// options it is the same store. What is damaged or not understood in the file is a typed error, and the file stays as
/// it is.
public final class JSONFileStore: EngineDataStore {
    public typealias Snapshot = DefaultSnapshot
    public typealias Configuration = JSONFileConfiguration

    public let configuration: JSONFileConfiguration
    public let schema: Schema
    public let engine: Engine
    public var allowsSave: Bool { configuration.allowsSave }
    private let isClosed = Atomic(false)

    /// - Throws: `FileError` (`locked` with the holder's process where another one writes the file),
    ///   `JSONFileError` for what is wrong with the text, `EngineError.schemaMismatch`,
    ///   `EngineError.openWithOtherOptions`, `DataStoreError.unsupportedFeature` without a schema,
    ///   `MigrationError` where the plan has code to run before this file is of the schema.
    public init(_ configuration: JSONFileConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        try configuration.checkStages(of: migrationPlan)
        engine = try OpenJSONFiles.shared.engine(for: configuration, schema: schema.stored)
    }

    deinit { try? close() }

    public var capabilities: StoreCapabilities { engineCapabilities.union([.durability]) }

    /// Gives the file free, unless another store of this process has it open too. Closing twice does nothing.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try OpenJSONFiles.shared.close(engine)
    }

    /// Checks a file that was edited by hand and seals it anew.
    ///
    /// Everything is checked before anything is written; afterwards the file is in canonical form.
    /// - Throws: `JSONFileError` for what is wrong, with line and column, the file untouched; `ExternalValueError` for a value
    ///   in a file of its own that is not there, or not what the text says; `FileError`.
    public static func reseal(_ path: String, in fileSystem: any FileSystem = POSIXFileSystem()) throws {
        let lock = try FileLock(forStoreAt: path, in: fileSystem)
        defer { lock.release() }
        let (bytes, identity) = try fileSystem.readWhole(path, limit: JSONFileConfiguration.largestFile)
        // What a text alone cannot tell: that unique values are.
        let external = ExternalFiles(beside: try fileSystem.resolvingLinks(path), in: fileSystem)
        let version = try JSONFileError.naming(path) { try JSONFile.load(bytes, .acceptEdits, external) }
        try version.forEachReference { table, slot, row, reference in
            do throws(ExternalFileFault) {
                try external.check(reference)
            } catch {
                throw version.error(error, table, slot, row)
            }
        }
        let replacement = DurableReplacement(of: path, in: fileSystem)
        try replacement.replace(expecting: identity) { writer in
            try JSONFileError.naming(path) {
                try bytes.withUnsafeBytes { buffer in try StoreDocument.reseal(buffer) { try writer.append($0) } }
            }
        }
    }
}

/// The JSON files that are open in this process: a file has one engine, however often it is opened.
final class OpenJSONFiles: Sendable {
    static let shared = OpenJSONFiles()

    private let engines = OpenStores<Engine, JSONFileConfiguration>()

    func engine(for configuration: JSONFileConfiguration, schema: StoredSchema) throws -> Engine {
        let place = try OpenPlace(of: configuration.path, in: configuration.fileSystem)
        return try engines.open(place, options: configuration, areEqual: { $0.hasSameOptions(as: $1) }) {
            try JSONFile.open(configuration, at: place.place.path, schema: schema)
        }
    }

    /// Closes the engine when its last user does.
    func close(_ engine: Engine) throws { try engines.close(engine) { try engine.close() } }
}
