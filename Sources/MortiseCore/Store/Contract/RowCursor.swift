/// The records of a query, in portions: for a store that need not have all of them at once.
///
/// A record that matches throughout is returned once, with the values of any moment since the cursor was made. One that is
/// changed, inserted or deleted meanwhile is returned at most once. A cursor is used and released as the store is: one call at
/// a time unless that claims concurrency. Other calls, saves included, may come between two portions.
public protocol RowCursor<Snapshot>: AnyObject {
    /// The form of the records.
    associatedtype Snapshot: DataStoreSnapshot
    /// The next records in the order that the plan claims, at least one and no more than `count`; empty at the end.
    /// - Throws: what `QueryableDataStore.rows(for:)` throws.
    func next(atMost count: Int) throws -> [Snapshot]
}

extension QueryableDataStore {
    /// Reads all records and hands them out in portions.
    /// - Throws: what `rows(for:)` throws.
    public func cursor(for plan: FetchPlan) throws -> any RowCursor<Snapshot> {
        WholeCursor(try rows(for: plan).snapshots)
    }
}

/// A cursor over records that are in memory.
private final class WholeCursor<Snapshot: DataStoreSnapshot>: RowCursor {
    private var left: ArraySlice<Snapshot>

    init(_ records: [Snapshot]) { left = records[...] }

    func next(atMost count: Int) -> [Snapshot] {
        defer { left = left.dropFirst(count) }
        return Array(left.prefix(count))
    }
}
