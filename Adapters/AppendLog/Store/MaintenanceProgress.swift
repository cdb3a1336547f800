/// How far a checkpoint, a compaction or a backup has come.
public struct AppendLogProgress: Sendable, Hashable {
    /// The bytes of the log that were read or copied so far.
    public var completed: Int64
    /// The bytes of the log that will be read or copied in all.
    public var total: Int64
}

/// Passes progress on, and records a request to stop.
///
/// @unchecked Sendable: used by the thread that does the work; the packer asks it there too.
final class MaintenanceProgress: @unchecked Sendable {
    private let report: (AppendLogProgress) throws -> Void
    private let isStopped: () -> Bool
    private var progress = AppendLogProgress(completed: 0, total: 0)
    /// What the caller threw to stop.
    private(set) var failure: (any Error)?

    /// - Parameters:
    ///   - isStopped: asked now and then whether to end, as a cancelled task does.
    ///   - report: called with the progress; an error that it throws ends the work.
    init(isStopped: @escaping () -> Bool, _ report: @escaping (AppendLogProgress) throws -> Void = { _ in }) {
        self.isStopped = isStopped
        self.report = report
    }

    var isCancelled: Bool { failure != nil || Task.isCancelled || isStopped() }

    /// - Throws: `CancellationError` in a task that was cancelled, and where the work is to stop.
    func check() throws {
        if isCancelled { throw failure ?? CancellationError() }
    }

    func begin(total: Int64) { progress = AppendLogProgress(completed: 0, total: total) }

    /// - Throws: what the caller's report throws; `CancellationError` in a task that was cancelled.
    func advance(to completed: Int64) throws {
        progress.completed = min(max(progress.completed, completed), progress.total)
        do {
            try check()
            try report(progress)
        } catch {
            failure = error
            throw error
        }
    }
}
