import MortiseCore
import Synchronization

/// The snapshot that a faulty store has handed out last.
final class LastSnapshot: Sendable {
    private let last = Mutex<DefaultSnapshot?>(nil)

    func exchange(_ snapshot: DefaultSnapshot) -> DefaultSnapshot? {
        last.withLock { last in
            defer { last = snapshot }
            return last
        }
    }
}
