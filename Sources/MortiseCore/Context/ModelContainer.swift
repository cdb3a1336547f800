public import Foundation
public import Logging
import Synchronization

/// The stores that keep an app's models, opened with one schema. Contexts are made from it.
///
/// @unchecked Sendable: what changes after initialisation is behind a lock, and stores are called as `AnyStore` says.
public final class ModelContainer: Equatable, @unchecked Sendable {
    public let schema: Schema
    public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations, with the schema that each store was opened with, in the order given.
    public let storeConfigurations: [any DataStoreConfiguration]
    let stores: [AnyStore]
    private let settings: Mutex<Settings>

    private struct Settings {
        var fullScanPolicy = FullScanPolicy.allow
        var verifiesPushDown = ModelContainer.verifiesByDefault
        var logger: Logger
        var slowFetchLimit: Duration?
    }

    /// What to do about fetches that look at every record, unless their context or descriptor says otherwise. With
    /// `.allow`, which is the default, full scans are not logged; `.warn(above:)` logs them.
    public var fullScanPolicy: FullScanPolicy {
        get { settings.withLock { $0.fullScanPolicy } }
        set { settings.withLock { $0.fullScanPolicy = newValue } }
    }

    /// Whether every answer that a store gave to a planned query is compared with what the framework finds without its
    /// help; a difference is thrown as `QueryPlanError.falseClaim`. Costs a full scan each time: for tests.
    ///
    /// Off, unless the environment says `MORTISE_VERIFIES_PUSH_DOWN=1` when the process's first container is made.
    public var verifiesPushDown: Bool {
        get { settings.withLock { $0.verifiesPushDown } }
        set { settings.withLock { $0.verifiesPushDown = newValue } }
    }

    private static let verifiesByDefault = ProcessInfo.processInfo.environment["MORTISE_VERIFIES_PUSH_DOWN"] == "1"

    /// A fetch that takes longer than this is logged as a warning; nil, which is the default, logs none.
    public var slowFetchLimit: Duration? {
        get { settings.withLock { $0.slowFetchLimit } }
        set { settings.withLock { $0.slowFetchLimit = newValue } }
    }

    /// Where warnings of slow fetches and full scans go, and notices of recoveries and compactions; those of opening
    /// go to the logger that the initializer takes. They hold names and numbers, never values of models.
    public var logger: Logger {
        get { settings.withLock { $0.logger } }
        set { settings.withLock { $0.logger = newValue } }
    }
    private let storeIndices: [String: Int]
    private let closed = Atomic(false)
    @MainActor private var main: ModelContext?

    /// Opens the stores. Each entity goes to the first configuration whose schema holds it; a configuration without a
    /// schema takes all of the container's.
    /// - Parameters:
    ///   - migrationPlan: handed to every store. What a store of another package makes of it is its own; a store of this
    ///     one adapts records by itself as far as a lightweight stage does, and throws where a stage has code to run.
    ///   - logger: told what opening put right, and the value that `logger` begins with.
    /// - Throws: `SchemaError`; `MigrationError`; `SwiftDataError.duplicateConfiguration` for two configurations of one name,
    ///   `.configurationSchemaNotFoundInContainerSchema` for one that holds what the container does not,
    ///   `.loadIssueModelContainer` where an entity has no store or relationships lead from store to store; the stores'
    ///   own errors.
    public init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [any DataStoreConfiguration], logger: Logger = Logger(label: "mortise")
    ) throws {
        settings = Mutex(Settings(logger: logger))
        try givenSchema.validate()
        schema = givenSchema
        self.migrationPlan = migrationPlan
        var names: Set<String> = []
        var completed: [any DataStoreConfiguration] = []
        var opened: [AnyStore] = []
        var indices: [String: Int] = [:]
        for configuration in configurations {
            guard names.insert(configuration.name).inserted else {
                throw SwiftDataError(
                    .duplicateConfiguration,
                    "Two configurations are called \"\(configuration.name)\". Give each a name of its own.")
            }
            let complete = try Self.complete(configuration, with: givenSchema)
            for name in (complete.schema ?? givenSchema).stored.entities.map(\.name) where indices[name] == nil {
                indices[name] = completed.count
            }
            completed.append(complete)
        }
        try Self.check(indices, givenSchema)
        for configuration in completed { opened.append(try Self.open(configuration, migrationPlan, logger)) }
        storeConfigurations = completed
        stores = opened
        storeIndices = indices
        for store in opened {
            (store.underlying as? any EventReportingDataStore)?.reportEvents { [weak self] event in self?.handle(event)
            }
        }
    }

    /// Opens the stores for the models named and for all that they reach.
    @_disfavoredOverload
    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), configurations: configurations)
    }

    public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs === rhs }

    private static func complete<C: DataStoreConfiguration>(_ configuration: C, with schema: Schema) throws -> C {
        var configuration = configuration
        if let own = configuration.schema {
            for entity in own.stored.entities where schema.stored.entity(named: entity.name) == nil {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "The configuration \"\(configuration.name)\" holds \(entity.name), which is not in the container's "
                        + "schema. Add it there.")
            }
        } else {
            configuration.schema = schema
        }
        try configuration.validate()
        return configuration
    }

    private static func check(_ indices: [String: Int], _ schema: Schema) throws {
        for entity in schema.stored.entities {
            guard let index = indices[entity.name] else {
                throw SwiftDataError(
                    .loadIssueModelContainer,
                    "No configuration holds \(entity.name). Add it to one, or give a configuration without a schema.")
            }
            let others = entity.properties.compactMap { property in
                property.relationship.map { (property.name, $0.destination) }
            }
            for (property, destination) in others where indices[destination] != index {
                throw SwiftDataError(
                    .loadIssueModelContainer,
                    "\(entity.name).\(property) leads to \(destination), which is in another store. Keep both in one "
                        + "configuration.")
            }
            if let parent = entity.superentity, indices[parent] != index {
                throw SwiftDataError(
                    .loadIssueModelContainer,
                    "\(entity.name) inherits from \(parent), which is in another store. Keep both in one configuration."
                )
            }
        }
    }

    private static func open<C: DataStoreConfiguration>(
        _ configuration: C, _ migrationPlan: (any SchemaMigrationPlan.Type)?, _ logger: Logger
    ) throws -> AnyStore {
        let store = try C.Store(configuration, migrationPlan: migrationPlan)
        if let recovery = (store as? any RecoveryReporting)?.recoveryDescription {
            logger.notice(
                "recovered", metadata: ["store": "\(configuration.name)", "detail": "\(recovery)"])
        }
        return StoreBox(store, configurationName: configuration.name)
    }

    /// Posted on `NotificationCenter.default`, with the container as its object, when another process has changed one of its
    /// stores. Contexts stay at the version that they show; their next fetch, save or refresh takes the changes in and tells
    /// the observers of the models whose values differ.
    ///
    /// Stores that other processes can write while they are open here post it (`log:PATH`, where it is shared or opened
    /// without saving), once for several changes that come close together, and on any thread.
    public static let remoteChange = Notification.Name("MortiseModelContainerRemoteChange")

    private func handle(_ event: StoreEvent) {
        switch event {
        case .compaction(let store, let dropped, let duration):
            logger.notice(
                "compacted", metadata: ["store": "\(store)", "dropped": "\(dropped)", "duration": "\(duration)"])
        case .compactionFailed(let store, let reason):
            logger.warning("not compacted", metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .recovery(let store, let bytes):
            logger.notice("recovered", metadata: ["store": "\(store)", "bytes": "\(bytes)"])
        case .readerLeftBehind(let store, let reason):
            logger.warning("left behind by its writer", metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .remoteChange: NotificationCenter.default.post(name: Self.remoteChange, object: self)
        case .fetch: break
        }
    }

    func storeIndex(ofEntity name: String) -> Int? { storeIndices[name] }

    /// The context of the main actor; always the same one.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        let context = ModelContext(self)
        let autosave = Autosave(of: context)
        context.state.onChange = { [weak context] in
            guard context?.autosaveEnabled == true else { return }
            MainActor.assumeIsolated { autosave.schedule() }
        }
        main = context
        return context
    }

    /// The identifier of the store that a configuration opened.
    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        stores.first { $0.configurationName == name }?.identifier
    }

    /// The name of the configuration that opened a store.
    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        stores.first { $0.identifier == identifier }?.configurationName
    }

    /// Removes all records from all stores.
    /// - Throws: `ModelContextError.readOnly`; what the stores throw; those before the one that failed are erased.
    public func erase() throws {
        try checkOpen()
        for store in stores {
            if !store.allowsSave { throw ModelContextError.readOnly(configuration: store.configurationName) }
            store.saveLock.lock()
            defer { store.saveLock.unlock() }
            try store.erase()
        }
    }

    @available(*, deprecated, renamed: "erase")
    public func deleteAllData() { try? erase() }

    /// Closes the stores and gives their files free. Whatever uses the container or its contexts afterwards throws
    /// `ModelContextError.containerClosed`; models keep the values they have. Closing twice does nothing.
    /// - Throws: what a store throws; the others are closed all the same.
    public func close() throws {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var first: (any Error)?
        for store in stores {
            do { try store.close() } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    func checkOpen() throws {
        if closed.load(ordering: .acquiring) { throw ModelContextError.containerClosed }
    }

    /// The store that a configuration opened, for what is particular to its type.
    public func store<Store: DataStore>(_ type: Store.Type, forConfigurationNamed name: String? = nil) -> Store? {
        stores.lazy.filter { name == nil || $0.configurationName == name }.compactMap { $0.underlying as? Store }.first
    }
}

/// Saves the main context soon after it has changed, once for any number of changes.
@MainActor
private final class Autosave {
    private weak var context: ModelContext?
    private var isScheduled = false

    init(of context: ModelContext) {
        self.context = context
    }

    func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        Task {
            isScheduled = false
            guard let context, context.autosaveEnabled, context.hasChanges else { return }
            do { try context.save() } catch { context.state.latch(error) }
        }
    }
}
