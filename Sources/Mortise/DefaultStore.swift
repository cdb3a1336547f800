import Foundation
public import MortiseCore
public import MortiseEngine
import MortiseAppendLog
import MortiseInMemory
import MortiseJSONFile

/// The store behind a `ModelConfiguration`: in memory, or in the file at its URL.
///
/// A new file becomes an append log, with its checkpoint and lock file beside it, unless its name ends in `.json`. A file
/// that is there is opened as what it is: a JSON store begins with a brace.
public final class DefaultStore: EngineDataStore {
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot

    public let name: String
    public let schema: Schema
    public let configuration: ModelConfiguration
    public var allowsSave: Bool { configuration.allowsSave }
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
            let path = configuration.url.path(percentEncoded: false)
            // SwiftData makes the folder of its own default location, and so does this.
            if configuration.allowsSave {
                try FileManager.default.createDirectory(
                    at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            if try Self.isJSON(path) {
                base = try JSONFileStore(
                    JSONFileConfiguration(
                        configuration.name, schema: schema, path: path, allowsSave: configuration.allowsSave),
                    migrationPlan: migrationPlan)
            } else {
                base = try AppendLogStore(
                    AppendLogConfiguration(
                        configuration.name, schema: schema, path: path, allowsSave: configuration.allowsSave),
                    migrationPlan: migrationPlan)
            }
        }
    }

    /// - Throws: `FileError` where something is at the path that cannot be read.
    private static func isJSON(_ path: String) throws -> Bool {
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

    public var capabilities: StoreCapabilities { base.capabilities }

    /// The latest state, with what a log's writer in another process has saved by now.
    public var currentVersion: any StoreVersion { base.currentVersion }

    public func close() throws { try base.close() }
}

extension DefaultStore: RecoveryReporting, EventReportingDataStore {
    public var recoveryDescription: String? { (base as? any RecoveryReporting)?.recoveryDescription }

    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        (base as? any EventReportingDataStore)?.reportEvents(to: handler)
    }
}

extension DefaultStore: HistoryProviding {
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// - Throws: `DataStoreError.unsupportedFeature` for a store that keeps no history: all but the append log.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        try history().fetchHistory(descriptor)
    }

    /// - Throws: as `fetchHistory`.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try history().deleteHistory(descriptor)
    }

    private func history() throws -> AppendLogStore {
        guard let log = base as? AppendLogStore else { throw DataStoreError.unsupportedFeature }
        return log
    }
}
