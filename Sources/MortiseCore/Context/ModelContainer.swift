public import Foundation
public import Logging
import Synchronization

/// The stores of an app's models, opened with one schema. Contexts are created from it.
///
/// @unchecked Sendable: what changes after initialization is behind a lock, and stores are called as `StoreConnection` says.
public final class ModelContainer: Equatable, @unchecked Sendable {
    /// The models that the container keeps, over all its stores.
    public let schema: Schema
    /// The plan that was given at creation; nil if none was.
    public let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations, with the schema that each store was opened with, in the order given.
    public let storeConfigurations: [any DataStoreConfiguration]
    let stores: [StoreConnection]
    private let storeIndices: [String: Int]
    private let shared: Shared
    /// Kept here, so that it is the same one as long as the container is there; it holds the container weakly.
    @MainActor private var main: ModelContext?

    /// What a container has in common with one that is made again for its main context.
    fileprivate final class Shared: Sendable {
        let settings: Mutex<Settings>
        let closed = Atomic(false)
        @MainActor weak var main: ModelContext?

        private let layouts: LayoutsInUse

        init(_ settings: Settings, _ layouts: LayoutsInUse) {
            self.settings = Mutex(settings)
            self.layouts = layouts
        }
    }

    fileprivate struct Settings {
        var fullScanPolicy = FullScanPolicy.allow
        var verifiesPushDown = ModelContainer.verifiesByDefault
        var logger: Logger
        var slowFetchLimit: Duration?
        var mergePolicy = MergePolicy.propertyWise
        var uniqueConflictPolicy = UniqueConflictPolicy.update
    }

    /// How saves of contexts that are made from now on treat records that other saves have changed, those of model actors included;
    /// each context may have another. `.propertyWise`, the default, gives each property the last value that was set: of two who
    /// add 1 to a counter at the same time, one is lost. `ModelContext.transaction(retrying:block:)` loses none.
    public var mergePolicy: MergePolicy {
        get { shared.settings.withLock { $0.mergePolicy } }
        set { shared.settings.withLock { $0.mergePolicy = newValue } }
    }

    /// What saves of contexts that are made from now on do with new models whose unique values another one has, those of model
    /// actors included; each context may have another policy, and so may each insertion. `.update`, the default, gives the older
    /// one the values of the newer.
    public var uniqueConflictPolicy: UniqueConflictPolicy {
        get { shared.settings.withLock { $0.uniqueConflictPolicy } }
        set { shared.settings.withLock { $0.uniqueConflictPolicy = newValue } }
    }

    /// What to do about fetches that scan every record, unless their context or descriptor has its own policy.
    /// `.allow`, the default, does not log full scans; `.warn(above:)` does.
    public var fullScanPolicy: FullScanPolicy {
        get { shared.settings.withLock { $0.fullScanPolicy } }
        set { shared.settings.withLock { $0.fullScanPolicy = newValue } }
    }

    /// Whether every answer of a store to a planned query is compared with the result of the framework alone; a
    /// difference is thrown as `QueryPlanError.falseClaim`. Costs a full scan each time: for tests.
    ///
    /// False, unless the environment has `MORTISE_VERIFIES_PUSH_DOWN=1` when the process's first container is created.
    public var verifiesPushDown: Bool {
        get { shared.settings.withLock { $0.verifiesPushDown } }
        set { shared.settings.withLock { $0.verifiesPushDown = newValue } }
    }

    private static let verifiesByDefault = ProcessInfo.processInfo.environment["MORTISE_VERIFIES_PUSH_DOWN"] == "1"

    /// Fetches that take longer are logged as warnings; nil, the default, logs none.
    public var slowFetchLimit: Duration? {
        get { shared.settings.withLock { $0.slowFetchLimit } }
        set { shared.settings.withLock { $0.slowFetchLimit = newValue } }
    }

    /// Receives warnings of slow fetches and full scans, and notices of recoveries and compactions; notices of opening
    /// go to the logger passed to the initializer. Log lines have names and numbers, never values of models.
    public var logger: Logger {
        get { shared.settings.withLock { $0.logger } }
        set { shared.settings.withLock { $0.logger = newValue } }
    }

    /// Opens the stores. Each entity goes to the first configuration whose schema contains it; a configuration without
    /// a schema takes the container's whole schema.
    /// - Parameters:
    ///   - givenSchema: the models of the container.
    ///   - migrationPlan: how stores that hold earlier versions come to the schema. The container carries its stages out on stores
    ///     whose configuration is a `MigratableConfiguration`, `json:` and `log:` among them, before it opens any store: all of
    ///     them or, where one fails, none. Code of stages runs on the caller's thread. What a stage's contexts have saved becomes
    ///     durable with the last stage of its store, at once; a process that dies before that finds the store as it was. Several
    ///     stores are replaced one after the other. Other stores get the plan, and carry it out or refuse it if they say that they
    ///     handle plans; for those that do not, the container refuses what they would leave out.
    ///   - configurations: one for each store, with different names. The container completes one without a schema.
    ///   - logger: receives what opening repaired; also the initial value of the `logger` property.
    /// - Throws: `SchemaError`; `MigrationError`; `SwiftDataError.duplicateConfiguration` for two configurations of one
    ///   name, `.configurationSchemaNotFoundInContainerSchema` for one that holds what the container does not,
    ///   `.loadIssueModelContainer` where an entity has no store or relationships lead from store to store; the stores'
    ///   own errors.
    public init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [any DataStoreConfiguration], logger: Logger = Logger(label: "mortise")
    ) throws {
        shared = Shared(Settings(logger: logger), LayoutsInUse(givenSchema.layouts.values))
        try givenSchema.validate()
        try givenSchema.checkModels()
        // A copy, because the caller may change the entities of what it has given.
        let givenSchema = givenSchema.numbered(by: migrationPlan).copied
        self.migrationPlan = migrationPlan
        var names: Set<String> = []
        var completed: [any DataStoreConfiguration] = []
        var opened: [StoreConnection] = []
        var indices: [String: Int] = [:]
        for configuration in configurations {
            guard names.insert(configuration.name).inserted else {
                throw SwiftDataError(
                    .duplicateConfiguration,
                    "Two configurations are called \"\(configuration.name)\": "
                        + "\(Self.locations(of: configuration.name, in: configurations)). Give each a name of its own, in a "
                        + "store URL by ?name=.")
            }
            let complete = try Self.complete(configuration, with: givenSchema, migrationPlan)
            for name in (complete.schema ?? givenSchema).stored.entities.map(\.name) where indices[name] == nil {
                indices[name] = completed.count
            }
            completed.append(complete)
        }
        // One store that has all entities has all that they lead to.
        if completed.count != 1 || indices.count < givenSchema.stored.entities.count || !givenSchema.stored.isClosed {
            try Self.check(indices, givenSchema)
        }
        let (untold, migrated) = try Self.migrate(completed, to: givenSchema, migrationPlan, logger)
        let patience = migrationPlan?.migrationOptions.waitForOthers ?? .zero
        for configuration in completed {
            let isUntold = untold.contains(configuration.name)
            opened.append(
                try configuration.waiting(patience, hasMigrated: migrated.contains(configuration.name), logger) {
                    try Self.open(configuration, migrationPlan, logger, schemaIsUntold: isUntold)
                })
        }
        schema = opened.reduce(givenSchema) { $0.knowing($1.underlying.formerNames) }
        storeConfigurations = completed
        stores = opened
        storeIndices = indices
        handleEvents()
    }

    /// A container of one store that is open already, for the code of a migration.
    init(of store: any DataStore, named name: String, _ schema: Schema, _ logger: Logger) {
        shared = Shared(Settings(logger: logger), LayoutsInUse(schema.layouts.values))
        self.schema = schema
        migrationPlan = nil
        storeConfigurations = []
        stores = [Self.connection(to: store, named: name)]
        storeIndices = Dictionary(schema.stored.entities.map { ($0.name, 0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func connection<S: DataStore>(to store: S, named name: String) -> StoreConnection {
        TypedConnection(store, configurationName: name)
    }

    /// The container of a main context, after all owners of the original one have released it.
    init(again parts: Parts) {
        schema = parts.schema
        migrationPlan = parts.migrationPlan
        storeConfigurations = parts.storeConfigurations
        stores = parts.stores
        storeIndices = parts.storeIndices
        shared = parts.shared
        handleEvents()
    }

    /// What a container is made of.
    struct Parts {
        let schema: Schema
        let migrationPlan: (any SchemaMigrationPlan.Type)?
        let storeConfigurations: [any DataStoreConfiguration]
        let stores: [StoreConnection]
        fileprivate let storeIndices: [String: Int]
        fileprivate let shared: Shared
    }

    var parts: Parts {
        Parts(
            schema: schema, migrationPlan: migrationPlan, storeConfigurations: storeConfigurations, stores: stores,
            storeIndices: storeIndices, shared: shared)
    }

    private func handleEvents() {
        for store in stores {
            store.underlying.reportEvents { [weak self] event in self?.handle(event) }
        }
    }

    /// Opens the stores for the given models and for all that they reach through relationships.
    /// - Throws: as `init(for:migrationPlan:configurations:)`.
    @_disfavoredOverload
    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), configurations: configurations)
    }

    /// Two containers are equal if they are the same object.
    public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs === rhs }

    private static func complete<C: DataStoreConfiguration>(
        _ configuration: C, with schema: Schema, _ migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws -> C {
        var configuration = configuration
        if let own = configuration.schema?.numbered(by: migrationPlan, asPartOf: schema) {
            configuration.schema = own
            for entity in own.stored.entities where schema.stored.entity(named: entity.name) == nil {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "The configuration \"\(configuration.name)\" includes \(entity.name), which the container's "
                        + "schema lacks. "
                        + "Add it there.")
            }
        } else {
            configuration.schema = schema
        }
        try configuration.validate()
        return configuration
    }

    private static func locations(of name: String, in configurations: [any DataStoreConfiguration]) -> String {
        configurations.filter { $0.name == name }
            .map { ($0 as? any SelfDescribingConfiguration)?.location ?? "\(type(of: $0))" }.joined(separator: " and ")
    }

    private static func check(_ indices: [String: Int], _ schema: Schema) throws {
        for entity in schema.stored.entities {
            guard let index = indices[entity.name] else {
                throw SwiftDataError(
                    .loadIssueModelContainer,
                    "No configuration includes \(entity.name). Add it to one, or pass a configuration without a schema."
                )
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
        _ configuration: C, _ migrationPlan: (any SchemaMigrationPlan.Type)?, _ logger: Logger,
        schemaIsUntold isUntold: Bool
    ) throws -> StoreConnection {
        if let describing = configuration as? any SelfDescribingConfiguration, !describing.checksStoredSchema {
            try describing.checkStoredSchema()
        }
        // What is due was carried out before; of a store that told no schema, nothing was.
        let unseen = isUntold ? migrationPlan.flatMap { UnseenStage($0, of: configuration) } : nil
        let migrationPlan = configuration is any MigratableConfiguration ? nil : migrationPlan
        let store = try C.Store(configuration, migrationPlan: migrationPlan)
        if let unseen {
            do {
                try unseen.checkEmptiness(of: store)
            } catch {
                try? store.close()
                throw error
            }
        }
        if let recovery = store.recoveryDescription {
            logger.notice(
                "recovered", metadata: ["store": "\(configuration.name)", "detail": "\(recovery)"])
        }
        if let loss = store.schemaLoss {
            log(loss, of: configuration.name, copy: nil, logger)
        }
        // Texts of identifiers are taken for what is known, under the names of before, too.
        let identifier = store.identifier
        for entity in store.schema.stored.entities {
            for name in entity.isRenamed ? [entity.name, entity.originalName] : [entity.name] {
                _ = IdentifierNamespace(storeIdentifier: identifier, entityName: name)
            }
        }
        for name in store.formerNames.keys {
            _ = IdentifierNamespace(storeIdentifier: identifier, entityName: name)
        }
        return TypedConnection(store, configurationName: configuration.name)
    }

    /// Posted on `NotificationCenter.default`, with the container as its object, when another process has changed one
    /// of its stores. Contexts stay at their version; their next fetch, save or refresh takes in the changes and
    /// notifies the observers of models whose values differ.
    ///
    /// Posted for stores that other processes can write while they are open here (`log:PATH`, shared or opened without
    /// saving, and `json:PATH` opened without saving), once for several changes in quick succession, on any thread.
    public static let remoteChange = Notification.Name("MortiseModelContainerRemoteChange")

    private func handle(_ event: StoreEvent) {
        switch event {
        case .compaction(let store, let dropped, let duration):
            logger.notice(
                "compacted", metadata: ["store": "\(store)", "dropped": "\(dropped)", "duration": "\(duration)"])
        case .compactionFailed(let store, let reason):
            logger.warning("compaction failed; will retry", metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .checkpointUnreadable(let store, let reason):
            logger.warning(
                "replayed the log because the checkpoint cannot be read",
                metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .checkpointFailed(let store, let reason):
            logger.warning("checkpoint failed; will retry", metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .recovery(let store, let bytes):
            logger.notice("recovered", metadata: ["store": "\(store)", "bytes": "\(bytes)"])
        case .readerLeftBehind(let store, let reason):
            logger.warning(
                "reader can no longer follow its writer; reopen the store",
                metadata: ["store": "\(store)", "reason": "\(reason)"])
        case .schemaLoss(let store, let loss, let copy): Self.log(loss, of: store, copy: copy, logger)
        case .remoteChange: NotificationCenter.default.post(name: Self.remoteChange, object: self)
        case .historyHolderLost(let store, let holder):
            logger.warning(
                "a holder of history is lost; fetch the current state and hold from there",
                metadata: ["store": "\(store)", "holder": "\(holder)"])
        case .fetch, .undoForgotten: break
        }
    }

    static func log(
        _ loss: SchemaLoss, of store: String, copy: String?, isDropped: Bool = false, _ logger: Logger
    ) {
        var metadata: Logger.Metadata = [
            "store": "\(store)", "lacks": "\(loss)", "stored": "\(loss.stored)", "opened": "\(loss.opened)",
        ]
        metadata["copy"] = copy.map { "\($0)" }
        logger.warning(
            copy == nil && !isDropped
                ? "the store holds data that the schema lacks" : "dropped data that the schema lacks",
            metadata: metadata)
    }

    func storeIndex(ofEntity name: String) -> Int? { storeIndices[name] }

    /// The context of the main actor; always the same one. It lives as long as the container, or longer if something
    /// else retains it. It saves automatically: see `ModelContext.autosaveEnabled`.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        if let known = shared.main {
            main = known
            return known
        }
        let context = ModelContext(mainOf: self)
        context.autosave.attachToMainActor()
        context.autosaveEnabled = true
        main = context
        shared.main = context
        return context
    }

    /// The identifier of the store that a configuration opened; nil if no configuration has that name.
    public func storeIdentifier(forConfigurationNamed name: String) -> String? {
        stores.first { $0.configurationName == name }?.identifier
    }

    /// The name of the configuration that opened a store; nil if no store has that identifier.
    public func configurationName(forStoreIdentifier identifier: String) -> String? {
        stores.first { $0.identifier == identifier }?.configurationName
    }

    /// The feeds of the container's stores, by store identifier. A store that announces its commits sends all of them, those
    /// of other containers included; for other stores the feed has what this container commits.
    public var changeFeeds: [String: ChangeFeed] {
        Dictionary(stores.map { ($0.identifier, $0.feed) }, uniquingKeysWith: { first, _ in first })
    }

    /// Removes all records from all stores.
    /// - Throws: `ModelContextError.readOnly` if one of the stores is open for reading only; nothing is erased then. What the
    ///   stores throw: those before the failing one are erased.
    public func erase() throws {
        try checkOpen()
        for store in stores where !store.allowsSave {
            throw ModelContextError.readOnly(configuration: store.configurationName)
        }
        for store in stores {
            store.saveLock.lock()
            defer { store.saveLock.unlock() }
            try store.erase()
            store.announce { _ in
                var changes = ChangeSet()
                changes.isErasure = true
                return changes
            }
        }
    }

    /// The former name of `erase()`.
    @available(*, deprecated, renamed: "erase")
    public func deleteAllData() { try? erase() }

    /// Closes the stores and releases their files. Every later use of the container or its contexts throws
    /// `ModelContextError.containerClosed`; models keep the values they have. Closing twice does nothing.
    ///
    /// On the main actor the main context's changes are saved first, unless its `autosaveEnabled` is false. When called
    /// elsewhere, unsaved changes of the main context are lost, and the log says so. Unsaved changes of other contexts
    /// are always lost. Live results stay as they are, with that error, and sequences of their changes end with it.
    /// - Throws: what that save throws, else what a store throws; the stores are closed nevertheless.
    public func close() throws {
        var first: (any Error)?
        if !shared.closed.load(ordering: .acquiring), Autosave.isOnMainActor {
            MainActor.assumeIsolated {
                do { try main?.autosave.saveNow() } catch { first = error }
            }
        }
        guard !shared.closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        for store in stores {
            do { try store.close() } catch { first = first ?? error }
            store.feed.end()
        }
        if let first { throw first }
    }

    /// Whether `close()` was called.
    public var isClosed: Bool { shared.closed.load(ordering: .acquiring) }

    func checkOpen() throws {
        if isClosed { throw ModelContextError.containerClosed }
    }

    /// The store that the configuration of that name opened, such as `ledger` of `log:data/ledger.log` or of
    /// `log:data/main.log?name=ledger`; nil if no configuration has that name.
    public func store(named name: String) -> (any DataStore)? {
        stores.first { $0.configurationName == name }?.underlying
    }

    /// The store that a configuration opened, to use what is specific to its type; nil if the store is of another type
    /// or no configuration has that name. Without a name, the first store of that type.
    public func store<Store: DataStore>(_ type: Store.Type, forConfigurationNamed name: String? = nil) -> Store? {
        stores.lazy.filter { name == nil || $0.configurationName == name }.compactMap { $0.underlying as? Store }.first
    }
}
