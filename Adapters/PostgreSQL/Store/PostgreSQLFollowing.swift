#if PostgreSQL
import Dispatch
import Foundation
import MortiseCore
import MortiseSQL
import Synchronization

/// Posts what is committed: by this process when it has done so, and by others when the server tells of it or the store looks for it.
final class PostgreSQLFollowing: Sendable {
    let feed = ChangeFeed()
    /// The number of the last transaction that was posted.
    private let posted: Mutex<Int64>
    private let isStopped = Mutex(false)

    /// The channel by which saves are told, whatever the store's schema is: the message begins with the identifier
    /// of the store.
    static let channel = "mortise_saves"

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

    func stop() { isStopped.withLock { $0 = true } }

    /// Waits for news on a thread of its own, which has a connection while somebody follows the store. Without news it looks for itself
    /// now and then; a connection that was lost is made again.
    func watch(_ store: PostgreSQLStore) {
        let configuration = store.configuration
        // Without news it has to look more often.
        let interval =
            configuration.listens ? configuration.pollInterval : min(configuration.pollInterval, .milliseconds(500))
        Thread.detachNewThread { [weak store, isStopped = StopMark(self)] in
            var connection: PostgreSQLConnection?
            var lastLook = ContinuousClock.now
            while !isStopped.isSet {
                let isFollowed = store.map(\.following.isFollowed) ?? false
                let beginning = (store?.identifier ?? "") + " "
                var isTold = false
                if isFollowed, configuration.listens {
                    do {
                        if connection == nil {
                            connection = try PostgreSQLConnection(configuration)
                            try connection?.run("LISTEN \(Self.channel)")
                            // What came before the server knew of this one.
                            isTold = true
                        }
                        if !isTold {
                            isTold =
                                try connection?.waitForNews(.milliseconds(200), beginningWith: beginning) ?? false
                        }
                    } catch {
                        connection = nil
                        Thread.sleep(forTimeInterval: 0.2)
                    }
                } else {
                    connection = nil
                    let pause = min(interval / .seconds(1), 0.1)
                    Thread.sleep(forTimeInterval: pause)
                }
                guard isFollowed, isTold || .now - lastLook >= interval else { continue }
                lastLook = .now
                store?.lookForOthers()
            }
        }
    }
}

/// Whether the store was closed or is gone.
private final class StopMark: Sendable {
    private let following: WeakFollowing

    init(_ following: PostgreSQLFollowing) { self.following = WeakFollowing(following) }

    var isSet: Bool { following.isStopped }
}

private final class WeakFollowing: @unchecked Sendable {
    // @unchecked: the reference is set once, before others know the object, and loading a weak reference is atomic.
    private weak var following: PostgreSQLFollowing?

    init(_ following: PostgreSQLFollowing) { self.following = following }

    var isStopped: Bool { following?.hasStopped ?? true }
}

extension PostgreSQLFollowing {
    fileprivate var hasStopped: Bool { isStopped.withLock { $0 } }
}

extension PostgreSQLStore {
    /// Posts what other processes have committed since the last time.
    func lookForOthers() {
        guard following.isFollowed else { return }
        // An error shows when somebody reads or saves.
        try? saveLock.withLock {
            // Together with the commits of this process, in their order.
            try pool.using { connection in
                let found = try connection.run("SELECT s.\"lastTransaction\", s.\"schemaNumber\" FROM mortise_store s")
                let last = found.rows.first?.integer(0) ?? 0
                // After a migration, entities and properties may have other numbers.
                guard found.rows.first?.integer(1) == schemaNumber else { return following.postUnknown(upTo: last) }
                if last > following.lastPosted { try takeInOthers(connection, before: last + 1) }
            }
        }
    }

    /// Posts the transactions of others that come before one, and that were not posted.
    func takeInOthers(_ connection: PostgreSQLConnection, before number: Int64) throws {
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
