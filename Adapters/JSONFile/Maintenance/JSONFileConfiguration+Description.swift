public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: SelfDescribingConfiguration {
    /// Reads the beginning of the file, as far as the schema goes.
    /// - Throws: `FileError`; `JSONFileError` for what is wrong with the text before the records.
    public func storedSchema() throws -> StoredSchema? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        guard size <= largestFile else {
            throw FileError(.exceedsLimit(size: size, limit: largestFile), operation: .read, path: path)
        }
        var count = min(size, 64 << 10)
        while true {
            let bytes = try file.readAll(count: Int(count), at: 0)
            do {
                return try JSONFileError.naming(path) {
                    try bytes.withUnsafeBytes { try StoreDocumentReader($0, integrity: integrity).readHeader().schema }
                }
            } catch let error as JSONFileError {
                // It may go on after the beginning.
                if count == size { throw error }
                count = min(size, count * 16)
            }
        }
    }

    /// A configuration that opens the file for reading only and takes no lock.
    public func readOnly() -> JSONFileConfiguration {
        var copy = JSONFileConfiguration(
            name, schema: schema, path: path, allowsSave: false, integrity: integrity,
            newFilePermissions: newFilePermissions, dropping: dropping, history: history,
            historyDurability: historyDurability, in: fileSystem)
        copy.largestFile = largestFile
        return copy
    }

    /// The file's path.
    public var location: String { path }
    /// Always true: opening compares the stored schema with the program's.
    public var checksStoredSchema: Bool { true }
    /// True: a container carries out the stages that are due before it opens the store.
    public var handlesMigrationPlans: Bool { true }
    /// Always `full`.
    public var durabilityGrade: DurabilityGrade { .full }

    /// The room in the folder of the store.
    /// - Throws: `FileError`.
    public func freeSpace() throws -> Int64? {
        let file = try StoreFiles(path, in: fileSystem).main
        return try fileSystem.freeSpace(at: PathText.directory(of: file))
    }

    /// The file and, where they are there, the folder of external data and the history.
    /// - Throws: `FileError`.
    public func storeFiles() throws -> [StoreFile] {
        guard let info = try fileSystem.infoIfPresent(path, followingLinks: true) else { return [] }
        var files = [StoreFile(path: path, role: "records", bytes: info.size)]
        let external = try externalFiles()
        let bytes = external.byteCount()
        if bytes > 0 { files.append(StoreFile(path: external.folder, role: "external values", bytes: bytes)) }
        let history = try StoreFiles(path, in: fileSystem).history
        if let info = try fileSystem.infoIfPresent(history, followingLinks: false) {
            files.append(StoreFile(path: history, role: "history", bytes: info.size))
        }
        return files
    }
}

extension StoreDocumentWriteError: ClassifiedStoreError {
    /// `conflict`: what is to be saved is at fault.
    public var errorClass: StoreErrorClass { .conflict }
}

extension StoreDocumentWriteError.Reason: ClassifiedStoreError {
    /// `conflict`: what is to be saved is at fault.
    public var errorClass: StoreErrorClass { .conflict }
}

extension StoreDocumentError: ClassifiedStoreError {
    /// `damaged`: the text is at fault.
    public var errorClass: StoreErrorClass { .damaged }
}

extension JSONTextError: ClassifiedStoreError {
    /// `damaged`: the text is at fault.
    public var errorClass: StoreErrorClass { .damaged }
}

extension JSONFileError: ClassifiedStoreError {
    /// `damaged`: the file is at fault.
    public var errorClass: StoreErrorClass { .damaged }
}
