package import MortiseCore

/// Opens a store of made-up records.
package struct MadeUpConfiguration: DataStoreConfiguration {
    package typealias Store = MadeUpStore
    package var name = "made up"
    package var schema: Schema?
    /// How many records each entity has.
    package let count: Int
    /// How many records a portion of its cursor has too many.
    var surplus = 0
    /// Whether fetches are answered with their window alone.
    var appliesLimit = false

    /// The value of a record's slot that is neither an identifier's nor a list's.
    let value: @Sendable (RecordLayout.Slot, _ number: Int) -> StoredValue

    package init(
        count: Int, surplus: Int = 0, appliesLimit: Bool = false,
        value: @escaping @Sendable (RecordLayout.Slot, _ number: Int) -> StoredValue
    ) {
        self.count = count
        self.surplus = surplus
        self.appliesLimit = appliesLimit
        self.value = value
    }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name && lhs.count == rhs.count }
    package func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

/// Has records that it makes from their numbers when they are asked for. To-one relationships lead to the record with the same
/// number, lists are empty.
package final class MadeUpStore: QueryableDataStore {
    package typealias Snapshot = DefaultSnapshot
    package let identifier = "made-up"
    package let schema: Schema
    package let configuration: MadeUpConfiguration
    private let layouts: [String: RecordLayout]

    package init(_ configuration: MadeUpConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
        layouts = schema.stored.recordLayouts()
    }

    package func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { throw DataStoreError.unsupportedFeature }

    package func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "made up", isFullScan: false)
        plan.order = query.order.isEmpty ? .total : .none
        for conjunct in query.conjuncts where Self.wanted(conjunct.expression) != nil {
            plan.claims[conjunct.id] = .exact
        }
        plan.isFullScan = plan.claims.isEmpty
        plan.appliesLimit = configuration.appliesLimit && query.conjuncts.isEmpty && plan.order == .total
        return plan
    }

    /// The records that a condition names.
    private static func wanted(_ condition: QueryExpression) -> [UInt64]? {
        switch condition {
        case .compare(.equal, .identifier(.variable(0)), .constant(.identifier(let record))):
            [record.sequenceNumber ?? 0]
        case .contains(.list(let records), .identifier(.variable(0))):
            records.compactMap {
                if case .constant(.identifier(let record)) = $0 { record.sequenceNumber } else { nil }
            }
        default: nil
        }
    }

    package func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let wanted = plan.query.conjuncts.compactMap { Self.wanted($0.expression) }.first
        if plan.query.purpose == .identifiers, wanted == nil, plan.isExact, plan.order == .total, !plan.query.isLimited
        {
            let identifiers = (0..<configuration.count).map { identifier($0, plan.query.entity) }
            return StoreRows(identifiers: identifiers, report: ExecutionReport(scanned: identifiers.count))
        }
        let all = 0..<configuration.count
        let numbers =
            wanted.map { $0.map(Int.init) } ?? Array(plan.appliesLimit ? plan.query.window(of: all.count) : all)
        return StoreRows(snapshots: numbers.map { record($0, plan.query.entity) }, scanned: numbers.count)
    }

    package func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> {
        Cursor(self, plan.query.entity)
    }

    fileprivate func record(_ number: Int, _ entity: String) -> DefaultSnapshot {
        let layout =
            layouts[entity] ?? .empty(entity)
        let values = layout.slots.map { slot -> StoredValue in
            if slot.role.isToMany { return .identifiers([]) }
            if let target = slot.property.relationship?.destination { return .identifier(identifier(number, target)) }
            return configuration.value(slot, number)
        }
        return DefaultSnapshot(
            persistentIdentifier: identifier(number, entity), layout: layout, values: ContiguousArray(values))
    }

    private func identifier(_ number: Int, _ entity: String) -> PersistentIdentifier {
        .numbered(UInt64(number), storeIdentifier: identifier, entityName: entity)
    }

    private final class Cursor: RowCursor {
        private let store: MadeUpStore
        private let entity: String
        private var next = 0

        init(_ store: MadeUpStore, _ entity: String) {
            self.store = store
            self.entity = entity
        }

        func next(atMost count: Int) -> [DefaultSnapshot] {
            let end = min(next + count + store.configuration.surplus, store.configuration.count)
            defer { next = end }
            return (next..<end).map { store.record($0, entity) }
        }
    }
}
