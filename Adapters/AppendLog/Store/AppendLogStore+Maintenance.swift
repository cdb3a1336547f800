import Foundation
public import MortiseCore
import MortiseEngine
import Synchronization

extension AppendLogStore {
    /// Writes a checkpoint, so that the next opening reads it instead of the log before it. Saves continue meanwhile.
    /// - Throws: `FileError`, `AppendLogError`; the log and the old checkpoint are as they were, unless the outcome of
    ///   the error is unknown. `CancellationError` where the task was cancelled, or the store closed.
    public func checkpoint() throws { try writable().checkpoint() }

    /// Writes a checkpoint and drops the history that neither the configuration nor a holder keeps. Saves continue meanwhile, except
    /// for the moment in which the new log replaces the old one.
    ///
    /// The store does so by itself too, where its configuration's `compaction` is `.automatic`.
    /// - Parameter report: called from time to time with the progress. An error that it throws ends the compaction;
    ///   records and history are then unchanged, and no temporary file remains. A newer checkpoint may exist.
    /// - Returns: how many transactions were dropped; 0 with `.keepAll`.
    /// - Throws: as `checkpoint()`; what `report` throws.
    @discardableResult
    public func compact(reporting report: (AppendLogProgress) throws -> Void = { _ in }) throws -> Int {
        let sink = try writable()
        let start = ContinuousClock.now
        let dropped = try withoutActuallyEscaping(report) { report in
            let progress = MaintenanceProgress(isStopped: sink.isStopping, report)
            let keeps = try sink.historyRule()
            return try sink.compact(progress, dropping: .everything) { keeps?($0, $1) ?? true }
        }
        post(.compaction(store: configuration.name, dropped: dropped, duration: ContinuousClock.now - start))
        return dropped
    }

    /// Reports the progress of background compactions to a handler, as `compact(reporting:)` does to its own; nil ends that.
    ///
    /// What the handler throws ends that compaction, and the next begins after more has been saved. It is called on the
    /// thread that compacts, with one call at a time for each file, until the store is closed.
    public func reportBackgroundCompaction(to handler: (@Sendable (AppendLogProgress) throws -> Void)?) {
        guard !isClosed.load(ordering: .acquiring) else { return }
        opened.sink?.observers.setProgress(self, handler)
    }

    /// Copies the store to another path. The copy has every save that had returned before the call, and may have saves
    /// that return during it. Saves continue meanwhile.
    ///
    /// The copy is whole and on the disk when the call returns; a crash before leaves nothing at the path, or a copy that
    /// says that its log is missing. It has the identifier of the store, and its history.
    /// - Parameters:
    ///   - path: the path of the copy's log, relative to the current folder unless it begins with a slash.
    ///   - report: as for `compact(reporting:)`.
    /// - Throws: `FileError` (`alreadyExists` if something is at the path, or a checkpoint next to it);
    ///   `ExternalValueError` for a value whose file is missing or damaged; what `report` throws.
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
        guard let sink = opened.sink else { throw EngineError.readOnly(store: locationOrIdentifier) }
        return sink
    }
}

extension AppendLog {
    func backup(to path: String, _ progress: MaintenanceProgress) throws {
        let place = try NewLogPlace(path, permissions: configuration.newFilePermissions, in: fileSystem)
        let copies = ExternalFiles(
            beside: place.files.main, permissions: configuration.newFilePermissions, in: fileSystem)
        copies.identify(catalog.store)
        copies.removeUnfinishedMarks()
        var copied: [ExternalReference.Name] = []
        do {
            // Neither file is replaced meanwhile; other processes may put a later checkpoint in place.
            try maintaining(progress) { try backup(to: place.files, copies, progress, noting: &copied) }
            place.lock.release()
        } catch {
            // What another process has put there meanwhile stays.
            if (error as? FileError)?.reason != .alreadyExists { copies.abandon(copied) }
            place.lock.abandon(in: fileSystem)
            throw error
        }
    }

    private func backup(
        to target: StoreFiles, _ copies: ExternalFiles, _ progress: MaintenanceProgress,
        noting copied: inout [ExternalReference.Name]
    ) throws {
        let checkpoint = try checkpointToCopy()
        let size = checkpoint?.size ?? 0
        let outside = catalog.external?.byteCount() ?? 0
        progress.begin(total: writer.state.position.end + size + outside)
        var hasCheckpoint = false
        do {
            try replacement(of: target.main).replace(isNew: true) { log in
                // So that after a crash the next process sees what the checkpoint belongs to.
                let header = Int64(FileHeader.size)
                try copy(self.path, to: header, into: log, progress, after: 0)
                try log.sync(.data)
                if checkpoint != nil {
                    try replacement(of: target.checkpoint).replace(isNew: true) { file in
                        try copy(checkpointPath, into: file, progress, after: 0)
                    }
                    hasCheckpoint = true
                }
                // After the checkpoint, whose position in the log must be in the copy.
                catchUp()
                let (version, position, _) = try snapshot(progress)
                try copyExternal(of: version, to: copies, progress, from: size, noting: &copied)
                try copy(
                    self.path, from: header, to: position.end, into: log, progress, after: size + outside)
                try progress.advance(to: .max)
            }
        } catch {
            // Half a copy is of no use.
            if (error as? FileError)?.outcomeIsUnknown == true { try? fileSystem.unlink(target.main) }
            if hasCheckpoint || (error as? FileError)?.outcomeIsUnknown == true {
                try? fileSystem.unlink(target.checkpoint)
            }
            throw error
        }
    }

    /// The checkpoint's file; nil if it is missing, or cannot be read and the log has everything.
    private func checkpointToCopy() throws -> FileInfo? {
        if hasSpoiltCheckpoint, writer.state.header.base == 0 { return nil }
        return try fileSystem.infoIfPresent(checkpointPath, followingLinks: true)
    }

    private func replacement(of path: String) -> DurableReplacement {
        DurableReplacement(of: path, newFilePermissions: configuration.newFilePermissions, in: fileSystem)
    }

    /// External files are copied before any record names them. None of them is swept meanwhile, because only a
    /// compaction and a process that has the log to itself sweep.
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

    /// Appends a part of a file: all of it where nothing else is said.
    private func copy(
        _ source: String, from first: Int64 = 0, to end: Int64? = nil, into writer: FileWriter,
        _ progress: MaintenanceProgress, after start: Int64
    ) throws {
        let file = try fileSystem.open(source, mode: .read)
        defer { try? file.close() }
        let size = try end ?? file.info().size
        var offset = first
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

extension AppendLogStore {
    /// As `compact(reporting:)`.
    public func compactStore() throws -> MaintenanceReport? {
        let before = try configuration.storeFiles().reduce(0) { $0 + $1.bytes }
        let dropped = try compact()
        return MaintenanceReport(
            figures: [
                .init("transactions dropped", Int64(dropped)), .init("bytes before", before),
                .init("bytes after", try configuration.storeFiles().reduce(0) { $0 + $1.bytes }),
            ],
            notes: configuration.history == .keepAll
                ? ["all history was kept; add ?keepDays=N to the URL to drop older transactions"] : [])
    }
}
