/// A store that evaluates parts of queries itself.
///
/// For each fetch the framework asks the store for a plan, checks that it is legal, runs it, and does the rest. A store
/// that does not implement planning gets `FetchPlan.scanAll` and is still correct.
public protocol QueryableDataStore: DataStore {
    /// Plans the query. It must have no side effects; `rows(for:)` may never be called.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// Returns the records that a plan of this store promises.
    /// - Throws: `QueryEvaluationError` for a condition that the plan claims exact; the store's errors.
    func rows(for plan: FetchPlan) throws -> StoreRows<Snapshot>
}

extension QueryableDataStore {
    /// Plans to return all records of the entity.
    public func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }
}

/// The records that a store found.
public struct StoreRows<Snapshot: DataStoreSnapshot>: Sendable {
    /// The records, in the order that the plan claims.
    public var snapshots: [Snapshot]
    /// How many rows the store looked at.
    public var scanned: Int
    /// How the store found the rows, in its own words, if decided after planning; nil if the plan's `detail` holds.
    public var detail: String?
    /// Whether every row was looked at, if that was decided after planning; nil if the plan's `isFullScan` holds. Never
    /// true for a query that avoids full scans, unless its plan is a full scan.
    public var isFullScan: Bool?

    /// Makes an answer; `scanned` counts the rows that the store looked at.
    public init(snapshots: [Snapshot], scanned: Int, detail: String? = nil, isFullScan: Bool? = nil) {
        self.snapshots = snapshots
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

/// The rows that a versioned store found in one of its versions.
public struct VersionRows: Sendable {
    /// The entities of the tables, by the numbers to which the rows refer.
    public var entities: [String]
    /// The rows, in the order that the plan claims.
    public var rows: [RecordReference]
    /// How many rows the store looked at.
    public var scanned: Int
    /// The number of matches, for a query that only counts and whose conjuncts the plan claims exact; `rows` may then
    /// be empty. It ignores offset and limit unless the plan applies them. If nil, `rows` is counted.
    public var count: Int?
    /// How the store found the rows, in its own words, if decided after planning; nil if the plan's `detail` holds.
    public var detail: String?
    /// Whether every row was looked at, if that was decided after planning; nil if the plan's `isFullScan` holds. Never
    /// true for a query that avoids full scans, unless its plan is a full scan.
    public var isFullScan: Bool?

    /// Makes an answer; `scanned` counts the rows that the store looked at.
    public init(
        entities: [String], rows: [RecordReference], scanned: Int, count: Int? = nil, detail: String? = nil,
        isFullScan: Bool? = nil
    ) {
        self.entities = entities
        self.rows = rows
        self.scanned = scanned
        self.count = count
        self.detail = detail
        self.isFullScan = isFullScan
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
        return VersionRows(entities: entities, rows: rows, scanned: rows.count)
    }
}
