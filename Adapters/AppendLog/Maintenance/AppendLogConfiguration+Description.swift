public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: SelfDescribingConfiguration {
    /// The schema that was written last: the checkpoint's, unless the log behind it has another. Of the log's frames only
    /// the headers are read.
    /// - Throws: `FileError`; `AppendLogError` for damage on the way.
    public func storedSchema() throws -> StoredSchema? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else {
            if try fileSystem.infoIfPresent(path + LogOpening.checkpointSuffix, followingLinks: true) != nil {
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
            let checkpoint = try CheckpointContent.schema(
                path + LogOpening.checkpointSuffix, of: header, in: fileSystem)
            let isUsable = checkpoint.map { $0.position.end <= size } ?? false
            let start = isUsable ? checkpoint?.position ?? .first : .first
            let (last, position) = try reader.lastSchema(from: start)
            guard let schema = last ?? (isUsable ? checkpoint?.schema : nil) else {
                throw LogFault.damagedFrame(
                    offset: position.offset, sequence: position.sequence, reason: "the schema is not there")
            }
            return schema
        }
    }

    public func readOnly() -> AppendLogConfiguration {
        var copy = AppendLogConfiguration(
            name, schema: schema, path: path, allowsSave: false, durability: durability, history: history,
            newFilePermissions: newFilePermissions, in: givenFileSystem)
        copy.allocationStep = allocationStep
        copy.pieceSize = pieceSize
        // Whoever looks through a store wants one state of it.
        copy.followsWriter = false
        return copy
    }

    public var location: String { path }

    public var durabilityGrade: DurabilityGrade {
        switch durability {
        case .full: .full
        case .batched(let interval): .interval(interval)
        case .none: .system
        }
    }

    public func storeFiles() throws -> [StoreFile] {
        let files = try [(path, "log"), (path + LogOpening.checkpointSuffix, "checkpoint")].compactMap { path, role in
            try fileSystem.infoIfPresent(path, followingLinks: true).map {
                StoreFile(path: path, role: role, bytes: $0.size)
            }
        }
        let external = try externalFiles()
        let bytes = external.byteCount()
        return bytes == 0 ? files : files + [StoreFile(path: external.folder, role: "external values", bytes: bytes)]
    }

    /// Of the log alone: a checkpoint changes no record.
    public func changeMark() throws -> String {
        try fileSystem.infoIfPresent(path, followingLinks: true).map { "\($0.identity)" } ?? ""
    }
}

extension AppendLogError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass {
        switch fault {
        case .unwritableValue: .conflict
        case .unstable: .locked
        default: .damaged
        }
    }
}
