import Foundation
package import MortiseCore
package import Synchronization

/// Records that several connections share, each with its own store, as the rows of a server are.
package final class QueriedRecords: Sendable {
    package struct State: Sendable {
        package var table: SnapshotTable
        package var versions: [PersistentIdentifier: UInt64] = [:]
        package var save: UInt64 = 0
    }
    package let state: Mutex<State>
    /// The queries that were asked since they were last taken, each with the number of records that it read.
    package let queries = Mutex<[(query: StoreQuery, scanned: Int)]>([])
    /// Called once, before the next save is looked at: what happens between a context's reading and its save.
    package let beforeSave = Mutex<(@Sendable () throws -> Void)?>(nil)
    /// Called once, when a save is done and has not returned yet.
    package let afterSave = Mutex<(@Sendable () throws -> Void)?>(nil)
    /// To which all connections post what they commit; nil for stores that post nothing.
    package let feed: ChangeFeed?

    /// What every query throws, or those that are chosen.
    package let failure = Mutex<(any Error)?>(nil)
    package let failsOnlyFor = Mutex<(@Sendable (StoreQuery) -> Bool)?>(nil)
    /// Whether stores answer from the latest state although they claim read consistency.
    package let forgetsStates = Mutex(false)
    /// Whether to-many relationships are left out until somebody asks for them by name.
    package let defersLists: Bool

    package init(_ schema: Schema, announces: Bool = false, defersLists: Bool = false) throws {
        feed = announces ? ChangeFeed() : nil
        state = Mutex(State(table: try SnapshotTable(schema.stored, texts: [:])))
        self.defersLists = defersLists
    }

    package func takeQueries() -> [(query: StoreQuery, scanned: Int)] {
        queries.withLock { queries in
            defer { queries = [] }
            return queries
        }
    }
}

package struct QueriedConfiguration: DataStoreConfiguration {
    package typealias Store = QueriedStore
    package var name = "queried"
    package var schema: Schema?
    package let records: QueriedRecords
    private let connection = UUID()

    package init(_ records: QueriedRecords) { self.records = records }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.connection == rhs.connection }
    package func hash(into hasher: inout Hasher) { hasher.combine(connection) }
}

/// Finds records by identifier and by equality of attributes without looking at others, numbers their versions, and leaves
/// everything else to the framework.
package final class QueriedStore: QueryableDataStore, DataStoreBatching {
    package typealias Snapshot = DefaultSnapshot
    package let identifier: String
    package let schema: Schema
    package let configuration: QueriedConfiguration
    private var records: QueriedRecords { configuration.records }
    private let states = Mutex<[UUID: (scope: ReadScope, state: QueriedRecords.State)]>([:])
    package var changeFeed: ChangeFeed? { records.feed }

    package init(_ configuration: QueriedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
        identifier = configuration.records.state.withLock { $0.table.storeIdentifier }
    }

    package var capabilities: StoreCapabilities {
        StoreCapabilities(conformances: self).union(
            (records.defersLists ? [.recordVersions, .deferredRelationships, .readConsistency] : [])
                + (records.feed == nil ? [] : [.announcements]))
    }

    package func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "by value", isFullScan: false)
        for conjunct in query.conjuncts where Self.test(conjunct.expression) != nil {
            plan.claims[conjunct.id] = .exact
        }
        // The table hands out records in the order of their numbers.
        if query.order.isEmpty { plan.order = .total }
        plan.isFullScan = plan.claims.isEmpty
        return plan
    }

    package func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        if let failure = records.failure.withLock({ $0 }) {
            if records.failsOnlyFor.withLock({ $0 })?(plan.query) ?? true { throw failure }
        }
        let tests = plan.query.conjuncts.compactMap { Self.test($0.expression) }
        let found = state(for: plan.scope) { state in
            state.table.snapshots(of: plan.query.entity) { record in tests.allSatisfy { $0(record) } }.map { record in
                var told = records.defersLists ? Self.leavingOutLists(of: record, plan.query.prefetch) : record
                told.recordVersion = state.versions[record.persistentIdentifier] ?? 0
                return told
            }
        }
        records.queries.withLock { $0.append((plan.query, found.count)) }
        if plan.query.purpose == .identifiers, plan.isExact, plan.order == .total, !plan.query.isLimited {
            return StoreRows(
                identifiers: found.map(\.persistentIdentifier), report: ExecutionReport(scanned: found.count))
        }
        return StoreRows(snapshots: found, scanned: found.count)
    }

    /// Reads the latest state, or the one that a context reads until it moves on.
    private func state<R>(for scope: ReadScope?, _ body: (QueriedRecords.State) throws -> R) rethrows -> R {
        guard records.defersLists, !records.forgetsStates.withLock({ $0 }), let scope else {
            return try records.state.withLock { try body($0) }
        }
        let latest = records.state.withLock { $0 }
        let state = states.withLock { states in
            if let known = states[scope.context], known.scope == scope { return known.state }
            states[scope.context] = (scope, latest)
            return latest
        }
        return try body(state)
    }

    package func invalidateState(for editingState: EditingState) { states.withLock { $0[editingState.id] = nil } }

    private static func leavingOutLists(of record: DefaultSnapshot, _ names: [String]) -> DefaultSnapshot {
        var values = record.values
        for (slot, description) in record.layout.slots.enumerated() where description.role.isToMany {
            if !names.contains(description.name) { values[slot] = .null }
        }
        return DefaultSnapshot(
            persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
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
        case .identifier(.property(.variable(0), let property)): { $0[property: property.name] ?? .null }
        case .property(.variable(0), let property): { $0[property: property.name] ?? .null }
        default: nil
        }
    }

    package func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
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

    package func erase() throws {
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

    package func save(
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

    /// A required reference to a record that the request has deleted.
    private func missingTarget(
        in table: SnapshotTable, after request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) -> MissingTarget? {
        if request.deleted.isEmpty { return nil }
        for entity in schema.stored.entities {
            for record in table.snapshots(of: entity.name, includingSubentities: false) {
                for (slot, value) in zip(record.layout.slots, record.values) {
                    if slot.role == .toOne, !slot.property.isOptional, value.isNull {
                        return MissingTarget(record: record.persistentIdentifier, property: slot.name)
                    }
                }
            }
        }
        return nil
    }

    /// A save would leave a record without what it requires.
    package struct MissingTarget: Error {
        package let record: PersistentIdentifier
        package let property: String
    }

    private func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try records.state.withLock { state in
            let superseded = request.superseded { record in
                state.table[record] == nil ? nil : state.versions[record] ?? 0
            }
            if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            let before = state.table
            let result = try state.table.apply(request)
            if let fault = missingTarget(in: state.table, after: request) {
                state.table = before
                throw fault
            }
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
