/// The rows that a versioned store found in one of its versions.
public struct VersionRows: Sendable {
    /// The entities of the tables, by the numbers to which the rows refer.
    public var entities: [String]
    /// The rows, in the order that the plan claims.
    public var rows: [RecordReference]
    /// The number of matches, for a query that only counts and whose conjuncts the plan claims exact; `rows` may then
    /// be empty. It ignores offset and limit unless the plan applies them. If nil, `rows` is counted.
    public var count: Int?
    /// How the store found the rows.
    public var report: ExecutionReport

    /// Makes an answer.
    public init(entities: [String], rows: [RecordReference], count: Int? = nil, report: ExecutionReport) {
        self.entities = entities
        self.rows = rows
        self.count = count
        self.report = report
    }
}

/// A store of queries whose states can be retained and read row by row: contexts pin a version, and models read from it. It
/// is called from several threads at once. Its plans are the same for all its versions.
public protocol VersionedDataStore: QueryableDataStore, Sendable where Snapshot == DefaultSnapshot {
    /// The latest published version. Never blocks on a save in progress.
    var currentVersion: any StoreVersion { get }

    /// The rows of a version that a plan promises.
    /// - Throws: `QueryEvaluationError` for a condition that the plan claims exact; the store's errors.
    func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows

    /// The rows of exactly one entity whose attribute has a value, in identity order, found without a plan: what programs ask for
    /// most takes less time than planning it.
    ///
    /// Equality is that of `ValueSemantics.areEqual`. A context asks only for attributes of kinds with an equality of their own, and
    /// plans a query where the answer is nil. The rows must be those that the plan would lead to.
    /// - Parameters:
    ///   - entity: the entity; records of its subentities do not count.
    ///   - value: a value of the attribute's kind, or null.
    ///   - slot: the attribute's place in the entity's layout.
    ///   - limit: the most rows that an answer may have.
    ///   - version: a version of the store.
    /// - Returns: nil, which is the default, if no index leads to the rows, or if there are more of them.
    /// - Throws: the store's errors.
    func rows(
        ofEntity entity: String, having value: StoredValue, at slot: Int, upTo limit: Int, in version: any StoreVersion
    ) throws -> [Int]?

    /// Like `save(_:)`, but returns before the save is durable or visible, so that contexts that save at the same time share
    /// one sync: a context holds the store exclusively while it prepares a save and hands it over, but not while the save
    /// becomes durable. Saves since the request's base version are no reason to refuse it if the request would be the same
    /// on top of them.
    /// - Returns: nil, which is the default, if the store defers no saves; `save(_:)` is called then.
    /// - Throws: as `save(_:)`; `VersionSuperseded` if the request might be different. Nothing was changed then.
    func beginSave(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DeferredSave?
}

extension VersionedDataStore {
    /// Nil: a query is planned.
    public func rows(
        ofEntity entity: String, having value: StoredValue, at slot: Int, upTo limit: Int, in version: any StoreVersion
    ) throws -> [Int]? { nil }

    /// Nil: saves are not deferred.
    public func beginSave(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DeferredSave? { nil }

    /// The records that a plan promises, in the latest version.
    /// - Throws: as `rows(for:in:)`; why a value cannot be read.
    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let version = currentVersion
        let found = try rows(for: plan, in: version)
        let layouts = schema.stored.recordLayouts()
        let tables = found.entities.map { (rows: version.rows(ofEntity: $0), layout: layouts[$0]) }
        var answer = StoreRows<DefaultSnapshot>(snapshots: [], report: found.report)
        answer.count = found.count
        answer.snapshots.reserveCapacity(found.rows.count)
        for record in found.rows {
            guard tables.indices.contains(record.table), let rows = tables[record.table].rows,
                let layout = tables[record.table].layout, rows.contains(row: record.row)
            else {
                throw ModelContextError.storeContract(
                    store: configuration.locationOrName,
                    fault: "It returned row \(record.row) of a table that its version does not have."
                )
            }
            let values = try layout.slots.indices.map { try rows.readValue(row: record.row, slot: $0) }
            answer.snapshots.append(
                DefaultSnapshot(
                    persistentIdentifier: rows.identifier(ofRow: record.row), layout: layout,
                    values: ContiguousArray(values)))
        }
        try version.check()
        return answer
    }

    /// All rows of the entity's family, table by table.
    public func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        let entities =
            plan.query.includesSubentities ? schema.stored.subtree(of: plan.query.entity) : [plan.query.entity]
        var rows: [RecordReference] = []
        for (table, name) in entities.enumerated() {
            guard let source = version.rows(ofEntity: name) else { continue }
            rows.reserveCapacity(rows.count + source.count)
            for row in 0..<source.endRow where source.contains(row: row) {
                rows.append(RecordReference(table: table, row: row))
            }
        }
        return VersionRows(entities: entities, rows: rows, report: ExecutionReport(scanned: rows.count))
    }
}
