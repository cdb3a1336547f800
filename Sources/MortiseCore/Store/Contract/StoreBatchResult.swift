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
