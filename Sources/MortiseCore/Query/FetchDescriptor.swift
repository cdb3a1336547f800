public import Foundation

/// What to fetch: which models, in which order, and how many.
public struct FetchDescriptor<T: PersistentModel> {
    /// Which models to fetch; nil fetches all of the entity and its subentities.
    public var predicate: Predicate<T>?
    /// The sort keys, most significant first. Models with equal keys are in order of insertion, and so are all models
    /// if there are no keys.
    public var sortBy: [SortDescriptor<T>]
    /// The maximum number of models to return; nil means no limit, negative numbers count as 0.
    public var fetchLimit: Int?
    /// The number of matches to skip; nil and negative numbers count as 0.
    public var fetchOffset: Int?
    /// Whether to include unsaved changes of the context; otherwise the result shows what is stored.
    public var includePendingChanges: Bool = true
    /// The properties that will be read, as a hint for stores that can leave out others. All properties can be read.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose targets are read with the fetch instead of model by model later.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// What to do if the store has to scan every record; nil uses the context's policy.
    public var fullScanPolicy: FullScanPolicy?

    /// Describes a fetch of the models for which the predicate holds; nil fetches all.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension FetchDescriptor {
    /// The range of `count` sorted matches that offset and limit select.
    public func window(of count: Int) -> Range<Int> {
        let start = min(max(fetchOffset ?? 0, 0), count)
        guard let limit = fetchLimit else { return start..<count }
        return start..<(start + min(max(limit, 0), count - start))
    }
}

// @unchecked: key paths are immutable, but `PartialKeyPath` is not declared Sendable.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor: Equatable {
    /// Whether the two describe the same fetch. Predicates are equal if their expressions are, captured values
    /// included; a predicate with a part that only its own code can evaluate equals no other.
    public static func == (lhs: FetchDescriptor<T>, rhs: FetchDescriptor<T>) -> Bool {
        let left = LoweredPredicate(lhs.predicate)
        let right = LoweredPredicate(rhs.predicate)
        return left.conjuncts == right.conjuncts && left.code.isEmpty && right.code.isEmpty
            && (lhs.predicate == nil) == (rhs.predicate == nil)
            && lhs.sortBy == rhs.sortBy && lhs.fetchLimit == rhs.fetchLimit && lhs.fetchOffset == rhs.fetchOffset
            && lhs.includePendingChanges == rhs.includePendingChanges
            && lhs.propertiesToFetch == rhs.propertiesToFetch
            && lhs.relationshipKeyPathsForPrefetching == rhs.relationshipKeyPathsForPrefetching
    }
}
