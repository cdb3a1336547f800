/// How a fetch was carried out: what the store did, what the framework did, and how many rows it took.
public struct FetchExplanation: Sendable, Hashable, CustomStringConvertible {
    /// Who evaluated a conjunct.
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
    public struct Conjunct: Sendable, Hashable {
        public let text: String
        public let status: Status

        package init(text: String, status: Status) {
            self.text = text
            self.status = status
        }
    }

    public let entity: String
    public let store: String
    public let conjuncts: [Conjunct]
    /// The sort keys as text.
    public let order: [String]
    /// By how many of them, from the first, the store sorted.
    public let pushedSortKeys: Int
    /// Whether the store did the whole order, which includes that of insertion among what the keys leave equal. Otherwise
    /// the framework sorted, by all keys.
    public let orderIsPushed: Bool
    public let offset: Int
    public let limit: Int?
    /// Whether the store left out what offset and limit leave out. Under unsaved changes it was given a limit with room for
    /// what they replace, and the framework did the rest.
    public let windowIsPushed: Bool
    /// Unsaved changes were merged in.
    public let mergesPendingChanges: Bool
    /// Whether nothing bounded the rows that were looked at. What was done, and not what was planned.
    public let isFullScan: Bool
    /// How many rows the store looked at, at most.
    public let rowsScanned: Int
    public let rowsReturned: Int
    /// The store's own words: the index or SQL that it used, and not one that it thought of.
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
