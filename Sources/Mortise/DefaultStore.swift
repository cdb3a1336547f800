import Foundation
public import MortiseCore
public import MortiseEngine
import MortiseInMemory
import MortiseJSONFile

/// The store behind a `ModelConfiguration`: in memory, or in the file at its URL.
public final class DefaultStore: EngineDataStore {
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot

    public let name: String
    public let schema: Schema
    public let configuration: ModelConfiguration
    public var allowsSave: Bool { configuration.allowsSave }
    public var engine: Engine { base.engine }
    private let base: any EngineDataStore

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
            base = try JSONFileStore(
                JSONFileConfiguration(
                    configuration.name, schema: schema, path: path, allowsSave: configuration.allowsSave),
                migrationPlan: migrationPlan)
        }
    }

    public var capabilities: StoreCapabilities { base.capabilities }

    public func close() throws { try base.close() }
}
