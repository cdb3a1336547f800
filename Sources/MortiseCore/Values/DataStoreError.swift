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
