import Foundation

/// A context's way to one store: the version that it has pinned, or the rows that it has read of a store without versions.
///
/// All that a context asks of a store goes through here, whatever the store's shape is. `TypedSession` asks the store.
class StoreSession {
    // Not private for the files of this type; contexts know the session alone.
    let connection: StoreConnection
    let schema: Schema
    /// The pinned version; nil for a store without versions, and as long as nothing was asked of one with versions.
    private(set) var version: (any StoreVersion)?
    /// By entity; empty for a store with versions.
    var read: [String: SessionRows] = [:]
    let rowHolds = RowHolds()
    /// Whether the store leaves out to-many relationships until they are needed; see `StoreCapability.deferredRelationships`.
    let defersRelationships: Bool
    /// The number of the answer whose rows are being taken.
    private(set) var answer = 0
    private var moment: UInt64 = 0
    let following = SessionFollowing()
    /// See `streaming(_:)`.
    var isStreaming = false
    /// See `settle(on:)`.
    private var settledVersions: [PersistentIdentifier: UInt64] = [:]
    // The session belongs to it. A weak reference would make counting those to the context slower.
    unowned let observer: any StoreSessionObserver

    init(_ connection: StoreConnection, _ schema: Schema, observer: any StoreSessionObserver) {
        self.connection = connection
        self.schema = schema
        self.observer = observer
        defersRelationships = connection.capabilities.contains(.deferredRelationships)
    }

    /// The identifier of the store.
    var identifier: String { connection.identifier }
    /// What errors call the store.
    var location: String { connection.location }
    var editingState: EditingState { observer.editingState }
    /// How many bytes of UTF-8 an author may have.
    private static let longestAuthor = 1_024

    // MARK: Versions

    /// The latest version of the store; nil for a store without versions.
    var latest: (any StoreVersion)? { nil }

    /// Pins the latest version if none is pinned.
    func pin() {
        if version == nil { version = latest }
    }

    /// What the session reads from here on, it reads as it is stored now; what a store without versions has kept of an
    /// earlier state for this context is not needed any more.
    func moveOn() {
        moment += 1
        sweep()
    }

    /// Which reads belong together; nil if the context is gone.
    var scope: ReadScope? { observer.contextIdentifier.map { ReadScope(context: $0, number: moment) } }

    /// Begins to take the rows of another answer.
    func beginAnswer() { answer += 1 }

    /// Pins another version.
    func move(to version: any StoreVersion) { self.version = version }

    /// The rows of an entity: those of the pinned version, or those that were read so far.
    func source(ofEntity name: String) -> RowSource {
        if let version { return version.rows(ofEntity: name) ?? RowSource() }
        return rows(ofEntity: name)
    }

    func rows(ofEntity name: String) -> SessionRows {
        if let rows = read[name] { return rows }
        let rows = SessionRows(deferrable: deferrableSlots(ofEntity: name)) { [unowned self] rows, places, slot in
            try readDeferred(places, slot, of: rows, entity: name)
        } failed: { [unowned self] error in
            observer.latchListFailure(error)
        }
        following.begin(in: connection.feed)
        if isStreaming { rows.beginNoting() }
        read[name] = rows
        return rows
    }

    // MARK: Rows of a store without versions

    /// Takes a record's values from a snapshot, with the record's version if the store tells it; or those that a save of this
    /// context has written, `isWritten`, and that its models do not show yet.
    /// - Returns: the record's row.
    /// - Throws: `ModelContextError.storeContract` for a store with versions.
    @discardableResult
    func put(
        _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, version recordVersion: UInt64,
        isWritten: Bool = false
    ) throws -> Int {
        guard version == nil else {
            throw ModelContextError.storeContract(
                store: location, fault: "It hands out snapshots although it has versions.")
        }
        let name = identifier.entityName
        let rows = rows(ofEntity: name)
        // Also one that was discarded: its model shows the old values until now.
        guard let row = rows.lastRow(of: identifier) else {
            return rows.put(identifier, values, version: recordVersion, answer: answer, isWritten: isWritten)
        }
        observer.replaceRow(row, ofEntity: name, in: rows, with: values) {
            rows.put(identifier, values, version: recordVersion, answer: answer, isWritten: isWritten)
        }
        return row
    }

    /// Takes the values that a save of this context has written, which its models show already. The store has not told
    /// their versions.
    func takeWritten(_ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>) {
        if version == nil {
            rows(ofEntity: identifier.entityName).put(identifier, values, version: 0, isWritten: true)
        }
    }

    /// Whether the store has told a version of any record that was read.
    var tellsRecordVersions: Bool { version == nil && read.values.contains { $0.tellsVersions } }

    /// Notes the versions of records that a save is about to settle with what others have stored: those are what its changes
    /// are based on, even if something reads the records again before they are saved.
    func settle(on records: [PersistentIdentifier]) {
        for record in records { settledVersions[record] = recordVersion(of: record) }
    }

    /// Forgets what `settle(on:)` has noted.
    func beginSettling() { settledVersions = [:] }

    func isSettled(_ record: PersistentIdentifier) -> Bool { settledVersions[record] != nil }

    /// The version of a record that this session has read; 0 if the store has told none.
    func recordVersion(of identifier: PersistentIdentifier) -> UInt64 {
        read[identifier.entityName]?.version(of: identifier) ?? 0
    }

    /// The versions of records on which a save's changes to them are based; empty if the store has told none.
    func baseVersions(of records: [PersistentIdentifier]) -> [UInt64] {
        if version != nil { return [] }
        let versions = records.map { settledVersions[$0] ?? recordVersion(of: $0) }
        return versions.allSatisfy { $0 == 0 } ? [] : versions
    }

    /// Forgets a record that is gone from the store; its values stay readable for its model.
    func forget(_ identifier: PersistentIdentifier) {
        if version == nil { read[identifier.entityName]?.remove(identifier) }
    }

    /// Forgets all records of some entities but those that the store has just named.
    func forgetAll(of entities: Set<String>, except present: Set<PersistentIdentifier>) {
        for name in entities {
            guard let rows = read[name], rows.count > 0 else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let identifier = rows.identifier(ofRow: row)
                if present.contains(identifier) { continue }
                observer.rowIsGone(row, ofEntity: name, in: rows)
                rows.remove(identifier)
            }
        }
    }

    /// Forgets what was read of an entity; the values stay readable for the models of its rows.
    func forgetAll(ofEntity name: String) { read[name]?.removeAll() }

    /// The row that a record has or had among those that were read; nil for a store with versions.
    func lastRow(of identifier: PersistentIdentifier) -> Int? { read[identifier.entityName]?.lastRow(of: identifier) }

    /// The values of a row, which change when it is read again, with null for what the store has left out; nil for a store with
    /// versions, whose rows do not change.
    func changingValues(ofRow row: Int, entity name: String) -> ContiguousArray<StoredValue>? {
        version == nil ? read[name]?.knownValues(row: row) : nil
    }

    // MARK: What the store is

    /// The store's type, for messages.
    var typeName: String { "" }
    var configurationName: String { connection.configurationName }
    var capabilities: StoreCapabilities { connection.capabilities }
    var allowsSave: Bool { connection.allowsSave }
    /// Whether the store takes queries instead of descriptors.
    var plansQueries: Bool { false }
    /// Whether records can be saved for which there is no model object.
    var takesDefaultSnapshots: Bool { false }
    /// Whether batches that delete apply all delete rules.
    var followsDeleteRules: Bool { false }

    // MARK: What the store is asked

    /// The store's plan for a query; nil for a store that takes descriptors only.
    /// - Throws: `QueryPlanError` for a plan with claims that are not legal.
    func plan(_ query: StoreQuery) throws -> FetchPlan? { nil }

    /// The rows of one entity whose attribute has a value, in the pinned version, without a plan; nil if a query has to be planned.
    /// - Throws: what the store throws; `ModelContextError.storeContract` for a row that the version does not have.
    func rows(ofEntity entity: String, having value: StoredValue, at slot: Int, upTo limit: Int) throws -> [Int]? {
        nil
    }

    /// Plans a query and runs the plan, if the body does not refuse it.
    /// - Returns: what was found, and the plan; nil for a store that takes descriptors only.
    /// - Throws: `QueryPlanError` for a plan with claims that are not legal; what the body throws.
    func answer(
        _ query: StoreQuery, admitting admit: (FetchPlan) throws -> Void
    ) throws -> (found: FoundRows, plan: FetchPlan)? { nil }

    /// The rows that a plan promises, and how many the store looked at.
    func execute(_ plan: FetchPlan) throws -> FoundRows { throw DataStoreError.unsupportedFeature }

    /// The rows that a plan promises, in portions; to be called with the number of rows wanted next, and nil at the end. For a
    /// store of queries without versions.
    func cursor(for plan: FetchPlan) throws -> (Int) throws -> FoundRows? { throw DataStoreError.unsupportedFeature }

    /// The aggregates of a query's records, in the pinned version if the store has versions; nil if the store leaves them to
    /// the framework.
    func aggregate(_ query: AggregateQuery) throws -> AggregateAnswer? { nil }

    /// Has the store carry out a batch.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult { throw DataStoreError.unsupportedFeature }

    /// Asks with a descriptor. Calls `beforeScan` before it asks a store that does not filter or sort for all records.
    func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, beforeScan: () throws -> Void = {}
    ) throws -> DescriptorAnswer { throw DataStoreError.unsupportedFeature }

    func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        throw DataStoreError.unsupportedFeature
    }

    /// Reads records by identifier with a descriptor.
    /// - Returns: the identifiers of those that exist.
    func loadByDescriptor(
        _ identifiers: [PersistentIdentifier], as type: any PersistentModel.Type
    ) throws -> Set<PersistentIdentifier> { throw DataStoreError.unsupportedFeature }

    /// Has a store of Apple's shape delete a batch.
    /// - Returns: false if the store has no batch delete, or leaves this one to the framework.
    func batchDelete<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, includeSubclasses: Bool) throws -> Bool {
        false
    }

    /// Takes the values that a store without versions last knew of records.
    func restore(_ identifiers: [PersistentIdentifier]) throws {}

    /// Has the store carry out changes. `mayDefer` says that the caller finishes a commit that the store defers.
    func commit(_ pending: ModelChanges, mayDefer: Bool) throws -> SaveOutcome {
        throw DataStoreError.unsupportedFeature
    }

    /// Reads records of a store without versions by identifier: by queries, if it takes those.
    /// - Returns: the identifiers of those that exist.
    @discardableResult
    func load(
        _ identifiers: [PersistentIdentifier], as type: any PersistentModel.Type
    ) throws -> Set<PersistentIdentifier> {
        if plansQueries, version == nil, let layout = schema.layout(for: type) {
            return try load(identifiers, of: layout)
        }
        return try loadByDescriptor(identifiers, as: type)
    }

    /// Keeps other contexts from saving until `endSaving`; recursive.
    func beginSaving() { connection.saveLock.lock() }
    func endSaving() { connection.saveLock.unlock() }
    /// Runs a body in which no other context saves.
    func saving<R>(_ body: () throws -> R) rethrows -> R {
        beginSaving()
        defer { endSaving() }
        return try body()
    }

    /// Posts what the store has committed, unless it does so itself. The body is told whether anyone needs values.
    /// - Returns: the place of the commit in what is recorded of the store; nil if nothing is, or it is not known.
    func announce(
        _ outcome: SaveOutcome? = nil, _ changes: (_ needsValues: Bool) -> ChangeSet
    ) -> (any HistoryToken)? {
        connection.announce(at: outcome?.turn, except: following.records, changes)
    }

    /// The place of the transaction that made a version, in the store's history or in what is recorded; nil if it is not known.
    func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? { connection.historyToken(ofVersion: number) }

    /// - Throws: `ModelContextError.authorTooLong`.
    func checkAuthor() throws {
        guard let bytes = editingState.author?.utf8.count, bytes > Self.longestAuthor else { return }
        throw ModelContextError.authorTooLong(bytes: bytes, most: Self.longestAuthor)
    }

    /// - Throws: `ModelContextError.readOnly`, `.authorTooLong`.
    func checkWritable() throws {
        try checkAuthor()
        if !connection.allowsSave { throw ModelContextError.readOnly(configuration: connection.configurationName) }
    }
}

/// The context of a session, which has models of its rows.
protocol StoreSessionObserver: AnyObject {
    /// The state of the context, for the store.
    var editingState: EditingState { get }
    /// Identifies the context; nil if it is gone.
    var contextIdentifier: UUID? { get }
    /// Runs a body. Observers are notified of what it changes only after it ends, even if it throws.
    func deferringNotifications<R>(_ body: () throws -> R) rethrows -> R
    /// Keeps an error for the next call that can throw it.
    func latch(_ error: any Error)
    /// The same for a list that the store had left out and that could not be read.
    func latchListFailure(_ error: any Error)
    /// Replaces the values of a row by running the body; the observers of its model are notified before and after.
    func replaceRow(
        _ row: Int, ofEntity name: String, in rows: SessionRows, with values: ContiguousArray<StoredValue>,
        _ body: () -> Void)
    /// The record of a row was found to be gone.
    func rowIsGone(_ row: Int, ofEntity name: String, in rows: SessionRows)
    /// Whether a row has a model.
    func hasModel(ofRow row: Int, entity name: String, in rows: SessionRows) -> Bool
}
