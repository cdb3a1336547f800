/// A store that does part of a query itself.
///
/// The framework asks once for each fetch what the store would do, checks that this is legal, runs it, and does the rest.
/// A store that implements nothing of this is planned as `FetchPlan.scanAll` and is still right.
public protocol QueryableDataStore: DataStore {
    /// What the store will do of the query. Without side effects; may be called and not followed by `rows(for:)`.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// The records that a plan of this store promises.
    func rows(for plan: FetchPlan) throws -> StoreRows<Snapshot>
}

extension QueryableDataStore {
    public func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }
}

/// What a store found.
public struct StoreRows<Snapshot: DataStoreSnapshot>: Sendable {
    public var snapshots: [Snapshot]
    /// How many rows the store looked at.
    public var scanned: Int
    /// How the store found the rows, in its own words, where that was decided after planning; nil for what the plan says.
    public var detail: String?
    /// Whether every row was looked at, where that was decided after planning; nil for what the plan says. Never true for
    /// a query that avoids full scans and whose plan is none.
    public var isFullScan: Bool?

    public init(snapshots: [Snapshot], scanned: Int, detail: String? = nil, isFullScan: Bool? = nil) {
        self.snapshots = snapshots
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

/// What a versioned store found in one of its versions.
public struct VersionRows: Sendable {
    /// Tables by number, as the rows refer to them.
    public var entities: [String]
    public var rows: [RecordReference]
    public var scanned: Int
    /// How many rows there are, for a query that only counts and whose conjuncts the plan claims exact; `rows` may then be
    /// empty. Without offset and limit unless the plan takes the window. Nil to count `rows`.
    public var count: Int?
    /// How the store found the rows, in its own words, where that was decided after planning; nil for what the plan says.
    public var detail: String?
    /// Whether every row was looked at, where that was decided after planning; nil for what the plan says. Never true for
    /// a query that avoids full scans and whose plan is none.
    public var isFullScan: Bool?

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

/// A store whose states can be held and read row by row: contexts pin a version, and models read from it.
public protocol VersionedDataStore: DataStore where Snapshot == DefaultSnapshot {
    /// The latest published version. Never blocks on a save in progress.
    var currentVersion: any StoreVersion { get }

    /// What the store will do of the query; the same for all its versions.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// The rows of a version that a plan promises.
    func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows
}

extension VersionedDataStore {
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
