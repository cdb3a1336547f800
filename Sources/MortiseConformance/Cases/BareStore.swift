public import MortiseCore
import Foundation

/// The store under the container, for requirements of `DataStore` that no context can check.
public struct BareStore {
    /// The store.
    public let store: any DataStore
    private let log: CaseContext?
    private let editingState = EditingState(author: "conformance")

    init(_ store: any DataStore, log: CaseContext?) {
        self.store = store
        self.log = log
    }

    /// The store's identifier.
    public var identifier: String { store.identifier }

    /// The same store, whose calls are not noted: for many of them, or from other threads.
    func quietly() -> BareStore { BareStore(store, log: nil) }

    /// What a save returned, without the store's types.
    public struct SaveResult {
        /// The identifier that the store returned.
        public let storeIdentifier: String
        /// The permanent identifier of each inserted record by its temporary one.
        public let remapped: [PersistentIdentifier: PersistentIdentifier]
    }

    /// A record as the store hands it out: its values by property name.
    public struct Record {
        /// The record.
        public let identifier: PersistentIdentifier
        /// The values by property name.
        public let values: [String: StoredValue]

        /// The identifiers in a relationship; nil if the property is missing or holds something else.
        public func related(_ property: String) -> [PersistentIdentifier]? {
            switch values[property] {
            case .null: []
            case .identifier(let identifier): [identifier]
            case .identifiers(let identifiers): identifiers
            case let value?:
                (try? StoredValueDecoder().decode([PersistentIdentifier].self, from: value))
                    ?? (try? StoredValueDecoder().decode(PersistentIdentifier.self, from: value)).map { [$0] }
            case nil: nil
            }
        }
    }

    // MARK: Reading

    /// The records of a fetch without predicate and sort order, which every store answers itself.
    /// - Throws: what the store throws.
    public func records<T: PersistentModel>(
        _ type: T.Type, offset: Int? = nil, limit: Int? = nil
    ) throws -> [Record] {
        let records = try Self.records(store, request(type, offset, limit))
        log?.note("store.fetch \(T.self)\(Self.text(offset, limit)) → \(records.count)")
        return records
    }

    /// How many records the store counts.
    /// - Throws: what the store throws.
    public func count<T: PersistentModel>(_ type: T.Type, offset: Int? = nil, limit: Int? = nil) throws -> Int {
        let count = try store.fetchCount(request(type, offset, limit))
        log?.note("store.fetchCount \(T.self)\(Self.text(offset, limit)) → \(count)")
        return count
    }

    /// The identifiers that the store returns.
    /// - Throws: what the store throws.
    public func identifiers<T: PersistentModel>(
        _ type: T.Type, offset: Int? = nil, limit: Int? = nil
    ) throws -> [PersistentIdentifier] {
        let identifiers = try store.fetchIdentifiers(request(type, offset, limit))
        log?.note("store.fetchIdentifiers \(T.self)\(Self.text(offset, limit)) → \(identifiers.count)")
        return identifiers
    }

    /// The version of each record that the store tells, in the order of a fetch; 0 where it tells none.
    /// - Throws: what the store throws.
    public func recordVersions<T: PersistentModel>(
        _ type: T.Type
    ) throws -> [(record: PersistentIdentifier, version: UInt64)] {
        let found = try Self.recordVersions(store, request(type, nil, nil))
        log?.note("store.fetch \(T.self) → versions \(found.map(\.version))")
        return found
    }

    private static func recordVersions<S: DataStore, T: PersistentModel>(
        _ store: S, _ request: DataStoreFetchRequest<T>
    ) throws -> [(record: PersistentIdentifier, version: UInt64)] {
        try store.fetch(request).fetchedSnapshots.map { snapshot in
            (snapshot.persistentIdentifier, (snapshot as? any RecordVersionTelling)?.recordVersion ?? 0)
        }
    }

    /// The records that the store returns for a query, whichever conditions it claims.
    /// - Throws: what the store throws.
    public func records(_ query: StoreQuery) throws -> [Record] {
        guard let queryable = store as? any QueryableDataStore else { throw DataStoreError.unsupportedFeature }
        let records = try Self.records(queryable, query)
        log?.note("store.rows of \(query.entity), with \(query.prefetch.joined(separator: ", ")) → \(records.count)")
        return records
    }

    /// The records that the store returns for a query in portions, each no larger than asked for, and empty at the end. They
    /// belong to a scope of their own.
    /// - Returns: nil if the store does not claim the whole order: it is asked for no cursor then.
    /// - Throws: what the store throws.
    public func cursor(_ query: StoreQuery) throws -> ((_ count: Int) throws -> [Record])? {
        guard let queryable = store as? any QueryableDataStore else { throw DataStoreError.unsupportedFeature }
        log?.note("store.cursor of \(query.entity)")
        return try Self.cursor(queryable, query)
    }

    private static func cursor<S: QueryableDataStore>(
        _ store: S, _ query: StoreQuery
    ) throws -> ((Int) throws -> [Record])? {
        var plan = store.plan(query)
        if plan.order != .total { return nil }
        plan.scope = ReadScope(context: UUID(), number: 1)
        let cursor = try store.cursor(for: plan)
        return { count in
            try cursor.next(atMost: count).map { snapshot in
                Record(identifier: snapshot.persistentIdentifier, values: try values(of: snapshot))
            }
        }
    }

    private static func records<S: QueryableDataStore>(_ store: S, _ query: StoreQuery) throws -> [Record] {
        try store.rows(for: store.plan(query)).snapshots.map { snapshot in
            Record(identifier: snapshot.persistentIdentifier, values: try values(of: snapshot))
        }
    }

    private func request<T: PersistentModel>(_ type: T.Type, _ offset: Int?, _ limit: Int?) -> DataStoreFetchRequest<T>
    {
        var descriptor = FetchDescriptor<T>()
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        return DataStoreFetchRequest(descriptor: descriptor, editingState: editingState)
    }

    private static func text(_ offset: Int?, _ limit: Int?) -> String {
        (offset.map { " offset \($0)" } ?? "") + (limit.map { " limit \($0)" } ?? "")
    }

    private static func records<S: DataStore, T: PersistentModel>(
        _ store: S, _ request: DataStoreFetchRequest<T>
    ) throws -> [Record] {
        try store.fetch(request).fetchedSnapshots.map { snapshot in
            Record(identifier: snapshot.persistentIdentifier, values: try values(of: snapshot))
        }
    }

    static func values(of snapshot: some DataStoreSnapshot) throws -> [String: StoredValue] {
        if let snapshot = snapshot as? DefaultSnapshot {
            let pairs = zip(snapshot.layout.slots, snapshot.values).map { ($0.name, $1) }
            return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
        guard case .object(var members) = try StoredValueEncoder().encode(snapshot) else { return [:] }
        members[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        return members
    }

    // MARK: Writing

    /// Saves the models' present values in the store itself, without their context.
    /// - Throws: what the store throws.
    @discardableResult
    public func save(
        inserted: [any PersistentModel] = [], updated: [any PersistentModel] = [], deleted: [any PersistentModel] = [],
        baseVersion: UInt64? = nil, updatedVersions: [UInt64] = [], deletedVersions: [UInt64] = []
    ) throws -> SaveResult {
        log?.note(
            "store.save inserted \(inserted.count), updated \(updated.count), deleted \(deleted.count)"
                + (updatedVersions + deletedVersions).map { ", based on \($0)" }.joined())
        return try Self.save(
            store, inserted, updated, deleted, editingState, baseVersion, (updatedVersions, deletedVersions))
    }

    private static func save<S: DataStore>(
        _ store: S, _ inserted: [any PersistentModel], _ updated: [any PersistentModel],
        _ deleted: [any PersistentModel], _ editingState: EditingState, _ baseVersion: UInt64?,
        _ versions: (updated: [UInt64], deleted: [UInt64])
    ) throws -> SaveResult {
        func snapshot<M: PersistentModel>(_ model: M) -> S.Snapshot {
            var related: [PersistentIdentifier: any BackingData] = [:]
            return S.Snapshot(from: model._backingData(), relatedBackingDatas: &related)
        }
        func snapshots(_ models: [any PersistentModel]) -> [S.Snapshot] { models.map { snapshot($0) } }
        let result = try store.save(
            DataStoreSaveChangesRequest<S.Snapshot>(
                inserted: snapshots(inserted), updated: snapshots(updated), deleted: snapshots(deleted),
                editingState: editingState, baseVersion: baseVersion, updatedVersions: versions.updated,
                deletedVersions: versions.deleted))
        return SaveResult(storeIdentifier: result.storeIdentifier, remapped: result.remappedIdentifiers)
    }

    /// Saves some of a model's present values in the store itself, as a context does that has not read the others: these are null
    /// in the snapshot.
    /// - Returns: false if the store's snapshots are not by slot, so that they always have all values.
    /// - Throws: what the store throws.
    func save(_ properties: [String], of model: any PersistentModel) throws -> Bool {
        log?.note(
            "store.save \(properties.joined(separator: ", ")) of \(model.persistentModelID), and null for all others")
        return try Self.save(store, properties, model, editingState)
    }

    private static func save<S: DataStore>(
        _ store: S, _ properties: [String], _ model: any PersistentModel, _ editingState: EditingState
    ) throws -> Bool {
        func snapshot<M: PersistentModel>(_ model: M) -> S.Snapshot {
            var related: [PersistentIdentifier: any BackingData] = [:]
            return S.Snapshot(from: model._backingData(), relatedBackingDatas: &related)
        }
        guard let whole = snapshot(model) as? DefaultSnapshot else { return false }
        let changed = SlotSet(properties.compactMap { whole.layout.slot(named: $0) })
        let values = whole.values.indices.map { changed.contains($0) ? whole.values[$0] : .null }
        let part = DefaultSnapshot(
            persistentIdentifier: whole.persistentIdentifier, layout: whole.layout, values: ContiguousArray(values))
        guard let updated = part as? S.Snapshot else { return false }
        _ = try store.save(
            DataStoreSaveChangesRequest<S.Snapshot>(
                updated: [updated], editingState: editingState, changedSlots: [changed]))
        return true
    }

    /// Has the store delete all records of an entity and its subentities.
    /// - Throws: `DataStoreError.unsupportedFeature` if the store has no batch delete; what the store throws.
    public func deleteAll<T: PersistentModel>(_ type: T.Type) throws {
        guard let batching = store as? any DataStoreBatching else { throw DataStoreError.unsupportedFeature }
        log?.note("store.delete all \(T.self)")
        try batching.delete(
            DataStoreBatchDeleteRequest<T>(predicate: nil, includeSubclasses: true, editingState: editingState))
    }

    /// Has the store carry out a batch.
    /// - Throws: `DataStoreError.unsupportedFeature` if the store executes no batches; what the store throws.
    public func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        guard let queryable = store as? any QueryableDataStore else { throw DataStoreError.unsupportedFeature }
        let result = try queryable.execute(batch)
        log?.note("store.execute \(Self.text(batch)) → \(result.count)")
        return result
    }

    /// Has the store aggregate records of its latest version.
    /// - Returns: nil if it leaves that to the framework.
    /// - Throws: what the store throws.
    public func aggregate(_ query: AggregateQuery) throws -> AggregateAnswer? {
        guard let queryable = store as? any QueryableDataStore else { return nil }
        let answer = try queryable.aggregate(query, in: (store as? any VersionedDataStore)?.currentVersion)
        log?.note("store.aggregate → \(answer.map { "\($0.groups.count) groups" } ?? "nil")")
        return answer
    }

    private static func text(_ batch: StoreBatch) -> String {
        let change =
            switch batch.change {
            case .delete: "delete"
            case .update(let assignments): "update of \(assignments.map(\.property.name).joined(separator: ", "))"
            }
        return switch batch.selection {
        case .query(let query):
            "\(change) where \(query.conjuncts.map { "\($0.expression)" }.joined(separator: " and "))"
        case .records(let records): "\(change) of \(records)"
        }
    }
}
