public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: VerifiableConfiguration, ResealableConfiguration, BackupConfiguration {
    /// - Throws: `FileError` where the file cannot be read.
    public func verifyStore() throws -> MaintenanceReport {
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        var report = MaintenanceReport(figures: [.init("bytes", Int64(bytes.count))])
        do {
            let external = try externalFiles()
            let (records, isSealed) = try check(bytes, integrity) { reference, place in
                do throws(ExternalFileFault) {
                    try external.check(reference)
                } catch {
                    report.problems.append("\(place): \(error)")
                }
            }
            report.figures.append(.init("records", records))
            if !isSealed { report.notes.append("the seal does not fit; it was not asked for") }
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

    /// The file is replaced whole by every save, so that what is read is one state of it; the files of its values are copied
    /// before the copy gets its name.
    /// - Throws: `FileError`, `alreadyExists` among them; `JSONFileError` for a file that would not open;
    ///   `ExternalFileFault` for a value whose file is at fault.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        if try fileSystem.infoIfPresent(newPath, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: newPath)
        }
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        let permissions = try fileSystem.info(path, followingLinks: true).permissions
        let external = try externalFiles()
        let copies = ExternalFiles(
            beside: try fileSystem.resolvingLinks(newPath), permissions: permissions, in: fileSystem)
        var size = Int64(bytes.count)
        var made: [ExternalReference.Name] = []
        var hasCopies = false
        let records = try check(bytes, integrity) { reference, _ in
            size += try copies.copy(reference, from: external, noting: &made)
            hasCopies = true
        }.records
        if hasCopies { try copies.makeDurable() }
        try DurableReplacement(of: newPath, newFilePermissions: permissions, in: fileSystem)
            .replace(isNew: true) { try $0.append(bytes) }
        return MaintenanceReport(figures: [.init("bytes", size), .init("records", records)])
    }

    /// The folder of the values that are in files of their own.
    func externalFiles() throws -> ExternalFiles {
        ExternalFiles(
            beside: try fileSystem.resolvingLinks(path), permissions: newFilePermissions, in: fileSystem)
    }

    /// - Parameter reference: called for each value that is in a file of its own, with words for where it is kept.
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

extension JSONFileStore: BulkSavingDataStore {
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
