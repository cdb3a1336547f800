/// How a live result follows the store: what it is spared, and why it had to run its query again.
public struct LiveExplanation: Sendable, Hashable, CustomStringConvertible {
    /// Why a query is run again instead of looking at the changed records alone.
    public enum Rerun: String, Sendable, Hashable {
        /// A condition, a sort key or the section's title is code, which may read anything.
        case code
        /// The query goes through a relationship without an inverse, so that nothing leads back from a changed record.
        case relationshipWithoutInverse
        /// The store has no versions, or does not say what has changed.
        case storeWithoutVersions
        /// The changes concern more than an eighth of the result, and more than a thousand records.
        case manyChanges
        /// The records do not fit into the form in which rows are kept.
        case tooManyRows
        /// A condition has thrown for a changed record, or the store has failed.
        case error
        /// The program has asked for it.
        case request
    }

    /// Why the query is always run again; nil if the result looks at changed records alone.
    public internal(set) var obstacle: Rerun?
    /// How often the query has run again, by cause, since the result was made.
    public internal(set) var reruns: [Rerun: Int] = [:]
    /// How often more rows were asked for, because too many had left a result with a limit.
    public internal(set) var refills = 0
    /// How many changed records were tested.
    public internal(set) var tests = 0
    /// How many times changes were taken in.
    public internal(set) var steps = 0

    /// Whether only changed records are looked at.
    public var isIncremental: Bool { obstacle == nil }

    /// The same as text.
    public var description: String {
        var parts = [
            isIncremental
                ? "tests changed records alone" : "runs again after each change (\(obstacle?.rawValue ?? ""))",
            "\(steps) steps", "\(tests) records tested",
        ]
        if refills > 0 { parts.append("\(refills) refills") }
        for (cause, count) in reruns.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            parts.append("\(count) reruns (\(cause.rawValue))")
        }
        return parts.joined(separator: ", ")
    }
}
