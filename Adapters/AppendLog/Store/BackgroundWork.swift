import Foundation

/// Does one kind of maintenance of a log in the background, one at a time, whenever the log has reached some length.
///
/// @unchecked Sendable: what changes is behind the lock.
final class BackgroundWork: @unchecked Sendable {
    /// How much log has to follow a failure before the next attempt.
    private let least: Int64

    private let lock = NSLock()
    private var run: (@Sendable () throws -> Void)?
    private var failed: (@Sendable (any Error) -> Void)?
    private var isRunning = false
    private var isHeld = false
    private var hasStopped = false
    /// The length of log at which the next one is due.
    private var due = Int64.max
    /// How much further than where it began a failure has put the next one off.
    private var delay: Int64 = 0

    init(leastAfterFailure least: Int64 = 4 << 20) { self.least = max(1, least) }

    /// Whether one is under way, or about to begin.
    var isBusy: Bool { lock.withLock { isRunning } }

    /// - Parameters:
    ///   - failed: called with an error, once for consecutive ones.
    ///   - run: does the work, and may plan the next.
    func start(
        failed: @escaping @Sendable (any Error) -> Void = { _ in }, _ run: @escaping @Sendable () throws -> Void
    ) {
        lock.withLock {
            self.run = run
            self.failed = failed
        }
    }

    /// Starts none from now on. One that is under way goes on.
    func stop() {
        lock.withLock {
            hasStopped = true
            run = nil
        }
    }

    /// Starts none until `release()`, because the log is about to be another, of another length.
    func hold() { lock.withLock { isHeld = true } }
    func release() { lock.withLock { isHeld = false } }

    /// Has the next one begin once the log is so long.
    func plan(at length: Int64) { lock.withLock { due = length } }

    /// Whether a log of that length asks for one.
    func isDue(at length: Int64) -> Bool { lock.withLock { length >= due } }

    func noteAppended(upTo end: Int64) {
        let next: (@Sendable () throws -> Void)? = lock.withLock {
            guard let run, end >= due, !isRunning, !isHeld else { return nil }
            isRunning = true
            return run
        }
        guard let next else { return }
        DispatchQueue.global(qos: .utility).async { [self] in
            let result = Result { try next() }
            finish(result, begunAt: end)?()
        }
    }

    /// - Returns: what tells of a failure, to be done outside the lock.
    private func finish(_ result: Result<Void, any Error>, begunAt end: Int64) -> (() -> Void)? {
        lock.withLock {
            isRunning = false
            guard case .failure(let error) = result else {
                delay = 0
                return nil
            }
            if error is CancellationError {
                // Somebody wanted that; it is no failure, and no success either.
                due = end + max(least, delay)
                return nil
            }
            // Ever more rarely.
            let isFirst = delay == 0
            delay = max(least, min(delay, .max / 4) * 2)
            due = end + delay
            guard isFirst, !hasStopped, let failed else { return nil }
            return { failed(error) }
        }
    }
}
