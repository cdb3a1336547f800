import Foundation
import Synchronization

/// Limits how long one match of a regular expression may take.
///
/// Swift's matcher has no deadline and cannot be interrupted, and a pattern such as `(.*)*x` takes time that grows
/// exponentially with the text. So the body runs on its own thread. If a match takes too long, the caller gets an
/// error, and that thread runs until its match ends. This suits a program that then exits, such as the command-line
/// tool.
package enum MatchWatch {
    private static let watchers = Atomic(0)
    private static let running = Mutex<[ObjectIdentifier: (pattern: String, start: ContinuousClock.Instant)]>([:])

    /// Whether a text contains a match.
    package static func isFound(_ regex: Regex<AnyRegexOutput>, _ pattern: String, in text: String) -> Bool {
        guard watchers.load(ordering: .relaxed) > 0 else { return text.contains(regex) }
        let thread = ObjectIdentifier(Thread.current)
        running.withLock { $0[thread] = (pattern, .now) }
        defer { running.withLock { _ = $0.removeValue(forKey: thread) } }
        return text.contains(regex)
    }

    /// Runs the body on another thread and waits for it.
    /// - Parameters:
    ///   - limit: how long one match may take.
    ///   - body: the work. It may outlive the call, so it must not use anything that the caller changes afterwards.
    /// - Returns: what the body returns.
    /// - Throws: `QueryEvaluationError.regexTooSlow`; what the body throws.
    package static func run<R>(limit: Duration, _ body: @escaping () throws -> R) throws -> R {
        let work = Work(body)
        watchers.add(1, ordering: .relaxed)
        let thread = Thread {
            work.run()
            watchers.subtract(1, ordering: .relaxed)
        }
        // As much as a main thread has: expressions are evaluated recursively.
        thread.stackSize = 8 << 20
        thread.start()
        while true {
            if let result = work.result(waiting: .milliseconds(20)) { return try result.get() }
            if let match = running.withLock({ $0[ObjectIdentifier(thread)] }), match.start.duration(to: .now) > limit {
                throw QueryEvaluationError.regexTooSlow(pattern: match.pattern, limit: limit)
            }
        }
    }

    /// @unchecked Sendable: the body is called once, by the thread; the result is read after the semaphore has told that it
    /// is there.
    private final class Work<R>: @unchecked Sendable {
        private let body: () throws -> R
        private var result: Result<R, any Error>?
        private let isDone = DispatchSemaphore(value: 0)

        init(_ body: @escaping () throws -> R) { self.body = body }

        func run() {
            result = Result { try body() }
            isDone.signal()
        }

        func result(waiting time: DispatchTimeInterval) -> Result<R, any Error>? {
            isDone.wait(timeout: .now() + time) == .success ? result : nil
        }
    }
}
