public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: MaintainableConfiguration {
    /// All but salvaging: what is left of a damaged file can be read with any editor.
    public var maintenance: Set<MaintenanceOperation> { [.verify, .reseal, .compact, .backUp, .restore] }

    /// - Throws: `FileError` where the user may not read the file or external data, or the file cannot be read.
    public func verifyStore() throws -> MaintenanceReport {
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        var report = MaintenanceReport(figures: [.init("bytes", Int64(bytes.count))])
        do {
            let external = try externalFiles()
            let (records, isSealed) = try check(bytes, integrity) { reference, place in
                do throws(ExternalFileFault) {
                    try external.check(reference)
                } catch {
                    try error.throwIfDenied()
                    report.problems.append("\(place): \(error)")
                }
            }
            report.figures.append(.init("records", records))
            if !isSealed { report.notes.append("the seal does not match, which integrity=acceptEdits allows") }
            try verifyHistory(of: bytes, &report)
        } catch let error as JSONFileError {
            report.problems.append("\(error)")
        }
        return report
    }

    /// - Throws: `JSONFileError` for the first fault, the file untouched; `FileError`, also `locked`.
    public func resealStore() throws -> MaintenanceReport {
        try JSONFileStore.reseal(path, in: fileSystem)
        let size = try fileSystem.info(path, followingLinks: true).size
        return MaintenanceReport(figures: [.init("bytes", size)])
    }

    /// Removes the data that no record names, also those that were moved aside.
    /// - Throws: `FileError`, also `locked`; `JSONFileError`.
    public func compactStore() throws -> MaintenanceReport {
        let before = try storeFiles().reduce(0) { $0 + $1.bytes }
        let removed = try JSONFileStore.compact(path, in: fileSystem)
        return MaintenanceReport(figures: [
            .init("external files removed", Int64(removed)), .init("bytes before", before),
            .init("bytes after", try storeFiles().reduce(0) { $0 + $1.bytes }),
        ])
    }

    /// The file is replaced whole by every save, so that what is read is one state of it; the files of its values are copied
    /// before the copy gets its name.
    /// - Throws: `FileError`, `alreadyExists` among them; `JSONFileError` for a file that would not open;
    ///   `ExternalFileFault` for a value whose file is at fault.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        let target = try StoreFiles(newPath, in: fileSystem)
        func checkFree() throws(FileError) {
            if try fileSystem.infoIfPresent(target.main, followingLinks: false) == nil { return }
            throw FileError(.alreadyExists, operation: .replace, path: newPath)
        }
        try checkFree()
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        let store = try JSONFileError.naming(path) {
            try bytes.withUnsafeBytes { try StoreDocumentReader($0, integrity: integrity).readHeader().storeIdentifier }
        }
        let permissions = try fileSystem.info(path, followingLinks: true).permissions
        let external = try externalFiles()
        let lock = try FileLock(forStoreAt: target.main, permissions: permissions, in: fileSystem)
        // Neither a copy nor a refused one leaves a lock file that was not there before.
        defer { lock.abandon(in: fileSystem) }
        try checkFree()
        let replacement = DurableReplacement(of: target.main, newFilePermissions: permissions, in: fileSystem)
        // What a backup to this place has left that was killed.
        try target.sweepOrphans(holding: lock, in: fileSystem)
        let copies = ExternalFiles(beside: target.main, permissions: permissions, in: fileSystem)
        copies.identify(store)
        copies.removeUnfinishedMarks()
        var size = Int64(bytes.count)
        var made: [ExternalReference.Name] = []
        var hasCopies = false
        var notes: [String] = []
        do {
            var records: Int64 = 0
            // The temporary is there first: it says what is left of this copy where the process dies.
            try replacement.replace(isNew: true) { file in
                records = try check(bytes, integrity) { reference, _ in
                    do {
                        size += try copies.copy(reference, from: external, noting: &made)
                    } catch let fault as ExternalFileFault {
                        try fault.throwIfDenied()
                        throw fault
                    }
                    hasCopies = true
                }.records
                if hasCopies { try copies.makeDurable() }
                try file.append(bytes)
                // Whoever finds the copy finds its history; a history without its store is made anew.
                let prepared = try copyOfHistory(
                    for: DocumentKey(of: bytes), store: store, beside: StoreFiles(path, in: fileSystem).main,
                    to: target, permissions: permissions, &size, &notes)
                try prepared?.commit()
            }
            return MaintenanceReport(figures: [.init("bytes", size), .init("records", records)], notes: notes)
        } catch {
            copies.abandon(made)
            if history != .none, (error as? FileError)?.outcomeIsUnknown != true {
                try? fileSystem.unlink(target.history)
            }
            throw error
        }
    }

    /// Writes a copy of the history that goes with a state of a store's file, as far as it can be read, and gives it no name yet. A history
    /// that cannot be read is noted: the records do not need it.
    /// - Parameters:
    ///   - key: the state of the store's file.
    ///   - store: the identifier of the store.
    ///   - source: the path of the store's file.
    ///   - target: the files of the copy.
    ///   - permissions: the permission bits of the copy.
    ///   - size: grows by the bytes of the copy.
    ///   - notes: takes why there is no copy.
    /// - Returns: the copy; nil if there is nothing to copy.
    /// - Throws: `FileError` for what cannot be written.
    func copyOfHistory(
        for key: DocumentKey, store: String, beside source: String, to target: StoreFiles, permissions: UInt32,
        _ size: inout Int64, _ notes: inout [String]
    ) throws -> DurableReplacement.Prepared? {
        if history == .none { return nil }
        var part: HistoryPart?
        do {
            part = try HistoryPart(of: key, store: store, beside: source, in: fileSystem)
        } catch {
            notes.append("the history was left out: \(error)")
        }
        guard var part else { return nil }
        defer { part.close() }
        do {
            let prepared = try DurableReplacement(
                of: target.history, newFilePermissions: permissions, in: fileSystem
            ).prepare { try part.append(to: $0) }
            size += part.size
            return prepared
        } catch  where error is HistoryDamaged || (error as? FileError)?.path == part.path {
            notes.append("the history was left out: \(error)")
            return nil
        }
    }

    /// Reads all of the history.
    private func verifyHistory(of bytes: [UInt8], _ report: inout MaintenanceReport) throws {
        guard history != .none else { return }
        let main = try StoreFiles(path, in: fileSystem).main
        let header = try bytes.withUnsafeBytes { try StoreDocumentReader($0, integrity: .acceptEdits).readHeader() }
        let kept = JSONHistory(
            of: main, store: header.storeIdentifier, header.schema, self, key: DocumentKey(of: bytes))
        do {
            let count = try kept.verify()
            report.figures.append(.init("transactions", Int64(count)))
        } catch let damage as HistoryDamaged {
            report.problems.append("\(damage)")
        }
    }

    /// The folder of the external values.
    func externalFiles() throws -> ExternalFiles {
        let files = try StoreFiles(path, in: fileSystem)
        return ExternalFiles(beside: files.main, permissions: newFilePermissions, in: fileSystem)
    }

    /// Reads a document, and calls `reference` for each value in an external file, with a description of where the
    /// document refers to it.
    private func check(
        _ bytes: [UInt8], _ integrity: JSONFileIntegrity, reference: (ExternalReference, String) throws -> Void
    ) throws -> (records: Int64, isSealed: Bool) {
        try JSONFileError.naming(path) {
            try bytes.withUnsafeBytes { buffer in
                var records: Int64 = 0
                let header = try StoreDocumentReader(buffer, integrity: integrity).read { layout, number, values in
                    records += 1
                    for (slot, value) in zip(layout.slots, values) where slot.property.attribute?.kind == .data {
                        guard let found = ExternalReference(storedForm: value) else { continue }
                        try reference(found, "\(layout.entityName).\(slot.name) of record \(number)")
                    }
                }
                return (records, header.isSealed)
            }
        }
    }
}

extension JSONFileStore {
    /// Every save writes the whole file; of those that the body makes only `flush` does, and the end.
    ///
    /// The body's saves are those of the thread that it runs on. Saves of others return when they are durable, as always,
    /// and the file then holds what the body has saved before them, too.
    /// - Throws: what the body throws; where the file cannot be written the store takes no more saves until it is opened
    ///   again, since what is in memory is not on the disk.
    public func saveInBulk<R>(_ body: (_ flush: () throws -> Void) throws -> R) throws -> R {
        guard let file = engine.sink as? JSONFile else { return try body({}) }
        file.beginDeferring()
        let result = Result { try body { try file.flush() } }
        let ending = Result { try file.endDeferring() }
        let value = try result.get()
        try ending.get()
        return value
    }
}
