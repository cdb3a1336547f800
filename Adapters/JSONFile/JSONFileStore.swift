public import MortiseCore
public import MortiseEngine
import Synchronization

/// The engine over one JSON file, which every save replaces whole and durably.
///
/// Opened for writing it holds the lock of the file against other processes; opened again in this process with equal
/// options it is the same store. What is damaged or not understood in the file is a typed error, and the file stays as
/// it is.
///
/// Opened for reading only it takes no lock, and takes in what the writer saves: at every fetch, and when the system tells that
/// the file was replaced. A file that cannot be read then, or is of another store, leaves the records as they are known: the
/// next fetch throws why, and those after it go on. Once the file can be read again, the store follows it.
public final class JSONFileStore: EngineDataStore {
    /// Snapshots by slot.
    public typealias Snapshot = DefaultSnapshot
    /// The configuration that opens the store.
    public typealias Configuration = JSONFileConfiguration

    /// The configuration that opened the store.
    public let configuration: JSONFileConfiguration
    /// The models that the store keeps.
    public let schema: Schema
    /// The engine that holds the records.
    public let engine: Engine
    /// Whether the configuration allows saving.
    public var allowsSave: Bool { configuration.allowsSave }
    private let isClosed = Atomic(false)
    // A function by itself would be wrapped once more at each access.
    private struct EventHandler { let call: @Sendable (StoreEvent) -> Void }
    private let eventHandler = Mutex<EventHandler?>(nil)
    private let remoteChanges = Mutex<(changes: RemoteChanges?, listener: ChangeFeed.Listener)?>(nil)

    /// - Throws: `FileError` (`locked` with the holder's process where another one writes the file, `permissionDenied` where
    ///   the user may not write it, `historyWithoutStore` where the file is missing and its history records saves),
    ///   `JSONFileError` for what is wrong with the text, `EngineError.schemaMismatch`,
    ///   `EngineError.openWithOtherOptions`, `DataStoreError.unsupportedFeature` without a schema,
    ///   `MigrationError` where the plan has code to run before this file is of the schema, where the file is of a newer
    ///   schema, and where it holds records of entities that the schema lacks.
    public init(_ configuration: JSONFileConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        try configuration.checkStages(of: migrationPlan)
        engine = try OpenJSONFiles.shared.engine(for: configuration, schema: schema.stored)
        file?.observers.add(self) { [weak self] event in self?.eventHandler.withLock { $0 }?.call(event) }
        if announcesOtherProcesses, let file { follow(file) }
        if let schemaLoss { StoreEvents.emit(.schemaLoss(store: configuration.name, loss: schemaLoss, copy: nil)) }
    }

    var file: JSONFile? { engine.sink as? JSONFile }

    deinit { try? close() }

    /// What an engine can do, and durability.
    public var capabilities: StoreCapabilities {
        let all = engineCapabilities.union([.durability, .restoresIdentifiers])
        return configuration.history == .none ? StoreCapabilities(all.declared.subtracting([.history])) : all
    }

    /// Releases the file, unless another store of this process has it open too. Closing twice does nothing.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let (changes, listener) = remoteChanges.withLock({ $0.take() }) {
            listener.cancel()
            changes?.stop()
        }
        file?.observers.remove(self)
        try OpenJSONFiles.shared.close(engine)
    }

    /// Checks a file that was edited by hand and renews its seal.
    ///
    /// Everything is checked before anything is written; afterwards the file is in canonical form.
    /// - Throws: `JSONFileError` for the first fault, with line and column, the file unchanged; `ExternalValueError`
    ///   for an external value that is missing or not what the text says; `FileError`.
    public static func reseal(_ path: String, in fileSystem: any FileSystem = POSIXFileSystem()) throws {
        let files = try StoreFiles(path, in: fileSystem)
        let lock = try FileLock(forStoreAt: path, in: fileSystem)
        // A file that is not there, or cannot be sealed, is left without a trace.
        defer { lock.abandon(in: fileSystem) }
        let claim = try JSONFile.claim(files.main, in: fileSystem)
        defer { try? claim?.close() }
        let (bytes, identity) = try fileSystem.readWhole(path, limit: JSONFileConfiguration.largestFile)
        // What a text alone cannot tell: that unique values are.
        let external = ExternalFiles(beside: files.main, in: fileSystem)
        let version = try JSONFileError.naming(path) { try JSONFile.load(bytes, .acceptEdits, external).version }
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

    /// Removes the data in the store's folder that no record names, including files that opening the store moved aside.
    ///
    /// Opening only moves such files aside, since the store may be an older copy, and a newer one may name them. Compact a
    /// store only if no such copy will be put back.
    /// - Returns: how many files were removed.
    /// - Throws: `FileError`, `locked` if the store is open; `JSONFileError` for what is wrong with the text. Nothing was
    ///   removed then.
    @discardableResult
    public static func compact(_ path: String, in fileSystem: any FileSystem = POSIXFileSystem()) throws -> Int {
        let files = try StoreFiles(path, in: fileSystem)
        let lock = try FileLock(forStoreAt: path, in: fileSystem)
        defer { lock.abandon(in: fileSystem) }
        let bytes = try fileSystem.readWhole(files.main, limit: JSONFileConfiguration.largestFile).bytes
        // The process that wrote the file may have died before its name was durable.
        try fileSystem.syncDirectory(PathText.directory(of: files.main))
        let external = ExternalFiles(beside: files.main, in: fileSystem)
        let version = try JSONFileError.naming(path) { try JSONFile.load(bytes, .required, external).version }
        external.identify(version.catalog.storeIdentifier)
        return external.sweep(external.present(), dropping: .everything) { version }
    }
}

// MARK: - What other processes save

extension JSONFileStore {
    /// True for a store that is opened for reading. While one is open for writing, no other process can write.
    public var announcesOtherProcesses: Bool { !configuration.allowsSave }

    /// The latest state. For a store opened for reading, it is that of the file now. If the file cannot be
    /// read, the version stays as it was, and the next fetch throws why, once.
    public var currentVersion: any StoreVersion {
        if !isClosed.load(ordering: .acquiring) { takeInFile() }
        return engine.version
    }

    private func follow(_ file: JSONFile) {
        let listener = engine.feed.listen { [weak self] in
            guard let self else { return }
            post(.remoteChange(store: configuration.name))
        }
        // A simulated file is looked at when something is read.
        let isReal = configuration.fileSystem is POSIXFileSystem
        let changes =
            isReal
            ? RemoteChanges(file.path, isReal: true, intervalWhenNotified: 2) { [weak self] in self?.takeInFile() }
            : nil
        remoteChanges.withLock { $0 = (changes, listener) }
    }

    private func takeInFile() {
        guard let error = file?.reader?.follow(engine) else { return }
        engine.tell(error)
        // Observers of the file are all stores that have it open.
        file?.observers.post(.readerLeftBehind(store: configuration.name, reason: "\(error)"))
    }

    private func post(_ event: StoreEvent) {
        StoreEvents.emit(event)
        eventHandler.withLock { $0 }?.call(event)
    }
}

extension JSONFileStore {
    /// Reports events of the store to a handler, which replaces the one before.
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        eventHandler.withLock { $0 = EventHandler(call: handler) }
    }

    /// What the next save drops because the schema no longer names it; nil if nothing.
    public var schemaLoss: SchemaLoss? { file?.changeover?.pendingLoss }
}

/// The JSON files that are open in this process: a file has one engine, however often it is opened.
final class OpenJSONFiles: Sendable {
    static let shared = OpenJSONFiles()

    private let engines = OpenStores<Engine, JSONFileConfiguration>()

    func engine(for configuration: JSONFileConfiguration, schema: StoredSchema) throws -> Engine {
        let place = try OpenPlace(of: configuration.path, in: configuration.fileSystem)
        return try engines.open(
            place, options: configuration, areEqual: { $0.hasSameOptions(as: $1) },
            // One that cannot take the file in is to be opened again.
            isUsable: { ($0.sink as? JSONFile)?.reader?.fault == nil }
        ) {
            try JSONFile.open(configuration, at: place.place.path, schema: schema)
        }
    }

    /// Closes the engine when its last user does.
    func close(_ engine: Engine) throws { try engines.close(engine) { try engine.close() } }
}
