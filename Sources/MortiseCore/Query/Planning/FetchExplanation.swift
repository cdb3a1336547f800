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
    /// The sort keys as text, and how many of them the store did.
    public let order: [String]
    public let orderIsPushed: Bool
    public let offset: Int
    public let limit: Int?
    public let windowIsPushed: Bool
    /// Unsaved changes were merged in.
    public let mergesPendingChanges: Bool
    public let isFullScan: Bool
    public let rowsScanned: Int
    public let rowsReturned: Int
    /// The store's own words: the index or SQL it used.
    public let detail: String

    package init(
        entity: String, store: String, conjuncts: [Conjunct], order: [String], orderIsPushed: Bool, offset: Int,
        limit: Int?, windowIsPushed: Bool, mergesPendingChanges: Bool, isFullScan: Bool, rowsScanned: Int,
        rowsReturned: Int, detail: String
    ) {
        self.entity = entity
        self.store = store
        self.conjuncts = conjuncts
        self.order = order
        self.orderIsPushed = orderIsPushed
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
            lines.append("  sort (\(orderIsPushed ? "pushed" : "in memory")): \(order.joined(separator: ", "))")
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
