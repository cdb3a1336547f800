public import Foundation

/// What to fetch: which models, in which order, how many.
public struct FetchDescriptor<T: PersistentModel> {
    /// Which models; nil is all of the entity and its subentities.
    public var predicate: Predicate<T>?
    /// The order. What it leaves equal, and everything where it is empty, comes in identity order: that of insertion.
    public var sortBy: [SortDescriptor<T>]
    /// At most so many models; nil is no limit, negative numbers count as 0.
    public var fetchLimit: Int?
    /// So many are left out at the start; nil and negative numbers count as 0.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count; otherwise the answer is the store's.
    public var includePendingChanges: Bool = true
    /// A hint which properties will be read, for stores that can leave out others; those can be read all the same.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Which relationships will be followed: what they lead to is read with the fetch, and not model by model later.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// What to do if the store has to look at every record; nil leaves it to the context.
    public var fullScanPolicy: FullScanPolicy?

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

// @unchecked: key paths are immutable, but `PartialKeyPath` is not declared Sendable.
extension FetchDescriptor: @unchecked Sendable {}

extension FetchDescriptor: Equatable {
    /// Whether the two would fetch alike. Predicates are equal when they say the same, captured values included; one of
    /// which a part can only be evaluated by its own code is equal to none.
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
