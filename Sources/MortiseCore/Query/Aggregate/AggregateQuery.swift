/// What one column of an aggregation is calculated from. The meaning of each is that of `Aggregate`.
public enum AggregateFunction: Sendable, Hashable, Codable {
    case count
    /// With the kind of the values and of the result.
    case sum(QueryExpression, StorageKind)
    /// With the kind of the values; the result is a decimal for decimals, and otherwise a double.
    case average(QueryExpression, StorageKind)
    case minimum(QueryExpression)
    case maximum(QueryExpression)

    /// What is read of each record; nil for `count`.
    public var expression: QueryExpression? {
        switch self {
        case .count: nil
        case .sum(let expression, _), .average(let expression, _), .minimum(let expression), .maximum(let expression):
            expression
        }
    }
}

/// All that an aggregation asks of a store, in one value.
public struct AggregateQuery: Sendable, Hashable, Codable {
    /// Which records count; without order and window.
    public var query: StoreQuery
    /// What records have to agree in to be one group; empty for one group of all records.
    public var keys: [QueryExpression]
    public var functions: [AggregateFunction]

    public init(_ query: StoreQuery, by keys: [QueryExpression], _ functions: [AggregateFunction]) {
        self.query = query
        self.keys = keys
        self.functions = functions
    }
}

/// What was calculated for the records that agree in their keys.
public struct AggregateGroup: Sendable, Hashable {
    public var keys: [StoredValue]
    /// By the query's functions.
    public var values: [StoredValue]

    public init(keys: [StoredValue], values: [StoredValue]) {
        self.keys = keys
        self.values = values
    }
}

/// What a store calculated.
public struct AggregateAnswer: Sendable {
    /// In ascending order of their keys; one group, also of no records, where there are no keys.
    public var groups: [AggregateGroup]
    /// How many rows the store looked at.
    public var scanned: Int
    /// How the store found the rows, in its own words, where that was decided after planning; nil for what the plan says.
    public var detail: String?
    /// Whether every row was looked at, where that was decided after planning; nil for what the plan says.
    public var isFullScan: Bool?

    public init(groups: [AggregateGroup], scanned: Int, detail: String? = nil, isFullScan: Bool? = nil) {
        self.groups = groups
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

/// A store that calculates without handing out rows.
public protocol AggregatingDataStore: VersionedDataStore, ConcurrentDataStore {
    /// The groups of an aggregation in one of the store's versions; nil where the store leaves it to the framework.
    /// - Throws: `QueryEvaluationError`.
    func aggregate(_ query: AggregateQuery, in version: any StoreVersion) throws -> AggregateAnswer?
}
