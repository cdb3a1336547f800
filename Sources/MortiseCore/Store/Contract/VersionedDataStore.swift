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

/// A store whose states can be retained and read row by row: contexts pin a version, and models read from it.
public protocol VersionedDataStore: DataStore where Snapshot == DefaultSnapshot {
    /// The latest published version. Never blocks on a save in progress.
    var currentVersion: any StoreVersion { get }

    /// The store's plan for the query; the same for all its versions.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// The rows of a version that a plan promises.
    /// - Throws: `QueryEvaluationError` for a condition that the plan claims exact; the store's errors.
    func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows
}

extension VersionedDataStore {
    /// Plans to return all records of the entity.
    public func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }

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
