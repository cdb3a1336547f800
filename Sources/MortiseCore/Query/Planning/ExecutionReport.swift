/// How a store executed a query: what `explain`, policies and metrics tell of it.
public struct ExecutionReport: Sendable, Hashable {
    /// How many rows the store looked at.
    public var scanned: Int
    /// How the store found the rows, in its own words, if decided after planning; nil if the plan's `detail` holds.
    public var detail: String?
    /// Whether every row was looked at, if that was decided after planning; nil if the plan's `isFullScan` holds. Never
    /// true for a query that avoids full scans, unless its plan is a full scan.
    public var isFullScan: Bool?

    /// Makes a report.
    public init(scanned: Int, detail: String? = nil, isFullScan: Bool? = nil) {
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

extension FetchPlan {
    /// Takes over what the store decided after planning, for `explain`.
    public mutating func note(_ report: ExecutionReport) {
        detail = report.detail ?? detail
        isFullScan = report.isFullScan ?? isFullScan
    }
}
