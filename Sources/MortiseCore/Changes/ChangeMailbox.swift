import Synchronization

/// Takes in what a feed posts, on the thread of the one who posts, before the post returns.
protocol ChangeRecorder: AnyObject, Sendable {
    func note(_ changes: [ChangeSet])
    /// The store is closed: nothing is posted any more.
    func noteEnd()
}

extension ChangedRecords: ChangeRecorder {
    func noteEnd() {}
}

/// The change sets that a feed has posted since they were last taken, up to a number of records, beyond which they are forgotten
/// and the next taking tells that some are missing.
final class ChangeMailbox: ChangeRecorder {
    private struct State {
        var sets: [ChangeSet] = []
        var count = 0
        var hasForgotten = false
    }

    private let limit: Int
    private let state = Mutex(State())
    private let arrived: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: how many records are named at most by what waits.
    ///   - arrived: called after each post, on the thread of the one who posts, and when the store is closed.
    init(limit: Int = 10_000, arrived: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.arrived = arrived
    }

    func note(_ changes: [ChangeSet]) {
        state.withLock { state in
            for changes in changes { state.count += changes.count + 1 }
            // One more is kept all the same, so that somebody who waits for any change has something to take.
            if state.count > limit { state = State(hasForgotten: state.hasForgotten || !state.sets.isEmpty) }
            for var changes in changes {
                changes.dropValues()
                state.sets.append(changes)
            }
        }
        arrived()
    }

    /// Who waits for changes learns that none come any more.
    func noteEnd() { arrived() }

    /// Whether nothing waits.
    var isEmpty: Bool { state.withLock { $0.sets.isEmpty } }

    /// Takes the changes up to a version. Those up to another, from which the caller comes, are left out.
    /// - Returns: nil if some are missing, or do not name all of their records.
    func take(through last: UInt64, after first: UInt64) -> [ChangeSet]? {
        let taken = state.withLock { state in
            var taken: [ChangeSet] = []
            state.sets.removeAll { changes in
                guard let number = changes.commit?.number, number <= last else { return false }
                if number > first { taken.append(changes) }
                return true
            }
            state.count = state.sets.reduce(0) { $0 + $1.count + 1 }
            state.hasForgotten = false
            return taken
        }
        guard last >= first, UInt64(taken.count) == last - first,
            taken.allSatisfy({ !$0.isErasure && !$0.isIncomplete })
        else { return nil }
        return taken
    }

    /// Takes all changes. Where some were forgotten, the first one names nothing and is incomplete.
    func takeAll() -> [ChangeSet] {
        state.withLock { state in
            defer { state = State() }
            guard state.hasForgotten else { return state.sets }
            var unknown = ChangeSet()
            unknown.isIncomplete = true
            return [unknown] + state.sets
        }
    }
}
