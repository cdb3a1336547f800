import Foundation
import MortiseCore
import MortiseEngine

/// When a store writes checkpoints of itself.
public enum AppendLogCheckpoints: Sendable, Hashable {
    /// In the background, once the log after the last checkpoint is 4 MiB long, or half the checkpoint's size if that is
    /// more. Closing a log that is not shared writes one from 1 MiB, or a sixteenth of the checkpoint's size if that is
    /// more; an error there does not make closing fail.
    case automatic
    /// When `checkpoint()` or `compact()` is called.
    case onCall
}

extension AppendLog {
    private var store: UUID { UUID(uuidString: catalog.store) ?? UUID() }

    func checkpointWriter(_ version: EngineVersion, _ progress: MaintenanceProgress) -> CheckpointWriter {
        let isMine = version.catalog.schema == catalog.schema
        let catalog =
            isMine ? catalog : LogCatalog(version.catalog.schema, store: catalog.store, external: catalog.external)
        return CheckpointWriter(catalog: catalog, version: version, store: store) { progress.isCancelled }
    }

    /// Writes a checkpoint of the last version that was appended; commits go on meanwhile. Unless a caller asks for it,
    /// nothing is written if another checkpoint was meanwhile.
    func checkpoint(isAsked: Bool = true) throws {
        try checkpoint(MaintenanceProgress(isStopped: isStopping), isAsked: isAsked)
    }

    private func checkpoint(_ progress: MaintenanceProgress, isAsked: Bool) throws {
        try maintaining(progress) {
            // Under another schema than the log's nobody has saved anything yet.
            guard isAsked || (!hasOtherSchema && checkpoints.isDue(at: writer.state.position.end)) else { return }
            let (version, position, header) = try snapshot(progress)
            let size = try write(
                checkpointWriter(version, progress), [.init(log: header.file, position: position)])
            noteCheckpoint(behind: position.end, size: size)
        }
    }

    /// Plans the next checkpoint in the background.
    func noteCheckpoint(behind end: Int64, size: Int64) {
        checkpoints.plan(at: end + max(4 << 20, size / 2))
        setCheckpoint((end, size))
    }

    /// Spares the next opening a part of the log, where that is more than a fraction of what this takes. Nothing else is
    /// under way any more.
    func checkpointInClosing() {
        let (end, size) = lastCheckpoint
        // Under another schema than the log's the first save says so, not a closing without any.
        guard configuration.checkpoints == .automatic, !isShared, !hasOtherSchema,
            hasSpoiltCheckpoint || writer.state.position.end - end >= max(configuration.leastReplay, size / 16)
        else { return }
        do {
            try checkpoint(MaintenanceProgress(isStopped: { false }), isAsked: true)
        } catch {
            tellOfFailure(error)
        }
    }

    private func tellOfFailure(_ error: any Error) {
        observers.post(.checkpointFailed(store: configuration.name, reason: "\(error)"))
    }

    /// Something of the checkpoint could not be read, and was taken from the log.
    func noteUnreadableCheckpoint(_ fault: LogFault) {
        observers.post(.checkpointUnreadable(store: configuration.name, reason: "\(fault)"))
        renewCheckpoint()
    }

    /// Has the next checkpoint written soon, in the place of one that cannot be read.
    func renewCheckpoint() {
        setCheckpointSpoilt()
        checkpoints.plan(at: 0)
        // Under another schema the first save begins it, not an opening without any.
        if hasOtherSchema { return }
        checkpoints.noteAppended(upTo: writer.state.position.end)
    }

    /// - Returns: how long the checkpoint is.
    func write(_ checkpoint: CheckpointWriter, _ places: [CheckpointDirectory.Place]) throws -> Int64 {
        let permissions = try fileSystem.info(path, followingLinks: true).permissions
        let tail = try places.first.map {
            try LogTail(before: $0.position.end, of: writer.currentFile(checkingName: false))
        }
        try AppendLogError.naming(path) {
            try checkpoint.write(
                to: checkpointPath, places: places, tail: tail, permissions: permissions, in: fileSystem)
        }
        return try fileSystem.info(checkpointPath, followingLinks: true).size
    }

    /// Lets checkpoints be written in the background from now on.
    /// - Parameter checkpoint: the one that the store was opened from.
    func startCheckpoints(behind checkpoint: (position: LogPosition, size: Int64)?) {
        noteCheckpoint(behind: checkpoint?.position.end ?? 0, size: checkpoint?.size ?? 0)
        // The log has everything: what failed (a full disk, perhaps) is tried again later.
        checkpoints.start { [weak self] error in
            self?.tellOfFailure(error)
        } _: { [weak self] in
            try self?.checkpoint(isAsked: false)
        }
        // Under another schema the first save begins it, not an opening without any.
        if hasOtherSchema { return }
        checkpoints.noteAppended(upTo: writer.state.position.end)
    }
}
