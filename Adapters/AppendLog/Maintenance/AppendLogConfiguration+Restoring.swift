import Foundation
import MortiseCore
import MortiseEngine

extension AppendLogConfiguration {
    /// Reads the backup whole, and writes its frames as a log of a new identity, which replaces the store's log in one step: no
    /// checkpoint of the old log is taken for its own. Its history comes along. Files of external data that the store had and the
    /// backup has not stay, and are moved aside when the store is opened.
    /// - Throws: `RestoreError`; `FileError`, `locked` among them.
    public func restoreStore(
        from backup: String, replacing: Bool, whenReady ready: () throws -> Void
    ) throws -> MaintenanceReport {
        guard allowsSave else { throw RestoreError.readOnly(store: name) }
        let source = try StoreFiles.log(backup, in: fileSystem)
        guard try fileSystem.infoIfPresent(source.main, followingLinks: true) != nil else {
            throw RestoreError.noBackup(store: name, path: backup)
        }
        let target = try StoreFiles.log(path, in: fileSystem)
        let isThere = try isStore(target)
        if try fileSystem.isSameFile(source.main, target.main) { throw RestoreError.backupIsStore(path: backup) }
        if isThere, !replacing { throw RestoreError.storeExists(location: path) }
        let files = ExternalFiles(beside: source.main, in: fileSystem)
        let content = try checked(source, files, of: backup)
        let lock = try FileLock(forStoreAt: target.main, permissions: newFilePermissions, in: fileSystem)
        // What was there before has a lock file already.
        defer { lock.abandon(in: fileSystem) }
        if try isStore(target) != isThere { throw RestoreError.storeExists(location: path) }
        let old = try prepare(target, lock, for: content.header.store)
        defer { try? old?.close() }
        let copies = ExternalFiles(beside: target.main, permissions: newFilePermissions, in: fileSystem)
        copies.identify(content.header.store.uuidString)
        copies.removeUnfinishedMarks()
        var made: [ExternalReference.Name] = []
        do {
            let bytes = try put(content, of: source, in: target, files, copies, noting: &made, isThere, ready)
            var report = MaintenanceReport(
                figures: [
                    .init("bytes", bytes), .init("transactions", Int64(content.reading.transactions)),
                    .init("records", Int64(content.reading.records)),
                ],
                problems: content.reading.inconsistencies.map {
                    "\($0). The backup has this too; salvage the store to repair it"
                })
            if content.reading.tornBytes > 0 {
                report.notes.append(
                    "\(content.reading.tornBytes) unacknowledged bytes behind the backup's last transaction were left out"
                )
            }
            return report
        } catch {
            copies.abandon(made)
            throw error
        }
    }

    private struct BackupContent {
        let header: FileHeader
        let reading: SoundReading
        let version: EngineVersion
    }

    private func isStore(_ files: StoreFiles) throws -> Bool {
        try fileSystem.infoIfPresent(files.main, followingLinks: true) != nil
            || fileSystem.infoIfPresent(files.checkpoint, followingLinks: true) != nil
    }

    /// What a backup holds, all of which was read.
    private func checked(_ source: StoreFiles, _ files: ExternalFiles, of backup: String) throws -> BackupContent {
        do {
            let header = try header(of: source.main)
            let reading = try SoundReading.sparingCheckpoint(
                source.main, checkpoint: source.checkpoint, in: fileSystem
            ).reading
            guard let version = reading.version else { throw LogFault.empty }
            try version.forEachReference { _, _, _, reference in try files.check(reference) }
            return BackupContent(header: header, reading: reading, version: version)
        } catch let fault as ExternalFileFault {
            try fault.throwIfDenied()
            throw RestoreError.damagedBackup(path: backup, reason: "\(fault).")
        } catch let fault as PayloadFault {
            throw RestoreError.damagedBackup(path: backup, reason: "\(fault.what).")
        } catch let error as any ClassifiedStoreError where [.damaged, .conflict].contains(error.errorClass) {
            throw RestoreError.damagedBackup(path: backup, reason: "\(error)")
        }
    }

    private func header(of log: String) throws -> FileHeader {
        let file = try fileSystem.open(log, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try FileHeader(
            try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
    }

    /// Makes sure of the store that is to be replaced: nobody has it open, it is that of the backup, and nothing of a restoring
    /// that was killed is in the way.
    /// - Returns: the log, locked against opening under another of its names; nil without a log.
    private func prepare(_ target: StoreFiles, _ lock: FileLock, for store: UUID) throws -> (any OpenFile)? {
        guard try fileSystem.infoIfPresent(target.main, followingLinks: true) != nil else {
            try target.sweepOrphans(holding: lock, in: fileSystem)
            return nil
        }
        let file = try fileSystem.open(target.main, mode: .readWrite)
        do {
            try LogOpening.claim(file, isShared: false)
            // One whose header cannot be read is damaged, which is why a backup takes its place.
            if let old = try? header(of: target.main) {
                guard old.store == store else {
                    throw RestoreError.otherStore(
                        location: path, found: old.store.uuidString, backup: store.uuidString)
                }
                if old.base > 0, (try? CheckpointContent.schema(target.checkpoint, of: old, in: fileSystem)) == nil,
                    let left = RestoredCheckpoint.find(
                        of: old, path: target.main, ExternalFiles(beside: target.main, in: fileSystem), in: fileSystem)
                {
                    try RestoredCheckpoint.name(left.path, path: target.main, in: fileSystem)
                }
            }
            try target.sweepOrphans(holding: lock, in: fileSystem)
        } catch {
            try? file.close()
            throw error
        }
        return file
    }

    /// - Returns: how many bytes the store takes.
    private func put(
        _ content: BackupContent, of source: StoreFiles, in target: StoreFiles, _ files: ExternalFiles,
        _ copies: ExternalFiles, noting made: inout [ExternalReference.Name], _ isThere: Bool,
        _ ready: () throws -> Void
    ) throws -> Int64 {
        let header = FileHeader(kind: .log, store: content.header.store, base: content.header.base)
        let catalog = LogCatalog(content.version.catalog.schema, store: header.store.uuidString)
        let writer = CheckpointWriter(catalog: catalog, version: content.version, store: header.store)
        let checkpoint = TemporaryName(of: target.checkpoint, in: fileSystem).path
        let permissions =
            try fileSystem.infoIfPresent(target.main, followingLinks: true)?.permissions ?? newFilePermissions
        var bytes: Int64 = 0
        var mayBeInPlace = false
        var names = made
        defer { made = names }
        do {
            let log = DurableReplacement(of: target.main, newFilePermissions: newFilePermissions, in: fileSystem)
            // All that may fail for want of room comes before anything is replaced, in other stores, too.
            let prepared = try log.prepare(isNew: !isThere) { file in
                var hasCopies = false
                try content.version.forEachReference { _, _, _, reference in
                    bytes += try copies.copy(reference, from: files, noting: &names)
                    hasCopies = true
                }
                if hasCopies { try copies.makeDurable() }
                let end = try copyFrames(of: source.main, upTo: content.version.number, to: file, header)
                bytes += file.offset
                try AppendLogError.naming(target.checkpoint) {
                    try writer.make(
                        at: checkpoint, places: [.init(log: header.file, position: end)], permissions: permissions,
                        in: fileSystem)
                }
                bytes += try fileSystem.info(checkpoint, followingLinks: false).size
            }
            do {
                try ready()
            } catch {
                prepared.discard()
                throw error
            }
            do {
                try prepared.commit()
            } catch let error as FileError where error.isOfNaming {
                // A log that is in place may need the checkpoint, and names the copies.
                mayBeInPlace = true
                throw error
            }
        } catch {
            if mayBeInPlace { names = [] } else { try? fileSystem.unlink(checkpoint) }
            throw error
        }
        // The store is restored: what fails from here on is done by the next opening.
        try? RestoredCheckpoint.name(checkpoint, path: target.main, in: fileSystem)
        return bytes
    }

    /// Copies all frames into a log of another identity.
    /// - Returns: where they end.
    private func copyFrames(
        of source: String, upTo last: UInt64, to writer: FileWriter, _ header: FileHeader
    ) throws -> LogPosition {
        let file = try fileSystem.open(source, mode: .read)
        defer { try? file.close() }
        let reader = FrameReader(file, size: try file.info().size, seed: try self.header(of: source).seed)
        var frames = try FrameWriter(header, to: writer)
        _ = try AppendLogError.naming(source) {
            try reader.scan(
                from: .first, allowingGapsTo: header.base, includingUnknown: true, keepingWhole: true
            ) { frame in
                try frames.append(
                    frame.header.kind, frame.payload, transaction: frame.header.transaction,
                    isSkippable: frame.header.isSkippable)
                return true
            }
        }
        if frames.position.transaction < last { frames.skip(to: last) }
        // Somebody has saved to the backup since it was read.
        guard frames.position.transaction == last else { throw AppendLogError(path: source, fault: .unstable) }
        return frames.position
    }
}
