import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

extension AppendLogStore {
    /// Writes a checkpoint, so that the next opening reads it instead of the log before it. Saves go on meanwhile.
    /// - Throws: `FileError`, `AppendLogError`; the log and the old checkpoint are as they were, unless the outcome of
    ///   the error is unknown. `CancellationError` where the task was cancelled, or the store closed.
    public func checkpoint() throws { try writable().checkpoint() }

    /// Writes a checkpoint and drops the history that the configuration does not keep. Saves go on meanwhile, but for the
    /// moment in which the new log takes the old one's place.
    ///
    /// The store does so by itself too, where its configuration's `compaction` is `.automatic`.
    /// - Parameter report: told now and then how far it is. What it throws ends the compaction; records and history are then
    ///   as if none had begun, and no temporary file is left. A newer checkpoint may be.
    /// - Returns: how many transactions were dropped; 0 with `.keepAll`.
    /// - Throws: as `checkpoint()`; what `report` throws.
    @discardableResult
    public func compact(reporting report: (AppendLogProgress) throws -> Void = { _ in }) throws -> Int {
        let sink = try writable()
        let start = ContinuousClock.now
        let dropped = try withoutActuallyEscaping(report) { report in
            let progress = MaintenanceProgress(isStopped: sink.isStopping, report)
            let keeps = configuration.history.rule(now: sink.now(), store: identifier)
            return try sink.compact(progress) { keeps?($0, $1) ?? true }
        }
        tell(.compaction(store: configuration.name, dropped: dropped, duration: ContinuousClock.now - start))
        return dropped
    }

    /// Tells a handler how far a compaction in the background is, as `compact(reporting:)` tells its own; nil ends that.
    ///
    /// What the handler throws ends that compaction, and the next begins after more has been saved. It is called on the
    /// thread that compacts, with one call at a time for each file, until the store is closed.
    public func reportBackgroundCompaction(to handler: (@Sendable (AppendLogProgress) throws -> Void)?) {
        guard !isClosed.load(ordering: .acquiring) else { return }
        opened.sink?.observers.setProgress(self, handler)
    }

    /// Copies the store, as it is after some save that had returned before the call or returns during it, to another
    /// place. Saves go on meanwhile.
    ///
    /// The copy is whole and on the disk when the call returns; a crash before leaves nothing at the path, or a copy that
    /// says that its log is missing. It has the identifier of the store, and its history.
    /// - Parameters:
    ///   - path: where the copy's log goes, relative to the current folder unless it begins with a slash.
    ///   - report: as for `compact(reporting:)`.
    /// - Throws: `FileError` (`alreadyExists` where something is at the path, or a checkpoint beside it);
    ///   `ExternalValueError` for a value whose file is at fault; what `report` throws.
    public func backup(
        to path: String, reporting report: (AppendLogProgress) throws -> Void = { _ in }
    ) throws {
        let sink = try writable()
        try withoutActuallyEscaping(report) { report in
            try sink.backup(to: path, MaintenanceProgress(isStopped: sink.isStopping, report))
        }
    }

    /// Returns once no checkpoint and no compaction is under way in the background.
    package func waitForBackgroundWork() {
        while let sink = opened.sink, sink.checkpoints.isBusy || sink.compactions.isBusy {
            Thread.sleep(forTimeInterval: 0.000_2)
        }
    }

    func writable() throws -> AppendLog {
        guard let sink = opened.sink else { throw EngineError.readOnly(store: identifier) }
        return sink
    }
}

extension AppendLog {
    func backup(to path: String, _ progress: MaintenanceProgress) throws {
        for taken in [path, path + LogOpening.checkpointSuffix]
        where try fileSystem.infoIfPresent(taken, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: taken)
        }
        let lock = try FileLock(forStoreAt: path, permissions: configuration.newFilePermissions, in: fileSystem)
        defer { lock.release() }
        // Neither file is replaced while the lock is held; other processes may put a later checkpoint in place.
        try maintaining(progress) {
            let checkpoint = try fileSystem.infoIfPresent(checkpointPath, followingLinks: true)
            let size = checkpoint?.size ?? 0
            let outside = catalog.external?.byteCount() ?? 0
            progress.begin(total: writer.state.position.end + size + outside)
            var begun: [String] = []
            let copies = ExternalFiles(
                beside: try fileSystem.resolvingLinks(path), permissions: configuration.newFilePermissions,
                in: fileSystem)
            var copied: [ExternalReference.Name] = []
            do {
                if checkpoint != nil {
                    let target = path + LogOpening.checkpointSuffix
                    begun.append(target)
                    try copy(checkpointPath, upTo: nil, to: target, progress, from: 0)
                }
                // After the checkpoint, whose place in the log must be in the copy.
                catchUp()
                let (version, position, _) = try snapshot(progress)
                try copyExternal(of: version, to: copies, progress, from: size, noting: &copied)
                begun.append(path)
                try copy(self.path, upTo: position.end, to: path, progress, from: size + outside)
                try progress.advance(to: .max)
            } catch {
                // Half a copy is of no use, and would be in the way of the next attempt.
                // What somebody else has put there meanwhile stays.
                let isTaken = (error as? FileError)?.reason == .alreadyExists
                if isTaken { begun.removeLast() } else { copies.discard(copied) }
                for file in begun { try? fileSystem.unlink(file) }
                throw error
            }
        }
    }

    /// The files of data are copied before any record names them. None of them is swept meanwhile, because that is done by
    /// who compacts, and by who has the log alone.
    private func copyExternal(
        of version: EngineVersion, to copies: ExternalFiles, _ progress: MaintenanceProgress, from start: Int64,
        noting copied: inout [ExternalReference.Name]
    ) throws {
        guard let external = catalog.external else { return }
        var bytes = start
        var hasCopies = false
        try version.forEachReference { table, slot, row, reference in
            do {
                bytes += try copies.copy(reference, from: external, noting: &copied)
                hasCopies = true
            } catch let fault as ExternalFileFault {
                throw version.error(fault, table, slot, row)
            }
            try progress.advance(to: bytes)
        }
        if hasCopies { try copies.makeDurable() }
    }

    private func copy(
        _ source: String, upTo end: Int64?, to target: String, _ progress: MaintenanceProgress, from start: Int64
    ) throws {
        let file = try fileSystem.open(source, mode: .read)
        defer { try? file.close() }
        let size = try end ?? file.info().size
        let replacement = DurableReplacement(
            of: target, newFilePermissions: configuration.newFilePermissions, in: fileSystem)
        try replacement.replace(isNew: true) { writer in
            var offset: Int64 = 0
            while offset < size {
                let bytes = try file.readAll(count: Int(min(size - offset, 1 << 20)), at: offset)
                if bytes.isEmpty {
                    throw FileError(.changed(.truncated(from: size, to: offset)), operation: .read, path: source)
                }
                try writer.append(bytes)
                offset += Int64(bytes.count)
                try progress.advance(to: start + offset)
            }
        }
    }
}
