public import Foundation

/// A point in the history of a container's stores.
public enum HistoryPoint: Sendable, Hashable {
    /// After the transactions that a token names. A store that it does not name is read as it is when the context is made.
    case token(DefaultHistoryToken)
    /// After the last transaction of each store that was saved at that time or before it, by the clock of the process that saved it. Clocks
    /// may go back: the last one is that of the highest number.
    case date(Date)
}

/// A store cannot be read as it was at that point.
public struct AsOfUnavailable: Error, Hashable, Sendable {
    /// Why it cannot.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The history does not reach back so far, or some of what came after the point is gone from it.
        case notKept
        /// All records were removed since, and the history does not have them.
        case erased
        /// The plan of a migration has changed records since.
        case migrated
        /// The history has no values from before changes, or not of all that changed.
        case valuesNotKept
        /// The history has no values from before changes, but they can be found in what came earlier: `allowsReplay: true` lets the
        /// history be read back to where they are, up to its beginning.
        case needsReplay
        /// The store has no versions that a context can stay at, or no history of change sets.
        case unsupported
        /// The token names no store of the container.
        case otherStore
    }

    /// What the text calls the store: where it is, or the name of its configuration.
    public let store: String
    /// The number of the oldest transaction as of which the store may be read; nil if it cannot be read as of any.
    public let oldest: Int64?
    /// Why it cannot be read as of the point.
    public let reason: Reason
}

extension AsOfUnavailable: ClassifiedStoreError {
    /// What is missing and what to do.
    public var description: String {
        let place = oldest.map { "as it was after transaction \($0) or later" } ?? "as it is now"
        let why =
            switch reason {
            case .notKept: "its history no longer has all that came after the point"
            case .erased: "all of its records were removed since"
            case .migrated: "a migration has changed its records since"
            case .valuesNotKept: "its history does not have the values from before some changes"
            case .needsReplay: "its history has the values after changes alone"
            case .unsupported: "it keeps no versions, or no history of change sets"
            case .otherStore: "the point is in the history of another store"
            }
        let way =
            reason == .needsReplay
            ? "Allow them to be looked for further back with allowsReplay: true, or read it \(place)."
            : "Read it \(place)."
        return "The store \(store) cannot be read as it was at that point: \(why). \(way)"
    }

    /// `usage`.
    public var errorClass: StoreErrorClass { .usage }
}
