public import MortiseCore
public import MortiseEngine
import Foundation
import Synchronization

/// Keeps models in memory, for as long as the store or its `InMemoryStorage` lives.
public struct InMemoryConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = InMemoryStore

    /// The configuration's name, unique in its container.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    /// Names the store in identifiers; two configurations with the same one still open stores of their own.
    public let identifier: String
    /// Where the records stay when the store is closed; nil, the default, keeps nothing.
    public let storage: InMemoryStorage?
    /// How much of its history the store keeps in memory; 4 MiB unless something else is said. With `.none` a save costs nothing for it,
    /// and all tokens have expired.
    public let history: HistoryRetention
    /// The history that is kept where nothing else is said.
    public static let defaultHistory = HistoryRetention(bytes: 4 << 20)
    /// True: a store that begins empty has nothing to migrate, and containers migrate a storage.
    public var handlesMigrationPlans: Bool { true }

    /// Describes a store in memory.
    /// - Parameters:
    ///   - name: the configuration's name, unique in its container.
    ///   - schema: the models that the store keeps; nil takes the container's.
    ///   - identifier: names the store in identifiers; nil makes a new one. A storage that has records keeps its own.
    ///   - storage: where the records stay when the store is closed; nil keeps nothing.
    ///   - history: how much of its history the store keeps. That of a storage goes by its first opening.
    public init(
        _ name: String = "memory", schema: Schema? = nil, identifier: String? = nil, storage: InMemoryStorage? = nil,
        history: HistoryRetention = Self.defaultHistory
    ) {
        self.history = history
        self.name = name
        self.schema = schema
        self.storage = storage
        self.identifier = identifier ?? UUID().uuidString
    }
}

/// The engine and nothing else: all data ends with the store, or stays in its `InMemoryStorage`.
public final class InMemoryStore: EngineDataStore {
    /// Snapshots by slot.
    public typealias Snapshot = DefaultSnapshot
    /// The configuration that opens the store.
    public typealias Configuration = InMemoryConfiguration

    /// The configuration that opened the store.
    public let configuration: InMemoryConfiguration
    /// The models that the store keeps.
    public let schema: Schema
    /// The engine that holds the records.
    public let engine: Engine
    let recorder: HistoryRecorder
    /// Always true.
    public var allowsSave: Bool { true }
    /// What the engine can do, and that a deleted record gets its identifier again.
    public var capabilities: StoreCapabilities { engineCapabilities.union([.restoresIdentifiers]) }

    private let isClosed = Atomic(false)

    /// Opens an empty store, or that of a storage.
    /// - Parameters:
    ///   - configuration: a configuration with a schema.
    ///   - migrationPlan: ignored; a store that begins empty has nothing to migrate.
    /// - Throws: `DataStoreError.unsupportedFeature` for a configuration without schema, which a container never
    ///   passes; for a storage `EngineError.openWithOtherOptions` where it is open with another schema,
    ///   `EngineError.schemaMismatch`, and `MigrationError` where it is of a newer one.
    public init(_ configuration: InMemoryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        if let storage = configuration.storage {
            (engine, recorder) = try storage.open(
                schema.stored, named: configuration.name, identifier: configuration.identifier,
                keeping: configuration.history)
        } else {
            engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: configuration.identifier)))
            recorder = HistoryRecorder(
                ofStore: configuration.identifier, numbering: .ofCommits, keeping: configuration.history,
                reportingLost: { [name = configuration.name] in
                    StoreEvents.emit(.historyHolderLost(store: name, holder: $0))
                })
            if configuration.history != .none { engine.feed.record(into: recorder) }
        }
    }

    deinit { if configuration.storage != nil { try? close() } }

    /// Saves throw afterwards. Closing twice does nothing.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let storage = configuration.storage { try storage.close(engine) } else { try engine.close() }
    }
}
