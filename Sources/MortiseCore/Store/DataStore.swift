public import Foundation

/// A place that keeps models: the contract that every storage backend fulfils.
///
/// A container makes the store, gives it the schema, and calls it from one thread at a time unless it is a
/// `ConcurrentDataStore`. Only `fetch(_:)` and `save(_:)` are required. A store that does not filter or sort throws
/// `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort`, and the framework does that part in memory.
public protocol DataStore: AnyObject {
    associatedtype Configuration: DataStoreConfiguration where Self == Self.Configuration.Store
    associatedtype Snapshot: DataStoreSnapshot

    /// Names this store in the identifiers of its records; the same text whenever the same data is opened.
    var identifier: String { get }
    var schema: Schema { get }
    var configuration: Configuration { get }

    /// What the store can do beyond what every store has to. The default is what the protocols that it conforms to tell;
    /// a store that does more, such as keeping its records over reopening, says so here.
    var capabilities: StoreCapabilities { get }

    /// Whether the store takes changes. The default says that it does. Where it does not, contexts throw
    /// `ModelContextError.readOnly` and do not ask it.
    var allowsSave: Bool { get }

    /// Opens the store. `configuration.schema` is set by then.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Removes all records. The default throws `DataStoreError.unsupportedFeature`.
    func erase() throws

    /// Returns the records of the request's entity (and its subentities) that match. `fetchedSnapshots` holds those and
    /// no others, in the order asked for; other records may come along as `relatedSnapshots`.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>

    /// How many records `fetch(_:)` would return. The default counts them.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// The identifiers of the records that `fetch(_:)` would return, in the same order. The default takes them from it.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Stores all changes of the request, or none of them and throws.
    ///
    /// Inserted snapshots carry temporary identifiers, also inside their relationships and those of updated snapshots.
    /// The store gives each a permanent one and returns the pairs.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// A context has begun to use the store. The default does nothing.
    func initializeState(for editingState: EditingState)
    /// The context is gone. The default does nothing.
    func invalidateState(for editingState: EditingState)

    /// Last known values of records, for a context that rolls back. The default returns nothing, and the context reads
    /// again.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    public var allowsSave: Bool { true }
    public func erase() throws { throw DataStoreError.unsupportedFeature }
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }
    public func initializeState(for editingState: EditingState) {}
    public func invalidateState(for editingState: EditingState) {}
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A promise that the store may be called from several threads at once; the container then does not serialise calls.
public protocol ConcurrentDataStore: DataStore, Sendable {}

/// A store that deletes many records without the context reading them first.
public protocol DataStoreBatching: DataStore {
    /// Deletes what the predicate matches, or everything of the entity where it is nil.
    /// - Throws: `DataStoreError.preferInMemoryFilter` where the store cannot evaluate the predicate; the framework then
    ///   finds the records itself and deletes them through `save(_:)`.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// Says how to make a store. Two equal configurations open the same data.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Self == Self.Store.Configuration
    /// Names the configuration within its container.
    var name: String { get }
    /// The models kept in this store; the container sets it to its own schema where it is nil.
    var schema: Schema? { get set }
    /// Checks the configuration before the store is made. The default accepts everything.
    func validate() throws
}

extension DataStoreConfiguration {
    public func validate() throws {}
}

/// What a store says about a request it does not carry out.
public enum DataStoreError: Error, Hashable, Sendable {
    case unsupportedFeature
    /// The framework shall ask again without predicate and filter itself.
    case preferInMemoryFilter
    /// The framework shall ask again without sort order and sort itself.
    case preferInMemorySort
    case invalidPredicate
}

/// What is known of the context on whose behalf a store is called.
public struct EditingState: Identifiable, Sendable {
    public typealias ID = UUID
    public let id: UUID
    /// Who makes the changes; goes into the history.
    public var author: String?

    public init(id: UUID = UUID(), author: String? = nil) {
        self.id = id
        self.author = author
    }
}

/// What a fetch asks a store for.
///
/// The store answers with what the descriptor says or throws `DataStoreError.preferInMemoryFilter` or
/// `.preferInMemorySort`; then the framework asks again without the part that it will do itself.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    public let descriptor: FetchDescriptor<T>

    public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
        self.editingState = editingState
        self.descriptor = descriptor
    }
}

/// A store's answer to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    public let descriptor: FetchDescriptor<ModelType>
    /// The records that match, in the order that was asked for.
    public let fetchedSnapshots: [SnapshotType]
    /// Records that those refer to and that were at hand, by their identifiers; the framework need not ask for them.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}

/// The changes that one save makes in one store.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    public let inserted: [SnapshotType]
    public let updated: [SnapshotType]
    public let deleted: [SnapshotType]
    public let editingState: EditingState
    /// For each snapshot in `updated`, at the same place, the slots that changed; empty when every slot of every updated
    /// record counts. A store of snapshots by slot may find the others null.
    public let changedSlots: [SlotSet]
    /// The number of the version that the changes were made on top of; a versioned store that has moved on since throws
    /// `VersionSuperseded` and changes nothing. Nil where any version will do.
    public let baseVersion: UInt64?

    public init(
        inserted: [SnapshotType] = [], updated: [SnapshotType] = [], deleted: [SnapshotType] = [],
        editingState: EditingState, changedSlots: [SlotSet] = [], baseVersion: UInt64? = nil
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.editingState = editingState
        self.changedSlots = changedSlots
        self.baseVersion = baseVersion
    }
}

/// A save came too late: another one was made on top of the same version. The context settles the difference and tries
/// again.
public struct VersionSuperseded: Error, Sendable {
    public init() {}
}

/// What a store made of a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The permanent identifier of every inserted record by its temporary one.
    public var remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] { new?.pairs ?? remapped }
    private let remapped: [PersistentIdentifier: PersistentIdentifier]
    /// The same in the order of the request, from a store that numbers records.
    package let new: NewIdentifiers?
    public let storeIdentifier: String
    /// Records whose values the store set otherwise than asked; the context takes these over.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The place of this save in the store's history, where it keeps one.
    public let historyToken: (any HistoryToken)?

    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remapped = remappedIdentifiers
        self.new = nil
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = nil
    }

    package init(for storeIdentifier: String, new: NewIdentifiers) {
        self.storeIdentifier = storeIdentifier
        self.remapped = Dictionary()
        self.new = new
        // Not a literal, which asks the run-time for the type of its pairs.
        self.snapshotsToReregister = Dictionary()
        self.historyToken = nil
    }

    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        self.storeIdentifier = storeIdentifier
        self.remapped = remappedIdentifiers
        self.new = nil
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = historyToken
    }
}

/// A deletion of all records that match, without reading them first.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    /// Nil where all records of the entity are deleted.
    public let predicate: Predicate<T>?
    /// Whether the records of entities that inherit from the type's own are deleted too.
    public let includeSubclasses: Bool

    public init(predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState) {
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
        self.editingState = editingState
    }
}
