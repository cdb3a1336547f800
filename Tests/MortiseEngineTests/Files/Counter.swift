import Synchronization

/// A number that closures on any thread may change.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .acquiring) }
    func add(_ amount: Int) { number.add(amount, ordering: .acquiringAndReleasing) }
}
