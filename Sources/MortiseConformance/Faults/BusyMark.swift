import Synchronization

/// How many are at work.
final class BusyMark: Sendable {
    private let count = Atomic(0)

    func enter() { count.add(1, ordering: .sequentiallyConsistent) }

    /// - Returns: how many are still at work.
    func leave() -> Int { count.subtract(1, ordering: .sequentiallyConsistent).newValue }
}
