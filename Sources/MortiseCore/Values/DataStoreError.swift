/// Why a store does not carry out a request.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store does not implement the request.
    case unsupportedFeature
    /// The framework must repeat the request without a predicate, and filter.
    case preferInMemoryFilter
    /// The framework must repeat the request without a sort order, and sort.
    case preferInMemorySort
    /// The predicate cannot be evaluated at all.
    case invalidPredicate
}

extension DataStoreError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .unsupportedFeature:
            "The store does not offer what was asked of it. Ask its capabilities first, or use another kind of store."
        case .preferInMemoryFilter:
            "The store cannot evaluate the predicate. Fetch all records, and filter them in memory; contexts do so by themselves."
        case .preferInMemorySort:
            "The store cannot sort in this order. Fetch all records, and sort them in memory; contexts do so by themselves."
        case .invalidPredicate: "The predicate asks for what no record can have. Correct it."
        }
    }
}
