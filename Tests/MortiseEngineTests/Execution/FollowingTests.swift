import Foundation
import MortiseCore
import Synchronization
import Testing

@testable import MortiseEngine

/// Taking in what others have written, from several threads at once.
struct FollowingTests {
    private func makeEngine() -> Engine {
        Engine(.empty(Catalog(schema: StoredSchema(entities: []), storeIdentifier: "store")))
    }

    /// Whoever fetches while a watcher is at it must see what the watcher has found.
    @Test func whoeverFollowsWaitsForWhoeverAlreadyDoes() throws {
        let engine = makeEngine()
        let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? engine.follow { _ in
                inside.signal()
                leave.wait()
                return nil
            }
        }
        inside.wait()
        Thread.detachNewThread {
            // It ends by itself if the other does not wait.
            let end = ContinuousClock.now + .seconds(5)
            while engine.followersWaiting == 0, ContinuousClock.now < end { sched_yield() }
            leave.signal()
        }
        var hasLooked = false
        try engine.follow { _ in
            hasLooked = true
            return nil
        }
        #expect(hasLooked)
    }

    /// A handler that is called meanwhile must not wait for its own thread.
    @Test func whoeverFollowsWithinAFollowingComesBack() throws {
        let engine = makeEngine()
        var hasLooked = false
        try engine.follow { _ in
            try? engine.follow { _ in
                hasLooked = true
                return nil
            }
            return nil
        }
        #expect(!hasLooked)
    }
}
