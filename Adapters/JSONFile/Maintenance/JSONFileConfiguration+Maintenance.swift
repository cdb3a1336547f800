public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: VerifiableConfiguration, ResealableConfiguration, BackupConfiguration {
    /// - Throws: `FileError` where the file cannot be read.
    public func verifyStore() throws -> MaintenanceReport {
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        var report = MaintenanceReport(figures: [.init("bytes", Int64(bytes.count))])
        do {
            let (records, isSealed) = try check(bytes, integrity)
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

    /// The file is replaced whole by every save, so that what is read is one state of it.
    /// - Throws: `FileError`, `alreadyExists` among them; `JSONFileError` for a file that would not open.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        if try fileSystem.infoIfPresent(newPath, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: newPath)
        }
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        let records = try check(bytes, integrity).records
        let permissions = try fileSystem.info(path, followingLinks: true).permissions
        try DurableReplacement(of: newPath, newFilePermissions: permissions, in: fileSystem)
            .replace(isNew: true) { try $0.append(bytes) }
        return MaintenanceReport(figures: [.init("bytes", Int64(bytes.count)), .init("records", records)])
    }

    private func check(_ bytes: [UInt8], _ integrity: JSONFileIntegrity) throws -> (records: Int64, isSealed: Bool) {
        try JSONFileError.naming(path) {
            try bytes.withUnsafeBytes { buffer in
                var records: Int64 = 0
                let header = try StoreDocumentReader(buffer, integrity: integrity).read { _, _, _ in records += 1 }
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
