#if SQLite
import Dispatch
import Foundation
import MortiseCore
import MortiseSQL
import Synchronization

/// Posts what is committed: by this process when it has done so, and by others when the store looks for it.
final class SQLiteFollowing: Sendable {
    let feed = ChangeFeed()
    /// The number of the last transaction that was posted.
    private let posted: Mutex<Int64>
    private let timer = WatchTimer()

    init(_ last: Int64) { posted = Mutex(last) }

    var lastPosted: Int64 { posted.withLock { $0 } }

    /// Whether anyone needs to know what others commit.
    var isFollowed: Bool { feed.isFollowed || feed.isFollowedForRecords || feed.isFollowedRemotely }

    func post(_ changes: ChangeSet, number: Int64) {
        posted.withLock { $0 = max($0, number) }
        feed.post([changes])
    }

    func post(remote changes: [ChangeSet], upTo number: Int64) {
        posted.withLock { $0 = max($0, number) }
        feed.post(changes, isRemote: true)
        feed.postNews()
    }

    /// Says that others have committed what cannot be read.
    func postUnknown(upTo number: Int64) {
        guard lastPosted < number else { return }
        var unknown = ChangeSet()
        unknown.isIncomplete = true
        post(remote: isFollowed ? [unknown] : [], upTo: number)
    }

    /// Begins again at a transaction, after a file that had more has been replaced by an earlier one.
    func restart(at number: Int64) {
        posted.withLock { $0 = number }
        var unknown = ChangeSet()
        unknown.isIncomplete = true
        feed.post([unknown], isRemote: true)
        feed.postNews()
    }

    /// Looks for commits of other processes now and then.
    func watch(_ store: SQLiteStore, every interval: Duration) {
        timer.start(every: interval) { [weak store] in store?.lookForOthers() }
    }

    func stop() { timer.stop() }
}

/// Calls a handler now and then.
private final class WatchTimer: @unchecked Sendable {
    // @unchecked: the source is set and taken under the lock.
    private let lock = NSLock()
    private var source: (any DispatchSourceTimer)?

    func start(every interval: Duration, _ handler: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "mortise.sqlite.watch", qos: .utility))
        let seconds = Double(interval.components.seconds) + Double(interval.components.attoseconds) / 1e18
        source.schedule(deadline: .now() + seconds, repeating: seconds, leeway: .milliseconds(50))
        source.setEventHandler(handler: handler)
        source.activate()
        lock.withLock { self.source = source }
    }

    func stop() {
        let last = lock.withLock {
            defer { source = nil }
            return source
        }
        last?.cancel()
    }
}

extension SQLiteStore {
    /// Posts what other processes have committed since the last time.
    func lookForOthers() {
        guard following.isFollowed else { return }
        // An error shows when somebody reads or saves.
        try? pool.reading { connection in
            let last = try StoreMetadata.lastTransaction(connection)
            if last > following.lastPosted {
                try takeIn(last)
            } else if last < following.lastPosted, !configuration.allowsSave {
                // A backup has been restored: who writes has the store open, and nobody restores it meanwhile.
                following.restart(at: last)
            }
        }
    }

    /// Posts the transactions of others up to one that was seen.
    func takeIn(_ last: Int64) throws {
        guard configuration.allowsSave else {
            return try pool.reading { try takeInOthers($0, before: last + 1) }
        }
        // Together with the commits of this process, in their order.
        try pool.writing { try takeInOthers($0, before: last + 1) }
    }

    /// Posts the transactions of others that come before one, and that were not posted.
    func takeInOthers(_ connection: SQLiteConnection, before number: Int64) throws {
        let first = following.lastPosted + 1
        guard first < number else { return }
        var changes: [ChangeSet] = []
        if following.isFollowed {
            changes = try transactions(connection, after: first - 1, upTo: number - 1, withOwners: true)
            if changes.count < number - first {
                // Some are not in the history any more.
                var unknown = ChangeSet()
                unknown.isIncomplete = true
                changes.append(unknown)
            }
        }
        following.post(remote: changes, upTo: number - 1)
    }
}
#endif
