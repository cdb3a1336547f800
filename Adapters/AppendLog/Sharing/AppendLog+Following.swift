import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

// How a process that shares a log takes in what the others have saved.

extension AppendLog {
    var isShared: Bool { configuration.sharing == .shared }

    /// Takes the turn and everything that the others have saved.
    func begin(_ current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? {
        guard isShared else { return nil }
        try takeTurn()
        do {
            let followed = try follow(from: current, isTurn: true, for: feed)
            try writer.takeOver()
            return followed
        } catch {
            end()
            throw error
        }
    }

    /// What other processes have saved, as far as it can be read without the turn; nil if there is nothing new.
    func catchUp(from current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? {
        guard isShared, try writer.hasMore() else { return nil }
        return try follow(from: current, isTurn: false, for: feed)
    }

    /// - Returns: the version after the last whole frame; nil if that is the current one.
    private func follow(
        from current: EngineVersion, isTurn: Bool, for feed: ChangeFeed
    ) throws -> FollowedVersion? {
        let (header, position) = writer.state
        let file = try writer.currentFile(checkingName: isTurn)
        let size = try file.extent().size
        let reader = FrameReader(file, size: size, seed: header.seed)
        var replay: VersionReplay?
        var last = position
        var unsynced = position
        var claimed: UInt64 = 0
        try AppendLogError.naming(path) {
            do {
                let scan = try reader.scan(from: position, allowingGapsTo: header.base) { frame in
                    try apply(frame, to: &replay, current, feed)
                    last = frame.next
                    claimed = max(claimed, frame.header.synced)
                    return true
                }
                // Behind it may be frames of a later time, which are skipped and stay.
                last = scan.position
                unsynced = scan.unsynced
                if case .torn(let bytes) = scan.end, isTurn {
                    // Its writer died while writing: nobody writes without holding the turn.
                    _ = try LogOpening.cutTornTail(
                        of: file, path: path, at: scan.position, bytes: bytes, in: fileSystem)
                    observers.post(.recovery(store: configuration.name, bytes: bytes))
                }
            } catch let fault as LogFault {
                // Without the turn what looks like damage may be a write on its way.
                if isTurn { throw fault }
                // What was begun to be applied is not whole; all of it comes again.
                if replay == nil { last = position }
            }
        }
        guard let replay, last.transaction > current.number else {
            if isTurn || last != position { writer.follow(to: last, unsynced: unsynced, claimed: claimed) }
            return nil
        }
        let followed = try replay.followed(last.transaction)
        // Where the scan ended early, nothing is known of any of them.
        writer.follow(to: last, unsynced: unsynced, claimed: claimed)
        noteFollowed(followed.version)
        return followed
    }

    private func apply(
        _ frame: ScannedFrame, to replay: inout VersionReplay?, _ current: EngineVersion, _ feed: ChangeFeed
    ) throws {
        let isMigration = frame.wholeHeader.kind == .migration
        if frame.header.kind == .schema || isMigration {
            guard try !isMigration && frame.reading({ try $0.schema() }) == catalog.schema else {
                throw EngineError.schemaMismatch(
                    store: path, differences: ["another process has changed the schema; open the store again"])
            }
            return
        }
        var following = replay.take() ?? VersionReplay(current, for: feed)
        try frame.reading { reader in
            try reader.transaction(catalog, to: &following)
            try following.endTransaction(frame.header.transaction)
        }
        replay = following
    }
}

extension AppendLogStore {
    /// Posted on `NotificationCenter.default`, with the store as its object, when the log has saves of other processes. A
    /// fetch shows them. `ModelContainer.remoteChange` is posted for the same saves, with the container as its object.
    ///
    /// Stores opened with `sharing: .shared` post it, and so do read-only stores, on any thread. Several saves close
    /// together may share one notification. On Linux the system reports each write at once, and the log is also checked
    /// every two seconds. On other systems, or if the process may watch no more files, it is checked ten times a second.
    public static let remoteChange = Notification.Name("MortiseAppendLogRemoteChange")

    /// True for a shared log and for a read-only store whose log goes on under its schema.
    public var announcesOtherProcesses: Bool {
        configuration.allowsSave ? configuration.sharing == .shared : opened.tail != nil
    }

    /// The latest state. For a shared log or a read-only store, it includes what other processes have saved by now.
    public var currentVersion: any StoreVersion {
        opened.follow()
        return engine.version
    }
}

extension OpenLog {
    /// Takes in what other processes have saved, unless a save of this one is under way, which does so itself.
    /// - Parameter isWaiting: whether to wait for one that is under way.
    /// - Returns: whether there was anything.
    @discardableResult
    func follow(waiting isWaiting: Bool = false) -> Bool {
        var isNew = false
        if let tail {
            // A reader that cannot continue keeps what it has; the check for changes reports the error.
            try? engine.follow(waiting: isWaiting) { [engine] current in
                let followed = try tail.next(after: current, for: engine.feed)
                isNew = followed != nil
                return followed
            }
            return isNew
        }
        guard let sink, sink.isShared else { return false }
        // What is wrong with the log fails the next save, which looks at it with the turn.
        try? engine.follow(waiting: isWaiting) { [engine] current in
            let followed = try sink.catchUp(from: current, for: engine.feed)
            isNew = followed != nil
            return followed
        }
        return isNew
    }
}

extension RemoteChanges {
    /// Looks whether other processes have saved to a log.
    convenience init(of store: AppendLogStore) {
        let hasToldOfStopping = Atomic(false)
        self.init(
            store.opened.path, isReal: store.configuration.givenFileSystem is POSIXFileSystem,
            intervalWhenNotified: store.configuration.pollIntervalWhenNotified
        ) { [weak store] in
            guard let store else { return }
            // Its feed notifies all stores of this log, whether this call or a fetch was the first to read the changes.
            store.opened.follow()
            if let reason = store.opened.tail?.reasonForStopping,
                !hasToldOfStopping.exchange(true, ordering: .relaxed)
            {
                store.post(.readerLeftBehind(store: store.configuration.name, reason: reason))
            }
        }
    }
}
