import Foundation
import MortiseCore
import MortiseEngine

/// Opens a log: makes it where it is missing, reads checkpoint and tail, and puts a torn end right.
struct LogOpening {
    let configuration: AppendLogConfiguration
    let path: String
    let schema: StoredSchema
    private var files: StoreFiles { StoreFiles(resolved: path) }

    init(_ configuration: AppendLogConfiguration, path: String, schema: StoredSchema) {
        self.configuration = configuration
        self.path = path
        self.schema = schema
        external = ExternalFiles(
            beside: path, permissions: configuration.newFilePermissions, in: configuration.fileSystem)
    }

    private let external: ExternalFiles

    private var fileSystem: any FileSystem { configuration.fileSystem }

    func open() throws -> OpenLog {
        configuration.allowsSave ? try openForWriting() : try openForReading()
    }

    private func openForReading() throws -> OpenLog {
        // A writer may be in the middle of a write, or put another file in the log's place.
        var attempts = 0
        while true {
            do {
                let file = try fileSystem.open(path, mode: .read)
                var isKept = false
                defer { if !isKept { try? file.close() } }
                let content = try LogContent.read(file, path: path, external: external, in: fileSystem)
                let found = try content.version(for: schema, dropping: configuration.dropping, path: path)
                var tail: ReaderTail?
                if configuration.followsWriter {
                    tail = ReaderTail(
                        file, path: path, header: content.header, last: content.last, position: content.position,
                        schema: content.schema, isUnderItsSchema: content.schema == schema, in: fileSystem)
                    isKept = true
                }
                return OpenLog(
                    path: path, engine: Engine(found.version), sink: nil, recovery: content.recovery(keptAside: nil),
                    loss: found.loss, tail: tail, fallback: content.fallback)
            } catch let error as AppendLogError where error.fault.mayPass && attempts < configuration.readRetries {
                attempts += 1
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private func openForWriting() throws -> OpenLog {
        let lock = try takeLock()
        do {
            guard configuration.sharing == .shared else { return try openForWriting(lock) }
            let turn = try WriteTurn(
                forLogAt: path, permissions: configuration.newFilePermissions, in: fileSystem)
            do {
                let log = try openForWriting(lock)
                turn.giveBack()
                return log
            } catch {
                turn.abandon(in: fileSystem)
                throw error
            }
        } catch {
            lock.abandon(in: fileSystem)
            throw error
        }
    }

    private func takeLock() throws -> FileLock {
        let isShared = configuration.sharing == .shared
        // A process that shares the log may hold it exclusively for a moment, to tidy up or to compact it.
        let deadline = Date().addingTimeInterval(isShared ? 10 : 0)
        while true {
            do {
                return try FileLock(
                    forStoreAt: path, kind: isShared ? .shared : .exclusive,
                    permissions: configuration.newFilePermissions, in: fileSystem)
            } catch {
                guard case .locked = error.reason, Date() < deadline else { throw error }
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
    }

    private func openForWriting(_ lock: FileLock) throws -> OpenLog {
        let isShared = configuration.sharing == .shared
        // A schema that the log cannot take is refused before anything is laid out or saved.
        try AppendLogError.naming(path) { try schema.checkForLog() }
        if try fileSystem.infoIfPresent(path, followingLinks: true) == nil { try make() }
        do {
            // An earlier process may have died between giving a file its name and making the name durable.
            try fileSystem.syncDirectory(PathText.directory(of: path))
        } catch {
            removeUnused()
            throw error
        }
        let file = try fileSystem.open(path, mode: .readWrite)
        try Self.claim(file, isShared: isShared)
        let content = try LogContent.read(file, path: path, external: external, in: fileSystem)
        let found = try content.version(for: schema, dropping: configuration.dropping, path: path)
        let version = found.version
        if isShared, content.schema != schema {
            throw EngineError.schemaMismatch(
                store: path, differences: ["the log has another schema; open it unshared once to change it"])
        }
        // From here on the store is this program's to change.
        if let unnamed = content.unnamedCheckpoint {
            try RestoredCheckpoint.name(unnamed, path: path, in: fileSystem)
        }
        if try !isShared || lock.change(to: .exclusive) { try sweep(holding: lock) }
        if isShared { _ = try lock.change(to: .shared) }
        var kept: String?
        if case .torn(let bytes) = content.end {
            kept = try Self.cutTornTail(of: file, path: path, at: content.position, bytes: bytes, in: fileSystem)
        }
        external.identify(content.store)
        let catalog = LogCatalog(version.catalog.schema, store: content.store, external: external)
        // So is one with default values that the log cannot take.
        if content.schema != schema { _ = try AppendLogError.naming(path) { try catalog.schemaPayload() } }
        let unnamed = external.present()
        let synced = try renewUnsynced(file, content, isWanted: !unnamed.isEmpty)
        try sweep(unnamed, keeping: version, content, lock)
        let writer = try LogWriter(
            file, path: path, header: content.header, position: content.position, unsynced: content.unsynced,
            synced: synced, lock: lock, allocationStep: configuration.allocationStep,
            isShared: isShared, startsWriting: configuration.durability == .full, in: fileSystem)
        let sink = AppendLog(
            configuration, path: path, writer: writer, catalog: catalog, initial: version,
            needsSchema: content.schema != schema, loss: found.loss, completed: found.completed, now: configuration.now)
        let log = OpenLog(
            path: path, engine: Engine(version, sink: sink), sink: sink, recovery: content.recovery(keptAside: kept),
            loss: found.loss, fallback: content.fallback)
        if isShared { sink.catchUp = { [weak log] in log?.follow(waiting: true) } }
        if configuration.checkpoints == .automatic { sink.startCheckpoints(behind: content.checkpoint) }
        if content.ignoredCheckpoint != nil || content.fallback?.fault != nil { sink.renewCheckpoint() }
        content.fallback?.observe { [weak sink] in sink?.noteUnreadableCheckpoint($0) }
        if configuration.compaction == .automatic { sink.startCompactions() }
        return log
    }

    /// Locks the log itself: the lock goes by the name of the log, of which a file may have several (hard links).
    /// - Throws: `FileError`, `openUnderAnotherName`, `severalNames`.
    static func claim(_ file: any OpenFile, isShared: Bool) throws {
        guard try file.tryLock(isShared ? .shared : .exclusive) else {
            throw FileError(.openUnderAnotherName, operation: .open, path: file.path)
        }
        // Processes that share a log share this lock, too, and each name has its own turn.
        let links = isShared ? try file.info().links : 1
        if links > 1 { throw FileError(.severalNames(count: links), operation: .open, path: file.path) }
    }

    /// Removes the temporaries of crashed replacements.
    private func sweep(holding lock: FileLock) throws {
        try files.sweepOrphans(holding: lock, in: fileSystem)
        SchemaChangeover.removeRemains(of: path, in: fileSystem, keepingNotice: configuration.isMigrating)
        external.removeUnfinishedMarks()
    }

    /// Removes the files of data that no record names any more; all that was read is on the disk.
    private func sweep(
        _ names: [ExternalReference.Name], keeping version: EngineVersion, _ content: LogContent, _ lock: FileLock
    ) throws {
        // Until the first save under another schema the log still has what the old one named.
        if names.isEmpty || content.schema != schema { return }
        // What a torn end, or a checkpoint that was left aside, would have named is not known.
        guard content.end == .clean, content.ignoredCheckpoint == nil else { return }
        // Some of it is read only now.
        func isSound() -> Bool { content.fallback?.fault == nil }
        guard configuration.sharing == .shared else {
            external.sweep(names, where: isSound) { version }
            return
        }
        // Other processes may read older versions. A process that opens the log now waits for the turn, which this
        // process has.
        if try lock.change(to: .exclusive) { external.sweep(names, where: isSound) { version } }
        _ = try lock.change(to: .shared)
    }

    private func make() throws {
        guard try fileSystem.isMissing(path) else {
            throw FileError(.changed(.replaced), operation: .open, path: path)
        }
        if try fileSystem.infoIfPresent(files.checkpoint, followingLinks: true) != nil {
            throw AppendLogError(path: path, fault: .logMissing)
        }
        try external.refuseData(withoutStoreAt: path)
        let header = FileHeader(kind: .log, store: UUID())
        let catalog = LogCatalog(schema, store: header.store.uuidString)
        var writer = ByteWriter(capacity: 4096)
        header.bytes.withUnsafeBytes { writer.raw($0) }
        var frames = ByteWriter(capacity: 4096)
        let payload = try AppendLogError.naming(path) { try catalog.schemaPayload() }
        _ = frames.frames([(.schema, payload)], from: .first, transaction: 0, synced: 0, seed: header.seed)
        frames.bytes.withUnsafeBytes { writer.raw($0) }
        let replacement = DurableReplacement(
            of: path, newFilePermissions: configuration.newFilePermissions, in: fileSystem)
        do {
            try replacement.replace(isNew: true) { try $0.append(writer.bytes) }
        } catch {
            if (error as? FileError)?.outcomeIsUnknown == true { removeUnused() }
            throw error
        }
    }

    /// Removes a log that nothing was saved to, after a sync of its directory has failed: no later sync would prove
    /// that its name is on the disk, so the next opening has to create it again.
    private func removeUnused() {
        guard let file = try? fileSystem.open(path, mode: .read) else { return }
        defer { try? file.close() }
        guard let content = try? LogContent.read(file, path: path, external: external, in: fileSystem),
            content.position.transaction == 0, content.header.base == 0
        else { return }
        try? fileSystem.unlink(path)
    }

    /// Copies the bytes after the last whole frame to a separate file, and cuts the log there.
    @discardableResult
    static func cutTornTail(
        of file: any OpenFile, path: String, at position: LogPosition, bytes: Int64, in fileSystem: any FileSystem
    ) throws -> String {
        // They end with the file, and may begin before the position of the next frame.
        let offset = min(position.offset, try file.info().size - bytes)
        let kept = try fileSystem.unusedPath(from: StoreFiles(resolved: path).torn(at: offset))
        let copy = try fileSystem.open(kept, mode: .createExclusive(permissions: 0o600))
        do {
            try copyTail(of: file, offset..<(offset + bytes), to: copy)
            try copy.close()
        } catch {
            // A part of it is of no use, and would take the room for the next attempt.
            try? copy.close()
            try? fileSystem.unlink(kept)
            throw error
        }
        try fileSystem.syncDirectory(PathText.directory(of: path))
        try file.truncate(to: position.end)
        try file.sync(.full)
        return kept
    }

    private static func copyTail(of file: any OpenFile, _ range: Range<Int64>, to copy: any OpenFile) throws {
        let writer = FileWriter(copy)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let piece = try file.readAll(count: Int(min(range.upperBound - offset, 1 << 20)), at: offset)
            if piece.isEmpty { break }
            try writer.append(piece)
            offset += Int64(piece.count)
        }
        try writer.flush()
        try copy.sync(.full)
    }

    /// Writes again the frames that no later frame calls synced. A sync of them may have failed in an earlier process:
    /// then they can be read but are not on the disk, and no later sync would write them. `isWanted` does so even if
    /// the configuration promises no durability. Returns the number of the highest frame on the disk.
    private func renewUnsynced(_ file: any OpenFile, _ content: LogContent, isWanted: Bool) throws -> UInt64 {
        let isPassedOver = if case .none = configuration.durability { !isWanted } else { false }
        var offset = min(content.unsynced.offset, content.position.end)
        if isPassedOver || offset >= content.position.end {
            // What an earlier process cut off after the frames must not come back after the header of the next.
            try file.sync(.data)
            return isPassedOver ? content.unsynced.sequence - 1 : content.position.sequence - 1
        }
        while offset < content.position.end {
            let count = Int(min(content.position.end - offset, 1 << 20))
            let bytes = try file.readAll(count: count, at: offset)
            guard bytes.count == count else {
                throw FileError(
                    .changed(.truncated(from: content.position.end, to: offset + Int64(bytes.count))), operation: .read,
                    path: path)
            }
            try file.writeAll(bytes, at: offset)
            offset += Int64(count)
        }
        try file.sync(.data)
        return content.position.sequence - 1
    }
}

extension LogFault {
    /// Whether a reader beside a writer may see this for a moment.
    fileprivate var mayPass: Bool {
        switch self {
        case .damagedFrame, .outOfOrder, .checkpointMissing, .checkpointOfAnother, .logShorterThanCheckpoint,
            .malformed:
            true
        default: false
        }
    }
}
