import MortiseCore
import MortiseEngine

extension JSONFileConfiguration {
    /// Reads the backup and the files of its values whole, copies them beside the store, and replaces the store's file in one step.
    /// Files of values that the store had and the backup has not stay, and are moved aside when the store is opened.
    ///
    /// The history comes along, unless that of the store tells how it came to the state of the backup. One that cannot be read is left
    /// out, which the report notes: the records do not need it.
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
        try target.sweepOrphans(holding: lock, in: fileSystem)
        let copies = ExternalFiles(beside: target.main, permissions: newFilePermissions, in: fileSystem)
        copies.identify(store)
        copies.removeUnfinishedMarks()
        var made: [ExternalReference.Name] = []
        var size = Int64(bytes.count)
        var notes: [String] = []
        do {
            let history = try restoredHistory(of: bytes, store: store, from: source, to: target, &size, &notes)
            var isInPlace = false
            defer { if !isInPlace { history?.discard() } }
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
                isInPlace = true
            } catch let error as FileError where error.isOfNaming {
                // A file that is in place names the copies.
                made = []
                throw error
            }
            // A power cut between the two leaves a file without a history, which begins anew then.
            do {
                try history?.commit()
            } catch {
                notes.append("the history was left out: \(error)")
            }
        } catch {
            copies.abandon(made)
            throw error
        }
        let records = version.tables.values.reduce(0) { $0 + $1.count }
        return MaintenanceReport(
            figures: [.init("bytes", size), .init("records", Int64(records))], notes: notes)
    }

    /// The history of a backup, ready to be put beside the file; nil if the backup has no history, or that of the store is as good.
    private func restoredHistory(
        of bytes: [UInt8], store: String, from source: StoreFiles, to target: StoreFiles, _ size: inout Int64,
        _ notes: inout [String]
    ) throws -> DurableReplacement.Prepared? {
        if history == .none { return nil }
        let key = DocumentKey(of: bytes)
        do throws(FileError) {
            try fileSystem.refuseAllButFile(at: target.history)
        } catch {
            notes.append("the history was left out: \(error)")
            return nil
        }
        if let own = try? HistoryPart(of: key, store: store, beside: target.main, in: fileSystem) {
            own.close()
            return nil
        }
        return try copyOfHistory(
            for: key, store: store, beside: source.main, to: target, permissions: newFilePermissions, &size, &notes)
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
