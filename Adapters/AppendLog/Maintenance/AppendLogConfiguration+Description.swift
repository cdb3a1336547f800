public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: SelfDescribingConfiguration {
    /// The schema that was written last: the checkpoint's, unless the log after it has a newer one. Of the log's frames
    /// only the headers are read, as long as nothing is wrong with them.
    /// - Throws: `FileError`; `AppendLogError` for damage on the way.
    public func storedSchema() throws -> StoredSchema? {
        let files = try StoreFiles.log(path, in: fileSystem)
        guard try fileSystem.infoIfPresent(files.main, followingLinks: true) != nil else {
            if try fileSystem.infoIfPresent(files.checkpoint, followingLinks: true) != nil {
                throw AppendLogError(path: path, fault: .logMissing)
            }
            return nil
        }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            let checkpoint = try CheckpointContent.schema(files.checkpoint, of: header, in: fileSystem)
            let isUsable = checkpoint.map { $0.position.end <= size } ?? false
            if let checkpoint, try reader.hasOther(checkpoint.tail, before: checkpoint.position, base: header.base) {
                throw LogFault.checkpointOfAnother
            }
            let start = isUsable ? checkpoint?.position ?? .first : .first
            let (last, position) = try reader.lastSchema(from: start, allowingGapsTo: header.base)
            guard let schema = last ?? (isUsable ? checkpoint?.schema : nil) else {
                throw LogFault.damagedFrame(
                    offset: position.offset, sequence: position.sequence, reason: "the schema is missing")
            }
            return schema
        }
    }

    /// A configuration that opens the log for reading only, as it is now, and takes no lock.
    public func readOnly() -> AppendLogConfiguration {
        var copy = AppendLogConfiguration(
            name, schema: schema, path: path, allowsSave: false, durability: durability, history: history,
            newFilePermissions: newFilePermissions, dropping: dropping, in: givenFileSystem)
        copy.allocationStep = allocationStep
        copy.pieceSize = pieceSize
        // A walk through a store must see one state of it.
        copy.followsWriter = false
        return copy
    }

    /// A configuration that opens the log for reading only, takes no lock, and follows its writer.
    public func following() -> AppendLogConfiguration {
        var copy = readOnly()
        copy.followsWriter = true
        return copy
    }

    /// The log's path.
    public var location: String { path }
    /// True: opening compares the stored schema with the program's.
    public var checksStoredSchema: Bool { true }
    /// True: a container carries out the stages that are due before it opens the store.
    public var handlesMigrationPlans: Bool { true }

    /// What the configured durability survives.
    public var durabilityGrade: DurabilityGrade {
        switch durability {
        case .full: .full
        case .batched(let interval): .interval(interval)
        case .none: .system
        }
    }

    /// The room in the folder of the store.
    /// - Throws: `FileError`.
    public func freeSpace() throws -> Int64? {
        let file = try StoreFiles(path, in: fileSystem).main
        return try fileSystem.freeSpace(at: PathText.directory(of: file))
    }

    /// The log, its checkpoint and the folder of external data, as far as they exist.
    /// - Throws: `FileError`.
    public func storeFiles() throws -> [StoreFile] {
        let paths = try StoreFiles.log(path, in: fileSystem)
        let files = try [(paths.main, "log"), (paths.checkpoint, "checkpoint")].compactMap { path, role in
            try fileSystem.infoIfPresent(path, followingLinks: true).map {
                StoreFile(path: path, role: role, bytes: $0.size)
            }
        }
        let external = try externalFiles()
        let bytes = external.byteCount()
        return bytes == 0 ? files : files + [StoreFile(path: external.folder, role: "external values", bytes: bytes)]
    }

    /// A text that changes with the content of the log. A checkpoint, which changes no record, does not change it.
    func changeMark() throws -> String {
        try fileSystem.infoIfPresent(path, followingLinks: true).map { "\($0.identity)" } ?? ""
    }
}

extension AppendLogError: ClassifiedStoreError {
    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass { fault.errorClass }
}

extension LogFault: ClassifiedStoreError {
    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass {
        switch self {
        case .unwritableValue, .unwritableDefault, .regionTooLarge, .schemaTooLarge, .invalidSchema: .conflict
        case .unstable: .busy
        case .leftBehind: .conflict
        case .damagedValue(_, _, _, let reason): reason.errorClass
        default: .damaged
        }
    }
}
