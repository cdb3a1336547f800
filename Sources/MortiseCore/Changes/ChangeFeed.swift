import Dispatch
import Synchronization

/// Sends the committed changes of one open store to everyone who follows it: saves of all contexts, batches, erasures, and
/// what other processes have saved, in the order of the commits.
///
/// Handlers are called soon after a commit, on a queue of the feed: one after the other, with no lock held, so that they may
/// use the store. A save does not wait for them. A slow handler delays the others, and what it does not take in time is kept
/// in memory.
public final class ChangeFeed: Sendable {
    /// Changes that became visible together.
    public struct Delivery: Sendable {
        /// The change sets, oldest first, each with its `commit` if the store tells one. Not empty.
        public let changes: [ChangeSet]
        /// Whether another process has made them. Such changes mostly come without the values before, and without new values if
        /// nobody follows `Interest.all`.
        public let isRemote: Bool

        /// The numbers of the versions that the changes made; nil if the store does not number them.
        public var versions: ClosedRange<UInt64>? {
            guard let first = changes.first?.commit?.number, let last = changes.last?.commit?.number, first <= last
            else { return nil }
            return first...last
        }
    }

    /// What a follower wants to receive.
    public enum Interest: Sendable, Hashable {
        /// All changes, with the values that the store can tell. A change set that names more than `valueLimit` records names
        /// them alone: what waits for a slow handler would otherwise take as much memory as the records themselves.
        case all
        /// All changes, for those who need to know the records alone. Values may be missing, so that nobody has to collect
        /// them.
        case records
        /// The changes that other processes have made. Values may be missing.
        case remote
    }

    /// The number of records up to which a change set comes with values.
    public static let valueLimit = 100_000

    /// A place in a feed. It ends when the object is released.
    public final class Follower: Sendable {
        private let feed: ChangeFeed
        private let number: UInt64
        fileprivate let interest: Interest
        fileprivate let handler: @Sendable (Delivery) -> Void
        fileprivate let isCancelled = Atomic(false)

        fileprivate init(
            _ feed: ChangeFeed, _ number: UInt64, _ interest: Interest,
            _ handler: @escaping @Sendable (Delivery) -> Void
        ) {
            self.feed = feed
            self.number = number
            self.interest = interest
            self.handler = handler
        }

        deinit { cancel() }

        /// Ends following. A call of the handler that has begun goes on; no other begins.
        public func cancel() {
            if isCancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
            feed.remove(number, interest)
        }
    }

    private struct WeakFollower {
        weak var follower: Follower?
    }

    private struct State {
        var followers: [(number: UInt64, place: WeakFollower)] = []
        /// Not reached through their places, whose last release would wait for the lock.
        var recorders: [(number: UInt64, records: any ChangeRecorder)] = []
        /// Take in everything before a post returns.
        var histories: [HistoryRecorder] = []
        var listeners: [UInt64: @Sendable () -> Void] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    private let count = Atomic(0)
    private let recordsCount = Atomic(0)
    private let remoteCount = Atomic(0)
    private let historyCount = Atomic(0)
    private let queue = DispatchQueue(label: "mortise.changes", qos: .utility)

    /// Makes a feed without followers.
    public init() {}

    /// Whether anyone follows all changes with their values. Ask before collecting what only such followers need.
    public var isFollowed: Bool { count.load(ordering: .relaxed) > 0 }
    /// Whether any follower needs the records of all changes, but not the values: contexts of stores without versions
    /// do. A store that posts its commits posts them without values then, unless `isFollowed` is true as well.
    public var isFollowedForRecords: Bool { followersOfRecords > 0 || isRecorded }
    /// Whether a history in memory takes in what is posted. A store then posts at least the records of all changes; the history
    /// has the values before and after, and what deleted records preserve, as far as the store posts them.
    public var isRecorded: Bool { historyCount.load(ordering: .relaxed) > 0 }
    var followersOfRecords: Int { recordsCount.load(ordering: .relaxed) }
    /// Whether anyone follows the changes of other processes alone, who needs their records but not their values.
    public var isFollowedRemotely: Bool { remoteCount.load(ordering: .relaxed) > 0 }

    /// Calls a handler with everything whose commit begins from now on.
    /// - Returns: the place in the feed, which ends when it is released.
    public func follow(
        _ interest: Interest = .all, _ handler: @escaping @Sendable (Delivery) -> Void
    ) -> Follower {
        state.withLock { state in
            let follower = Follower(self, state.next, interest, handler)
            state.followers.append((state.next, WeakFollower(follower: follower)))
            state.next += 1
            adjust(interest, by: 1)
            return follower
        }
    }

    /// Notes the records that are changed by all whose commit begins from now on. They are there when the post returns.
    func follow(into records: any ChangeRecorder) -> Follower {
        state.withLock { state in
            let follower = Follower(self, state.next, .records) { _ in }
            state.recorders.append((state.next, records))
            state.next += 1
            adjust(.records, by: 1)
            return follower
        }
    }

    /// Has a history in memory take in everything that is posted from now on, before the post returns. It stays until
    /// `stopRecording(into:)`. Nobody follows the feed by that: see `isRecorded`.
    public func record(into history: HistoryRecorder) {
        state.withLock { state in
            state.histories.append(history)
            historyCount.add(1, ordering: .relaxed)
        }
    }

    /// Ends what `record(into:)` has begun.
    func stopRecording(into history: HistoryRecorder) {
        // Released outside of the lock.
        var ended: HistoryRecorder?
        state.withLock { state in
            guard let place = state.histories.firstIndex(where: { $0 === history }) else { return }
            ended = state.histories.remove(at: place)
            historyCount.subtract(1, ordering: .relaxed)
        }
        _ = consume ended
    }

    /// Calls a handler whenever other processes have changed something, as followers are called and after them. The store
    /// collects nothing for it.
    package func listen(_ handler: @escaping @Sendable () -> Void) -> Listener {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = handler
            return Listener(self, state.next)
        }
    }

    /// Calls those who listen.
    package func postNews() {
        state.withLock { state in
            if state.listeners.isEmpty { return }
            let numbers = Array(state.listeners.keys)
            queue.async { [self] in
                for number in numbers { listener(number)?() }
            }
        }
    }

    private func listener(_ number: UInt64) -> (@Sendable () -> Void)? { state.withLock { $0.listeners[number] } }

    /// A place among those who listen. It ends when the object is released.
    package final class Listener: Sendable {
        private let feed: ChangeFeed
        private let number: UInt64

        fileprivate init(_ feed: ChangeFeed, _ number: UInt64) {
            self.feed = feed
            self.number = number
        }

        deinit { cancel() }

        package func cancel() { _ = feed.state.withLock { $0.listeners.removeValue(forKey: number) } }
    }

    /// Sends changes to all who follow now. Posts come out in the order in which they were made; a store makes them in the
    /// order of its commits.
    public func post(_ changes: [ChangeSet], isRemote: Bool = false) {
        post(changes, isRemote: isRemote, except: nil)
    }

    /// As `post(_:isRemote:)`, for all but one who knows these changes.
    func post(_ changes: [ChangeSet], isRemote: Bool = false, except own: ChangedRecords?) {
        if changes.isEmpty || !(isFollowed || isFollowedForRecords || (isRemote && isFollowedRemotely)) { return }
        let delivery = Delivery(changes: changes, isRemote: isRemote)
        let recorders = state.withLock { state in
            // Weakly: who lets go of its follower is not called any more, and no follower goes under a lock of the poster.
            let places = state.followers.map(\.place)
            if !places.isEmpty {
                queue.async {
                    for place in places {
                        guard let follower = place.follower, isRemote || follower.interest != .remote,
                            !follower.isCancelled.load(ordering: .acquiring)
                        else { continue }
                        follower.handler(delivery)
                    }
                }
            }
            for history in state.histories { history.record(changes) }
            return state.recorders
        }
        for (_, records) in recorders where own == nil || records !== own { records.note(changes) }
    }

    /// Tells those who take in changes as they are posted that the store is closed.
    func end() {
        for (_, records) in state.withLock({ $0.recorders }) { records.noteEnd() }
    }

    /// Returns when everything that was posted before has been handled. Must not be called by a handler, nor by an observer of
    /// `ModelContainer.remoteChange`, which runs in one.
    public func settle() { queue.sync {} }

    private func adjust(_ interest: Interest, by change: Int) {
        switch interest {
        case .all: count.add(change, ordering: .relaxed)
        case .records: recordsCount.add(change, ordering: .relaxed)
        case .remote: remoteCount.add(change, ordering: .relaxed)
        }
    }

    private func remove(_ number: UInt64, _ interest: Interest) {
        state.withLock { state in
            if let place = state.followers.firstIndex(where: { $0.number == number }) {
                state.followers.remove(at: place)
            } else if let place = state.recorders.firstIndex(where: { $0.number == number }) {
                state.recorders.remove(at: place)
            } else {
                return
            }
            adjust(interest, by: -1)
        }
    }
}
