/// How a fetch was carried out: what the store did, what the framework did, and how many rows were read.
public struct FetchExplanation: Sendable, Hashable, CustomStringConvertible {
    /// What evaluated a conjunct.
    public enum Status: String, Sendable, Hashable {
        /// The store, exactly.
        case pushed
        /// The store narrowed the rows, the framework checked them.
        case rechecked
        /// The framework, on stored values.
        case residual
        /// The program's own code, on models.
        case onModels = "on models"
    }
    /// One condition of the fetch.
    public struct Conjunct: Sendable, Hashable {
        /// The condition as text.
        public let text: String
        /// What evaluated the condition.
        public let status: Status

        package init(text: String, status: Status) {
            self.text = text
            self.status = status
        }
    }

    /// The entity that was fetched.
    public let entity: String
    /// The name of the configuration of the store.
    public let store: String
    /// The conditions, in the order of the predicate.
    public let conjuncts: [Conjunct]
    /// The sort keys as text.
    public let order: [String]
    /// The number of sort keys, from the first, by which the store sorted.
    public let pushedSortKeys: Int
    /// Whether the store did the whole order, including insertion order for equal keys. Otherwise the framework sorted,
    /// by all keys.
    public let orderIsPushed: Bool
    /// The number of matches that were skipped.
    public let offset: Int
    /// The maximum number of models; nil for all.
    public let limit: Int?
    /// Whether the store applied offset and limit. With unsaved changes it got a limit with room for the models that
    /// they replace, and the framework applied the rest.
    public let windowIsPushed: Bool
    /// Whether unsaved changes were merged in.
    public let mergesPendingChanges: Bool
    /// Whether every row was read; what happened, not what was planned.
    public let isFullScan: Bool
    /// An upper bound of the number of rows that the store read.
    public let rowsScanned: Int
    /// How many models the fetch returned.
    public let rowsReturned: Int
    /// What the store did, in its own words, such as the index or SQL that it used.
    public let detail: String

    package init(
        entity: String, store: String, conjuncts: [Conjunct], order: [String],
        orderClaim: FetchPlan.OrderClaim, offset: Int, limit: Int?, windowIsPushed: Bool, mergesPendingChanges: Bool,
        isFullScan: Bool, rowsScanned: Int,
        rowsReturned: Int, detail: String
    ) {
        self.entity = entity
        self.store = store
        self.conjuncts = conjuncts
        self.order = order
        orderIsPushed = orderClaim == .total
        pushedSortKeys =
            switch orderClaim {
            case .none: 0
            case .prefix(let count): count
            case .total: order.count
            }
        self.offset = offset
        self.limit = limit
        self.windowIsPushed = windowIsPushed
        self.mergesPendingChanges = mergesPendingChanges
        self.isFullScan = isFullScan
        self.rowsScanned = rowsScanned
        self.rowsReturned = rowsReturned
        self.detail = detail
    }

    /// The explanation as text of several lines.
    public var description: String {
        var lines = ["fetch \(entity) from \(store): \(detail)"]
        for conjunct in conjuncts { lines.append("  \(conjunct.status.rawValue): \(conjunct.text)") }
        if !order.isEmpty {
            let part = pushedSortKeys > 0 ? ", after \(pushedSortKeys) of \(order.count) keys by the store" : ""
            let way = orderIsPushed ? "pushed" : "in memory\(part)"
            lines.append("  sort (\(way)): \(order.joined(separator: ", "))")
        }
        if offset > 0 || limit != nil {
            lines.append(
                "  window (\(windowIsPushed ? "pushed" : "in memory")): offset \(offset), limit \(limit.map(String.init) ?? "none")"
            )
        }
        if mergesPendingChanges { lines.append("  merged with unsaved changes") }
        lines.append("  \(rowsScanned) rows scanned, \(rowsReturned) returned" + (isFullScan ? ", full scan" : ""))
        return lines.joined(separator: "\n")
    }
}
