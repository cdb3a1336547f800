import Foundation
public import MortiseCore
public import MortiseEngine
import MortiseAppendLog
import MortiseInMemory
import MortiseJSONFile

/// The store behind a `ModelConfiguration`: in memory, or in the file at its URL.
///
/// A new file becomes an append log, with its checkpoint and lock file next to it, unless its name ends in `.json`. An
/// existing file is opened by its content: a file that begins with a brace is a JSON store.
public final class DefaultStore: EngineDataStore {
    /// The configuration that opens the store.
    public typealias Configuration = ModelConfiguration
    /// Snapshots by slot.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration's name.
    public let name: String
    /// The models that the store keeps.
    public let schema: Schema
    /// The configuration that opened the store.
    public let configuration: ModelConfiguration
    /// Whether the configuration allows saving.
    public var allowsSave: Bool { configuration.allowsSave }
    /// The engine of the store that holds the records.
    public var engine: Engine { base.engine }
    /// The store that holds the records, for what only its kind offers: an `AppendLogStore`, a `JSONFileStore` or an
    /// `InMemoryStore`. It is closed with this one.
    public let base: any EngineDataStore

    /// - Throws: what the store in memory or in the file throws; `DataStoreError.unsupportedFeature` without a schema.
    public init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        name = configuration.name
        if configuration.isStoredInMemoryOnly {
            base = try InMemoryStore(
                InMemoryConfiguration(configuration.name, schema: schema), migrationPlan: migrationPlan)
        } else {
            // SwiftData makes the folder of its default location, and so does this.
            if configuration.allowsSave {
                try configuration.url.makeFolder()
            }
            switch try Self.file(of: configuration) {
            case .json(let file): base = try JSONFileStore(file, migrationPlan: migrationPlan)
            case .log(let file): base = try AppendLogStore(file, migrationPlan: migrationPlan)
            }
        }
    }

    enum File {
        case json(JSONFileConfiguration)
        case log(AppendLogConfiguration)
    }

    /// What opens the file of a configuration that has one.
    /// - Throws: `FileError` where something is at the path that cannot be read.
    static func file(of configuration: ModelConfiguration) throws -> File {
        try self.file(of: configuration, asJSON: isJSON(configuration.url.path(percentEncoded: false)))
    }

    static func file(of configuration: ModelConfiguration, asJSON isJSON: Bool) -> File {
        let path = configuration.url.path(percentEncoded: false)
        if isJSON {
            return .json(
                JSONFileConfiguration(
                    configuration.name, schema: configuration.schema, path: path, allowsSave: configuration.allowsSave,
                    dropping: configuration.dropping))
        }
        return .log(
            AppendLogConfiguration(
                configuration.name, schema: configuration.schema, path: path, allowsSave: configuration.allowsSave,
                dropping: configuration.dropping))
    }

    /// - Throws: `FileError` where something is at the path that cannot be read.
    static func isJSON(_ path: String) throws -> Bool {
        let beginning: [UInt8]
        do {
            let file = try POSIXFileSystem().open(path, mode: .read)
            defer { try? file.close() }
            beginning = try file.readAll(count: 64, at: 0)
        } catch {
            guard error.reason == .notFound else { throw error }
            return path.lowercased().hasSuffix(".json")
        }
        let first = beginning.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
        return first.map { $0 == UInt8(ascii: "{") } ?? path.lowercased().hasSuffix(".json")
    }

    /// Whether a store of the other kind is at a path, or what is left of one: a file that is damaged so much that it could be of either
    /// kind is of none.
    /// - Throws: `FileError` where something is at the path that cannot be read.
    static func isOfOtherKind(_ path: String, thanJSON isJSON: Bool) throws -> Bool {
        guard isJSON else { return try self.isJSON(path) && !isEmpty(path) }
        if FileManager.default.fileExists(atPath: try StoreFiles(path, in: POSIXFileSystem()).checkpoint) {
            return true
        }
        do {
            _ = try AppendLogConfiguration(path: path).storedSchema()
            return true
        } catch let error as AppendLogError {
            return switch error.fault {
            case .notALog, .empty, .tooShort: false
            default: true
            }
        }
    }

    private static func isEmpty(_ path: String) throws -> Bool {
        try POSIXFileSystem().infoIfPresent(path, followingLinks: true)?.size == 0
    }

    /// What the store that holds the records can do.
    public var capabilities: StoreCapabilities { base.capabilities }

    /// The latest state, with what a log's writer in another process has saved by now.
    public var currentVersion: any StoreVersion { base.currentVersion }

    /// Asks the store that holds the records.
    /// - Throws: what is wrong with it.
    public func checkHealth() throws { try base.checkHealth() }

    /// Closes the store that holds the records. Closing twice does nothing.
    public func close() throws { try base.close() }
}

extension DefaultStore {
    /// What the store holds that the schema it was opened with lacks; nil if nothing.
    public var schemaLoss: SchemaLoss? { base.schemaLoss }
    /// Whether the feed also has what other processes commit: for a log that is shared, or open for reading only.
    public var announcesOtherProcesses: Bool { base.announcesOtherProcesses }
    /// What opening had to repair, in words; nil if nothing.
    public var recoveryDescription: String? { base.recoveryDescription }

    /// Reports events of the store that holds the records to a handler, which replaces the one before.
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        base.reportEvents(to: handler)
    }

    /// The token of the transaction that made a version; nil for a store that keeps no history.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? { base.historyToken(ofVersion: number) }

    /// What the store that holds the records tells of its history; nil if it keeps none.
    /// - Throws: its error if the history cannot be read.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        try base.storedTransactions(after: number, last: last)
    }

    /// Hands over the transactions of the store that holds the records.
    /// - Throws: its error if the history cannot be read; what the body throws.
    public func readStoredTransactions(
        after number: UInt64, withValues: Bool, _ body: (ChangeSet) throws -> Bool
    ) throws -> Bool {
        try base.readStoredTransactions(after: number, withValues: withValues, body)
    }

    /// Runs a body in which saves may return before they are durable.
    /// - Throws: what the body throws; the error of writing the saves.
    public func saveInBulk<R>(_ body: (_ flush: () throws -> Void) throws -> R) throws -> R {
        try base.saveInBulk(body)
    }
}

/// The history of the store that holds the records.
extension DefaultStore: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The history of the store that holds the records.
    public var historyArchive: (any HistoryArchive)? { base.historyArchive }

    /// The matching transactions, oldest first unless the descriptor sorts.
    /// - Throws: `SwiftDataError.historyTokenExpired`; why the history cannot be read; what evaluating the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try history().transactions(matching: descriptor) }

    /// Deletes the matching transactions from the history, for good.
    /// - Throws: `HistoryHeld` where somebody needs one of them; why the history cannot be read or changed; what evaluating the predicate
    ///   throws. Nothing was deleted then.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        _ = try history().deleteTransactions(matching: descriptor)
    }

    private func history() throws -> any HistoryArchive {
        guard let archive = base.historyArchive else { throw DataStoreError.unsupportedFeature }
        return archive
    }
}

extension DefaultStore {
    /// Makes the store that holds the records smaller; nil for one that cannot be while it is open: all but the append log.
    /// - Throws: its errors.
    public func compactStore() throws -> MaintenanceReport? { try base.compactStore() }
}
