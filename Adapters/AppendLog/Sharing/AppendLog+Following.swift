import Foundation
import MortiseCore
import MortiseEngine

// How a process that shares a log takes in what the others have saved.

extension AppendLog {
    var isShared: Bool { configuration.sharing == .shared }

    /// Takes the turn and everything that the others have saved.
    func begin(_ current: EngineVersion) throws -> EngineVersion {
        guard isShared else { return current }
        try takeTurn()
        do {
            let version = try follow(from: current, isTurn: true)
            try writer.takeOver()
            return version
        } catch {
            end()
            throw error
        }
    }

    /// What the others have saved, as far as it can be seen without the turn; nil where there is nothing new.
    func catchUp(from current: EngineVersion) throws -> EngineVersion? {
        guard isShared, try writer.hasMore() else { return nil }
        let version = try follow(from: current, isTurn: false)
        return version === current ? nil : version
    }

    /// - Returns: the version after the last whole frame.
    private func follow(from current: EngineVersion, isTurn: Bool) throws -> EngineVersion {
        let (header, position) = writer.state
        let file = try writer.currentFile(checkingName: isTurn)
        let size = try file.info().size
        let reader = FrameReader(file, size: size, seed: header.seed)
        var replay: VersionReplay?
        var last = position
        var unsynced = position
        var claimed: UInt64 = 0
        try AppendLogError.naming(path) {
            do {
                let scan = try reader.scan(from: position, allowingGapsTo: header.base) { frame in
                    try apply(frame, to: &replay, current)
                    last = frame.position.following(frame.header)
                    claimed = max(claimed, frame.header.synced)
                    return true
                }
                unsynced = scan.unsynced
                if case .torn(let bytes) = scan.end, isTurn {
                    // Whoever wrote it died on it: nobody writes but with the turn.
                    try LogOpening.cutTornTail(of: file, path: path, at: scan.position, bytes: bytes, in: fileSystem)
                }
            } catch let fault as LogFault {
                // Without the turn what looks like damage may be a write on its way.
                if isTurn { throw fault }
            }
        }
        guard let replay, last.transaction > current.number else {
            if isTurn { writer.follow(to: last, unsynced: unsynced, claimed: claimed) }
            return current
        }
        let version = try replay.finish(last.transaction)
        // Where the scan ended early, nothing is known of any of them.
        writer.follow(to: last, unsynced: unsynced, claimed: claimed)
        noteFollowed(version)
        return version
    }

    private func apply(_ frame: ScannedFrame, to replay: inout VersionReplay?, _ current: EngineVersion) throws {
        if frame.header.kind == .schema {
            let schema = try frame.reading { try $0.schema() }
            guard schema == catalog.schema else {
                throw EngineError.schemaMismatch(
                    store: catalog.store, differences: ["another process has changed the schema; open the store anew"])
            }
            return
        }
        var following = replay.take() ?? VersionReplay(current)
        try frame.reading { reader in
            try reader.transaction(catalog, to: &following)
            try following.endTransaction()
        }
        replay = following
    }
}

extension AppendLogStore {
    /// Posted on `NotificationCenter.default`, with the store as its object, when a shared log has saves of other
    /// processes. A fetch shows them.
    public static let remoteChange = Notification.Name("MortiseAppendLogRemoteChange")

    /// The latest state; of a shared log with what other processes have saved by now.
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
        guard let sink, sink.isShared else { return false }
        var isNew = false
        // What is wrong with the log fails the next save, which looks at it with the turn.
        try? engine.follow(waiting: isWaiting) { current in
            let version = try sink.catchUp(from: current)
            isNew = version != nil
            return version
        }
        return isNew
    }
}

/// Looks now and then whether other processes have saved.
///
/// @unchecked Sendable: what changes is behind the lock.
final class RemoteChanges: @unchecked Sendable {
    private static let interval = DispatchTimeInterval.milliseconds(100)
    private let lock = NSLock()
    private weak var store: AppendLogStore?
    private var hasStopped = false
    private var last: UInt64

    init(_ store: AppendLogStore) {
        self.store = store
        last = store.engine.version.number
        schedule()
    }

    func stop() { lock.withLock { hasStopped = true } }

    private func schedule() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.look() }
    }

    private func look() {
        guard let store, !lock.withLock({ hasStopped }) else { return }
        let before = lock.withLock { last }
        let isNew = store.opened.follow() || store.opened.sink?.takeFollowed(since: before) == true
        lock.withLock { last = store.engine.version.number }
        if isNew { NotificationCenter.default.post(name: AppendLogStore.remoteChange, object: store) }
        schedule()
    }
}
