import Foundation

/// What the calling thread has used of a processor. Unlike time by the clock it does not grow while other programs or tests
/// have the processor, so that ratios of it hold on a machine with much else to do. What other threads do is left out.
public struct ThreadClock: Sendable {
    public init() {}

    /// The processor time of a closure that stays on its thread.
    public func measure(_ work: () throws -> Void) rethrows -> Duration {
        let start = now
        try work()
        return now - start
    }

    private var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
