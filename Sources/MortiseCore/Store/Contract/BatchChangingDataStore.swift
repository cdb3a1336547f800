/// The result of a batch.
public struct StoreBatchResult: Sendable {
    /// How many records were selected, whether or not they differ afterwards.
    public var count: Int
    /// The records whose values differ afterwards, including those in which references to deleted records were cleared, and
    /// the deleted records. Values need not be given.
    public var changes: ChangeSet
    /// How the store found the records; nil if it does not report that.
    public var report: ExecutionReport?

    /// Makes a result. `changes` names each record once, in any order.
    public init(count: Int, changes: ChangeSet = ChangeSet(), report: ExecutionReport? = nil) {
        self.count = count
        self.changes = changes
        self.report = report
    }
}

/// A store that executes batches itself.
///
/// The framework calls `plan(_:)` with the purpose `update` or `delete`. If the plan claims every conjunct as exact,
/// the store gets the query; otherwise the framework finds the records and names them. A batch is all or nothing, obeys
/// the schema's constraints as a save does, and is as durable as a save when it returns.
public protocol BatchChangingDataStore: DataStore {
    /// Whether deletion applies all delete rules of the schema. If false, because the store only clears references to
    /// deleted records, it is not asked to delete records whose delete rules require more.
    var followsDeleteRules: Bool { get }

    /// The store's plan for the query; see `QueryableDataStore` and `VersionedDataStore`.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// Executes the whole batch, or throws and changes nothing.
    /// - Throws: `DataStoreError.unsupportedFeature` if the framework must execute this batch instead;
    ///   `VersionSuperseded` and `RecordsSuperseded`, after which the framework selects again; the store's errors.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult
}

extension BatchChangingDataStore {
    /// False: the framework applies delete rules.
    public var followsDeleteRules: Bool { false }
}
