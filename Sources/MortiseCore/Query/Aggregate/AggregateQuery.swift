/// A function that an aggregation calculates for each group, with the meaning of `Aggregate`.
public enum AggregateFunction: Sendable, Hashable, Codable {
    /// The number of records.
    case count
    /// The sum, with the kind of the values and of the result.
    case sum(QueryExpression, StorageKind)
    /// The average, with the kind of the values; the result is a decimal for decimals, otherwise a double.
    case average(QueryExpression, StorageKind)
    /// The smallest value; null for an empty set. NaN counts only if there is nothing else.
    case minimum(QueryExpression)
    /// The largest value; null for an empty set. NaN counts only if there is nothing else.
    case maximum(QueryExpression)

    /// The expression read from each record; nil for `count`.
    public var expression: QueryExpression? {
        switch self {
        case .count: nil
        case .sum(let expression, _), .average(let expression, _), .minimum(let expression), .maximum(let expression):
            expression
        }
    }
}

/// Everything that an aggregation asks of a store, as one value.
public struct AggregateQuery: Sendable, Hashable, Codable {
    /// The records to aggregate; without order and window.
    public var query: StoreQuery
    /// The keys whose values define the groups; empty for one group of all records.
    public var keys: [QueryExpression]
    /// The functions to calculate for each group, in the order of the answer's values.
    public var functions: [AggregateFunction]

    /// Requests functions over the matches of a query, with one group for each combination of keys. Without keys there
    /// is one group, even if no record matches.
    public init(_ query: StoreQuery, by keys: [QueryExpression], _ functions: [AggregateFunction]) {
        self.query = query
        self.keys = keys
        self.functions = functions
    }
}

/// The results for the records with equal keys.
public struct AggregateGroup: Sendable, Hashable {
    /// The values of the group's keys, in the order of the query's keys.
    public var keys: [StoredValue]
    /// The results, in the order of the query's functions.
    public var values: [StoredValue]

    /// Makes a group.
    public init(keys: [StoredValue], values: [StoredValue]) {
        self.keys = keys
        self.values = values
    }
}

/// The result of a store's aggregation.
public struct AggregateAnswer: Sendable {
    /// The groups in ascending order of their keys; without keys exactly one group, even if no record matches.
    public var groups: [AggregateGroup]
    /// How the store found the records.
    public var report: ExecutionReport

    /// Makes an answer. Groups ascend by their keys, null first.
    public init(groups: [AggregateGroup], report: ExecutionReport) {
        self.groups = groups
        self.report = report
    }
}
