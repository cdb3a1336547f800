import Foundation
import MortiseCore
import Synchronization

/// Records that several connections share, each with its own store, as the rows of a server are.
final class QueriedRecords: Sendable {
    struct State {
        var table: SnapshotTable
        var versions: [PersistentIdentifier: UInt64] = [:]
        var save: UInt64 = 0
    }
    let state: Mutex<State>
    /// The queries that were asked since they were last taken, each with the number of records that it read.
    let queries = Mutex<[(query: StoreQuery, scanned: Int)]>([])
    /// Called once, before the next save is looked at: what happens between a context's reading and its save.
    let beforeSave = Mutex<(@Sendable () throws -> Void)?>(nil)
    /// Called once, when a save is done and has not returned yet.
    let afterSave = Mutex<(@Sendable () throws -> Void)?>(nil)
    /// To which all connections post what they commit; nil for stores that post nothing.
    let feed: ChangeFeed?

    init(_ schema: Schema, announces: Bool = false) throws {
        state = Mutex(State(table: try SnapshotTable(schema.stored, texts: [:])))
        feed = announces ? ChangeFeed() : nil
    }

    func takeQueries() -> [(query: StoreQuery, scanned: Int)] {
        queries.withLock { queries in
            defer { queries = [] }
            return queries
        }
    }
}

struct QueriedConfiguration: DataStoreConfiguration {
    typealias Store = QueriedStore
    var name = "queried"
    var schema: Schema?
    let records: QueriedRecords
    private let connection = UUID()

    init(_ records: QueriedRecords) { self.records = records }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.connection == rhs.connection }
    func hash(into hasher: inout Hasher) { hasher.combine(connection) }
}

/// Finds records by identifier and by equality of attributes without looking at others, numbers their versions, and leaves
/// everything else to the framework.
final class QueriedStore: QueryableDataStore, DataStoreBatching {
    typealias Snapshot = DefaultSnapshot
    let identifier: String
    let schema: Schema
    let configuration: QueriedConfiguration
    private var records: QueriedRecords { configuration.records }
    var changeFeed: ChangeFeed? { records.feed }

    init(_ configuration: QueriedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
        identifier = configuration.records.state.withLock { $0.table.storeIdentifier }
    }

    func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "by value", isFullScan: false)
        for conjunct in query.conjuncts where Self.test(conjunct.expression) != nil {
            plan.claims[conjunct.id] = .exact
        }
        // The table hands out records in the order of their numbers.
        if query.order.isEmpty { plan.order = .total }
        plan.isFullScan = plan.claims.isEmpty
        return plan
    }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let tests = plan.query.conjuncts.compactMap { Self.test($0.expression) }
        let found = records.state.withLock { state in
            state.table.snapshots(of: plan.query.entity) { record in tests.allSatisfy { $0(record) } }.map { record in
                var told = record
                told.recordVersion = state.versions[record.persistentIdentifier] ?? 0
                return told
            }
        }
        records.queries.withLock { $0.append((plan.query, found.count)) }
        return StoreRows(snapshots: found, scanned: found.count)
    }

    private static func test(_ expression: QueryExpression) -> ((DefaultSnapshot) -> Bool)? {
        switch expression {
        case .compare(.equal, let left, .constant(let wanted)):
            guard let value = value(left) else { return nil }
            return { ValueSemantics.areEqual(value($0), wanted) }
        case .contains(.list(let elements), let right):
            guard let value = value(right) else { return nil }
            let wanted = elements.compactMap { if case .constant(let wanted) = $0 { wanted } else { nil } }
            guard wanted.count == elements.count else { return nil }
            let set = Set(wanted)
            return { set.contains(value($0)) }
        case .and(let parts):
            let tests = parts.compactMap(test)
            return tests.count == parts.count ? { record in tests.allSatisfy { $0(record) } } : nil
        case .or(let parts):
            let tests = parts.compactMap(test)
            return tests.count == parts.count ? { record in tests.contains { $0(record) } } : nil
        default: return nil
        }
    }

    private static func value(_ expression: QueryExpression) -> ((DefaultSnapshot) -> StoredValue)? {
        switch expression {
        case .identifier(.variable(0)): { .identifier($0.persistentIdentifier) }
        case .property(.variable(0), let property): { $0[property: property.name] ?? .null }
        default: nil
        }
    }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        if request.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        try records.state.withLock { state in
            let all = state.table.snapshots(of: Schema.entityName(for: T.self))
            _ = try state.table.apply(
                DataStoreSaveChangesRequest(deleted: all, editingState: request.editingState))
            var changes = ChangeSet()
            changes.isIncomplete = true
            records.feed?.post([changes])
        }
    }

    func erase() throws {
        records.state.withLock { state in
            for entity in schema.stored.entities {
                for record in state.table.snapshots(of: entity.name) {
                    _ = try? state.table.apply(
                        DataStoreSaveChangesRequest(
                            deleted: [record], editingState: EditingState()))
                }
            }
            var changes = ChangeSet()
            changes.isErasure = true
            records.feed?.post([changes])
        }
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let hook = records.beforeSave.withLock { hook in
            defer { hook = nil }
            return hook
        }
        try hook?()
        let result = try apply(request)
        let last = records.afterSave.withLock { hook in
            defer { hook = nil }
            return hook
        }
        try last?()
        return result
    }

    private func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try records.state.withLock { state in
            let superseded = request.superseded { record in
                state.table[record] == nil ? nil : state.versions[record] ?? 0
            }
            if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            let result = try state.table.apply(request)
            state.save += 1
            let written = request.updated.map(\.persistentIdentifier) + result.remappedIdentifiers.values
            for record in written { state.versions[record] = state.save }
            if let feed = records.feed {
                var changes = ChangeSet(author: request.editingState.author)
                changes.inserted = .init(records: result.remappedIdentifiers.values.sorted())
                changes.updated = request.updated.map {
                    .init(record: $0.persistentIdentifier, layout: $0.layout, slots: SlotSet($0.values.indices))
                }
                changes.deleted = request.deleted.map { .init(record: $0.persistentIdentifier, layout: $0.layout) }
                feed.post([changes])
            }
            return result
        }
    }
}
