import Foundation

/// Looks whether other processes have written a file: when the system says that they have, and now and then where it does not
/// say so.
///
/// @unchecked Sendable: what changes is behind the lock.
package final class RemoteChanges: @unchecked Sendable {
    private let lock = NSLock()
    private let body: @Sendable () -> Void
    private var hasStopped = false
    private var isLooking = false
    private var isDue = false
    private var watch: FileWatch?
    private let interval: DispatchTimeInterval

    /// - Parameters:
    ///   - path: the file.
    ///   - isReal: whether the file is in the system's file system, which then tells of changes; false for a simulated file.
    ///   - interval: how often to look even if the system tells of writes, in seconds.
    ///   - body: looks. Called on any thread, by one at a time.
    package init(
        _ path: String, isReal: Bool, intervalWhenNotified interval: Double, _ body: @escaping @Sendable () -> Void
    ) {
        self.body = body
        watch = isReal ? FileWatch(path) : nil
        self.interval = .milliseconds(watch == nil ? 100 : Int(interval * 1_000))
        watch?.start { [weak self] in self?.look() }
        schedule()
    }

    /// Ends looking. A call of the body that has begun goes on; no other begins.
    package func stop() {
        let watch = lock.withLock {
            hasStopped = true
            return self.watch.take()
        }
        watch?.stop()
    }

    private func schedule() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, let watch = lock.withLock({ hasStopped ? nil : Optional(watch) }) else { return }
            watch?.renew()
            look()
            schedule()
        }
    }

    private func look() {
        guard lock.withLock({ begin() }) else { return }
        repeat { body() } while lock.withLock { goesOn() }
    }

    private func begin() -> Bool {
        if hasStopped { return false }
        // This check may have come too early.
        isDue = isLooking
        defer { isLooking = true }
        return !isLooking
    }

    private func goesOn() -> Bool {
        isLooking = isDue && !hasStopped
        isDue = false
        return isLooking
    }
}
