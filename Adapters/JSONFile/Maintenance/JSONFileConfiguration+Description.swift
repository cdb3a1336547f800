public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: SelfDescribingConfiguration {
    /// - Throws: `FileError`; `JSONFileError` for what is wrong with the text before the records.
    public func storedSchema() throws -> StoredSchema? {
        guard let bytes = try fileSystem.contentIfPresent(of: self) else { return nil }
        return try JSONFileError.naming(path) {
            try bytes.withUnsafeBytes { try StoreDocumentReader($0, integrity: integrity).readHeader().schema }
        }
    }

    public func readOnly() -> JSONFileConfiguration {
        var copy = JSONFileConfiguration(
            name, schema: schema, path: path, allowsSave: false, integrity: integrity,
            newFilePermissions: newFilePermissions, in: fileSystem)
        copy.largestFile = largestFile
        return copy
    }

    public var location: String { path }
    public var durabilityGrade: DurabilityGrade { .full }

    public func storeFiles() throws -> [StoreFile] {
        guard let info = try fileSystem.infoIfPresent(path, followingLinks: true) else { return [] }
        let records = StoreFile(path: path, role: "records", bytes: info.size)
        let external = try externalFiles()
        let bytes = external.byteCount()
        return bytes == 0
            ? [records] : [records, StoreFile(path: external.folder, role: "external values", bytes: bytes)]
    }

    public func changeMark() throws -> String {
        try fileSystem.infoIfPresent(path, followingLinks: true).map { "\($0.identity)" } ?? ""
    }
}

extension FileSystem {
    /// The bytes of a store's file; nil where there is none.
    fileprivate func contentIfPresent(of configuration: JSONFileConfiguration) throws -> [UInt8]? {
        guard try infoIfPresent(configuration.path, followingLinks: true) != nil else { return nil }
        return try readWhole(configuration.path, limit: configuration.largestFile).bytes
    }
}

extension JSONFileError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass { .damaged }
}
