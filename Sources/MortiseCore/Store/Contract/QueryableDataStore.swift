/// A store that evaluates parts of queries itself.
///
/// For each fetch the framework asks the store for a plan, checks that it is legal, runs it, and does the rest. A store
/// that does not implement planning gets `FetchPlan.scanAll` and is still correct. Everything else that the framework
/// reads, it reads by queries too: the targets of relationships, records that a save changes, owners of unique values.
public protocol QueryableDataStore: DataStore {
    /// Plans the query. It must have no side effects; `rows(for:)` may never be called.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// Returns the records that a plan of this store promises.
    /// - Throws: `QueryEvaluationError` for a condition that the plan claims exact; the store's errors.
    func rows(for plan: FetchPlan) throws -> StoreRows<Snapshot>

    /// Returns the same records in portions. The framework asks for a cursor where it needs a record only for a while, as in
    /// `ModelContext.enumerate`, and if the plan claims the whole order. The default reads all of them by `rows(for:)`.
    /// - Throws: as `rows(for:)`.
    func cursor(for plan: FetchPlan) throws -> any RowCursor<Snapshot>

    /// Aggregates the records of a query. The framework asks only for records that the store's plan selects with every
    /// condition claimed as exact, and only while the context has no unsaved changes that count.
    /// - Parameters:
    ///   - query: what to aggregate, and how. Its keys may be any expressions, such as the identifier of a related record and the
    ///     month of a date (`QueryExpression.start`).
    ///   - version: the version of a versioned store to read; nil for a store without versions.
    /// - Returns: the groups; nil, which is the default, if the store leaves the aggregation to the framework, as it has to
    ///   where it does not know a key.
    /// - Throws: `QueryEvaluationError`; the store's errors.
    func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer?

    /// Executes a whole batch, or throws and changes nothing. Called only if the store claims
    /// `StoreCapability.batchUpdate`.
    ///
    /// The framework calls `plan(_:)` with the purpose `update` or `delete`. If the plan claims every conjunct as exact,
    /// the store gets the query; otherwise the framework finds the records and names them. A batch obeys the schema's
    /// constraints as a save does, and is as durable as a save when it returns. The default throws
    /// `DataStoreError.unsupportedFeature`.
    /// - Throws: `DataStoreError.unsupportedFeature` if the framework must execute this batch instead;
    ///   `VersionSuperseded` and `RecordsSuperseded`, after which the framework selects again; the store's errors.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult

    /// Whether a batch that deletes applies all delete rules of the schema. If false, which is the default, because the
    /// store only clears references to deleted records, it is not asked to delete records whose delete rules require more.
    ///
    /// If true, a save of nothing but deletions may come as one batch, too, which names the records: `execute(_:)` then gets
    /// the author of the save and the version that it is based on, and its result names what the rules deleted and changed.
    var followsDeleteRules: Bool { get }
}

extension QueryableDataStore {
    /// Plans to return all records of the entity.
    public func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }
    /// Nil: the framework aggregates.
    public func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? { nil }
    /// Throws `DataStoreError.unsupportedFeature`.
    public func execute(_ batch: StoreBatch) throws -> StoreBatchResult { throw DataStoreError.unsupportedFeature }
    /// False: the framework applies delete rules.
    public var followsDeleteRules: Bool { false }
}

/// The records that a store found.
public struct StoreRows<Snapshot: DataStoreSnapshot>: Sendable {
    /// The records, in the order that the plan claims.
    public var snapshots: [Snapshot]
    /// The number of matches, for a query whose purpose is `count` and whose conjuncts the plan claims exact; `snapshots`
    /// may then be empty. It ignores offset and limit unless the plan applies them. If nil, `snapshots` is counted.
    public var count: Int?
    /// The identifiers of the matches without their values, for a query whose purpose is `identifiers` and whose plan
    /// leaves nothing to the framework: every conjunct is exact, the order total, the window applied. If nil, they are
    /// taken from `snapshots`.
    public var identifiers: [PersistentIdentifier]?
    /// How the store found the records.
    public var report: ExecutionReport

    /// Makes an answer of records.
    public init(snapshots: [Snapshot], report: ExecutionReport) {
        self.snapshots = snapshots
        self.report = report
    }

    /// Makes an answer of records; `scanned` counts the rows that the store looked at.
    public init(snapshots: [Snapshot], scanned: Int) {
        self.init(snapshots: snapshots, report: ExecutionReport(scanned: scanned))
    }

    /// Makes an answer of a number alone; see `count`.
    public init(count: Int, report: ExecutionReport) {
        snapshots = []
        self.count = count
        self.report = report
    }

    /// Makes an answer of identifiers alone; see `identifiers`.
    public init(identifiers: [PersistentIdentifier], report: ExecutionReport) {
        snapshots = []
        self.identifiers = identifiers
        self.report = report
    }
}
