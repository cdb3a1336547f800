import Synchronization

/// Something that changes whenever it is asked.
final class TurnCounter: Sendable {
    private let turn = Atomic(0)

    /// True the second time, the fourth, and so on.
    func advance() -> Bool { turn.add(1, ordering: .relaxed).newValue % 2 == 0 }
}
