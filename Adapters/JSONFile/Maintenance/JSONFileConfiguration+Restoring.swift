import MortiseCore
import MortiseEngine

extension JSONFileConfiguration {
    /// Reads the backup and the files of its values whole, copies them beside the store, and replaces the store's file in one step.
    /// Files of values that the store had and the backup has not stay, and are moved aside when the store is opened.
    /// - Throws: `RestoreError`; `FileError`, `locked` among them.
    public func restoreStore(
        from backup: String, replacing: Bool, whenReady ready: () throws -> Void
    ) throws -> MaintenanceReport {
        guard allowsSave else { throw RestoreError.readOnly(store: name) }
        let source = try StoreFiles(backup, in: fileSystem)
        guard try fileSystem.infoIfPresent(source.main, followingLinks: true) != nil else {
            throw RestoreError.noBackup(store: name, path: backup)
        }
        let target = try StoreFiles(path, in: fileSystem)
        let isThere = try fileSystem.infoIfPresent(target.main, followingLinks: true) != nil
        if try fileSystem.isSameFile(source.main, target.main) { throw RestoreError.backupIsStore(path: backup) }
        if isThere, !replacing { throw RestoreError.storeExists(location: path) }
        let bytes = try fileSystem.readWhole(source.main, limit: largestFile).bytes
        let files = ExternalFiles(beside: source.main, in: fileSystem)
        let version = try checked(bytes, files, of: backup)
        let store = version.catalog.storeIdentifier
        let lock = try FileLock(forStoreAt: target.main, permissions: newFilePermissions, in: fileSystem)
        // What was there before has a lock file already.
        defer { lock.abandon(in: fileSystem) }
        let claim = try isThere ? JSONFile.claim(target.main, in: fileSystem) : nil
        defer { try? claim?.close() }
        if isThere, let found = try? identifier(of: target.main), found != store {
            throw RestoreError.otherStore(location: path, found: found, backup: store)
        }
        let replacement = DurableReplacement(
            of: target.main, newFilePermissions: newFilePermissions, in: fileSystem)
        try replacement.sweepOrphans(holding: lock)
        let copies = ExternalFiles(beside: target.main, permissions: newFilePermissions, in: fileSystem)
        copies.identify(store)
        copies.removeUnfinishedMarks()
        var made: [ExternalReference.Name] = []
        var size = Int64(bytes.count)
        do {
            // All that may fail for want of room comes before anything is replaced, in other stores, too.
            let prepared = try replacement.prepare(isNew: !isThere) { file in
                var hasCopies = false
                try version.forEachReference { _, _, _, reference in
                    size += try copies.copy(reference, from: files, noting: &made)
                    hasCopies = true
                }
                if hasCopies { try copies.makeDurable() }
                try file.append(bytes)
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
                // A file that is in place names the copies.
                made = []
                throw error
            }
        } catch {
            copies.abandon(made)
            throw error
        }
        let records = version.tables.values.reduce(0) { $0 + $1.count }
        return MaintenanceReport(figures: [.init("bytes", size), .init("records", Int64(records))])
    }

    /// The records of a backup, of which everything was read.
    private func checked(_ bytes: [UInt8], _ files: ExternalFiles, of backup: String) throws -> EngineVersion {
        do {
            let version = try JSONFileError.naming(backup) { try JSONFile.load(bytes, integrity, files).version }
            try version.forEachReference { _, _, _, reference in try files.check(reference) }
            return version
        } catch let fault as ExternalFileFault {
            try fault.throwIfDenied()
            throw RestoreError.damagedBackup(path: backup, reason: "\(fault).")
        } catch let error as any ClassifiedStoreError
            where error.errorClass == .damaged || error.errorClass == .conflict
        {
            throw RestoreError.damagedBackup(path: backup, reason: "\(error)")
        }
    }

    private func identifier(of file: String) throws -> String {
        let bytes = try fileSystem.readWhole(file, limit: largestFile).bytes
        return try bytes.withUnsafeBytes {
            try StoreDocumentReader($0, integrity: .acceptEdits).readHeader().storeIdentifier
        }
    }
}
