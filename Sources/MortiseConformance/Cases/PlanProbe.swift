import Foundation
import MortiseCore

/// Puts queries to a store that plans them, without a context between, and holds its rows against its claims: by the
/// reference evaluator, over the records that the store itself hands out where nothing is asked of them.
struct PlanProbe {
    private let c: CaseContext
    private let store: any DataStore
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let truth: RecordReader

    init(_ c: CaseContext) throws {
        self.c = c
        let bare = try c.store
        store = bare.store
        schema = ConformanceModels.schema.stored
        let layouts = schema.recordLayouts()
        self.layouts = layouts
        var rows: [String: ProbeRows] = [:]
        for type in ConformanceModels.types {
            let name = Self.name(type)
            let records = try Self.records(type, bare).filter { $0.identifier.entityName == name }
            if let layout = layouts[name] { rows[name] = ProbeRows(records, layout) }
        }
        let all = rows
        truth = ProbeReader(schema: schema, layouts: layouts) { all[$0] }
    }

    private static func name<M: PersistentModel>(_ type: M.Type) -> String { Schema.entityName(for: type) }
    private static func records<M: PersistentModel>(_ type: M.Type, _ store: BareStore) throws -> [BareStore.Record] {
        try store.quietly().records(type)
    }

    /// A property of the record in question.
    func property(_ name: String, of entity: String = "Entry") throws -> QueryExpression {
        let slot = try c.require(layouts[entity]?.slot(named: name), "a property \(entity).\(name)")
        return .property(.variable(0), QueryProperty(entity: entity, name: name, slot: slot))
    }

    /// - Throws: `ConformanceFailure` where the plan is for another query.
    func plan(_ query: StoreQuery) throws -> FetchPlan {
        let plan = try ask(query)
        try c.expect(
            plan.query == query, "a plan for the query that was asked", found: "one for \(Self.text(plan.query))")
        return plan
    }

    private func ask(_ query: StoreQuery) throws -> FetchPlan {
        if let store = store as? any QueryableDataStore { return store.plan(query) }
        throw c.failure(expected: "a store that plans queries", found: "\(type(of: store))")
    }

    /// What a store hands out for a plan.
    struct Found {
        var records: [PersistentIdentifier]
        /// The values of each record, where the store hands out snapshots.
        var values: [[String: StoredValue]]
        var scanned: Int
        /// How many there are, where the store has only counted them.
        var counted: Int?
        var count: Int { counted ?? records.count }
    }

    func rows(_ plan: FetchPlan) throws -> Found {
        if let store = store as? any VersionedDataStore {
            let version = store.currentVersion
            let found = try store.rows(for: plan, in: version)
            let records = found.rows.map { row in
                version.rows(ofEntity: found.entities[row.table])?.identifier(ofRow: row.row)
            }
            return Found(
                records: records.compactMap { $0 }, values: [], scanned: found.report.scanned,
                counted: plan.query.purpose == .count ? found.count : nil)
        }
        guard let store = store as? any QueryableDataStore else {
            throw c.failure(expected: "a store that plans queries", found: "\(type(of: store))")
        }
        return try Self.rows(store, plan)
    }

    private static func rows<S: QueryableDataStore>(_ store: S, _ plan: FetchPlan) throws -> Found {
        let found = try store.rows(for: plan)
        return Found(
            records: found.identifiers ?? found.snapshots.map(\.persistentIdentifier),
            values: try found.snapshots.map { try BareStore.values(of: $0) }, scanned: found.report.scanned,
            counted: plan.query.purpose == .count ? found.count : nil)
    }

    // MARK: Holding rows against claims

    /// - Throws: `ConformanceFailure` where the store's rows are not those that its plan promises.
    @discardableResult
    func check(_ query: StoreQuery) throws -> FetchPlan {
        let plan = try plan(query)
        c.note("plan \(Self.text(query)) → \(Self.text(plan))")
        let found = try rows(plan)
        c.note("→ \(found.count) rows of \(found.scanned) looked at")
        try c.expect(
            Set(found.records).count == found.records.count, "every record once",
            found: "\(found.records.count - Set(found.records).count) repetitions")
        let executor = QueryExecutor(reader: truth)
        let all = family(query)
        let claimed = query.conjuncts.filter { plan.claim(of: $0) != .residual }
        let exact = query.conjuncts.filter { plan.claim(of: $0) == .exact }
        let promised = try executor.filter(all, by: claimed.map(\.expression))
        let allowed = try executor.filter(all, by: exact.map(\.expression))
        let window = plan.appliesLimit && query.isLimited
        if window {
            let sorted = try executor.sort(promised, by: query.order).map(truth.identifier)
            let expected = Array(sorted[query.window(of: sorted.count)])
            if query.purpose == .count {
                try c.expect(found.count, is: expected.count, "rows that the window leaves:")
            } else {
                try c.expect(found.records, is: expected, "the records that order and window leave:")
            }
            return plan
        }
        if let counted = found.counted {
            try c.expect(
                counted >= promised.count && counted <= allowed.count, "\(promised.count) rows", found: "\(counted)")
            return plan
        }
        let here = Set(found.records)
        for record in promised where !here.contains(truth.identifier(record)) {
            throw c.failure(
                expected: "every record for which the claimed conditions hold",
                found: "none of \(truth.identifier(record)) among \(found.records.count) rows")
        }
        let may = Set(allowed.map(truth.identifier))
        for record in found.records where !may.contains(record) {
            throw c.failure(
                expected: "no record for which a condition does not hold that is claimed as exact",
                found: "\(record)")
        }
        try checkOrder(plan, found.records)
        return plan
    }

    private func checkOrder(_ plan: FetchPlan, _ found: [PersistentIdentifier]) throws {
        let query = plan.query
        let count: Int
        switch plan.order {
        case .none: return
        case .prefix(let keys): count = min(keys, query.order.count)
        case .total: count = query.order.count
        }
        if query.purpose == .count || count == 0 && !query.order.isEmpty { return }
        let records = found.compactMap { truth.record($0) }
        let sorted = try QueryExecutor(reader: truth).sort(records, by: Array(query.order.prefix(count)))
        if plan.order == .total {
            try c.expect(records.map(truth.identifier), is: sorted.map(truth.identifier), "the records in order:")
            return
        }
        let evaluator = QueryEvaluator(reader: truth)
        func keys(_ records: [RecordReference]) throws -> [[StoredValue]] {
            try records.map { record in
                try query.order.prefix(count).map { try evaluator.sortKey($0.expression, record) }
            }
        }
        try c.expect(
            try keys(records) == keys(sorted), "rows sorted by the first \(count) keys", found: "another order")
    }

    private func family(_ query: StoreQuery) -> [RecordReference] {
        let names = query.includesSubentities ? schema.subtree(of: query.entity) : [query.entity]
        return names.compactMap { truth.table(named: $0) }.flatMap { table in
            let rows = truth.tables[table].rows
            return (0..<rows.endRow).map { RecordReference(table: table, row: $0) }
        }
    }

    static func text(_ query: StoreQuery) -> String {
        var text = "\(query.purpose) of \(query.entity)"
        if !query.conjuncts.isEmpty {
            text += " where " + query.conjuncts.map { "\($0.expression)" }.joined(separator: "; ")
        }
        if !query.order.isEmpty {
            text +=
                " by "
                + query.order.map { "\($0.expression)" + ($0.isAscending ? "" : " down") }.joined(separator: ", ")
        }
        if query.offset > 0 { text += " offset \(query.offset)" }
        if let limit = query.limit { text += " limit \(limit)" }
        return text
    }

    private static func text(_ plan: FetchPlan) -> String {
        let claims = plan.query.conjuncts.map { plan.claim(of: $0).rawValue }
        return (claims + ["order \(plan.order)"] + (plan.appliesLimit ? ["window"] : [])).joined(separator: ", ")
            + " (\(plan.detail))"
    }
}

/// Records as a store handed them out, in that order.
///
/// @unchecked Sendable: all state is immutable.
private final class ProbeRows: RowSource, @unchecked Sendable {
    private let records: [BareStore.Record]
    private let layout: RecordLayout
    private let places: [PersistentIdentifier: Int]

    init(_ records: [BareStore.Record], _ layout: RecordLayout) {
        self.records = records
        self.layout = layout
        places = Dictionary(
            records.enumerated().map { ($1.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    }

    override var endRow: Int { records.count }
    override var count: Int { records.count }
    override func contains(row: Int) -> Bool { records.indices.contains(row) }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { records[row].identifier }
    override func row(of identifier: PersistentIdentifier) -> Int? { places[identifier] }
    override func value(row: Int, slot: Int) -> StoredValue {
        guard records.indices.contains(row), layout.slots.indices.contains(slot) else { return .null }
        return records[row].values[layout.slots[slot].name] ?? .null
    }
}

private final class ProbeReader: RecordReader {
    // The store's own order need not be that of identifiers.
    override var rowsAreInIdentityOrder: Bool { false }
}
