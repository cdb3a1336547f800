import Foundation
import MortiseCore
import MortiseEngine

/// When a store writes checkpoints of itself.
public enum AppendLogCheckpoints: Sendable, Hashable {
    /// In the background, when so much log has come behind the last one that opening would have to read it: 4 MiB, or half
    /// the checkpoint's size where that is more.
    case automatic
    /// When `checkpoint()` or `compact()` is called.
    case onCall
}

extension AppendLog {
    private var store: UUID { UUID(uuidString: catalog.store) ?? UUID() }

    func checkpointWriter(_ version: EngineVersion, _ progress: MaintenanceProgress) -> CheckpointWriter {
        CheckpointWriter(catalog: catalog, version: version, store: store) { [background] in
            background.isStopped || progress.isCancelled
        }
    }

    /// Writes a checkpoint of the last version that was appended; commits go on meanwhile.
    func checkpoint(_ progress: MaintenanceProgress = .init()) throws {
        try maintenance.withLock {
            let (version, position, header) = try snapshot()
            let size = try write(
                checkpointWriter(version, progress), [.init(log: header.file, position: position)])
            background.noteCheckpoint(behind: position.end, size: size)
        }
    }

    /// - Returns: how long the checkpoint is.
    func write(_ checkpoint: CheckpointWriter, _ places: [CheckpointDirectory.Place]) throws -> Int64 {
        let permissions = try fileSystem.info(path, followingLinks: true).permissions
        try AppendLogError.naming(path) {
            try checkpoint.write(to: checkpointPath, places: places, permissions: permissions, in: fileSystem)
        }
        return try fileSystem.info(checkpointPath, followingLinks: true).size
    }

    /// Lets checkpoints be written in the background from now on.
    /// - Parameter checkpoint: the one that the store was opened from.
    func startBackground(behind checkpoint: (position: LogPosition, size: Int64)?) {
        background.noteCheckpoint(behind: checkpoint?.position.end ?? 0, size: checkpoint?.size ?? 0)
        background.start { [weak self] in try self?.checkpoint() }
        background.noteAppended(upTo: writer.state.position.end)
    }
}

/// Starts checkpoints in the background, one at a time.
///
/// @unchecked Sendable: what changes is behind the lock.
final class BackgroundCheckpoints: @unchecked Sendable {
    private static let least: Int64 = 4 << 20

    private let lock = NSLock()
    private var run: (@Sendable () throws -> Void)?
    private var isRunning = false
    private var isHeld = false
    private var hasStopped = false
    /// The length of log at which the next one is due.
    private var due = Int64.max
    /// How much further than due a failure has put it off.
    private var delay: Int64 = 0

    var isStopped: Bool { lock.withLock { hasStopped } }

    func start(_ run: @escaping @Sendable () throws -> Void) { lock.withLock { self.run = run } }

    func stop() {
        lock.withLock {
            hasStopped = true
            run = nil
        }
    }

    /// Starts none until `release()`, because the log is about to be another, of another length.
    func hold() { lock.withLock { isHeld = true } }
    func release() { lock.withLock { isHeld = false } }

    func noteCheckpoint(behind end: Int64, size: Int64) {
        lock.withLock {
            delay = 0
            due = end + max(Self.least, size / 2)
        }
    }

    func noteAppended(upTo end: Int64) {
        let next: (@Sendable () throws -> Void)? = lock.withLock {
            guard let run, end >= due, !isRunning, !isHeld else { return nil }
            isRunning = true
            return run
        }
        guard let next else { return }
        DispatchQueue.global(qos: .utility).async { [self] in
            let result = Result { try next() }
            lock.withLock {
                isRunning = false
                // The log has everything: what failed (a full disk, perhaps) is tried again later, ever more rarely.
                if case .failure = result {
                    delay = max(Self.least, delay * 2)
                    due = end + delay
                }
            }
        }
    }
}

/// How far a checkpoint, a compaction or a backup has come.
public struct AppendLogProgress: Sendable, Hashable {
    /// Bytes of the log that were read or copied, of so many in all.
    public var completed: Int64
    public var total: Int64
}

/// Hands progress on, and remembers that somebody wants to stop.
///
/// @unchecked Sendable: used by the thread that does the work; the packer asks it there too.
final class MaintenanceProgress: @unchecked Sendable {
    private let report: (AppendLogProgress) throws -> Void
    private var progress = AppendLogProgress(completed: 0, total: 0)
    /// What the caller threw to stop.
    private(set) var failure: (any Error)?

    init(_ report: @escaping (AppendLogProgress) throws -> Void = { _ in }) { self.report = report }

    var isCancelled: Bool { failure != nil || Task.isCancelled }

    func begin(total: Int64) { progress = AppendLogProgress(completed: 0, total: total) }

    /// - Throws: what the caller's report throws; `CancellationError` in a task that was cancelled.
    func advance(to completed: Int64) throws {
        progress.completed = min(max(progress.completed, completed), progress.total)
        do {
            if Task.isCancelled { throw CancellationError() }
            try report(progress)
        } catch {
            failure = error
            throw error
        }
    }
}
