public import MortiseCore
public import MortiseEngine
import Foundation

/// Keeps models in memory, for as long as the store lives.
public struct InMemoryConfiguration: DataStoreConfiguration, Sendable {
    public typealias Store = InMemoryStore

    public let name: String
    public var schema: Schema?
    /// Names the store in identifiers; two configurations with the same one still open stores of their own.
    public let identifier: String

    /// - Parameter identifier: a new one where none is given.
    public init(_ name: String = "memory", schema: Schema? = nil, identifier: String? = nil) {
        self.name = name
        self.schema = schema
        self.identifier = identifier ?? UUID().uuidString
    }
}

/// The engine and nothing else: what is saved is gone with the store.
public final class InMemoryStore: EngineDataStore {
    public typealias Snapshot = DefaultSnapshot
    public typealias Configuration = InMemoryConfiguration

    public let configuration: InMemoryConfiguration
    public let schema: Schema
    public let engine: Engine
    public var allowsSave: Bool { true }

    /// - Parameter migrationPlan: a store that begins empty has nothing to migrate.
    /// - Throws: `DataStoreError.unsupportedFeature` for a configuration without schema, which a container never passes.
    public init(_ configuration: InMemoryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: configuration.identifier)))
    }
}
