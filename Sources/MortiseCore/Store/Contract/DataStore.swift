public import Foundation

/// A store of models: the contract of every storage backend.
///
/// A container makes the store with its schema, and calls it from one thread at a time unless it claims
/// `StoreCapability.concurrency`. Only `fetch(_:)` and `save(_:)` are required. `QueryableDataStore` and
/// `VersionedDataStore` add to this contract; what else a store can do, it says by `capabilities`. A store that does not
/// filter or sort throws `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort`, and the framework does that part in
/// memory.
public protocol DataStore: AnyObject {
    /// The configuration that opens this kind of store.
    associatedtype Configuration: DataStoreConfiguration where Self == Self.Configuration.Store
    /// The form in which records enter and leave the store.
    associatedtype Snapshot: DataStoreSnapshot

    /// Names this store in the identifiers of its records: not empty, and the same text whenever the same data is opened.
    ///
    /// Two storages have different identifiers, wherever and by whomever they were made, so that an identifier of one leads to
    /// nothing in another: a UUID made with the storage, or the name of what is stored if there can only be one of it. A copy of
    /// a storage keeps the identifier, wherever it lies, so that identifiers that were kept still lead to its records: keep the
    /// text within the data, and do not make it of a path.
    var identifier: String { get }
    /// The models that the store keeps.
    var schema: Schema { get }
    /// The configuration that opened the store.
    var configuration: Configuration { get }

    /// What the store can do beyond the basic contract. Read once, when the store has been opened: only if the store claims
    /// it here does the framework call it from several threads, or have it execute batches, delete batches, aggregate, check
    /// its health or take over the records of another store.
    /// The default follows from the protocols that the store conforms to; override it to declare more, such as keeping
    /// records after reopening.
    var capabilities: StoreCapabilities { get }

    /// Whether the store accepts changes. The default is true. If it is false, contexts throw
    /// `ModelContextError.readOnly` without calling the store.
    var allowsSave: Bool { get }

    /// Opens the store. `configuration.schema` is set by then. A storage that was written under another schema is adapted to it,
    /// or refused with an error that names what does not fit, and left as it was. Renamed properties are found by their original
    /// names; see `RecordLayout.origins(in:)`. Once it was adapted, the older schema may be refused in the same way.
    /// - Throws: the adapter's errors; the container's initializer throws them on. Nothing may stay open or locked
    ///   then.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Removes all records; the next save gets identifiers that were not used before. A history stays as it is, and is
    /// continued; the erasure may be a transaction of its own there, which names no record. The default throws
    /// `DataStoreError.unsupportedFeature`.
    func erase() throws

    /// Returns the matching records of the request's entity and its subentities. `fetchedSnapshots` holds exactly those,
    /// in the requested order; `relatedSnapshots` may hold records that they refer to.
    /// - Throws: `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort` to be asked again without that part.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>

    /// The number of records that `fetch(_:)` would return. The default fetches and counts them.
    /// - Throws: as `fetch(_:)`.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// The identifiers of the records that `fetch(_:)` would return, in the same order. The default fetches the
    /// records.
    /// - Throws: as `fetch(_:)`.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Stores all changes of the request, or throws and stores none.
    ///
    /// Inserted snapshots have temporary identifiers; relationships of inserted and updated snapshots may contain them.
    /// The store assigns each a permanent identifier and returns the pairs.
    /// - Throws: the store's error, which names the record at fault; `RecordsSuperseded`, and in a versioned store
    ///   `VersionSuperseded`, after which the context tries again by itself. The context keeps its changes and can save
    ///   again.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Called when a context begins to use the store. The default does nothing.
    func initializeState(for editingState: EditingState)
    /// Called when the context has been released. The default does nothing.
    func invalidateState(for editingState: EditingState)

    /// The values that the store last knew of records, for a context that rolls back its changes to them. The context
    /// shows the returned values; for other records it shows what it has read itself. The default returns an empty
    /// dictionary. Not called for a store with versions.
    /// - Throws: the store's error, which the context's next fetch or save throws.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]

    // MARK: What SwiftData's contract does not have

    /// Releases the store's files, locks and connections; `ModelContainer.close()` calls it once. Later saves throw that
    /// the store is closed; reads that need what was released throw too. Closing again does nothing. The default does
    /// nothing.
    /// - Throws: the first error of writing or releasing something; the store is closed nevertheless.
    func close() throws

    /// Looks at what keeps the store from working: an earlier failure that has closed it for writing, damage that was met, a file
    /// or a lock that is no longer the one that was opened. Cheap, and does not wait for saves. Called only if the store claims
    /// `StoreCapability.healthChecks`; of other stores `ModelContainer.health()` fetches a record. The default finds nothing.
    /// - Throws: what is wrong.
    func checkHealth() throws

    /// The feed to which the store posts what it commits; always the same one. Nil, which is the default, if the store posts
    /// nothing: the framework then posts what this process saves through it.
    ///
    /// A post names every record that was inserted, changed or deleted, or says `isErasure` or `isIncomplete`; one of a store
    /// without versions names owners of lists that have other members now, too. It is made once the records can be read as they
    /// are now, and for a commit of this process before the call returns that made it: contexts read the records of a store
    /// without versions again because they were named, and only then. A commit that is refused posts nothing. Declare the
    /// capability `announcements`.
    var changeFeed: ChangeFeed? { get }
    /// Whether the feed also has what other processes commit while the store is open. The default is false: either nobody
    /// else can write, or the store does not look.
    var announcesOtherProcesses: Bool { get }

    /// What opening the store repaired, in one line with offsets and numbers but no values; nil, which is the default, if
    /// there was nothing to repair. The container logs it.
    var recoveryDescription: String? { get }
    /// What the first save drops or, in a store open for reading only, what is not shown, because the schema lacks it; nil,
    /// which is the default, if nothing. The container logs it as a warning.
    var schemaLoss: SchemaLoss? { get }
    /// By name that entities had in earlier versions of the store's data, the entities of its schema that had it: identifiers with such a
    /// name lead to their records. Empty by default; what the schema itself says of original names need not be there.
    var formerNames: [String: [String]] { get }
    /// Sends every event of this store from now on to a handler, which replaces the previous one. A container installs one
    /// that logs compactions. The default sends nothing.
    ///
    /// The handler is called on the thread of the event, by several threads at once, and does not use the store.
    func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void)

    /// Reads the transactions with numbers greater than `number` without the models. The records have their names and the
    /// slots that changed; values need not be given.
    /// - Parameters:
    ///   - number: the number of the last transaction that the caller knows; 0 for all.
    ///   - last: the maximum number of transactions to return, the latest ones; nil for all.
    /// - Returns: the transactions, oldest first, each with its `commit`; nil if the store keeps no history. The default reads
    ///   `historyArchive`, and is nil for a store without one.
    /// - Throws: the store's error if its history cannot be read.
    func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]?

    /// Hands over the transactions with numbers greater than `number`, oldest first, one after the other, so that a long history
    /// needs no more memory than a short one. The records have their names and the slots that changed.
    ///
    /// The default reads `historyArchive` by `readChangeSets(_:_:)`, without the changes of transactions that were deleted from it
    /// (`ChangeSet.isIncomplete`), and other stores by `storedTransactions(after:last:)`.
    /// - Parameters:
    ///   - number: the number of the last transaction that the caller knows; 0 for all.
    ///   - withValues: whether the caller wants the values of new and changed records. A store gives those that it still has.
    ///   - body: takes a transaction with its `commit`, and returns whether it wants the next one.
    /// - Returns: false if the store keeps no history; the body is not called then.
    /// - Throws: the store's error if its history cannot be read; what the body throws.
    func readStoredTransactions(
        after number: UInt64, withValues: Bool, _ body: (ChangeSet) throws -> Bool
    ) throws -> Bool

    /// The history that the store keeps, as entries that are read one after the other; nil if it keeps none, or one that only
    /// `HistoryProviding` reads. The default is the store itself if it is a `HistoryArchive`, and nil for others.
    var historyArchive: (any HistoryArchive)? { get }

    /// The token in the store's history of the transaction that made a version; nil, which is the default, for a store whose
    /// history does not go by the numbers of its versions.
    func historyToken(ofVersion number: UInt64) -> (any HistoryToken)?

    /// Runs a body in which saves return before they are durable: for a store whose every save costs as much as all that it
    /// holds.
    ///
    /// They become durable when the body calls `flush`, and at the latest when this method returns or throws. The default
    /// runs the body, whose saves are durable as always.
    /// - Throws: what the body throws; the error of writing the saves.
    func saveInBulk<R>(_ body: (_ flush: () throws -> Void) throws -> R) throws -> R

    /// The number of the record that is inserted next, after those of records that are gone. Numbers are not used again. Asked only
    /// of a store that claims `StoreCapability.restoring`; the default is 1.
    var nextRecordNumber: UInt64 { get }

    /// Stores records that another store holds, under the identifiers that they have there, all of them or none. The first call comes
    /// before this store holds anything. Called only if the store claims `StoreCapability.restoring`: a container that migrates a store by
    /// copying it (see `ReplaceableConfiguration` in `MortiseEngine`) keeps identifiers in this way, and without it a plan has to say that
    /// they may change. The default throws `DataStoreError.unsupportedFeature`.
    /// - Parameters:
    ///   - records: records of any entities. They may refer to records of later calls; derived relationships are empty.
    ///   - store: the identifier of the other store, which this one has from now on. The same in all calls.
    ///   - nextNumber: the number that the next record to be inserted gets at least. The same in all calls.
    /// - Throws: the store's error, which names the record at fault.
    func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws

    /// Drops what the store's configuration does not keep, such as old history; no record changes, and others may read and save
    /// meanwhile. `ModelContainer.compact()` calls it.
    /// - Returns: figures such as the bytes before and after; nil, which is the default, for a store that cannot be made smaller while
    ///   it is open.
    /// - Throws: the store's errors. Its records do not change then either.
    func compactStore() throws -> MaintenanceReport?
}

extension DataStore {
    /// True: the store takes changes.
    public var allowsSave: Bool { true }
    /// Removes nothing: a store that can be erased implements this.
    /// - Throws: always `DataStoreError.unsupportedFeature`.
    public func erase() throws { throw DataStoreError.unsupportedFeature }
    /// Counts the records that `fetch(_:)` returns.
    /// - Throws: what `fetch(_:)` throws.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }
    /// Takes the identifiers from the records that `fetch(_:)` returns.
    /// - Throws: what `fetch(_:)` throws.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }
    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}
    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}
    /// Returns nothing, so that the context reads again.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
    /// Does nothing.
    public func close() throws {}
    /// Finds nothing.
    public func checkHealth() throws {}
    /// Nil: the store posts nothing.
    public var changeFeed: ChangeFeed? { nil }
    /// False.
    public var announcesOtherProcesses: Bool { false }
    /// Nil: nothing was repaired.
    public var recoveryDescription: String? { nil }
    /// Nil: nothing is lost.
    public var schemaLoss: SchemaLoss? { nil }
    /// None.
    public var formerNames: [String: [String]] { [:] }
    /// Sends nothing.
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {}
    /// Nil: no history is read entry by entry.
    public var historyArchive: (any HistoryArchive)? { nil }
    /// Nil: there is no history by numbers.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? { nil }
    /// Runs the body, whose saves are durable as always.
    public func saveInBulk<R>(_ body: (_ flush: () throws -> Void) throws -> R) throws -> R { try body {} }
    /// 1.
    public var nextRecordNumber: UInt64 { 1 }
    /// Throws `DataStoreError.unsupportedFeature`.
    public func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        throw DataStoreError.unsupportedFeature
    }
    /// Nil: the store cannot be made smaller while it is open.
    public func compactStore() throws -> MaintenanceReport? { nil }
}

/// A store that deletes many records without the context reading them first.
public protocol DataStoreBatching: DataStore {
    /// Deletes the records that the predicate matches, or all records of the entity if it is nil.
    /// - Throws: `DataStoreError.preferInMemoryFilter` if the store cannot evaluate the predicate; the framework then
    ///   finds the records itself and deletes them through `save(_:)`.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// Describes how to open a store. Two equal configurations open the same data.
public protocol DataStoreConfiguration: Hashable {
    /// The store that the configuration opens.
    associatedtype Store: DataStore where Self == Self.Store.Configuration
    /// The configuration's name, unique in its container.
    var name: String { get }
    /// The models kept in this store; if it is nil, the container sets it to its own schema.
    var schema: Schema? { get set }
    /// Checks the configuration before the store is made. The default accepts everything.
    /// - Throws: what is wrong with the configuration; the container's initializer throws it on.
    func validate() throws
    /// Whether opening the store takes care of migration plans: carries out the stages that are due, or throws and leaves the storage as
    /// it was. If false, which is the default, the container opens the store only with a plan that has nothing to do there. Where the
    /// configuration tells the stored schema (`SelfDescribingConfiguration`), opening the store may do what a plan without code asks
    /// for, and the container throws `MigrationError.customStage`, `.stagesNotFollowed` or `.optionsNotFollowed` for more. For any other
    /// it throws `.plansNotRun`, unless the plan has no version before the one that the store is opened with.
    var handlesMigrationPlans: Bool { get }
}

extension DataStoreConfiguration {
    /// Accepts every configuration.
    public func validate() throws {}
    /// False: the container refuses plans that have something to do.
    public var handlesMigrationPlans: Bool { false }
}

/// Identifies the context on whose behalf a store is called.
public struct EditingState: Identifiable, Sendable {
    /// A context is identified by a UUID.
    public typealias ID = UUID
    /// Identifies the context for as long as it lives.
    public let id: UUID
    /// The author of the changes, for the history; `ModelContext.author`.
    public var author: String?

    /// Describes a context.
    public init(id: UUID = UUID(), author: String? = nil) {
        self.id = id
        self.author = author
    }
}

/// A fetch, as a store receives it.
///
/// The store returns what the descriptor describes, or throws `DataStoreError.preferInMemoryFilter` or
/// `.preferInMemorySort`. The framework then repeats the request without that part and does that part in memory.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The context that fetches.
    public let editingState: EditingState
    /// Which models to return, and in which order.
    public let descriptor: FetchDescriptor<T>

    /// Makes a request.
    public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
        self.editingState = editingState
        self.descriptor = descriptor
    }
}

/// A store's answer to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// The descriptor of the request.
    public let descriptor: FetchDescriptor<ModelType>
    /// The matching records, in the requested order.
    public let fetchedSnapshots: [SnapshotType]
    /// Records that the fetched ones refer to, by identifier, if the store has them at hand. The framework then does
    /// not fetch them.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Makes an answer.
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
    /// The new records, with temporary identifiers.
    public let inserted: [SnapshotType]
    /// The changed records, with all their values.
    public let updated: [SnapshotType]
    /// The deleted records, with their last values.
    public let deleted: [SnapshotType]
    /// The context that saves.
    public let editingState: EditingState
    /// For each snapshot in `updated`, at the same index, the slots that changed; empty if all slots of all updated
    /// records count as changed. In snapshots by slot (`DefaultSnapshot`) the other slots may be null.
    public let changedSlots: [SlotSet]
    /// The number of the version that the changes were made on; a versioned store that has moved on since throws
    /// `VersionSuperseded` and changes nothing. Nil accepts any version.
    public let baseVersion: UInt64?
    /// For each snapshot in `updated`, at the same index, the version of the record that the changes were made on, as the
    /// store told it by `RecordVersionTelling`; 0 accepts any. Empty if the store told none. A store whose record has
    /// another version by now throws `RecordsSuperseded` and changes nothing; see `superseded(_:)`.
    public let updatedVersions: [UInt64]
    /// The same for `deleted`.
    public let deletedVersions: [UInt64]

    /// Makes a request. With `changedSlots` empty every slot of every updated record counts as changed.
    public init(
        inserted: [SnapshotType] = [], updated: [SnapshotType] = [], deleted: [SnapshotType] = [],
        editingState: EditingState, changedSlots: [SlotSet] = [], baseVersion: UInt64? = nil,
        updatedVersions: [UInt64] = [], deletedVersions: [UInt64] = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.editingState = editingState
        self.changedSlots = changedSlots
        self.baseVersion = baseVersion
        self.updatedVersions = updatedVersions
        self.deletedVersions = deletedVersions
    }
}

/// A save is based on a version that is no longer the store's latest. The context merges the difference and tries
/// again.
public struct VersionSuperseded: Error, Sendable {
    /// Makes the error.
    public init() {}
}

/// The result of a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The permanent identifier of every inserted record by its temporary one.
    public var remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] { new?.pairs ?? remapped }
    private let remapped: [PersistentIdentifier: PersistentIdentifier]
    /// The same in the order of the request; nil from a store that gave pairs.
    public let new: NewIdentifiers?
    /// The identifier of the store that saved.
    public let storeIdentifier: String
    /// Records whose values the store set differently than requested; the context takes these values.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The token of this save in the store's history; nil if it keeps none.
    public let historyToken: (any HistoryToken)?

    /// Makes the result of a save of a store without history.
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

    /// Makes the result of a save that set all values as requested. For many new records it is faster than pairs.
    public init(for storeIdentifier: String, new: NewIdentifiers) {
        self.storeIdentifier = storeIdentifier
        self.remapped = Dictionary()
        self.new = new
        // Not a literal, which asks the run-time for the type of its pairs.
        self.snapshotsToReregister = Dictionary()
        self.historyToken = nil
    }

    /// Makes the result of a save.
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
    /// The context that deletes.
    public let editingState: EditingState
    /// Which records to delete; nil for all of the entity.
    public let predicate: Predicate<T>?
    /// Whether to delete records of entities that inherit from the type's entity too.
    public let includeSubclasses: Bool

    /// Makes a request.
    public init(predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState) {
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
        self.editingState = editingState
    }
}
