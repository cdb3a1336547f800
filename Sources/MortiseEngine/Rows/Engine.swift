import Foundation
public import MortiseCore
import Synchronization

/// Makes a committed transaction durable, before anybody sees it.
public protocol CommitSink: AnyObject, Sendable {
    /// Returns when the result is as durable as the store promises. Throwing leaves the engine as it was.
    func commit(_ result: EngineVersion, changes: ChangeSet) throws
    /// Like `commit`, but may return before the result is durable, with a ticket to wait on; transactions that follow
    /// meanwhile share the wait. Called for one transaction after another, in order. The default commits and returns nil.
    func append(_ result: EngineVersion, changes: ChangeSet) throws -> (any CommitTicket)?
    /// The time of a transaction that is about to be appended. The default is the system's.
    var now: Date { get }
    /// The mark of a transaction that is about to be appended. The default makes one that no other is likely to have.
    var nextMark: UInt64 { get }
    /// Called before a transaction begins. `end()` follows in every case.
    /// - Parameters:
    ///   - current: the version that the transaction would start from.
    ///   - feed: the engine's; ask whether anyone follows it before collecting what other processes have changed.
    /// - Returns: the version to start from, which is published; nil for `current`, which is the default.
    /// - Throws: why no transaction can begin.
    func begin(_ current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion?
    /// Called after a transaction that `begin(_:)` announced, whether it succeeded or not. The default does nothing.
    func end()
    /// Where the store is, for errors. The default is nil, for a sink without a place.
    var location: String? { get }
    /// Looks at what would keep the next transaction from being committed, without waiting for others. The default does nothing.
    /// - Throws: what that is.
    func checkHealth() throws
    /// Releases files and locks. No commit follows.
    func close() throws
}

/// A transaction that a sink has accepted and not yet made durable.
public protocol CommitTicket: AnyObject, Sendable {
    /// Returns when the transaction and all before it are durable.
    /// - Throws: why they did not become durable. The sink then takes no more transactions; all waiting tickets fail.
    func wait() throws
}

extension CommitSink {
    /// The system's time.
    public var now: Date { Date() }
    /// One that no other transaction is likely to have.
    public var nextMark: UInt64 { HistoryMark.next() }
    /// Returns nil: nobody else writes.
    public func begin(_ current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? { nil }
    /// Does nothing.
    public func end() {}
    /// Nil.
    public var location: String? { nil }
    /// Does nothing.
    public func checkHealth() throws {}
    /// Commits, and returns nil: the transaction is durable then.
    /// - Throws: what `commit` throws.
    public func append(_ result: EngineVersion, changes: ChangeSet) throws -> (any CommitTicket)? {
        try commit(result, changes: changes)
        return nil
    }
}

/// A version that other processes have made.
public struct FollowedVersion: Sendable {
    /// The version.
    public let version: EngineVersion
    /// The transactions that lead to it, oldest first; empty if nobody wanted to know them.
    public let changes: [ChangeSet]

    /// Makes the pair of a version and what led to it.
    public init(_ version: EngineVersion, changes: [ChangeSet] = []) {
        self.version = version
        self.changes = changes
    }
}

/// Records in memory, in versions: readers hold one and are never disturbed; one writer at a time makes the next.
public final class Engine: Sendable {
    /// What the engine knows of its schema.
    package let catalog: Catalog
    package let sink: (any CommitSink)?
    /// Everything that becomes visible, in the order of the versions.
    public let feed = ChangeFeed()
    /// What the sink has taken in and is not published yet.
    let unpublished = Mutex<[Unpublished]>([])
    private let published: Mutex<EngineVersion>
    /// The last version that the sink has taken in, with its ticket, while it is not published.
    let appended = Mutex<(version: EngineVersion, ticket: any CommitTicket)?>(nil)
    /// The version before the latest, where that has all of it and a few rows more: the next transaction lets go of it
    /// while the disk is at work, so that nobody waits for that.
    let retired = Mutex<EngineVersion?>(nil)
    let recent: Mutex<RecentChanges>
    let writing = NSLock()
    let isClosed = Atomic(false)
    /// Why what others have written could not be taken in, until a read has told it.
    private let untold = Mutex<(any Error)?>(nil)
    private let hasUntold = Atomic(false)
    /// The thread that has the lock to take in what others have written, and saves nothing; 0 where none does.
    private let follower = Atomic<UInt>(0)
    private let waitingFollowers = Atomic<Int>(0)
    /// How many threads wait in `follow`.
    package var followersWaiting: Int { waitingFollowers.load(ordering: .acquiring) }

    /// Makes an engine that starts from a version. Its commits go to the sink; without one, they stay in memory.
    public init(_ initial: EngineVersion, sink: (any CommitSink)? = nil) {
        self.catalog = initial.catalog
        self.sink = sink
        self.published = Mutex(initial)
        self.recent = Mutex(RecentChanges(initial.catalog))
        catalog.external?.notePublished(initial)
    }

    /// What errors call the store: its place, where it has one.
    var name: String { sink?.location ?? catalog.storeIdentifier }

    /// The latest version.
    public var version: EngineVersion { published.withLock { $0 } }

    /// Removes all records of an entity, those of its subentities on request, and every reference to them.
    /// - Throws: `EngineError`; what the sink throws. Nothing was removed then.
    func deleteAll(ofEntity name: String, includingSubentities: Bool, author: String?) throws {
        try write { transaction in
            transaction.changes.author = author
            try transaction.deleteAll(ofEntity: name, includingSubentities: includingSubentities)
        }
    }

    /// Removes all records. Their numbers are not used again.
    /// - Throws: `EngineError`; what the sink throws. Nothing was removed then.
    package func erase() throws {
        try write { $0.erase() }
    }

    /// - Throws: `EngineError.closed`; what would keep the next transaction from being committed.
    package func checkHealth() throws {
        if isClosed.load(ordering: .acquiring) { throw EngineError.closed(store: name) }
        try sink?.checkHealth()
    }

    /// Ends writing: waits for a running transaction and closes the sink. Later transactions throw
    /// `EngineError.closed`; versions that are still retained stay readable. Closing again does nothing.
    /// - Throws: what the sink's `close()` throws; the engine is closed nevertheless.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try writing.withLock {
            _ = retired.withLock { $0.take() }
            try sink?.close()
        }
    }

    /// Publishes a version that another process has made, and what has changed in it.
    /// - Parameters:
    ///   - isWaiting: whether to wait for a transaction that is under way; if false, nothing is done then. If another
    ///     thread is already in this method, it is waited for in any case, for ten seconds at most, because the caller
    ///     may need what it takes in.
    ///   - body: gets the latest version and returns the one to publish; nil to publish nothing.
    /// - Throws: what the body throws.
    public func follow(
        waiting isWaiting: Bool = false, _ body: (EngineVersion) throws -> FollowedVersion?
    ) throws {
        let own = UInt(bitPattern: ObjectIdentifier(Thread.current))
        guard waitToFollow(own, isWaiting) else { return }
        defer { writing.unlock() }
        if isClosed.load(ordering: .acquiring) { return }
        follower.store(own, ordering: .releasing)
        defer { follower.store(0, ordering: .releasing) }
        if let next = try body(version) { publish(next) }
    }

    /// Has the next read throw why what others have written cannot be taken in. The reads after it go on with what is known.
    /// Nil takes back what was not thrown yet.
    package func tell(_ error: (any Error)?) {
        untold.withLock { $0 = error }
        hasUntold.store(error != nil, ordering: .releasing)
    }

    /// - Throws: what `tell(_:)` was given, once.
    func throwUntold() throws {
        guard hasUntold.load(ordering: .acquiring) else { return }
        hasUntold.store(false, ordering: .relaxed)
        if let error = untold.withLock({ $0.take() }) { throw error }
    }

    /// Takes the lock for `follow`; false, without the lock, if it must not wait any longer.
    private func waitToFollow(_ own: UInt, _ isWaiting: Bool) -> Bool {
        if writing.try() { return true }
        waitingFollowers.add(1, ordering: .releasing)
        defer { waitingFollowers.subtract(1, ordering: .releasing) }
        // Not simply waiting: a thread that closes the engine has the lock, and may wait for the caller.
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let other = follower.load(ordering: .acquiring)
            guard isWaiting || (other != 0 && other != own && ContinuousClock.now < end),
                !isClosed.load(ordering: .acquiring)
            else { return false }
            Thread.sleep(forTimeInterval: isWaiting ? 0.000_5 : 0.000_05)
            if writing.try() { return true }
        }
    }

    func publish(_ next: EngineVersion) {
        _ = retired.withLock { $0.take() }
        catalog.external?.notePublished(next)
        published.withLock { $0 = next }
    }

    func publish(_ followed: FollowedVersion) {
        publish(followed.version)
        feed.post(followed.changes, isRemote: true)
        feed.postNews()
    }

    func publish(_ next: EngineVersion, after ticket: any CommitTicket) throws {
        do {
            try ticket.wait()
        } catch {
            appended.withLock { $0 = nil }
            unpublished.withLock { waiting in waiting.removeAll { $0.after.number >= next.number } }
            throw error
        }
        // A thread that waits for a later one may have been here first: what it published includes this one.
        catalog.external?.notePublished(next)
        published.withLock { if $0.number < next.number { $0 = next } }
        appended.withLock { if let last = $0, last.version.number <= next.number { $0 = nil } }
        unpublished.withLock { waiting in
            let done = waiting.prefix { $0.after.number <= next.number }
            // Asked only after publishing, so that a follower who has read an older version receives this one.
            if feed.isFollowed || feed.isRecorded {
                let isRecorded = feed.isRecorded
                feed.post(
                    done.map { $0.changes.withValues(from: $0.before, to: $0.after, keepingDeleted: isRecorded) })
            } else if feed.isFollowedForRecords {
                feed.post(done.map(\.changes.withoutValues))
            }
            waiting.removeFirst(done.count)
        }
    }

    /// A transaction that the sink has taken in.
    struct Unpublished {
        let changes: ChangeSet
        /// Nil if nobody followed when it began: the values before are then not told.
        let before: EngineVersion?
        let after: EngineVersion
    }

}

extension EngineVersion {
    /// A version without records.
    public static func empty(_ catalog: Catalog) -> EngineVersion {
        EngineVersion(number: 0, nextSequence: 1, tables: [:], catalog: catalog)
    }
}
