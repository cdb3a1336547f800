public import Foundation

/// Names the reads of one context that belong together: a fetch and whatever the context loads afterwards for what it has
/// found, until it fetches again, saves, refreshes or rolls back.
///
/// A store that claims `StoreCapability.readConsistency` answers all plans of one scope from one state of its storage, so that
/// relationships lead to records as they were when their owners were fetched. It may end the state of a scope as soon as the
/// same context reads in another, and when `DataStore.invalidateState(for:)` says that the context is gone; but a cursor keeps
/// the state that it was opened in until it is released, whatever the context reads or saves meanwhile.
public struct ReadScope: Sendable, Hashable {
    /// The context, as in `EditingState.id`.
    public let context: UUID
    /// Grows whenever the context moves on to what is stored now.
    public let number: UInt64

    /// Makes a scope.
    public init(context: UUID, number: UInt64) {
        self.context = context
        self.number = number
    }
}
