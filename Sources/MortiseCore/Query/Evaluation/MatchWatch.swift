import Foundation
import Synchronization

/// Limits how long one match of a regular expression may take, and all those of a query.
///
/// Swift's matcher has no deadline and cannot be interrupted, and a pattern such as `(.*)*x` takes time that grows
/// exponentially with the text. So the body runs on its own thread. If a match takes too long, the caller gets an
/// error, and that thread is abandoned: it runs until its match ends, and then finds nothing any more. A program that
/// goes on names a deadline, and gets no other thread as long as an abandoned one runs.
package enum MatchWatch {
    private struct Watched {
        var match: (pattern: String, start: ContinuousClock.Instant)?
        /// The pattern of the last match.
        var pattern = ""
        /// Whether nobody waits for it any more.
        var isAbandoned = false
    }

    private static let watchers = Atomic(0)
    private static let threads = Mutex<[ObjectIdentifier: Watched]>([:])

    /// Whether a text contains a match; false on a thread whose result nobody waits for.
    package static func isFound(_ regex: Regex<AnyRegexOutput>, _ pattern: String, in text: String) -> Bool {
        guard watchers.load(ordering: .relaxed) > 0 else { return text.contains(regex) }
        let thread = ObjectIdentifier(Thread.current)
        let isAbandoned = threads.withLock { threads in
            threads[thread]?.match = (pattern, .now)
            threads[thread]?.pattern = pattern
            return threads[thread]?.isAbandoned ?? false
        }
        // So that a query of many texts ends soon.
        if isAbandoned { return false }
        defer { threads.withLock { $0[thread]?.match = nil } }
        return text.contains(regex)
    }

    /// Ends a body that nobody waits for any more, before it uses what others may use by now.
    /// - Throws: `CancellationError`.
    package static func checkIsAwaited() throws {
        guard watchers.load(ordering: .relaxed) > 0 else { return }
        let thread = ObjectIdentifier(Thread.current)
        if threads.withLock({ $0[thread]?.isAbandoned ?? false }) { throw CancellationError() }
    }

    /// Runs the body on another thread and waits for it. Within a body that is run so, it is part of that.
    /// - Parameters:
    ///   - limit: how long one match may take.
    ///   - deadline: how long the body may take, in a program that goes on; nil in one that ends after an error.
    ///   - body: the work. It may outlive the call, so it must not use anything that the caller changes afterwards.
    /// - Returns: what the body returns.
    /// - Throws: `QueryEvaluationError.regexTooSlow`; with a deadline `MatchWatchError`; what the body throws.
    package static func run<R>(
        limit: Duration, deadline: Duration? = nil, _ body: @escaping () throws -> R
    ) throws -> R {
        let (isWatched, abandoned) = threads.withLock { threads in
            (threads[ObjectIdentifier(Thread.current)] != nil, threads.values.first(where: \.isAbandoned)?.pattern)
        }
        if isWatched { return try body() }
        if deadline != nil, let abandoned { throw MatchWatchError.stillMatching(pattern: abandoned) }
        let work = Work(body)
        let start = ContinuousClock.now
        watchers.add(1, ordering: .relaxed)
        let thread = Thread {
            work.run()
            threads.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(Thread.current)) }
            watchers.subtract(1, ordering: .relaxed)
        }
        threads.withLock { $0[ObjectIdentifier(thread)] = Watched() }
        // As much as a main thread has: expressions are evaluated recursively.
        thread.stackSize = 8 << 20
        thread.start()
        while true {
            if let result = work.result(waiting: .milliseconds(20)) { return try result.get() }
            let error = threads.withLock { threads -> (any Error)? in
                let place = ObjectIdentifier(thread)
                // One that has just ended has a result.
                guard let watched = threads[place] else { return nil }
                let error: any Error
                if let match = watched.match, match.start.duration(to: .now) > limit {
                    error = QueryEvaluationError.regexTooSlow(pattern: match.pattern, limit: limit)
                } else if let deadline, start.duration(to: .now) > deadline {
                    error = MatchWatchError.queryTooSlow(limit: deadline)
                } else {
                    return nil
                }
                threads[place]?.isAbandoned = true
                return error
            }
            if let error { throw error }
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

/// Why a program that goes on does not carry out a query with a regular expression.
package enum MatchWatchError: Error, CustomStringConvertible, Hashable {
    /// All matches together took longer than the limit.
    case queryTooSlow(limit: Duration)
    /// A match that took longer than its limit has not ended yet.
    case stillMatching(pattern: String)

    package var description: String {
        switch self {
        case .queryTooSlow(let limit):
            "The query with a regular expression took longer than \(limit). Put conditions before it that leave fewer records."
        case .stillMatching(let pattern):
            "The regular expression \"\(pattern)\" of an earlier query is still being matched, and cannot be interrupted. "
                + "Try again when it has ended, leave out regular expressions, or start this program again."
        }
    }
}
